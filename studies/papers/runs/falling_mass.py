"""A falling mass point that a spring and a damper throw back (lecture Y, 10.2)."""

from collections.abc import Mapping
from math import acos, exp, pi, sqrt

import numpy as np

from kumitate.contact.scene import Contact
from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.model import KINDS, Body, Geometry, Hull, Joint, Mechanism, Sphere
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from .bouncing_stick import METHODS, G, M

#: From which the mass falls [m]; the exponents n of R = K(−y)ⁿ that are compared.
HEIGHT, EXPONENTS = 1.0, (1.0, 1.5, 2.0)
#: Stiffness and damping for each: the same depth of 1 cm at rest for every exponent.
DEPTH, DAMPING = 0.01, 40.0


def mechanism() -> Mechanism:
    """A point of 1 kg that moves up and down."""
    ball = Geometry(Sphere(0.03), color=(0.16, 0.42, 0.70, 1.0))
    point = Body("point", M, visuals=(ball,), collisions=(Geometry(Hull(((0.0, 0.0, 0.0),))),))
    rail = Joint("y", KINDS["prismatic"], "world", "point", axis=(0.0, 0.0, 1.0))
    return Mechanism("falling_mass", (point,), (rail,), gravity=(0.0, 0.0, -G))


def simulated(options: Mapping[str, float], *, step: float = 2e-3, tolerance: float = 1e-9) -> Record:
    """Three seconds from rest above the floor, with options of penalty contact."""
    return simulate(
        mechanism(), (HEIGHT,), duration=3.0, step=step, contact=Contact("penalty", options=options),
        integrator="rkf45_adaptive", tolerance=tolerance,
    )  # fmt: skip


def steps(method: int) -> dict[str, float]:
    """A method of Y with steps as printed in (10.6), not rounded."""
    return {key: value for key, value in METHODS[method].items() if "sharpness" not in key}


def restitution(method: int) -> float:
    """The part of its speed that the mass keeps without gravity, by the damped oscillation y(t) ~ e^(−δt) sin ω_d t."""
    stiffness, damping = METHODS[method]["stiffness"], METHODS[method]["damping"]
    zeta = damping / (2.0 * sqrt(stiffness * M))
    root = sqrt(1.0 - zeta**2)
    if METHODS[method]["pull"]:  # half a period, to y = 0 again
        return exp(-pi * zeta / root)
    return exp(-zeta / root * acos(zeta))  # to ẏ = 0 with the damper, back without


def rebounds(result: Record) -> np.ndarray:
    """The heights of the turning points above the floor [m]."""
    y = result.q[:, 0]
    tops = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] >= y[2:]) & (y[1:-1] > 0.01)) + 1
    return y[tops]


def run() -> Record:
    """Method 1 of Y."""
    result = simulated(METHODS[1])
    notes = []
    for method in METHODS:
        own = result if method == 1 else simulated(METHODS[method])
        top = rebounds(own)[0]
        notes.append(
            f"method {method}: rebounds to {top:.4f} m, e = {sqrt(top / HEIGHT):.4f}; without gravity the oscillator has "
            f"{restitution(method):.4f}"
        )
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """Both methods, and springs of other exponents that sink in as deep at rest."""
    methods = {f"method {method}": simulated(METHODS[method]) for method in METHODS}
    springs = {f"n = {n:g}": simulated({"stiffness": M * G / DEPTH**n, "damping": DAMPING, "exponent": n}) for n in EXPONENTS}
    depths = np.column_stack([-1e3 * np.minimum(run.q[:, 0], 0.0) for run in springs.values()])
    forces = [run.contact.normal_force[:, 0] for run in methods.values() if run.contact is not None]
    return {
        "methods": Plate(
            (
                Curves("Height", "m", tuple(methods), np.column_stack([run.q[:, 0] for run in methods.values()])),
                Curves("Force of the floor", "N", tuple(methods), np.column_stack(forces)),
                Curves("Energy", "J", tuple(methods), np.column_stack([run.energy.total for run in methods.values()])),
            ),
            "A mass of 1 kg falls from 1 m onto K = 8000 N/m, C = 25 N·s/m (method 1), and 12 000 and 80, no pull (method 2).",
        ),
        "exponents": Plate(
            (
                Curves("Height", "m", tuple(springs), np.column_stack([run.q[:, 0] for run in springs.values()])),
                Curves("Depth", "mm", tuple(springs), depths),
            ),
            f"R = K(−y)ⁿ with K for a depth of {1e3 * DEPTH:g} mm at rest: (m g/K)^(1/n).",
        ),
    }  # fmt: skip


EXAMPLE = Example(
    name="falling_mass",
    title="Falling mass point on a spring and a damper",
    rows=("Y-stick",),
    summary=(
        "A mass of 1 kg falls from 1 m onto the floor of the bouncing stick, a spring and a damper that act while it is below: "
        "with method 1, whose damper pulls on the way out, and with method 2, whose damper does not. It rests m g/K deep."
    ),
    run=run,
    panels=("q", "v", "energy", "contact_forces", "penetration"),
    plates=plates,
)
