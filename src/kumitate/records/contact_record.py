"""The record of contact along a run: forces, positions and residuals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..contact.laws.residual import FAILED
from ..contact.models.penalty import FALL
from ..contact.parting import PARTING, THROWN
from ..model import Mechanism
from ..model.things import belongs

#: The most pairs that a warning names.
_NAMED = 6
#: Bodies have passed a surface where they overlap by this many times what a step closes, and did not at the start.
_SUNK = 40.0
#: A warning is due if bodies turn by more than this in a step [rad].
_TURN = 1.0

#: The array of a state whose number of rows changes from step to step.
LIST = "impulses"


@dataclass(frozen=True, eq=False)
class ContactRecord:
    """Contact along a run of n times, at m points (those that ever carried a force), in the axes of the world.

    Attributes:
        bodies: per point, the names of the bodies A and B; B may be "ground".
        force: on A (n, m, 3) [N], the mean over the step that begins at each time; zero where nothing touches.
        position: (n, m, 3) [m]; normal: (n, m, 3), from B to A; gap: (n, m) [m], negative where they overlap.
        velocity: of A relative to B after the step (n, m, 3) [m/s].
        friction: the coefficient in effect (n, m): static for points at rest, else kinetic.
        residual: (n) [m/s], the residual of the contact laws of each step.
        penetration: (n) [m], the largest over all points, those without force included.
        work: (n) [J], of the forces in each step on all bodies together, at the mean of their velocities before and after it.
        gained: (n) [J], that work in the frame of the surface at each point, and what compliant points take up in the step:
            above zero where contact adds energy. What a belt does is work, but not a gain. Of springs and dampers (`penalty`)
            it is their work.
        moment: on A (n, m, 3) [N·m], of torsional and rolling friction; None if no surface has any.
    """

    bodies: tuple[tuple[str, str], ...]
    force: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    velocity: np.ndarray
    friction: np.ndarray
    residual: np.ndarray
    penetration: np.ndarray
    work: np.ndarray
    gained: np.ndarray
    moment: np.ndarray | None = None

    @property
    def normal_force(self) -> np.ndarray:
        """Along the normals (n, m) [N]."""
        return np.einsum("nmk,nmk->nm", self.force, self.normal)

    @property
    def complementarity(self) -> np.ndarray:
        """The largest |normal force · normal velocity| of a point that has no gap to close, at each time (n) [W]."""
        speed = np.einsum("nmk,nmk->nm", self.velocity, self.normal)
        return np.abs(self.normal_force * np.where(self.gap > 1e-9, 0.0, speed)).max(axis=1, initial=0.0)

    @property
    def cone_violation(self) -> np.ndarray:
        """The largest violation of Coulomb's cone by a point's force, at each time (n) [N]: |f_t| − μ f_n, or a pull −f_n."""
        normal = self.normal_force
        outside = np.linalg.norm(self._tangential(self.force), axis=2) - self.friction * normal
        return np.maximum(outside, -normal).max(axis=1, initial=0.0)

    @property
    def dissipation_gap(self) -> np.ndarray:
        """How far friction falls short of the largest dissipation in the cone, at each time (n) [W]: μ f_n |u_t| + f_t·u_t.

        Zero means that friction obeys the principle of maximum dissipation (Moreau 1988).
        """
        slip = self._tangential(self.velocity)
        most = self.friction * self.normal_force * np.linalg.norm(slip, axis=2)
        return np.abs(most + np.einsum("nmk,nmk->nm", self.force, slip)).max(axis=1, initial=0.0)

    def _tangential(self, vectors: np.ndarray) -> np.ndarray:
        """The components of vectors perpendicular to the normals."""
        return vectors - np.einsum("nmk,nmk->nm", vectors, self.normal)[:, :, None] * self.normal

    def on(self, name: str) -> np.ndarray:
        """The sum of the forces on a body, or on a robot of a world, from outside of it (n, 3) [N]."""
        return self._total([belongs(a, name) * 1.0 - belongs(b, name) * 1.0 for a, b in self.bodies])

    def between(self, name: str, other: str) -> np.ndarray:
        """The sum of the forces on a body, or on a robot of a world, from another or "ground" (n, 3) [N]."""
        pairs = ((belongs(a, name) and belongs(b, other), belongs(b, name) and belongs(a, other)) for a, b in self.bodies)
        return self._total([there * 1.0 - back * 1.0 for there, back in pairs])

    def _total(self, signs: Sequence[float]) -> np.ndarray:
        return np.einsum("nmk,m->nk", self.force, np.array(signs))

    def center_of_pressure(self, *bodies: str) -> np.ndarray:
        """The center of pressure of the normal forces on some bodies, or on all (n, 3) [m]; NaN while nothing touches."""
        chosen = [k for k, (a, _) in enumerate(self.bodies) if not bodies or a in bodies]
        weight = self.normal_force[:, chosen]
        total = weight.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0.0, np.einsum("nm,nmk->nk", weight, self.position[:, chosen]) / total, np.nan)


class Touched(NamedTuple):
    """The effects of contact along a run of n times.

    Attributes:
        record: its forces.
        acceleration: the mechanism's (n, nv), with them.
        unsolved: (n) per step, the remaining error of the solver for its impulses, as a part of the points' speeds.
        closes: the overlap that one step closes [m], of all points or of each (m): deeper ones are pushed apart at a bounded
            speed. Infinite for compliant points.
        warned: further warnings about bodies that overlap at the start; notes: for the audit alone.
        solver: (n, 6) of steps through lists, the numbers of a `SolverAccount` for each.
    """

    record: ContactRecord
    acceleration: np.ndarray
    unsolved: np.ndarray
    closes: float | np.ndarray = math.inf
    warned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    solver: np.ndarray | None = None

    def warnings(self, mechanism: Mechanism, time: np.ndarray, v: np.ndarray, step: float) -> list[str]:
        """What users should know of contact along a run with velocities v (n, nv), in steps [s] of a length."""
        name = mechanism.name
        told = [*self.overlaps(name, step), *self.failures(name, time), *self.sunk(name, time)]
        return [*told, *fast_motions(mechanism, time, v, step)]

    def overlaps(self, name: str, step: float) -> list[str]:
        """Warnings about bodies that overlap at the start, if any overlap by more than a step of so many seconds closes."""
        depth = -self.record.gap[0]
        deep = sorted(np.flatnonzero(depth > self.closes), key=lambda k: -depth[k])
        if not deep:
            return [*self.warned]
        return [
            f"{name}: {_some(self.record.bodies, deep)} overlap at the start, by up to {depth[deep[0]]:.3g} m; they are pushed "
            f"apart at {np.min(self.closes) / step:.2g} m/s. Start them apart if that is not meant"
        ]

    def sunk(self, name: str, time: np.ndarray) -> list[str]:
        """A warning if rigid bodies overlap far deeper than at the start and than a step closes; the last step was not made."""
        depth, closes = self.record.penetration[:-1], float(np.min(self.closes, initial=math.inf))
        if not len(depth) or not np.isfinite(self.closes).all() or depth.max() - depth[0] <= _SUNK * closes:
            return []
        first, worst = int(np.argmax(depth - depth[0] > _SUNK * closes)), int(np.argmax(depth))
        pair = _some(self.record.bodies, [int(np.argmin(self.record.gap.min(axis=0)))])
        return [
            f"{name}: bodies that did not overlap at the start do so from t = {time[first]:.6g} s on, by up to "
            f"{depth[worst]:.3g} m at t = {time[worst]:.6g} s ({pair}); they have passed a surface "
            "within a step. Take a smaller step"
        ]

    def failures(self, name: str, time: np.ndarray) -> list[str]:
        """Warnings about steps whose contact could not be solved, if there are any; the last step was not made."""
        failed = np.flatnonzero(self.unsolved[:-1] > FAILED)
        if not len(failed):
            return []
        worst = int(failed[np.argmax(self.unsolved[failed])])
        pushed = np.abs(self.record.force[worst]).max(axis=1) > 0.0
        pairs = _some(self.record.bodies, np.flatnonzero(pushed), "on")
        steps = "1 step" if len(failed) == 1 else f"{len(failed)} steps"
        missed = f"{self.record.residual[worst]:.3g} m/s, {self.unsolved[worst]:.2g} of the points' speeds"
        return [
            f"{name}: contact could not be solved in {steps} of {len(time) - 1}, first at t = {time[failed[0]]:.6g} s, worst "
            f"at t = {time[worst]:.6g} s ({pairs}), where the velocities miss its laws by {missed}. Take a smaller "
            "step; high friction and restitution make it hard to solve"
        ]


def throws(
    mechanism: Mechanism, bodies: Sequence[tuple[str, str]], gaps: np.ndarray, energy: np.ndarray, slowly: bool
) -> tuple[str, ...]:
    """A warning about bodies that overlap at the start, if the springs of contact would throw them up (`THROWN`).

    `gaps` [m] and `energy` of springs [J] are of each point, or pair; `slowly`: overlaps are left out, and bodies part slowly.
    """
    weight = mechanism.tree.mass * FALL
    if energy.sum() < THROWN * weight:
        return ()
    pairs = _some(bodies, [k for k in np.argsort(-energy) if energy[k] > 0.0])
    then = f"They begin without it, and push bodies apart at less than {PARTING:g} m/s. Start them apart"
    return (
        f"{mechanism.name}: {pairs} overlap at the start, by up to {-gaps[energy > 0.0].min():.3g} m; the springs of "
        f"contact would hold {energy.sum():.3g} J there, enough to throw all bodies {energy.sum() / weight:.3g} m up. "
        + (then if slowly else "Start them apart, or make the simulation with this start, which pushes them apart slowly"),
    )


def fast_motions(mechanism: Mechanism, time: np.ndarray, v: np.ndarray, step: float) -> list[str]:
    """Warnings if a free body turns by more than a radian in a step, or moves further than its size, at velocities (n, nv)."""
    found, sizes = [], _sizes(mechanism)
    links = [mechanism.tree.links[k] for k in sizes]
    for part, does, of, unit in ((0, "turns by", _TURN, "rad"), (3, "moves by", 0.0, "m")):
        ways = [
            (float(way.max()), of or sizes[link.index], int(way.argmax()), link.name)
            for link in links if of or sizes[link.index]
            for way in [step * np.linalg.norm(v[:, link.v_start + part : link.v_start + part + 3], axis=1)]
        ]  # fmt: skip
        way, most, row, name = max(ways, default=(0.0, 1.0, 0, ""), key=lambda one: one[0] / one[1])
        if way > most:
            further = "" if of else f", further than its size of {most:.3g} m"
            found.append(
                f"{mechanism.name}: the body of joint {name!r} {does} up to {way:.3g} {unit} in a step of {step:g} s{further}, "
                f"at t = {time[row]:.6g} s; contact is found from how bodies move at the start of a step, and such a "
                f"body may pass others. Take a step of at most {step * most / way:.2g} s"
            )
    return found


@lru_cache(maxsize=64)
def _sizes(mechanism: Mechanism) -> dict[int, float]:
    """The links of free bodies, and how large their largest shapes are [m]."""
    tree = mechanism.tree
    sizes = {link.index: 0.0 for link in tree.links if link.kind.name == "floating"}
    for body in mechanism.bodies:
        link = tree.places[body.name].link
        if link in sizes:
            sizes[link] = max(sizes[link], *(2.0 * item.shape.bounding_radius for item in body.collisions), 0.0)
    return sizes


def _some(bodies: Sequence[tuple[str, str]], points: Iterable[Any], joined: str = "and") -> str:
    """The first pairs of bodies at these points in words, and how many more there are."""
    pairs = list(dict.fromkeys(f"{a!r} {joined} {b!r}" for a, b in (bodies[k] for k in points)))
    more = [f"and {len(pairs) - _NAMED} more pairs"] if len(pairs) > _NAMED else []
    return ", ".join(pairs[:_NAMED] + more)
