"""The wheeled inverted pendulum in free motion (lecture Y, 8.3 and code 4)."""

from collections.abc import Sequence
from typing import Any

from kumitate.examples.catalogue import Example
from kumitate.lagrange import System, coordinates, gravity, rotation, translation
from kumitate.model import KINDS, Body, Capsule, Coupling, Cylinder, Geometry, Joint, Mechanism, Sphere
from kumitate.records.record import Record
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

from ..lagrange_notes import agreement

#: Wheel: mass [kg], inertia [kg·m²], radius [m]. Body: mass [kg] at a distance [m]. Acceleration of free fall [m/s²].
M, J, R, m, L, G = 1.0, 0.1, 0.2, 5.0, 1.0, 9.8
#: The lean at the start [rad].
LEAN = 0.2


def system(*, torque: object = 0, forces: Sequence[tuple[Any, Any]] = (), name: str = "wheeled_pendulum") -> System:
    """The wheel turns by α, the body leans by β: x_M = (r α, r), x_m = x_M + l (sin β, cos β) (8.4).

    Args:
        torque: between the wheel and the body [N·m], along α − β (example 3.6); an expression of α, β and their rates.
        forces: others, as of `System`.
    """
    from sympy import cos, sin, symbols

    wheel, body, fall, length, radius, inertia = symbols("M m g l r I")
    alpha, beta = coordinates("alpha beta")
    x_M = [radius * alpha, radius]
    x_m = [x_M[0] + length * sin(beta), x_M[1] + length * cos(beta)]
    kinetic = translation(wheel, x_M) + translation(body, x_m) + rotation(inertia, alpha)
    values = {wheel: M, body: m, fall: G, length: L, radius: R, inertia: J}
    pushes = [*([(torque, alpha - beta)] if torque != 0 else []), *forces]
    return System(
        [alpha, beta], kinetic, gravity(body, x_m[1] - radius, fall), forces=pushes, parameters=values, name=name
    )  # fmt: skip


def mechanism() -> Mechanism:
    """The same as bodies: an axle that slides, the wheel on it turning as it rolls, and the body."""
    flat = pose(rpy=(1.5707963267948966, 0.0, 0.0))
    spoke = Geometry(Capsule(0.012, 1.7 * R), pose((0.0, -0.03, 0.0)), (0.9, 0.9, 0.9, 1.0))  # before the disc
    visuals = (Geometry(Cylinder(R, 0.04), flat, (0.20, 0.22, 0.26, 1.0)), spoke)
    bodies = (
        Body("axle", 0.0),
        Body("wheel", M, inertia=(J / 2.0, J, J / 2.0), visuals=visuals),
        Body(
            "body", m, (0.0, 0.0, L),
            visuals=(
                Geometry(Capsule(0.02, L), pose((0.0, 0.0, L / 2.0)), (0.16, 0.42, 0.70, 1.0)),
                Geometry(Sphere(0.08), pose((0.0, 0.0, L)), (0.90, 0.49, 0.13, 1.0)),
            ),
        ),
    )  # fmt: skip
    joints = (
        Joint("x", KINDS["prismatic"], "world", "axle", pose((0.0, 0.0, R)), axis=(1.0, 0.0, 0.0)),
        Joint("beta", KINDS["revolute"], "axle", "body", axis=(0.0, 1.0, 0.0)),
        Joint("alpha", KINDS["revolute"], "axle", "wheel", axis=(0.0, 1.0, 0.0)),
    )
    rolling = Coupling("rolling", "alpha", "x", ratio=1.0 / R)
    return Mechanism("wheeled_pendulum", bodies, joints, couplings=(rolling,), gravity=(0.0, 0.0, -G))


def run() -> Record:
    """Ten seconds from rest, leaning by 0.2 rad, without control."""
    result = simulate(mechanism(), (0.0, LEAN, 0.0), (0.0,) * 3, duration=10.0, step=1e-3, integrator="rkf45")
    motion = system().simulate([0.0, LEAN], [0.0, 0.0], duration=10.0, step=1e-2)
    notes = agreement(result, motion, None, system(), columns=(2, 1))
    return result.noted(*notes)


EXAMPLE = Example(
    name="wheeled_pendulum",
    title="Wheeled inverted pendulum, free",
    rows=("Y-wip",),
    summary=(
        "A wheel of 1 kg that rolls, and a body of 5 kg that leans by 0.2 rad on its axle, move freely for 10 s: the body "
        "falls through below the wheel and up again, the wheel rolls to and fro under it. Energy stays constant; the motion "
        "from Lagrange's equations (8.15) is that of the mechanism."
    ),
    run=run,
)
