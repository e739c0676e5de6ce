"""ANYmal walks over rough terrain, which it senses around itself: learned by proximal policy optimization, as in walk.py.

    python examples/learning/rough_walk.py --flat 8 --rough 30    # learns on a plane, then on rough strips, and walks
    python examples/learning/rough_walk.py --rough 0              # walks by the policy that is here, rough_walk.npz

leaves rough_walk.pt (to go on from, with --resume), rough_walk.npz (the policy), rough_walk.csv (the curve) and
rough_walk.html, a walk along a rough strip. To learn needs pip install 'kumitate[learn]', to walk 'kumitate[gym,robots,mesh]'.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.gym import Task, VectorEnv, named_task
from kumitate.gym.tasks.anymal_rough import PERIOD, STRIPS

NAME, ROUGHNESS = "anymal_rough", 0.2


class Learned:
    """The policy in a file: the mean of its actions, from observations (N, 67)."""

    def __init__(self, file: Path):
        with np.load(file) as arrays:
            self.layers = [(arrays[f"weight{k}"], arrays[f"bias{k}"]) for k in range(len(arrays.files) // 2)]

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        x = observations.astype(np.float32)
        for k, (weight, bias) in enumerate(self.layers):
            x = x @ weight.T.astype(np.float32) + bias
            if k + 1 < len(self.layers):
                x = np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))
        return x


def train(minutes: tuple[float, float], seed: int, count: int, folder: Path, resume: Path | None) -> None:
    """Learns for so long on a plane, then on rough ground; leaves policy and curve every minute."""
    import torch
    from walk import HORIZON, Policy, improve, rollout

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    saved = torch.load(resume, weights_only=False) if resume else {}
    policy: Any = None
    curve: list[tuple[float, ...]] = saved.get("curve", [])
    begin, before, steps = time.perf_counter(), *(curve[-1][:2] if curve else (0.0, 0.0))
    for roughness, span in zip((0.0, ROUGHNESS), minutes, strict=True):
        if span == 0.0:
            continue
        envs = VectorEnv(NAME, count, roughness=roughness, max_episode_steps=500, autoreset_mode="SameStep")
        if policy is None:
            policy = Policy(envs.single_observation_space.shape[0], envs.single_action_space.shape[0])
            optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
            if saved:
                policy.load_state_dict(saved["policy"])
                optimizer.load_state_dict(saved["optimizer"])
        observation, start, written = torch.from_numpy(envs.reset(seed=seed)[0]), time.perf_counter(), -60.0
        while (passed := time.perf_counter() - start) < 60.0 * span:
            data, observation = rollout(envs, policy, observation)
            improve(policy, optimizer, data)
            steps += count * HORIZON
            earned, ends = float(data["gain"].mean()) / envs.task.time, float(data["end"].mean())
            curve.append((before + time.perf_counter() - begin, steps, roughness, earned, ends, float(envs.levels.mean())))
            if passed > written + 60.0:
                written = passed
                print(
                    f"{curve[-1][0]:6.0f} s  {steps / 1e6:6.2f} M steps  heights to {roughness:g} m  reward {earned:.3f} a "
                    f"second, {100.0 * ends / envs.task.time:.1f} ends in 100 s, mean strip {envs.levels.mean():.2f}",
                    flush=True,
                )  # fmt: skip
                keep(folder, policy, optimizer, curve)
        keep(folder, policy, optimizer, curve)


def keep(folder: Path, policy: Any, optimizer: Any, curve: list[tuple[float, ...]]) -> None:
    """Writes what is learned: to go on from, to walk by, and the curve."""
    import torch

    torch.save({"policy": policy.state_dict(), "optimizer": optimizer.state_dict(), "curve": curve}, folder / "rough_walk.pt")
    layers = [part for part in policy.actor if hasattr(part, "weight")]
    arrays = {f"weight{k}": layer.weight.detach().numpy().astype(np.float16) for k, layer in enumerate(layers)}
    arrays |= {f"bias{k}": layer.bias.detach().numpy() for k, layer in enumerate(layers)}
    np.savez(folder / "rough_walk.npz", **arrays)
    with (folder / "rough_walk.csv").open("w", newline="") as file:
        titles = "seconds", "steps", "roughness", "reward a second", "ends a step", "mean strip"
        csv.writer(file).writerows([titles, *([f"{x:.6g}" for x in row] for row in curve)])


class Walking:
    """A policy that drives ANYmal in a run of its own: asked for every action, it gives the targets at every step."""

    def __init__(self, policy: Learned, task: Task, command: float):
        self.policy, self.task, self.command = policy, task, np.array([command])
        self.batch, self.step = task.simulation.batch(1), 0  # only to look
        self.action, self.around = np.zeros(task.action_size), None
        self.batch.inputs["command"][:] = command

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self.step % self.task.steps == 0:
            inputs, around = self.batch.inputs, self.task.sensed["around"][1](q[None], v[None])
            self.batch.q[:], self.batch.v[:] = q, v
            inputs["action"][:], inputs["phase"][:] = self.action, t / PERIOD  # its own time stays 0
            inputs["around"][:] = around if self.around is None else self.around  # sensed a step before, as when it learned
            self.batch.look()
            self.action, self.around = self.policy(self.batch.outputs["observation"])[0], around
        self.step += 1
        return self.task.inputs["target"](t, q, v, action=self.action, command=self.command, phase=np.zeros(1))


def walk(policy: Learned, strip: int, seconds: float, command: float) -> km.Run:
    """One walk along a strip, from standing, at a speed [m/s]."""
    task = named_task(NAME)
    start = task.begin(np.full((1, task.draws), 0.5), np.array([strip]))
    alone = km.Simulation(
        task.robot, inputs={"target": Walking(policy, task, command)}, step=task.simulation.step_size,
        integrator="semi_implicit_euler", contact=task.simulation.setup.contact, start=(start.q[0], np.zeros(task.robot.nv)),
    )  # fmt: skip
    return alone.run(duration=seconds)


def walks(policy: Learned, strip: int, count: int, seconds: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How far so many walks along a strip go [m], pushed as when learning, and which of them go on to the end."""
    envs = VectorEnv(NAME, count, autoreset_mode="SameStep")
    envs.levels[:] = strip
    observations, _ = envs.reset(seed=seed)
    far, going = np.zeros(count), np.ones(count, dtype=bool)
    for _ in range(round(seconds / envs.task.time)):
        observations, _, terminated, _, infos = envs.step(policy(observations))
        going &= ~terminated
        far[going] = infos["going"][going]
    return far, going


