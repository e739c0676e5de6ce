"""The acrobot swings up by optimal control: an exported program, CasADi's derivatives, and IPOPT."""

import math
from typing import Any

import numpy as np

from ...compile import Kernel
from ...dynamics import Acting, aba
from ...errors import needed
from ...model import KINDS, Body, Capsule, Geometry, Joint, Mechanism, Sphere
from ...records.record import Record
from ...scalar import Program, trace
from ...simulate.run import simulate
from ...spatial import pose
from ..catalogue import Example, texts

#: Two thin rods [m, kg]; nothing drives the shoulder, a motor of so much torque the elbow [N·m].
LENGTH, MASS, TORQUE = 1.0, 1.0, 12.0
#: Hanging at rest and standing at rest [rad]: the shoulder from upright, the elbow from the upper rod.
HANGING, STANDING = (math.pi, 0.0), (0.0, 0.0)
#: The torque is piecewise constant: number of intervals, their length [s], integration steps per interval.
INTERVALS, TIME, STEPS = 100, 3.0, 10


def mechanism() -> Mechanism:
    """Two rods, hinged to the world and to each other, in a vertical plane."""
    inertia = (MASS * LENGTH**2 / 12.0, MASS * LENGTH**2 / 12.0, 0.0)
    colors = ((0.16, 0.42, 0.70, 1.0), (0.90, 0.49, 0.13, 1.0))
    bodies = tuple(
        Body(
            name, MASS, (0.0, 0.0, LENGTH / 2.0), inertia,
            visuals=(Geometry(Capsule(0.03, LENGTH), pose((0.0, 0.0, LENGTH / 2.0)), color), Geometry(Sphere(0.05))),
        )
        for name, color in zip(("upper", "lower"), colors, strict=True)
    )  # fmt: skip
    joints = (
        Joint("shoulder", KINDS["revolute"], "world", "upper", axis=(0.0, 1.0, 0.0)),
        Joint("elbow", KINDS["revolute"], "upper", "lower", pose((0.0, 0.0, LENGTH)), axis=(0.0, 1.0, 0.0)),
    )
    return Mechanism("acrobot", bodies, joints)


def forward_dynamics(robot: Mechanism) -> Program:
    """(q, v, tau) → v̇. Users have the same from `Robot.compile("forward_dynamics")`."""
    tree = robot.base_parameter_tree
    sizes: dict[str, int | tuple[int, ...]] = {"q": robot.nq, "v": robot.nv, "tau": robot.nv}
    return trace(lambda q, v, tau: aba(tree, q, v, tau, Acting(robot.gravity)), sizes, f"dynamics_{robot.name}")


def planned(robot: Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The torques that bring it up with the least ∫ τ² dt: the states (n + 1, 2) at the ends of the intervals, and τ (n).

    Multiple shooting: unknown are all states and torques; every interval, run over by classical Runge-Kutta steps, must end
    where the next begins.
    """
    casadi = needed("casadi", "the example acrobot plans with CasADi and its IPOPT", "casadi")
    dynamics = Kernel(forward_dynamics(robot)).to_casadi()
    interval = _interval(casadi, dynamics, TIME / INTERVALS)
    problem = casadi.Opti()
    x, u = problem.variable(4, INTERVALS + 1), problem.variable(1, INTERVALS)
    problem.minimize(casadi.sumsqr(u) * (TIME / INTERVALS))
    problem.subject_to(x[:, 1:] == interval.map(INTERVALS)(x[:, :-1], u))
    problem.subject_to(x[:, 0] == casadi.vertcat(*HANGING, 0.0, 0.0))
    problem.subject_to(x[:, -1] == casadi.vertcat(*STANDING, 0.0, 0.0))
    problem.subject_to(problem.bounded(-TORQUE, u, TORQUE))
    share = np.linspace(0.0, 1.0, INTERVALS + 1)
    problem.set_initial(x[0, :], HANGING[0] + share * (STANDING[0] - HANGING[0]))  # a straight line: not a possible motion
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-10, "max_iter": 1000})
    found = problem.solve()
    states = np.array(found.value(x)).T
    return states[:, :2], states[:, 2:], np.array(found.value(u)).reshape(INTERVALS)


def _interval(casadi: Any, dynamics: Any, duration: float) -> Any:
    """(x, τ) → x at the interval's end, as a CasADi function."""
    start, torque = casadi.SX.sym("x", 4), casadi.SX.sym("u")
    x, h = start, duration / STEPS

    def rate(x: Any) -> Any:
        return casadi.vertcat(x[2:], dynamics(x[:2], x[2:], casadi.vertcat(0.0, torque)))

    for _ in range(STEPS):
        k1 = rate(x)
        k2 = rate(x + 0.5 * h * k1)
        k3 = rate(x + 0.5 * h * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return casadi.Function("interval", [start, torque], [x])


def replayed(robot: Mechanism, torques: np.ndarray, *, integrator: str, step: float) -> Record:
    """The motion under planned torques (n), each held over its interval."""
    held = TIME / INTERVALS

    def replay(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        return [0.0, float(torques[min(int(t / held + 0.5), INTERVALS - 1)])]

    return simulate(
        robot, HANGING, (0.0, 0.0), duration=TIME, step=step, integrator=integrator, controller=replay, sample_time=held
    )


def apart(result: Record, q: np.ndarray, v: np.ndarray) -> float:
    """How far a result is from the plan at the ends of the intervals (rad, rad/s)."""
    every = (len(result) - 1) // INTERVALS
    return float(max(np.abs(result.q[::every] - q).max(), np.abs(result.v[::every] - v).max()))


def run() -> Record:
    """The planned torques, replayed in steps of 1 ms of another integrator."""
    robot = mechanism()
    q, v, torques = planned(robot)
    alike = replayed(robot, torques, integrator="rk4", step=TIME / INTERVALS / STEPS)
    result = replayed(robot, torques, integrator="rkf45", step=1e-3)
    cost = float(np.sum(torques**2) * TIME / INTERVALS)
    notes = (
        f"planned by CasADi and IPOPT: ∫ τ² dt = {cost:.4f} N²m²s, torques up to {np.abs(torques).max():.3g} N·m",
        f"simulated in the plan's own steps it moves as planned to {apart(alike, q, v):.1e}, in finer ones of another "
        f"integrator to {apart(result, q, v):.1e} (rad, rad/s); it ends within {np.abs(result.q[-1] - STANDING).max():.1e} rad "
        "of upright",
    )
    return result.noted(*notes)


EXAMPLE = Example(**texts("acrobot"), run=run)
