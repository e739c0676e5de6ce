"""Motions that diverge: how they are noticed, by velocities and by energy from nowhere, why, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..analysis import fastest_rate
from ..model import JointKind, Mechanism
from .integrators import FollowingSteps, Integrator, TimeStepping

#: Velocities beyond this [rad/s or m/s] mean that the simulation has diverged.
RUNAWAY = 1e9
#: A joint whose coordinates come this close to their singularity explains why a run failed.
_SINGULAR = 0.1
#: A run has run away if a step gains this many times all that was exchanged before, and its own work.
MOST = 2.0
#: What counts as exchanged in any case: the energy of the whole mass at this speed [m/s].
SPEED = 1.0
#: A velocity leaps that is above this after a step [rad/s, m/s], and so many times what it was: as the kinetic energy of a step
#: that runs away at least triples, one of its velocities does.
FAST, GROWN = 30.0, 1.5


class GainingStep(NamedTuple):
    """A step, by its number among those followed, that gains an energy [J], of it `contact` by contact itself.

    `part`: the energy as a part of all that was exchanged before.
    """

    step: int
    energy: float
    contact: float
    part: float


@dataclass
class Exchange:
    """The largest kinetic energy, and the extremes of potential energy, of the rows of a run up to `row` [J]."""

    row: int = 0
    kinetic: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    def follow(
        self, kinetic: np.ndarray, potential: np.ndarray, work: np.ndarray, mass: float, added: Callable[[int], float]
    ) -> GainingStep | None:
        """The first step from row to row that gains far more than was exchanged before; None if none does.

        Args:
            kinetic, potential: energies (n) [J] from the row `row` on; work: done since the start (n) [J].
            mass: of all bodies [kg].
            added: of the number of a step, how much of its work contact has added by itself [J]; asked where energy leaps.
        """
        most = np.maximum.accumulate(np.append(self.kinetic, kinetic))[1:]
        low = np.minimum.accumulate(np.append(self.low, potential))[1:]
        high = np.maximum.accumulate(np.append(self.high, potential))[1:]
        falls = np.maximum(-np.diff(potential), 0.0)
        exchanged = (most + high - low)[:-1] + falls + 0.5 * mass * SPEED**2
        grows, done = np.diff(kinetic + potential), np.diff(work)
        for step in np.flatnonzero(np.maximum(grows, grows - done) > MOST * exchanged).tolist():
            contact = max(added(step), 0.0)
            by_others = float(done[step]) - contact
            gain, before = float(grows[step]) - by_others, float(exchanged[step]) + abs(by_others)
            if gain > MOST * before:
                return GainingStep(step, gain, contact, gain / before)
        self.row, self.kinetic, self.low, self.high = self.row + len(kinetic) - 1, most[-1], low[-1], high[-1]
        return None


def gains(mass: float, kinetic: np.ndarray, potential: np.ndarray, work: np.ndarray) -> np.ndarray:
    """Whether rows (k) run away from one state to another, as `Exchange.follow` of each says; energies and work: (2, k) [J]."""
    grows, falls, done = (np.diff(part, axis=0)[0] for part in (kinetic + potential, -potential, work))
    return grows - done > MOST * (kinetic[0] + np.maximum(falls, 0.0) + 0.5 * mass * SPEED**2 + np.abs(done))


def leaps(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Whether any velocity (..., nv) leaps from one state to another; only there single steps and batches look at energies."""
    return np.any(np.abs(after) > np.maximum(GROWN * np.abs(before), FAST), axis=-1)


