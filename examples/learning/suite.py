"""The same learner in Gymnasium's suite as it is here and as it is in MuJoCo: the scores of both, and of policies in the other.

    python examples/learning/suite.py half_cheetah hopper --million 1 --seeds 3

Proximal policy optimization as in walk.py, observations and rewards scaled by what was seen so far. A score is the mean sum of
rewards of 128 episodes by the policy without noise. Needs pip install 'kumitate[learn,mjcf]'.
"""

import argparse
import time

import gymnasium
import numpy as np
import torch
from walk import HORIZON, Policy, improve, rollout

from kumitate.gym import TASKS

ENVS, EPISODES = 128, 128


class Scaled:
    """Environments whose observations have mean 0 and deviation 1, and whose discounted sums of rewards have deviation 1.

    Attributes:
        learns: whether the scale follows what is seen.
    """

    def __init__(self, envs: gymnasium.vector.VectorEnv, of: "Scaled | None" = None):
        self.envs, self.num_envs, self.learns = envs, envs.num_envs, of is None
        size = envs.single_observation_space.shape[0]
        self.mean, self.square, self.seen = (
            (np.zeros(size), np.ones(size), 1e-4) if of is None else (of.mean, of.square, of.seen)
        )
        self.sums, self.reward = np.zeros(self.num_envs), [0.0, 1.0, 1e-4]
        self.low, self.high = envs.single_action_space.low, envs.single_action_space.high

    def reset(self, seed: int) -> torch.Tensor:
        return torch.from_numpy(self._scaled(self.envs.reset(seed=seed)[0]))

    def step(self, actions: np.ndarray) -> tuple:
        # as the learners that scores are known of do: actions are clipped, not squashed
        observations, rewards, terminated, truncated, infos = self.envs.step(np.clip(actions, self.low, self.high))
        self.earned = rewards
        self.sums = 0.99 * self.sums + rewards
        mean, square, seen = self.reward
        self.reward[:] = _joined(mean, square, seen, self.sums.mean(), self.sums.var(), len(rewards))
        self.sums[terminated | truncated] = 0.0
        scaled = np.clip(rewards / np.sqrt(self.reward[1] + 1e-8), -10.0, 10.0)
        return self._scaled(observations), scaled, terminated, truncated, infos

    def _scaled(self, observations: np.ndarray) -> np.ndarray:
        if self.learns:
            new = observations.mean(0), observations.var(0), len(observations)
            self.mean, self.square, self.seen = _joined(self.mean, self.square, self.seen, *new)
        return np.clip((observations - self.mean) / np.sqrt(self.square + 1e-8), -10.0, 10.0).astype(np.float32)


def _joined(mean, square, seen, other_mean, other_square, others):
    """The mean, variance and number of two sets of numbers."""
    share = others / (seen + others)
    spread = (1.0 - share) * square + share * other_square + share * (1.0 - share) * (other_mean - mean) ** 2
    return mean + share * (other_mean - mean), spread, seen + others


def environments(name: str, where: str, count: int) -> gymnasium.vector.VectorEnv:
    """Environments of a task of the suite, "here" or in "MuJoCo"."""
    known = TASKS[name].id if where == "here" else TASKS[name].id.removeprefix("kumitate/")
    same = gymnasium.vector.AutoresetMode.SAME_STEP
    if where == "here":
        return gymnasium.make_vec(known, num_envs=count, autoreset_mode=same)
    return gymnasium.make_vec(known, num_envs=count, vectorization_mode="sync", vector_kwargs={"autoreset_mode": same})


def learn(name: str, where: str, most: float, seed: int) -> tuple[Policy, Scaled]:
    """A policy after so many steps of one environment, and the scale of its observations."""
    torch.manual_seed(seed)
    envs = Scaled(environments(name, where, ENVS))
    policy = Policy(envs.envs.single_observation_space.shape[0], len(envs.low))
    optimizer, observation = torch.optim.Adam(policy.parameters(), lr=3e-4), envs.reset(seed)
    for _ in range(round(most / (ENVS * HORIZON))):
        data, observation = rollout(envs, policy, observation)
        improve(policy, optimizer, data)
    envs.envs.close()
    return policy, envs


def score(name: str, where: str, policy: Policy, scale: Scaled) -> float:
    """The mean sum of rewards of first episodes, by the policy without noise."""
    envs = Scaled(environments(name, where, EPISODES), of=scale)
    observation, going, total = envs.reset(1000), np.ones(EPISODES, dtype=bool), np.zeros(EPISODES)
    while going.any():
        with torch.no_grad():
            action = policy.actor(torch.as_tensor(observation)).numpy()
        observation, _, terminated, truncated, _ = envs.step(action)
        total += np.where(going, envs.earned, 0.0)
        going &= ~(terminated | truncated)
    envs.envs.close()
    return float(total.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["inverted_double_pendulum", "reacher", "half_cheetah"])
    parser.add_argument("--million", type=float, default=1.0, help="steps of one environment, in millions")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in given.names:
        means = {}
        for where in ("here", "MuJoCo"):
            scores = []
            for seed in range(given.seeds):
                begin = time.perf_counter()
                policy, scale = learn(name, where, 1e6 * given.million, seed)
                passed, own = time.perf_counter() - begin, score(name, where, policy, scale)
                other = score(name, "MuJoCo" if where == "here" else "here", policy, scale)
                scores.append(own)
                print(f"{name}, learned {where}, seed {seed}: {own:.1f}; in the other {other:.1f}; {passed:.0f} s", flush=True)
            means[where] = np.mean(scores)
        print(f"{name}: {means['here']:.1f} here, {means['MuJoCo']:.1f} in MuJoCo, {means['here'] / means['MuJoCo'] - 1:+.1%}")


if __name__ == "__main__":
    main()
