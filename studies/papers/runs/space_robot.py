"""A space robot that moves its hand and does not turn: the reaction null space of a free body (thesis 6.1, eq. 6.4, 6.9)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kumitate.analysis.momentum import momentum_matrix
from kumitate.compile import Kernel
from kumitate.control import CompiledPage, Controller, Spline, actuated_columns, reactionless, reactionless_velocity
from kumitate.dynamics import solve_symmetric
from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.kinematics import center_of_mass, jacobian, link_poses, place_pose, rate
from kumitate.model import KINDS, Body, Box, Capsule, Frame, Geometry, Joint, Mechanism, Tree
from kumitate.records.record import Record
from kumitate.scalar import trace
from kumitate.simulate.run import simulate
from kumitate.spatial import dot, pose

#: The arm's joints turn about these axes, a link of this length [m] and mass [kg] after each.
AXES = "zyzyzyz"
LENGTH, MASS = 0.35, 3.0
#: The arm at first [rad], and where its hand goes from there [m], in so much time [s].
START = (0.5, 0.7, 0.3, 1.2, 0.4, -0.9, 0.0)
AWAY, TIME = (-0.4, -0.4, 0.1), 8.0
#: Gains of the hand's error: ë + SLOW ė + PULL e = 0 [1/s, 1/s²]; of the remaining joint motion [1/s].
SLOW, PULL, EASE = 8.0, 16.0, 1.0
#: Damping of G N Gᵀ [m²], where the null space does not let the hand move in all directions.
DAMPING = 1e-4
#: Rows of the momentum that must not react on the base: the angular momentum about the center of mass.
ROWS = (0, 1, 2)


def mechanism() -> Mechanism:
    """A satellite of 40 kg with two panels and an arm of seven joints, floating without gravity."""
    panel = Geometry(Box((0.5, 0.9, 0.02)), pose((0.0, 0.75, 0.0)), (0.16, 0.30, 0.62, 1.0))
    other = replace(panel, pose=pose((0.0, -0.75, 0.0)))
    hull = Geometry(Box((0.6, 0.6, 0.6)), color=(0.80, 0.72, 0.45, 1.0))
    bodies = [Body("satellite", 40.0, inertia=(3.4, 2.6, 4.0), visuals=(hull, panel, other))]
    joints = [Joint("free", KINDS["floating"], "world", "satellite")]
    for k, name in enumerate(AXES):
        axis = tuple(float(letter == name) for letter in "xyz")
        color = (0.90, 0.49, 0.13, 1.0) if k % 2 else (0.55, 0.57, 0.60, 1.0)
        shape = Geometry(Capsule(0.04, LENGTH), pose((0.0, 0.0, LENGTH / 2.0)), color)
        inertia = (MASS * LENGTH**2 / 12.0, MASS * LENGTH**2 / 12.0, 0.004)
        bodies.append(Body(f"arm{k + 1}", MASS, (0.0, 0.0, LENGTH / 2.0), inertia, visuals=(shape,)))
        where = pose((0.2, 0.0, 0.3)) if k == 0 else pose((0.0, 0.0, LENGTH))
        joints.append(Joint(f"joint{k + 1}", KINDS["revolute"], bodies[-2].name, f"arm{k + 1}", where, axis))
    hand = Frame("hand", f"arm{len(AXES)}", pose((0.0, 0.0, LENGTH)))
    return Mechanism("space_robot", tuple(bodies), tuple(joints), frames=(hand,), gravity=(0.0, 0.0, 0.0))


def start(robot: Mechanism) -> np.ndarray:
    """The coordinates (nq) at first: the center of mass at the world's origin, the base upright."""
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *START])
    q[4:7] = -np.array(center_of_mass(robot.tree, q.tolist()))
    return q


def hand_page(robot: Mechanism, rows: Sequence[int] = ROWS) -> CompiledPage:
    """q → rows of 3: the hand's place p in the world [m], G as Gᵀ (7, 3), and the joint rates H (7, 3) that move it so.

    The base must not turn. As the center of mass rests, p moves as p − c does, in which the shifts of the base cancel: ṗ = G
    θ̇. H = N Gᵀ (G N Gᵀ)⁻¹ with the projector N of eq. 6.9: of all rates with no momentum along `rows`, the least.
    """
    tree = robot.tree
    joints, at = actuated_columns(tree, "satellite"), tree.places["hand"]

    def hand(q: Any) -> list[list[Any]]:
        p = list(place_pose(tree, link_poses(tree, q), at).translation)
        J, A = jacobian(tree, q, at)[3:], momentum_matrix(tree, q)[3:]
        G = [[J[i][k] - A[i][k] / tree.mass for k in joints] for i in range(3)]
        free = [reactionless_velocity(tree, q, row, "satellite", rows=rows, about_mass_center=True) for row in G]
        S = [[dot(a, b) + (DAMPING if i == j else 0.0) for j, b in enumerate(free)] for i, a in enumerate(G)]
        inverse = [solve_symmetric(S, [float(i == k) for i in range(3)]) for k in range(3)]
        H = [[dot(column, weights) for weights in inverse] for column in zip(*free, strict=True)]
        return [p, *map(list, zip(*G, strict=True)), *H]

    return CompiledPage(hand, {"q": robot.nq}, "hand_of_space_robot")


def way(robot: Mechanism) -> Spline:
    """The reference of the hand over time: a straight line from start to goal."""
    p = hand_page(robot)(start(robot))[0]
    return Spline([0.0, TIME], [p, p + np.array(AWAY)])