# --- why, and what to do ------------------------------------------------------------------------------------------------
def divergence(
    mechanism: Mechanism, t: float, q: np.ndarray, speeds: np.ndarray, method: Integrator, step: float, touching: Sequence[str]
) -> str:
    """Why a run ends at time t [s], where its velocities diverge, and what to do about it.

    `q`: (n, nq), up to the start of the step; `speeds`: (2, nv), there and after it; `touching`: pairs there, in words.
    """
    v_before, v = speeds
    method = method.inner if isinstance(method, FollowingSteps) else method
    if _by_impulses(method) and np.isposinf(v).all():
        where = f" ({', '.join(touching)})" if touching else ""
        return (
            f"{mechanism.name}: the contact problem has no usable solution at t = {t:.6g} s{where}: the velocities miss "
            "the laws of contact by many times the speeds before. Take a smaller step, less friction or "
            "restitution, or contact='penalty', and look at `contact.residual` and `contact.penetration` of the steps before."
        )
    lost = ~np.isfinite(v)
    worst = int(np.argmax(np.abs(v_before) if lost.all() else np.where(lost, np.inf, np.abs(v))))
    return (
        f"{mechanism.name}: the simulation diverges at t = {t:.6g} s: the velocity of {mechanism.v_names[worst]!r} goes from "
        f"{v_before[worst]:.3g} to {v[worst]:.3g} in one step of {step:g} s with {method.name}. "
        f"{_remedy(mechanism, q, v_before, method, step)}"
    )


def runaway(
    mechanism: Mechanism, time: float, gain: GainingStep, q: np.ndarray, v: np.ndarray, method: Integrator, step: float
) -> str:
    """Why a run ends whose energy grows by itself from a time on, and what to do; q (n, nq) leads up to there, v is there."""
    method = method.inner if isinstance(method, FollowingSteps) else method
    by_contact = gain.contact > 0.5 * gain.energy
    why = "most of it by contact itself" if by_contact else "which no effort, damping or contact accounts for"
    others = "" if by_contact else " Controllers are often too stiff for a step that is held."
    worst = int(np.argmax(np.abs(v)))
    return (
        f"{mechanism.name}: the simulation runs away: {gain.energy:.3g} J are gained in the step from t = {time:.6g} s, where "
        f"the velocity of {mechanism.v_names[worst]!r} is {v[worst]:.3g}: {gain.part:.2g} times all that was exchanged before, "
        f"{why}. {_remedy(mechanism, q, v, method, step)}{others}"
    )


def _remedy(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, method: Integrator, step: float) -> str:
    """The likeliest cause first."""
    if singular := singular_angles(mechanism, q, _SINGULAR):
        return _away_from(singular)
    rate, joint = fastest_rate(mechanism, q[-1], v)
    jumps = _by_impulses(method)
    explicit = method.flight is not None if isinstance(method, TimeStepping) else not method.implicit_damping
    if rate * step > 1.0 and explicit:
        taken = "'semi_implicit_euler', which is" if jumps else "'semi_implicit_euler' or 'extrapolated_euler', which are"
        return f"Damping, springs or drives at {joint!r} act at {rate:.3g} 1/s: take integrator={taken} implicit in them."
    if jumps or method.name == "rkf45_adaptive":
        return "Take a smaller step, and look at the efforts just before."
    return "Take a smaller step, or integrator='rkf45_adaptive'."


def _by_impulses(method: Integrator) -> bool:
    """Whether its steps solve problems of contact."""
    return isinstance(method, TimeStepping) or method.kicks


def vanishing_steps(mechanism: Mechanism, told: str, q: np.ndarray) -> str:
    """An adaptive integrator's message about vanishing steps, and the singularity along q (n, nq) that explains it, if any."""
    singular = singular_angles(mechanism, q, _SINGULAR)
    return f"{told} {_away_from(singular)}" if singular else told


def _away_from(singular: list[tuple[str, float, int]]) -> str:
    names = ", ".join(repr(name) for name, _, _ in singular)
    return (
        f"The cause is likely that the angles of joint {names} come within {min(near for _, near, _ in singular):.2g} of their "
        "singularity, where their rates grow without bound: take the kind of joint with a quaternion, which has none."
    )


def singular_angles(mechanism: Mechanism, q: np.ndarray, within: float) -> list[tuple[str, float, int]]:
    """The joints whose coordinates come within a distance of their singularity along q (n, nq): name, distance and row."""
    found = []
    for link in mechanism.tree.links:
        if type(link.kind).singularity is JointKind.singularity:  # has none
            continue
        distances = [link.kind.singularity(row[link.q_start : link.q_start + link.kind.nq]) for row in q]
        nearest = int(np.argmin(distances))
        if distances[nearest] < within:
            found.append((link.name, float(distances[nearest]), nearest))
    return found
