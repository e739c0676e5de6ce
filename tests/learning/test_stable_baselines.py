"""Stable-Baselines3 trains on environments of kumitate."""

import torch
from stable_baselines3 import PPO

from kumitate.gym.stable_baselines import StableVecEnv


def test_stable_baselines_trains():
    torch.set_num_threads(1)
    envs = StableVecEnv("cart_pole", 8, max_episode_steps=200)
    model = PPO("MlpPolicy", envs, n_steps=64, n_epochs=1, seed=1)
    assert model.learn(1024).num_timesteps == 1024
