"""The two-legged robot Cassie squats and stands up again: the targets of its ten drives are found by iterative LQR.

    python examples/control/cassie_squats.py --depth 0.15

leaves cassie_squats.html (playback beside the graphs) and cassie_squats.png (height, efforts of the motors). Its legs are
closed loops with springs. Plans hold the feet to the floor by hinges along the soles, so that their steps are smooth; the
motion itself is on a floor of rigid contact, by the targets and feedback that were found.
Needs pip install 'kumitate[robots,plot]'.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.contact import Contact, Surface
from kumitate.examples.gallery.cassie import standing
from kumitate.kinematics import link_poses, place_pose
from kumitate.model import Joint, Loop, Mechanism
from kumitate.predictive import OptimizedMotion, iterated_lqr

#: The step of plans, and how long standing still and each way take [s].
STEP, STILL, DURATION = 5e-3, 0.5, 0.75
FLOOR = Contact(surface=Surface(friction=0.8))


def balls(robot: Mechanism, q: np.ndarray) -> tuple[Mechanism, np.ndarray]:
    """The robot with ball joints at both ends of the Achilles rods, and its coordinates.

    The file has hinges at the heels whose axes are 4.5° off the others', so that the knees bend little without the springs.
    """
    old = [joint for joint in robot.joints if joint.name.endswith("achilles-spring-joint")]
    ball = {joint.name: Joint(joint.name, "spherical", joint.parent, joint.child, joint.pose, damping=0.01) for joint in old}
    kept = dict(zip(robot.q_names, q, strict=True))
    robot = replace(robot, joints=tuple(ball.get(joint.name, joint) for joint in robot.joints))
    start = [kept.get(name, float(name.endswith("qw"))) for name in robot.q_names]
    return robot, np.array(start)


def held(robot: Mechanism, q: np.ndarray) -> Mechanism:
    """The robot, each foot held to the floor by a hinge through the centers of the spheres under it."""
    poses, hinges = link_poses(robot.tree, q.tolist()), []
    for foot in (body for body in robot.bodies if body.collisions):
        end = foot.collisions[0].pose  # its z axis points to the other sphere
        place = place_pose(robot.tree, poses, robot.tree.places[foot.name])
        hinges.append(Loop(f"{foot.name}-on-floor", "revolute", "world", foot.name, place @ end, end))
    bodies = tuple(replace(body, collisions=()) for body in robot.bodies)
    return replace(robot, name="cassie_held", bodies=bodies, loops=(*robot.loops, *hinges))


class Squat:
    """A simulation with held feet, and what its motions cost."""

    def __init__(self) -> None:
        self.robot, self.start = balls(*standing())
        m = held(self.robot, self.start)
        self.sim = km.Simulation(
            m, step=STEP, integrator="semi_implicit_euler", limits=False, start=(self.start, np.zeros(m.nv))
        )
        names = [joint.name for joint in m.driven]
        self.angles, self.rates = [m.q_names.index(name) for name in names], [m.v_names.index(name) for name in names]
        self.kp, self.kd = (np.array([getattr(joint.drive, gain) for joint in m.driven]) for gain in ("kp", "kd"))

    def efforts(self, q: Any, v: Any, targets: Any) -> Any:
        """Of the motors [N·m], for states and targets with any leading axes."""
        return self.kp * (targets - q[..., self.angles]) - self.kd * v[..., self.rates]

    def to(self, height: float, q: np.ndarray, v: np.ndarray, duration: float, rounds: int = 15) -> OptimizedMotion:
        """The motion from a state to rest with the pelvis at a height above the start [m]: upright, with small efforts."""
        goal = self.start[6] + height

        def upright(q: Any, v: Any) -> Any:
            return np.concatenate([30.0 * q[:3], 30.0 * (q[4:6] - self.start[4:6]), v[:6], 0.03 * v[6:]])

        def running(q: Any, v: Any, u: Any) -> Any:
            return np.concatenate([upright(q, v), np.array([4.0 * (q[6] - goal)]), 0.005 * self.efforts(q, v, u)])

        def final(q: Any, v: Any) -> Any:
            return np.concatenate([10.0 * upright(q, v), np.array([500.0 * (q[6] - goal)])])

        guess = np.tile(q[self.angles], (round(duration / STEP), 1))  # the posture that it begins with
        return iterated_lqr(self.sim, running, final, guess, q=q, v=v, action="target", rounds=rounds, tolerance=1e-4)

    def planned(self, ways: list[tuple[float, float]]) -> list[OptimizedMotion]:
        """Motions to heights [m], each in a time [s], one after another."""
        found, q, v = [], self.start, np.zeros(self.sim.mechanism.nv)
        for height, duration in ways:
            begin = time.process_time()
            found.append(self.to(height, *self.sim.robot.assemble(q, v)[:2], duration))
            seconds, (q, v) = time.process_time() - begin, (found[-1].q[-1], found[-1].v[-1])
            print(f"to {height:+.2f} m in {duration} s: costs {', '.join(f'{cost:.4g}' for cost in found[-1].cost)}; "
                  f"{1e3 * abs(q[6] - self.start[6] - height):.1f} mm off; {seconds:.1f} s of processor time")  # fmt: skip
        return found

    def on_floor(self, plans: list[OptimizedMotion]) -> km.Run:
        """The run with contact of the feet, in finer steps: the targets of the plans with their feedback."""
        q, v = (np.concatenate([getattr(plan, part)[:-1] for plan in plans]) for part in ("q", "v"))
        targets, gains = (np.concatenate([getattr(plan, part) for plan in plans]) for part in ("actions", "gains"))

        def target(t: float, q_now: np.ndarray, v_now: np.ndarray) -> np.ndarray:
            k = min(int(t / STEP + 0.5), len(targets) - 1)
            return targets[k] + gains[k] @ np.concatenate([self.sim.robot.difference(q[k], q_now), v_now - v[k]])

        sim = km.Simulation(
            self.robot, step=0.5 * STEP, integrator="semi_implicit_euler", contact=FLOOR, sample_time=STEP,
            inputs={"target": target}, start=(self.start, np.zeros(self.robot.nv)),
        )  # fmt: skip
        return sim.run(duration=len(targets) * STEP)


def draw(squat: Squat, run: km.Run, goals: np.ndarray, path: Path) -> None:
    """The height of the pelvis with its goals, and the efforts of the left leg's motors."""
    import matplotlib.pyplot as plt

    figure, (height, efforts) = plt.subplots(2, sharex=True, figsize=(7.0, 5.5), layout="constrained")
    height.plot(run.time, run.q[:, 6] - squat.start[6], label="on the floor")
    height.step(STEP * np.arange(len(goals)), goals, where="post", color="0.5", linestyle=":", label="goal")
    height.set_ylabel("pelvis above its start [m]")
    height.legend(frameon=False)
    for row in squat.rates[:5]:
        efforts.plot(run.time, run.tau[:, row], label=squat.robot.v_names[row])
    efforts.set_ylabel("effort [N·m]")
    efforts.set_xlabel("time [s]")
    efforts.legend(frameon=False, ncols=2)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Plans, simulates and draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=float, default=0.15, help="of the squat [m]")
    parser.add_argument("--out", type=Path, default=Path(), help="folder")
    given = parser.parse_args()
    squat = Squat()
    ways = [(0.0, STILL), (-given.depth, DURATION), (0.0, DURATION)]
    run = squat.on_floor(squat.planned(ways))
    heights = run.q[:, 6] - squat.start[6]
    gap = max(gap.distance for gap in run.audit.loop_gaps)
    print(f"on the floor it goes down {-heights.min():.3f} m and ends {1e3 * heights[-1]:+.1f} mm from its start; "
          f"loops are open by {gap:.0e} m at most")  # fmt: skip
    draw(squat, run, np.concatenate([np.full(round(seconds / STEP), height) for height, seconds in ways]),
         given.out / "cassie_squats.png")  # fmt: skip
    run.page(given.out / "cassie_squats.html", title="Cassie squats")


if __name__ == "__main__":
    main()
