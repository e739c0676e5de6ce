"""The same arm five ways: the planar arm of three rods by four pages of the package, and as one would write it in SymPy.

Every way gives v̇(q, v); each is integrated by itself, by the same steps, and timed by turns with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from kumitate.compile import Kernel
from kumitate.dynamics import Acting, aba
from kumitate.dynamics.ada import ada
from kumitate.dynamics.hybrid import hybrid
from kumitate.examples.catalogue import Curves
from kumitate.lagrange import System, coordinates, gravity, rotation, translation
from kumitate.measure.timing import Contender, by_turns, random_states, raw
from kumitate.model import Mechanism
from kumitate.model.samples import planar_3r
from kumitate.scalar import trace
from kumitate.simulate.integrators import RKF45

__all__ = ["Measured", "Way", "apart", "integrated", "measured", "system", "ways"]

Acceleration = Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Mass [kg] and length [m] of a rod, and the acceleration of free fall [m/s²].
MASS, LENGTH, FALL = 1.0, 1.0, 9.81
#: The sub-chains of hybrid modelling, by joints.
PARTITION = ((0, 1), (2,))
#: States that are timed.
STATES = 256


@dataclass(frozen=True)
class Way:
    """One way to the accelerations of the arm.

    Attributes:
        name: "ABA"; `told`: what is done, in half a sentence.
        acceleration: v̇ (3) of q (3) and v (3), without drives.
        batch: all accelerations of the states (q, v, tau), for timing.
        operations: of one evaluation; None where nothing counts them.
    """

    name: str
    told: str
    acceleration: Acceleration
    batch: Callable[[Sequence[np.ndarray]], Contender]
    operations: int | None


@dataclass(frozen=True)
class Measured:
    """The result of one way.

    Attributes:
        way: which.
        apart: by how much its motion differs from that of the first at most [rad].
        drift: of its energy [J].
        seconds: of one evaluation, one state at a time.
    """

    way: Way
    apart: float
    drift: float
    seconds: float


def system() -> System:
    """The energies of the arm in its joint angles, written by hand: rods of 1 m and 1 kg in a plane, angles from +z."""
    from sympy import Rational, cos, sin, symbols

    m, l, g = symbols("m l g")
    theta = coordinates("theta_1 theta_2 theta_3")
    kinetic, potential, joint, lean = 0, 0, [0, 0], 0
    for angle in theta:
        lean = lean + angle
        middle = [x + l / 2 * part for x, part in zip(joint, (sin(lean), cos(lean)), strict=True)]
        joint = [x + l * part for x, part in zip(joint, (sin(lean), cos(lean)), strict=True)]
        kinetic += translation(m, middle) + rotation(m * l**2 * Rational(1, 12), lean)
        potential += gravity(m, middle[1], g)
    return System(theta, kinetic, potential, parameters={m: MASS, l: LENGTH, g: FALL}, name="five_ways")


@cache
def ways() -> tuple[Way, ...]:
    """All ways, the first being the one that the others are compared with."""
    arm = planar_3r()
    parts = tuple(tuple(part) for part in PARTITION)
    traced: dict[str, tuple[str, Callable[..., Any]]] = {
        "ABA": ("articulated bodies, from the tip to the ground and back", aba),
        "ADA": ("bodies assembled joint by joint", lambda *state, **options: ada(*state, **options).vdot),
        "hybrid": ("two sub-chains, of 2 + 1 links, then assembled", partial(hybrid, partition=parts)),
    }
    found = [_traced(arm, name, told, page) for name, (told, page) in traced.items()]
    energies = system()
    compiled = energies.compile()
    found.append(
        Way(
            "Lagrange", "T and U written by hand, derived on their graph", lambda q, v: compiled(q, v),
            lambda states: _compiled(compiled, states[:2]), compiled.operations,
        )
    )  # fmt: skip
    written = _written(energies)
    return (*found, Way("SymPy", "A and b written out, lambdify, NumPy", written, partial(_called, written), None))


def integrated(
    acceleration: Acceleration, q: Sequence[float], *, duration: float, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """q and v at every step from rest at q, by Runge-Kutta-Fehlberg's fifth order."""
    table, n, count = RKF45.tableau, len(q), round(duration / step)
    stages = [step * np.array(row) for row in table.a]
    x, weights, rates = np.zeros((count + 1, 2 * n)), step * np.array(table.b), np.zeros((len(table.b), 2 * n))
    x[0, :n] = q
    for k in range(count):
        for i, row in enumerate(stages):
            at = x[k] + row @ rates[:i]
            rates[i, :n], rates[i, n:] = at[n:], acceleration(at[:n], at[n:])
        x[k + 1] = x[k] + weights @ rates
    return x[:, :n], x[:, n:]


def measured(
    motions: dict[str, tuple[np.ndarray, np.ndarray]],
    energy: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    rounds: int = 20,
) -> list[Measured]:
    """The results of all ways.

    Args:
        motions: q and v by the name of the way.
        energy: the total energy [J] of q and v.
        rounds: samples of each timing.
    """
    states = random_states(planar_3r(), STATES)
    all_ways = ways()
    timings = by_turns({way.name: way.batch(states) for way in all_ways}, rounds)
    first = motions[all_ways[0].name][0]
    found = []
    for way in all_ways:
        q, v = motions[way.name]
        total = energy(q, v)
        drift = float(np.abs(total - total[0]).max())
        found.append(Measured(way, float(np.abs(q - first).max()), drift, timings[way.name].minimum))
    return found


def apart(motions: dict[str, tuple[np.ndarray, np.ndarray]]) -> Curves:
    """The largest difference of a joint angle to the first way, over the times [rad]; on a logarithmic axis, 1e-17 for none."""
    (_, (first, _)), *others = motions.items()
    values = np.column_stack([np.maximum(np.abs(q - first).max(axis=1), 1e-17) for _, (q, _) in others])
    return Curves("Difference to ABA", "rad", tuple(name for name, _ in others), values, log=True)


def _traced(arm: Mechanism, name: str, told: str, page: Callable[..., Any]) -> Way:
    def accelerations(q: Any, v: Any, tau: Any) -> Any:
        return page(arm.tree, q, v, tau, Acting(arm.gravity))

    kernel, still = Kernel(trace(accelerations, {"q": 3, "v": 3, "tau": 3}, f"five_ways_{name.lower()}")), np.zeros(3)
    return Way(
        name, told, lambda q, v: kernel(q, v, still), lambda states: _compiled(kernel, states), kernel.operations
    )  # fmt: skip


def _written(energies: System) -> Acceleration:
    """q̈ as a user of SymPy would compute it: equations derived, converted to NumPy functions, solved; no simplification."""
    from sympy import lambdify

    equations = energies.equations(seconds=0.0)
    q, v = energies.names.q, energies.names.rates
    values = dict(zip(energies.parameters, (MASS, LENGTH, FALL), strict=True))
    both = lambdify([v, q], [equations.A.subs(values), equations.b.subs(values)], cse=True)

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        A, b = both(v, q)
        return np.linalg.solve(A, b)[:, 0]

    return acceleration


def _compiled(kernel: Kernel, states: Sequence[np.ndarray]) -> Contender:
    out = np.empty((STATES, 3))
    return Contender(raw(kernel, 1, list(states), (out,)), STATES)


def _called(acceleration: Acceleration, states: Sequence[np.ndarray]) -> Contender:
    q, v, _ = states
    return Contender(lambda: [acceleration(*state) for state in zip(q, v, strict=True)], STATES)