def pull(robot: Mechanism, rows: Sequence[int] = ROWS) -> Controller:
    """Joint accelerations (7) that move the hand along its reference and damp the remaining joint motion."""
    hand, goal = hand_page(robot, rows), way(robot)

    def wish(t: Any, q: Any, v: Any) -> Any:
        found, rates = hand(q), np.asarray(v)[6:]
        p, G, H = found[0], found[1:8].T, found[8:]
        rate = goal.velocity(t) - G @ rates
        return H @ (goal.acceleration(t) + SLOW * rate + PULL * (goal(t) - p)) - EASE * (rates - H @ (G @ rates))

    return wish


def moved_by_velocities(robot: Mechanism, *, step: float = 1e-2, duration: float = 10.0) -> tuple[np.ndarray, np.ndarray]:
    """The same by kinematics: θ̇ = N_fl b (eq. 6.9), and the base as its momentum of zero has it move.

    Runge-Kutta of order 4 on q̇, with b drawing the hand along its way. Gives t (n) and q (n, nq).
    """
    tree, hand, goal = robot.tree, hand_page(robot), way(robot)
    velocity = Kernel(trace(lambda q, b: _velocities(tree, q, b), {"q": robot.nq, "b": len(START)}, "velocity_of_space_robot"))

    def slope(t: float, q: np.ndarray) -> np.ndarray:
        found = hand(q)
        b = found[8:] @ (goal.velocity(t) + PULL / SLOW * (goal(t) - found[0]))
        return np.array(rate(tree, q.tolist(), velocity(q, b).tolist()))

    times = np.arange(round(duration / step) + 1) * step
    q = np.empty((len(times), robot.nq))
    q[0] = start(robot)
    for k, t in enumerate(times[:-1]):
        k1 = slope(t, q[k])
        k2 = slope(t + 0.5 * step, q[k] + 0.5 * step * k1)
        k3 = slope(t + 0.5 * step, q[k] + 0.5 * step * k2)
        k4 = slope(t + step, q[k] + step * k3)
        q[k + 1] = q[k] + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return times, q


def _velocities(tree: Tree, q: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """v (nv) of the whole, its momentum being zero: A_b v_b = −A_θ θ̇, by the normal equations."""
    rates = reactionless_velocity(tree, q, b, "satellite", rows=ROWS, about_mass_center=True)
    A = momentum_matrix(tree, q)
    joints = actuated_columns(tree, "satellite")
    carried = [dot([row[k] for k in joints], rates) for row in A]
    base = [[row[k] for row in A] for k in range(6)]
    yielded = solve_symmetric([[dot(a, b) for b in base] for a in base], [-dot(a, carried) for a in base])
    return [*yielded, *rates]


def turned(q: np.ndarray) -> np.ndarray:
    """The angle by which the base stands turned [rad] at coordinates (n, nq)."""
    return 2.0 * np.arcsin(np.linalg.norm(q[:, :3], axis=1))


def run(*, careless: bool = False) -> Record:
    """Ten seconds under torques, from rest.

    Args:
        careless: whether the hand is drawn without the null space, so that the base turns.
    """
    robot = mechanism()
    rows = () if careless else ROWS
    law = reactionless(robot, pull(robot, rows), "satellite", rows=rows, about_mass_center=True)
    q = start(robot)
    result = simulate(robot, q, np.zeros(robot.nv), duration=10.0, step=5e-3, integrator="rk4", controller=law)
    if careless:
        return result
    _, slow = moved_by_velocities(robot)
    p, goal = hand_page(robot)(np.array([q, result.q[-1], slow[-1]]))[:, 0], way(robot)(TIME)
    notes = (
        f"base turned by {turned(result.q).max():.1e} rad at most, by kinematics alone by {turned(slow).max():.1e} rad; "
        f"without the null space it turns by {turned(run(careless=True).q).max():.3g} rad",
        f"hand moved by {np.linalg.norm(p[1] - p[0]):.4f} m, {1e3 * np.linalg.norm(p[1] - goal):.2g} mm from its goal; by "
        f"kinematics {1e3 * np.linalg.norm(p[2] - goal):.2g} mm",
        f"momentum stayed below {np.abs(result.momentum).max():.1e} kg·m²/s, kg·m/s",
    )
    return result.noted(*notes)


def plates(result: Record) -> dict[str, Plate]:
    """The attitude of the base and the path of the hand, with the null space and without."""
    robot, names = result.mechanism, ("null space", "careless")
    wild, hand, goal = run(careless=True), hand_page(robot), way(robot)(TIME)
    away = [np.linalg.norm(hand(one.q)[:, 0] - goal, axis=1) for one in (result, wild)]
    angles = np.rad2deg([turned(one.q) for one in (result, wild)])
    panels = (
        Curves("Base turned by", "deg", names, angles.T),
        Curves("Hand to its goal", "m", names, np.column_stack(away)),
    )
    caption = (
        "Torques at the joints of a robot that floats in space. In the null space of the coupling inertia the base turns by "
        f"{turned(result.q).max():.1e} rad; without it the same law turns it by {angles[1].max():.1f} deg."
    )
    return {"attitude": Plate(panels, caption)}


EXAMPLE = Example(
    name="space_robot",
    title="Space robot that moves its hand and does not turn",
    rows=("T-6.1",),
    summary=(
        "A satellite floats with an arm of seven joints. Torques at the joints alone draw its hand along 0.57 m to a goal, by "
        "motions in the null space of the coupling inertia: in 10 s the base keeps its attitude to 1e-8 rad, momentum stays "
        "zero, and the base gives way sideways only, as the center of mass rests. Without the null space the base turns."
    ),
    run=run,
    panels=("q", "v", "tau", "momentum"),
    plates=plates,
)
