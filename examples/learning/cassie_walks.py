"""Cassie walks: learned by proximal policy optimization (Schulman et al. 2017), as in walk.py, with springs and closed loops.

    python examples/learning/cassie_walks.py --minutes 30         # learns, then walks
    python examples/learning/cassie_walks.py --minutes 0          # walks by the policy that is here, cassie_walks.npz

leaves cassie_walks.pt (to go on from, with --resume), cassie_walks.npz (the policy), cassie_walks.csv (the curve) and
cassie_walks.html: a walk of 26 s at 0.8 m/s. To learn needs pip install 'kumitate[learn]', to walk 'kumitate[gym,robots,mesh]'.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.gym import Task, VectorEnv, named_task
from kumitate.gym.tasks.cassie_walking import PERIOD

#: What an action and an observation become in a mirror: the other leg's numbers, and roll and yaw with the other sign.
OTHER = np.roll(np.arange(10), 5)
TURNED = np.tile([-1.0, -1.0, 1.0, 1.0, 1.0], 2)
PLACES = np.concatenate([np.arange(13), *(start + OTHER for start in (13, 23, 33))])
SIGNS = np.concatenate([[1, -1, 1], [-1, 1, -1], [1, -1, 1], [-1], [-1, -1], [1], TURNED, TURNED, TURNED])
#: Where an observation has the sine of the clock: it is negative while the right foot is lifted.
SINE = 10


class OneSided:
    """Environments in which the left foot is always the one that is lifted: while the right one is, they are seen in a mirror.

    A policy that only knows this half walks alike on both sides, and learns from each step for both. Observations are scaled.

    Attributes:
        mean, deviation: of observations so far, by which they are scaled; `seen`: how many there were.
    """

    def __init__(self, envs: VectorEnv, scale: tuple[np.ndarray, np.ndarray, float] | None = None):
        self.envs, self.num_envs, self.task = envs, envs.num_envs, envs.task
        size = envs.single_observation_space.shape[0]
        self.mean, self.deviation, self.seen = scale or (np.zeros(size), np.ones(size), 0.0)
        self._kept: list[np.ndarray] = []

    def reset(self, seed: int) -> np.ndarray:
        return self._faced(self.envs.reset(seed=seed)[0])

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        observations, *others = self.envs.step(mirrored_actions(actions, self.right))
        return self._faced(observations), *others

    def rescale(self) -> None:
        """Takes what was seen since the last time into the scale."""
        new, self._kept = np.concatenate(self._kept), []
        mean, square, share = new.mean(0), new.var(0), len(new) / (self.seen + len(new))
        spread = (1.0 - share) * self.deviation**2 + share * square + share * (1.0 - share) * (mean - self.mean) ** 2
        self.mean, self.deviation = self.mean + share * (mean - self.mean), np.sqrt(spread)
        self.seen = min(self.seen + len(new), 5e6)

    def _faced(self, observations: np.ndarray) -> np.ndarray:
        faced, self.right = mirrored(observations)
        self._kept.append(faced)
        return scaled(faced, self.mean, self.deviation)


def mirrored(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Observations with the left foot lifted, and which of them (N, 1) had the right one lifted."""
    right = observations[:, SINE, None] < 0.0
    return np.where(right, observations[:, PLACES] * SIGNS, observations), right


def mirrored_actions(actions: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Actions for these observations as the robot takes them."""
    return np.where(right, actions[:, OTHER] * TURNED, actions)


def scaled(faced: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Observations with the mean zero and the deviation one, none beyond 8."""
    return np.clip((faced - mean) / (deviation + 1e-2), -8.0, 8.0).astype(np.float32)


class Learned:
    """The policy in a file: the mean of its actions, from observations (N, 43) as the task has them."""

    def __init__(self, file: Path):
        with np.load(file) as arrays:
            self.mean, self.deviation = arrays["mean"], arrays["deviation"]
            self.layers = [(arrays[f"weight{k}"], arrays[f"bias{k}"]) for k in range(len(arrays.files) // 2 - 1)]

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        faced, right = mirrored(observations)
        x = scaled(faced, self.mean, self.deviation)
        for k, (weight, bias) in enumerate(self.layers):
            x = x @ weight.T + bias
            if k + 1 < len(self.layers):
                x = np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))
        return mirrored_actions(x, right)


def train(minutes: float, seed: int, count: int, folder: Path, resume: Path | None) -> None:
    """Learns for so long; leaves policy and curve every minute."""
    import torch
    from walk import HORIZON, Policy, improve, rollout

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    saved = torch.load(resume, weights_only=False) if resume else {}
    plain = VectorEnv("cassie_walking", count, max_episode_steps=500, autoreset_mode="SameStep")
    envs = OneSided(plain, saved.get("scale"))
    policy = Policy(plain.single_observation_space.shape[0], plain.single_action_space.shape[0])
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-4)
    if saved:
        policy.load_state_dict(saved["policy"])
        optimizer.load_state_dict(saved["optimizer"])
    curve: list[tuple[float, ...]] = saved.get("curve", [])
    before, steps = (curve[-1][0], int(curve[-1][1])) if curve else (0.0, 0)
    begin, written, busy = time.perf_counter(), 0.0, time.process_time()
    observation = torch.from_numpy(envs.reset(seed=seed + steps))
    while (passed := time.perf_counter() - begin) < 60.0 * minutes:
        data, observation = rollout(envs, policy, observation)
        improve(policy, optimizer, data)
        envs.rescale()
        steps += count * HORIZON
        earned, ends = float(data["gain"].mean()) / plain.task.time, float(data["end"].mean())
        off = np.abs(plain.batch.outputs["going"][:, 0] - plain.batch.inputs["command"][:, 0]).mean()
        curve.append((before + time.perf_counter() - begin, steps, earned, ends, off, time.process_time() - busy))
        if passed > written + 60.0 or not written:
            print(
                f"{curve[-1][0]:6.0f} s  {steps / 1e6:6.2f} M steps  reward {earned:.3f} a second, an episode ends after "
                f"{plain.task.time / max(ends, 1e-9):.1f} s, speed {off:.3f} m/s off"
            )
            written = max(passed, 1e-9)
            keep(folder, policy, optimizer, envs, curve)
    keep(folder, policy, optimizer, envs, curve)


