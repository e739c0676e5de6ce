"""ANYmal learns to walk: proximal policy optimization (Schulman et al. 2017) in PyTorch, on one machine without a GPU.

    python examples/learning/walk.py --million 8

leaves walk.pt (the policy), walk.csv and walk.png (the curve), and walk.html: the walker, simulated again as one run.
Needs pip install 'kumitate[learn]'.
"""

import argparse
import csv
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np
import torch
from torch import nn

import kumitate as km
from kumitate.gym import Task, VectorEnv, named_task

HORIZON, EPOCHS, PARTS = 24, 4, 4
KEPT = ("observation", "action", "chance", "value", "gain", "earned", "end")
GAMMA, LAMBDA, CLIP, ENTROPY, KL = 0.99, 0.95, 0.2, 0.003, 0.01


class Policy(nn.Module):
    """What to do (the mean of a normal distribution), and what it is worth."""

    def __init__(self, observed: int, actions: int):
        super().__init__()
        self.actor, self.critic = self._layers(observed, actions), self._layers(observed, 1)
        self.log_std = nn.Parameter(torch.full((actions,), -1.0))
        nn.init.uniform_(self.actor[-1].weight, -1e-3, 1e-3)

    @staticmethod
    def _layers(size: int, outputs: int) -> nn.Sequential:
        widths = [size, 128, 64, 32]
        layers = [part for a, b in pairwise(widths) for part in (nn.Linear(a, b), nn.ELU())]
        return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))

    def actions(self, observation: torch.Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(self.actor(observation), self.log_std.exp())

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        return self.critic(observation)[..., 0]


def rollout(envs: VectorEnv, policy: Policy, observation: torch.Tensor) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """HORIZON steps of all environments, with their advantages; and the observation after them."""
    kept: dict[str, list[torch.Tensor]] = {name: [] for name in KEPT}
    with torch.no_grad():
        for _ in range(HORIZON):
            choice = policy.actions(observation)
            action, value = choice.sample(), policy.value(observation)
            after, reward, terminated, truncated, _ = envs.step(action.numpy())
            # an episode that was cut off would have gone on to earn about what it was worth
            gain = torch.from_numpy(reward).float()
            earned = gain + GAMMA * value * torch.from_numpy(truncated & ~terminated)
            end = torch.from_numpy(terminated | truncated).float()
            seen = (observation, action, choice.log_prob(action).sum(-1), value, gain, earned, end)
            for name, part in zip(KEPT, seen, strict=True):
                kept[name].append(part)
            observation = torch.from_numpy(after)
        data = {name: torch.stack(parts) for name, parts in kept.items()}
        following, running = policy.value(observation), torch.zeros(envs.num_envs)
        advantage = torch.zeros_like(data["gain"])
        for k in reversed(range(HORIZON)):
            going = 1.0 - data["end"][k]
            running = data["earned"][k] + GAMMA * following * going - data["value"][k] + GAMMA * LAMBDA * going * running
            advantage[k], following = running, data["value"][k]
    data["return"] = advantage + data["value"]
    data["advantage"] = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    return {name: part.flatten(0, 1) for name, part in data.items()}, observation


def improve(policy: Policy, optimizer: torch.optim.Optimizer, data: dict[str, torch.Tensor]) -> None:
    """Gradient steps on what was seen; the rate follows how much the policy changes."""
    count = len(data["return"])
    for _ in range(EPOCHS):
        for part in torch.randperm(count).chunk(PARTS):
            choice = policy.actions(data["observation"][part])
            log_ratio = choice.log_prob(data["action"][part]).sum(-1) - data["chance"][part]
            ratio, advantage = log_ratio.exp(), data["advantage"][part]
            gain = torch.minimum(ratio * advantage, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * advantage).mean()
            miss = (policy.value(data["observation"][part]) - data["return"][part]).square().mean()
            loss = miss - gain - ENTROPY * choice.entropy().sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            changed = float((ratio - 1.0 - log_ratio).detach().mean())
            for group in optimizer.param_groups:
                rate = group["lr"] / 1.5 if changed > 2.0 * KL else group["lr"] * 1.5 if changed < 0.5 * KL else group["lr"]
                group["lr"] = min(max(rate, 1e-5), 1e-3)
            optimizer.step()


def train(most: float, seed: int, count: int, folder: Path) -> Policy:
    """Learns from so many steps of one environment; leaves policy and curve."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the nets are small: threads that wait for each other cost more than they bring
    envs = gymnasium.make_vec("kumitate/Anymal-v0", num_envs=count, autoreset_mode="SameStep")
    policy = Policy(envs.single_observation_space.shape[0], envs.single_action_space.shape[0])
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    first, _ = envs.reset(seed=seed)
    observation, begin, curve, steps = torch.from_numpy(first), time.perf_counter(), [], 0
    while steps < most:
        data, observation = rollout(envs, policy, observation)
        improve(policy, optimizer, data)
        steps, passed = steps + count * HORIZON, time.perf_counter() - begin
        step_reward = float(data["gain"].mean()) / envs.unwrapped.task.time
        curve.append((passed, steps, step_reward, float(data["end"].mean())))
        if len(curve) % 20 == 1:
            print(f"{passed:6.0f} s  {steps / 1e6:6.2f} M steps  {steps / passed:7.0f}/s  reward {step_reward:.3f} a second")
    torch.save(policy.state_dict(), folder / "walk.pt")
    with (folder / "walk.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("seconds", "steps", "reward a second", "ends a step"), *curve])
    return policy


class Walking:
    """A policy that drives ANYmal in a run of its own: asked every few steps, with what the environment would show it.

    It gives the targets of the drives, at every step of the simulation, as the environment does.
    """

    def __init__(self, policy: Policy, task: Task, command: np.ndarray):
        self.policy, self.task, self.command = policy, task, command
        self.target = task.inputs["target"]
        self.action, self.step = np.zeros(task.action_size), 0
        self.batch = task.simulation.batch(1)  # only to look
        self.batch.inputs["command"][:] = command

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self.step % self.task.steps == 0:
            self.batch.q[:], self.batch.v[:], self.batch.inputs["action"][:] = q, v, self.action
            self.batch.look()
            seen = torch.from_numpy(self.batch.outputs["observation"].astype(np.float32))
            with torch.no_grad():
                self.action = self.policy.actor(seen)[0].numpy().astype(float)
        self.step += 1
        return self.target(t, q, v, action=self.action)


def walk(policy: Policy, seconds: float, command: Sequence[float]) -> km.Run:
    """One walk with a command: ahead, aside [m/s], turning [rad/s]."""
    task = named_task("anymal")
    sim, start = task.simulation, task.simulation.start()
    target = Walking(policy, task, np.array(command))
    alone = km.Simulation(
        task.robot, inputs={"target": target}, step=sim.step_size, integrator="semi_implicit_euler",
        contact=km.Contact(surface=km.Surface(friction=0.8)), start=(start.q, start.v), sample_time=sim.step_size,
    )  # fmt: skip
    return alone.run(duration=seconds)


def draw(folder: Path) -> None:
    """The curve, from walk.csv."""
    import matplotlib.pyplot as plt

    table = np.genfromtxt(folder / "walk.csv", delimiter=",", skip_header=1)
    figure, axes = plt.subplots(figsize=(6.0, 3.5), layout="constrained")
    axes.plot(table[:, 1] / 1e6, table[:, 2])
    axes.set_xlabel("steps of one environment [million]")
    axes.set_ylabel("reward a second, at most 1.5")
    figure.savefig(folder / "walk.png", dpi=120)


def main() -> None:
    """Learns, walks, and leaves the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--million", type=float, default=8.0, help="steps of one environment to learn from")
    parser.add_argument("--seed", type=int, default=1, help="of nets, actions and starts")
    parser.add_argument("--environments", type=int, default=1024, help="side by side")
    parser.add_argument("--folder", type=Path, default=Path(), help="for the files")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    learned = train(1e6 * options.million, options.seed, options.environments, options.folder)
    draw(options.folder)
    run = walk(learned, 15.0, (0.8, 0.0, 0.0))
    print(f"walked {run.q[-1, 4]:.2f} m ahead and {run.q[-1, 5]:.2f} m aside in {run.time[-1]:.0f} s")
    print(f"wrote {run.page(options.folder / 'walk.html', title='ANYmal walks')}")


if __name__ == "__main__":
    main()