def main() -> None:
    """Learns, walks, and leaves the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flat", type=float, default=8.0, help="minutes to learn on a plane")
    parser.add_argument("--rough", type=float, default=30.0, help="minutes to learn on rough ground; 0 to walk alone")
    parser.add_argument("--seed", type=int, default=1, help="of nets, actions, starts and pushes")
    parser.add_argument("--environments", type=int, default=512, help="side by side")
    parser.add_argument("--folder", type=Path, default=Path(), help="for the files")
    parser.add_argument("--resume", type=Path, help="a rough_walk.pt to go on from")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    if options.rough > 0.0:
        train((options.flat, options.rough), options.seed, options.environments, options.folder, options.resume)
    policy = Learned((options.folder if options.rough > 0.0 else Path(__file__).parent) / "rough_walk.npz")
    for strip in (0, 5, 7, STRIPS - 1):
        far, going = walks(policy, strip, 100, 15.0, options.seed)
        height = ROUGHNESS * strip / (STRIPS - 1)
        print(f"heights to {height:.3f} m: {going.sum()} of {len(going)} walks go on for 15 s, over {far[going].mean():.1f} m")
    run = walk(policy, 7, 15.0, 0.6)
    print(
        f"walked {run.q[-1, 4] - run.q[0, 4]:.2f} m ahead and {run.q[-1, 5] - run.q[0, 5]:.2f} m aside in {run.time[-1]:.0f} s"
    )
    print(f"wrote {run.page(options.folder / 'rough_walk.html', title='ANYmal walks over rough terrain')}")


if __name__ == "__main__":
    main()
