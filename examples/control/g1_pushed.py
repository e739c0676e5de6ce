"""The humanoid G1 stands, is pushed at its chest, and keeps its balance by whole-body control.

    python examples/control/g1_pushed.py --push 80 40

leaves g1_pushed.html (playback beside the graphs) and g1_pushed.png (center of mass, zero-moment point, efforts).
Needs pip install 'kumitate[qp,robots,plot]'.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.contact import Contact, Surface
from kumitate.control.whole_body import StandingPoint, Tracked, WholeBodyController
from kumitate.examples.gallery.humanoid_standing import ANGLES, FEET, FILE
from kumitate.examples.legged import Stance, legged
from kumitate.inverse_kinematics import CenterOfMassGoal, OrientationGoal, PostureGoal
from kumitate.model import Mechanism

#: The push: begin and end [s], at the torso.
BEGIN, END, TORSO = 0.5, 0.6, "torso_link"


def sole_points(robot: Mechanism, friction: float) -> list[StandingPoint]:
    """The lowest points of the spheres under the feet."""
    return [
        StandingPoint(body.name, (*list(shape.pose.translation)[:2], shape.pose.translation.z - shape.shape.radius), friction)
        for body in robot.bodies
        if body.name in FEET
        for shape in body.collisions
    ]


def balance(robot: km.Robot, q: np.ndarray, friction: float) -> WholeBodyController:
    """Keeps the center of mass over the middle of the feet, the torso upright, and the posture as far as these let it."""
    points = sole_points(robot.mechanism, friction)
    middle = np.mean([robot.pose(q, p.body) @ [*p.point, 1.0] for p in points], axis=0)
    goals = [
        Tracked(CenterOfMassGoal([*middle[:2], robot.center_of_mass(q)[2]], weight=10.0), kp=50.0),
        Tracked(OrientationGoal(TORSO, np.eye(3), weight=5.0)),
        Tracked(PostureGoal(q, weight=0.1), kp=50.0),
    ]
    return WholeBodyController(robot, goals, points)


def pushing(ahead: float, left: float) -> Callable[..., Any]:
    """The wrench on the torso: a force ahead and to the left [N] for a while."""

    def push(t, q, v):
        on = (t >= BEGIN) & (t < END)
        return km.where(on, np.array([0.0, 0.0, 0.0, ahead, left, 0.0]), np.zeros(6))

    return push


def simulated(push: Callable[..., Any], duration: float = 3.0, friction: float = 0.6) -> km.Run:
    """The run under a push."""
    mechanism = legged(FILE, FEET)
    robot, q = km.Robot(mechanism), np.array(Stance(mechanism, ANGLES, stiffness=0.0, damping=0.0).q)

    return km.simulate(
        robot, q, duration=duration, step=2e-3, contact=Contact(surface=Surface(friction=friction)),
        controller=balance(robot, q, friction), sample_time=4e-3, wrenches={TORSO: push},
    )  # fmt: skip


def main() -> None:
    """Simulates and draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--push", type=float, nargs=2, default=(80.0, 40.0), metavar=("AHEAD", "LEFT"), help="force [N]")
    parser.add_argument("--out", type=Path, default=Path(), help="folder")
    given = parser.parse_args()
    push = pushing(*given.push)
    run = simulated(push)
    moved = np.array([run.robot.center_of_mass(q) for q in run.q])
    print(f"the center of mass was pushed {1e3 * np.ptp(moved[:, 0]):.0f} mm; after {run.time[-1]:.0f} s it is "
          f"{1e3 * np.linalg.norm(moved[-1] - moved[200]):.1f} mm from where it was")  # fmt: skip
    run.page(given.out / "g1_pushed.html")
    corners = [run.robot.pose(run.q[0], p.body) @ [*p.point, 1.0] for p in sole_points(run.robot.mechanism, 0.0)]
    run.plot_balance(given.out / "g1_pushed.png", [corner[:3] for corner in corners], wrenches={TORSO: push})


if __name__ == "__main__":
    main()
