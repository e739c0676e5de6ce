"""Environments as rsl_rl takes them: its own runner learns on them."""

import pytest
import torch
from rsl_rl.runners import OnPolicyRunner

from kumitate.errors import InputError
from kumitate.gym.rsl_rl import RslVecEnv

SETTINGS = {
    "num_steps_per_env": 16,
    "save_interval": 1000,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "algorithm": {
        "class_name": "PPO", "num_learning_epochs": 4, "num_mini_batches": 4, "learning_rate": 1e-3, "schedule": "adaptive",
        "desired_kl": 0.01, "gamma": 0.99, "lam": 0.95, "clip_param": 0.2, "entropy_coef": 0.003, "value_loss_coef": 1.0,
        "max_grad_norm": 1.0, "use_clipped_value_loss": True,
    },
    "actor": {
        "class_name": "MLPModel", "hidden_dims": [64, 32], "activation": "elu", "obs_normalization": True,
        "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0},
    },
    "critic": {"class_name": "MLPModel", "hidden_dims": [64, 32], "activation": "elu", "obs_normalization": True},
}  # fmt: skip


def test_its_runner_balances_a_pole():
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the nets are small
    envs = RslVecEnv("inverted_pendulum", 64, max_episode_steps=1000)
    runner = OnPolicyRunner(envs, SETTINGS, device="cpu")
    runner.learn(30, init_at_random_ep_len=True)
    policy, seen, steps = runner.get_inference_policy(), envs.get_observations(), 200
    ends = 0
    with torch.no_grad():
        for _ in range(steps):
            seen, rewards, over, extras = envs.step(policy(seen))
            ends += int((over & ~extras["time_outs"]).sum())
    assert rewards.shape == over.shape == (64,)
    assert ends < 0.002 * 64 * steps  # by chance alone each episode ends within ten steps


def test_choices_are_refused():
    with pytest.raises(InputError, match="its actions are choices"):
        RslVecEnv("cart_pole", 2)
