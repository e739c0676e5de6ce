"""The wheeled inverted pendulum gives up balancing, falls and hits the floor (lecture Y, 11.4, codes 6 and 7)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.lagrange import System, coordinates
from kumitate.model import Geometry, Hull, Mechanism
from kumitate.records.record import Record
from kumitate.simulate.driving.forcing import Controller
from kumitate.simulate.run import simulate

from . import wheeled_pendulum
from .wheeled_pendulum_balanced import GAINS

#: The lean beyond which control is cut off [rad], the sharpness of that cut in the codes [1/rad], and sharper ones.
LIMIT, SHARPNESS, SHARPER = 0.29, 100.0, (150.0, 1000.0)
#: The floor of code 7: K_p, C_p, the rounding of its step and of the sign in friction; and μ.
FLOOR = {"stiffness": 1e4, "damping": 90.0, "pull": 1, "sharpness": 100.0, "friction_sharpness": 1e4}
FRICTION = 0.3
#: β̇ at the start [rad/s]; how long codes 6 and 7 go on [s].
PUSH, FREE, DURATION = 1.0, 10.0, 4.0


def mechanism() -> Mechanism:
    """The wheeled pendulum, which touches with the tip of its body; its wheel rolls anyway."""
    free = wheeled_pendulum.mechanism()
    tip = Geometry(Hull(((0.0, 0.0, wheeled_pendulum.L),)))
    bodies = tuple(replace(body, collisions=(tip,)) if body.name == "body" else body for body in free.bodies)
    return replace(free, name="falling_pendulum", bodies=bodies)


def torque(sharpness: float) -> Controller:
    """The efforts at x, β and α: T of (9.6) between wheel and body while |β| < LIMIT, by a trapezoid of sigmoids (11.10)."""

    def efforts(t: Any, q: Any, v: Any) -> Any:
        T = GAINS[0] * q[2] + GAINS[1] * v[2] + GAINS[2] * q[1] + GAINS[3] * v[1]
        T = T * _sigmoid(q[1] + LIMIT, sharpness, np.tanh) * _sigmoid(LIMIT - q[1], sharpness, np.tanh)
        return np.array([0.0 * T, -T, T])

    return efforts


def system(*, sharpness: float = SHARPNESS, floor: bool = True) -> System:
    """The same from energies: the torque along α − β (9.5), and the floor's force on the tip (11.13)."""
    from sympy import cos, sin, tanh

    alpha, beta = coordinates("alpha beta")
    r, l = wheeled_pendulum.R, wheeled_pendulum.L
    T = GAINS[0] * alpha + GAINS[1] * alpha.diff() + GAINS[2] * beta + GAINS[3] * beta.diff()
    T = T * _sigmoid(beta + LIMIT, sharpness, tanh) * _sigmoid(LIMIT - beta, sharpness, tanh)
    if not floor:
        return wheeled_pendulum.system(torque=T, name="falling_pendulum")
    x, y = r * alpha + l * sin(beta), r + l * cos(beta)
    t = alpha.args[0]
    R = _sigmoid(-y, FLOOR["sharpness"], tanh) * (-FLOOR["stiffness"] * y - FLOOR["damping"] * y.diff(t))
    F = -FRICTION * R * tanh(0.5 * FLOOR["friction_sharpness"] * x.diff(t))
    return wheeled_pendulum.system(torque=T, forces=[([F, R], [x, y])], name="falling_pendulum")


def simulated(
    sharpness: float = SHARPNESS, *, floor: bool = True, step: float = 1e-2, duration: float = DURATION, tolerance: float = 1e-9
) -> Record:
    """From upright with β̇ = 1 rad/s; with the floor it is code 7, without it code 6."""
    contact = Contact("penalty", surface=Surface(FRICTION), options=FLOOR) if floor else None
    return simulate(
        mechanism(), (0.0, 0.0, 0.0), (0.0, PUSH, 0.0), duration=duration, step=step, controller=torque(sharpness),
        contact=contact, integrator="rkf45_adaptive", tolerance=tolerance,
    )  # fmt: skip


def run() -> Record:
    """Code 7; what sharper cuts do, and that they recover, stands in the account."""
    result = simulated()
    record = result.contact
    assert record is not None
    lowest = 1e3 * float(-record.gap.min())
    leaned = [f"s = {s:g}: {np.degrees(np.abs(simulated(s, floor=False).q[:, 1]).max()):.1f} deg" for s in SHARPER]
    notes = (
        f"control cut off at {LIMIT} rad = {np.degrees(LIMIT):.1f} deg, rounded with s = {SHARPNESS:g}: it falls; rounded less "
        f"it recovers, leaning at most {', '.join(leaned)}",
        f"the tip sinks {lowest:.1f} mm into the floor and rests {1e3 * -record.gap[-1, 0]:.2f} mm deep; a spring that is "
        f"rounded with s = {FLOOR['sharpness']:g} pulls from above, too: {-record.normal_force.min():.1f} N at most",
    )
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """The fall onto the floor; and, as long, without floor and with sharper cuts."""
    record = result.contact
    assert record is not None
    free = {f"s = {s:g}": simulated(s, floor=False) for s in (SHARPNESS, *SHARPER)}
    tip, pushes = record.position[:, 0], np.column_stack([record.normal_force[:, 0], record.force[:, 0, 0]])
    return {
        "code7": Plate(
            (
                Curves("Height of the tip", "m", ("tip",), tip[:, 2:]),
                Curves("Force of the floor", "N", ("normal", "friction"), pushes),
                Curves("Angle", "rad", ("α wheel", "β body"), result.q[:, [2, 1]]),
            ),
            "Code 7: control is cut off beyond 0.29 rad; the body falls, its tip bounces and comes to rest in the floor.",
        ),
        "code6": Plate(
            (
                Curves("Lean β", "rad", tuple(free), np.column_stack([run.q[:, 1] for run in free.values()])),
                Curves("Torque", "N·m", tuple(free), np.column_stack([run.tau[:, 2] for run in free.values()])),
            ),
            "Code 6, without a floor: whether it falls depends on how sharply the control is cut off at 0.29 rad.",
        ),
    }  # fmt: skip


def _sigmoid(x: Any, sharpness: float, tanh: Any) -> Any:
    """U_s(x) (10.10)."""
    return 0.5 * (1.0 + tanh(0.5 * sharpness * x))


EXAMPLE = Example(
    name="falling_pendulum",
    title="Wheeled inverted pendulum that falls onto the floor",
    rows=("Y-fall",),
    summary=(
        "The balanced pendulum is pushed at 1 rad/s and gives up where it leans by more than 0.29 rad. With that cut rounded "
        "by s = 100, as in code 6, it falls; with s = 150 and more it recovers. Its tip then hits the floor, a spring and a "
        "damper with friction, bounces, and rests after 4 s (code 7)."
    ),
    run=run,
    panels=("q", "v", "tau", "energy", "contact_forces", "penetration"),
    plates=plates,
)