def keep(folder: Path, policy: Any, optimizer: Any, envs: OneSided, curve: list[tuple[float, ...]]) -> None:
    """Writes what is learned: to go on from, to walk by, and the curve."""
    import torch

    scale = envs.mean, envs.deviation, envs.seen
    state = {"policy": policy.state_dict(), "optimizer": optimizer.state_dict(), "scale": scale, "curve": curve}
    torch.save(state, folder / "cassie_walks.pt")
    layers = [part for part in policy.actor if hasattr(part, "weight")]
    arrays = {f"weight{k}": layer.weight.detach().numpy() for k, layer in enumerate(layers)}
    arrays |= {f"bias{k}": layer.bias.detach().numpy() for k, layer in enumerate(layers)}
    np.savez(
        folder / "cassie_walks.npz", mean=envs.mean.astype(np.float32), deviation=envs.deviation.astype(np.float32), **arrays
    )
    with (folder / "cassie_walks.csv").open("w", newline="") as file:
        titles = "seconds", "steps", "reward a second", "ends a step", "speed off", "processor seconds"
        csv.writer(file).writerows([titles, *([f"{x:.6g}" for x in row] for row in curve)])


class Walking:
    """A policy that drives Cassie in a run of its own: asked for every action, it gives the targets at every step."""

    def __init__(self, policy: Learned, task: Task, command: float):
        self.policy, self.task, self.command = policy, task, np.array([command])
        self.action, self.step = np.zeros(task.action_size), 0
        self.batch = task.simulation.batch(1)  # only to look
        self.batch.inputs["command"][:] = command

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self.step % self.task.steps == 0:
            self.batch.q[:], self.batch.v[:] = q, v
            self.batch.inputs["action"][:], self.batch.inputs["phase"][:] = self.action, t / PERIOD  # its own time stays 0
            self.batch.look()
            self.action = self.policy(self.batch.outputs["observation"])[0]
        self.step += 1
        return self.task.inputs["target"](t, q, v, action=self.action, command=self.command, phase=np.zeros(1))


def walk(policy: Learned, seconds: float, command: float) -> km.Run:
    """One walk along x, from standing, at a speed [m/s]."""
    task = named_task("cassie_walking")
    sim, start = task.simulation, task.simulation.start()
    alone = km.Simulation(
        task.robot, inputs={"target": Walking(policy, task, command)}, step=sim.step_size, integrator="semi_implicit_euler",
        contact=km.Contact(surface=km.Surface(friction=0.8)), start=(start.q, start.v), sample_time=sim.step_size,
    )  # fmt: skip
    return alone.run(duration=seconds)


def pushed(policy: Learned, seed: int, count: int, force: float, seconds: float = 0.2) -> np.ndarray:
    """Which of so many walks at 0…1 m/s go on for 5 s after a push of the pelvis [N] in a horizontal direction.

    All are pushed once, for so long, after 3 s and at most one period of the clock more.
    """
    envs = VectorEnv("cassie_walking", count)
    envs.reset(seed=seed)
    time, batch, numbers = envs.task.time, envs.batch, np.random.default_rng(seed)
    angle, when = 2.0 * np.pi * numbers.random(count), 3.0 + PERIOD * numbers.random(count)
    along, fallen = force * np.stack([np.cos(angle), np.sin(angle)], axis=1), np.zeros(count, dtype=bool)
    for now in time * np.arange(round((8.0 + PERIOD) / time)):
        batch.inputs["action"][:] = policy(batch.outputs["observation"])
        batch.wrenches["pelvis"][:, 3:5] = np.where(((now >= when) & (now < when + seconds))[:, None], along, 0.0)
        batch.step(envs.task.steps)
        fallen |= (batch.outputs["terminated"] > 0.5) | batch.lost
    return ~fallen


def main() -> None:
    """Learns, walks, is pushed, and leaves the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0, help="to learn for; 0 to walk alone")
    parser.add_argument("--seed", type=int, default=1, help="of nets, actions, starts and pushes")
    parser.add_argument("--environments", type=int, default=512, help="side by side")
    parser.add_argument("--folder", type=Path, default=Path(), help="for the files")
    parser.add_argument("--resume", type=Path, help="a cassie_walks.pt to go on from")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    if options.minutes > 0.0:
        train(options.minutes, options.seed, options.environments, options.folder, options.resume)
    policy = Learned((options.folder if options.minutes > 0.0 else Path(__file__).parent) / "cassie_walks.npz")
    run = walk(policy, 26.0, 0.8)
    gap = max(gap.distance for gap in run.audit.loop_gaps)
    print(
        f"walked {run.q[-1, 4]:.2f} m ahead and {run.q[-1, 5]:.2f} m aside in {run.time[-1]:.0f} s, loops open by {gap:.1e} m"
    )
    going_on = pushed(policy, options.seed, 100, 50.0)
    print(f"pushed by 50 N for 0.2 s, {going_on.sum()} of {len(going_on)} walks go on")
    print(f"wrote {run.page(options.folder / 'cassie_walks.html', title='Cassie walks')}")


if __name__ == "__main__":
    main()
