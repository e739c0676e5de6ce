"""The quadruped ANYmal trots ahead by predictive sampling: its plans are variations of a gait, simulated in one batch.

    python examples/control/anymal_trots.py --push 300 --toward 90

leaves anymal_trots.html (playback beside the graphs) and anymal_trots.png (velocity, height, feet on the floor). With
--pushes it is pushed in eight directions with two strengths, one run each, and prints which ones it survives.
Needs pip install 'kumitate[robots,plot]'.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
import kumitate.papers
from kumitate.contact import Contact, Surface
from kumitate.examples.gallery.quadruped_standing import ANGLES, FEET, FILE
from kumitate.examples.legged import Stance, legged
from kumitate.model import Mechanism, PositionDrive
from kumitate.predictive import SamplingPlanner

#: The commanded velocity ahead [m/s], and the height of the base [m].
SPEED, HEIGHT = 0.5, 0.47
#: The gait: its period [s], how far the thighs lift and swing [rad].
PERIOD, LIFT, SWING = 0.5, 0.25, 0.1
#: Plans: their step, how long an action is kept, how far they reach [s]; and how many are simulated at a time.
STEP, INTERVAL, HORIZON, SAMPLES = 0.01, 0.02, 0.5, 64
#: The push on the base: begin and end [s].
BEGIN, END = 2.0, 2.1
FLOOR = Contact(surface=Surface(friction=0.8))
#: That of plans: by a method that takes less time, and obeys the laws of contact less exactly.
PLANNED_FLOOR = replace(FLOOR, model="multipoint")


def anymal() -> Mechanism:
    """The robot with position drives of 80 N·m/rad in its twelve joints."""
    return legged(FILE, FEET).with_drives(dict.fromkeys(ANGLES, PositionDrive(kp=80.0, kd=2.0)))


def gait(robot: Mechanism) -> Any:
    """t → targets of the drives: diagonal legs together, each lifted for half of the period, swinging ahead meanwhile."""
    names = [joint.name for joint in robot.driven]
    posture = np.array([ANGLES[name] for name in names])
    thigh = np.array([name.endswith("HFE") for name in names], dtype=float)
    knee = np.array([name.endswith("KFE") for name in names], dtype=float)
    lifts = LIFT * (thigh * np.sign(posture) + 2.0 * knee * np.sign(posture))
    late = np.array([0.0 if name[:2] in ("LF", "RH") else np.pi for name in names])

    def targets(t: Any) -> Any:
        phase = 2.0 * np.pi * t / PERIOD + late
        return posture + lifts * km.where(np.sin(phase) > 0.0, np.sin(phase), 0.0) - SWING * thigh * np.cos(phase)

    return targets


def cost(t, q, v, tau, change):
    """Per second: of the velocity, the direction, the height, the lean, the rates of the base, efforts, and another gait."""
    x, y, z, w = q[:4]
    heading = 10.0 * (2.0 * (x * y + z * w)) ** 2 + 2.0 * v[2] ** 2
    upright = 80.0 * (x * x + y * y) + 0.2 * (v[0] ** 2 + v[1] ** 2)
    height = 100.0 * (q[6] - HEIGHT) ** 2 + 0.5 * v[5] ** 2
    effort = 1e-4 * np.sum(tau[6:] ** 2) + np.sum(change**2)
    return 10.0 * (v[3] - SPEED) ** 2 + 4.0 * v[4] ** 2 + heading + upright + height + effort


class Trot:
    """The targets of the drives at (t, q, v): those of the gait and the planned change, renewed after every interval.

    Attributes:
        seconds: processor time of each plan [s].
    """

    def __init__(self, robot: Mechanism, q: np.ndarray, seed: int, samples: int = SAMPLES):
        self.gait, self.seconds, self.change = gait(robot), [], np.zeros(len(robot.driven))
        usual = self.gait
        self.plans = km.Simulation(
            robot, step=STEP, integrator="semi_implicit_euler", contact=PLANNED_FLOOR, start=(q, np.zeros(robot.nv)),
            inputs={"change": len(robot.driven), "target": lambda t, q, v, change: usual(t) + change},
            outputs={"cost": cost},
        )  # fmt: skip
        self.planner = SamplingPlanner(
            self.plans, "cost", action="change", interval=INTERVAL, horizon=HORIZON, samples=samples, spread=0.1,
            bounds=(-0.6, 0.6), temperature=0.05, correlation=0.9, seed=seed,
        )  # fmt: skip
        self._next = 0.0

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > self._next - 1e-9:
            state = replace(self.plans.start(q, v), time=t)
            begin = time.process_time()
            self.change = self.planner(state)
            self.seconds.append(time.process_time() - begin)
            self._next += INTERVAL
        return self.gait(t) + self.change


def trotted(
    duration: float, push: tuple[float, float] = (0.0, 0.0), seed: int = 0, samples: int = SAMPLES
) -> tuple[km.Run, Trot]:
    """The run, in steps of 2 ms, under a force ahead and to the left [N] on the base for 0.1 s, which plans do not know."""
    robot = anymal()
    q = np.array(Stance(robot, ANGLES, stiffness=0.0, damping=0.0).q)
    trot = Trot(robot, q, seed, samples)

    def pushed(t, q, v):
        on = (t >= BEGIN) & (t < END)
        return km.where(on, np.array([0.0, 0.0, 0.0, *push, 0.0]), np.zeros(6))

    sim = km.Simulation(
        robot, step=2e-3, integrator="semi_implicit_euler", contact=FLOOR, inputs={"target": trot}, sample_time=STEP,
        wrenches={"base": pushed}, start=(q, np.zeros(robot.nv)),
    )  # fmt: skip
    return sim.run(duration=duration, until=lambda t, q, v: bool(fallen(q))), trot


def fallen(q: np.ndarray) -> Any:
    """Whether the base is low, or leans by more than 60°."""
    return (q[..., 6] < 0.25) | (q[..., 0] ** 2 + q[..., 1] ** 2 > 0.25)


def force(strength: float, toward: float) -> tuple[float, float]:
    """Ahead and to the left [N], of a strength [N] and a direction [deg] from ahead to the left."""
    return strength * float(np.cos(np.radians(toward))), strength * float(np.sin(np.radians(toward)))


def survived(strengths: tuple[float, ...], duration: float, seed: int) -> None:
    """Pushes in eight directions, and prints what comes of each."""
    for strength in strengths:
        up, seconds = 0, []
        for toward in range(0, 360, 45):
            run, trot = trotted(duration, force(strength, toward), seed)
            stands, late = not fallen(run.q[-1]), run.time > duration - 1.0
            up, seconds = up + stands, seconds + trot.seconds
            print(f"  {strength:.0f} N toward {toward:3d}°: " + (f"{run.v[late, 3].mean():.2f} m/s in the last second, "
                  f"{run.q[-1, 5]:+.2f} m aside" if stands else f"falls after {run.time[-1]:.2f} s"))  # fmt: skip
        print(f"{strength:.0f} N for {END - BEGIN:.1f} s: {up} of 8 survived; {rate(seconds)}")


def rate(seconds: list[float]) -> str:
    """How long plans take."""
    each = np.array(seconds)
    return (f"a plan takes {1e3 * np.median(each):.1f} ms of processor time ({1e3 * each.min():.1f} to "
            f"{1e3 * each.max():.1f}): {1.0 / np.median(each):.0f} Hz")  # fmt: skip


def draw(run: km.Run, path: Path, pushed: bool) -> None:
    """Velocity and height of the base, and which feet touch the floor."""
    import matplotlib.pyplot as plt

    figure, (speed, height, feet) = plt.subplots(3, sharex=True, figsize=(7.0, 6.5), layout="constrained")
    speed.plot(run.time, run.v[:, 3], label="ahead")
    speed.plot(run.time, run.v[:, 4], label="to the left")
    speed.axhline(SPEED, color="0.5", linestyle=":", label="commanded")
    speed.set_ylabel("velocity of the base [m/s]")
    height.plot(run.time, run.q[:, 6])
    height.set_ylabel("height of the base [m]")
    for k, foot in enumerate(reversed(FEET)):
        mine = [j for j, (body, _) in enumerate(run.contact.bodies) if body == foot]
        touches = (run.contact.normal_force[:, mine] > 0.0).any(axis=1)
        feet.fill_between(run.time, k - 0.35, k + 0.35, where=touches, step="post", color="C0", linewidth=0.0)
    feet.set_yticks(range(4), [foot.removesuffix("_FOOT") for foot in reversed(FEET)])
    feet.set_ylabel("feet on the floor")
    feet.set_xlabel("time [s]")
    if pushed:
        for axes in (speed, height, feet):
            axes.axvspan(BEGIN, END, color="0.8", zorder=0, label="push")
    speed.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Simulates and draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--push", type=float, default=300.0, help="strength [N]")
    parser.add_argument("--toward", type=float, default=90.0, help="direction [deg] from ahead to the left")
    parser.add_argument("--pushes", action="store_true", help="eight directions, this strength and twice as much")
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of a run")
    parser.add_argument("--seed", type=int, default=0, help="of the variations")
    parser.add_argument("--out", type=Path, default=Path(), help="folder")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    if given.pushes:
        survived((given.push, 2.0 * given.push), given.seconds, given.seed)
        return
    run, trot = trotted(given.seconds, force(given.push, given.toward), given.seed)
    print(f"went {run.q[-1, 4]:.2f} m ahead and {run.q[-1, 5]:+.2f} m aside in {run.time[-1]:.1f} s; {rate(trot.seconds)}")
    draw(run, given.out / "anymal_trots.png", given.push != 0.0)
    run.page(given.out / "anymal_trots.html", title="ANYmal trots")


if __name__ == "__main__":
    main()
