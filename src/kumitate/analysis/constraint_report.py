"""Mobility, redundant loop equations, forces that the motion determines, and the small motions that keep loops closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise, starmap
from typing import Any

import numpy as np

from ..compile import Kernel
from ..dynamics import Row, carried_forces, link_motions
from ..errors import ModelError
from ..kinematics import integrate, rate
from ..model import Mechanism
from ..scalar import Program, directional, trace
from ..spatial import Force
from .closing.newton import closed_near
from .loops import COMPONENTS, LoopEquations, rigid_rows

#: Singular values below this fraction of the largest count as zero.
_ZERO = 1e-9
_NEIGHBOURS, _AWAY = 4, 0.1


@dataclass(frozen=True)
class ConstraintReport:
    """The constraints of loops and couplings at one configuration.

    Attributes:
        mechanism: its name; `freedoms`: the degrees of freedom of the tree, nv.
        rows: the number of equations of the loops and couplings.
        rank: of these equations at this configuration; `mobility`: the remaining degrees of freedom, nv − rank.
        usual_rank, usual_mobility: at configurations nearby. In a singular posture the mobility is larger than the usual one.
        redundant: equations that follow from others everywhere nearby: rows − usual rank.
        dependent: the equations that follow from the ones before them, as "loop: component".
        singularity: how far the posture is from losing rank, from 0 (singular) to about 1: the smallest singular value that
            counts, with lengths measured by `length`.
        length: the mechanism's size [m].
        determined: by joint, which of the six components of its force (`COMPONENTS`, about its frame M and in its axes) the
            motion determines. The others are least-norm; they depend on effects that are not modelled (clearance, elasticity).
    """

    mechanism: str
    freedoms: int
    rows: int
    rank: int
    mobility: int
    usual_rank: int
    usual_mobility: int
    redundant: int
    dependent: tuple[str, ...]
    singularity: float
    length: float
    determined: dict[str, tuple[bool, ...]]

    @property
    def singular(self) -> bool:
        """Whether the loops have lost rank in this posture."""
        return self.rank < self.usual_rank

    def lines(self) -> list[str]:
        """The report as readable text, one line per entry."""
        if not self.rows:
            return [f"no loops: mobility {self.freedoms}"]
        tree, equations = f"{self.freedoms} degrees of freedom of the tree", f"{self.rank} independent of {self.rows} equations"
        near = f"distance to singularity {self.singularity:.3g} (0: singular, 1: far)"
        lost = f"singular posture: nearby the mobility is {self.usual_mobility}; a motion through it stays on its branch"
        found = [f"mobility {self.mobility}: {tree}, {equations}", lost if self.singular else near]
        if self.redundant:
            dependent = ", ".join(self.dependent)
            found.append(f"{self.redundant} redundant: {dependent} follow from the others (no error: they agree)")
        partly = {name: known for name, known in self.determined.items() if not all(known)}
        for name, known in partly.items():
            free = [part for part, fixed in zip(COMPONENTS, known, strict=True) if not fixed]
            found.append(f"force at {name}: {', '.join(free)} not determined by the motion, reported least-norm")
        if not partly:
            found.append("all joint forces are determined")
        return found

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        determined = {name: dict(zip(COMPONENTS, map(bool, known), strict=True)) for name, known in self.determined.items()}
        return {**asdict(self), "dependent": list(self.dependent), "determined": determined, "singular": self.singular}


def constraint_report(loops: LoopEquations, q: np.ndarray) -> ConstraintReport:
    """The report of a mechanism at coordinates q (nq), which should close the loops."""
    mechanism, tree = loops.mechanism, loops.mechanism.tree
    q = np.asarray(q, dtype=float)
    rows = loops.rows(q, np.zeros(tree.nv))
    J = _scaled(loops, q)
    U, s, _ = np.linalg.svd(J) if J.size else (np.eye(len(J)), np.zeros(0), None)
    rank = _rank(s)
    usual, example = rank, J
    for other in (_scaled(loops, neighbour) for neighbour in closed_neighbours(loops, q)):
        if (other_rank := _rank(np.linalg.svd(other, compute_uv=False))) > usual:
            usual, example = other_rank, other
    return ConstraintReport(
        mechanism.name, tree.nv, len(rows), rank, tree.nv - rank, usual, tree.nv - usual, len(rows) - usual,
        tuple(loops.label(rows[k]) for k in _dependent(example)), float(s[usual - 1]) if usual else 1.0, tree.size,
        _determined(loops, q, rows, U[:, rank:]),
    )  # fmt: skip


def _scaled(loops: LoopEquations, q: np.ndarray) -> np.ndarray:
    """J (rows, nv) without units: angles times the mechanism's size are lengths."""
    tree = loops.mechanism.tree
    still = np.zeros(tree.nv)
    J = loops.state(q, still).J
    motions = link_motions(tree, q.tolist(), still.tolist())
    across = [tree.size if row.angular else 1.0 for row in loops.rows(q, still)]
    along = [1.0 / tree.size if any(S.angular) else 1.0 for link in tree.links for S in motions[link].S]
    return np.array(across)[:, None] * J * np.array(along) if J.size else J


def _rank(values: np.ndarray) -> int:
    return int((values > _ZERO * values[0]).sum()) if len(values) and values[0] > 0.0 else 0


def neighbours(loops: LoopEquations, q: np.ndarray, away: float, count: int) -> Iterator[np.ndarray]:
    """Configurations nearby, open ones; drawn from a fixed seed, coordinates about this far `away`."""
    rng, tree = np.random.default_rng(0), loops.mechanism.tree
    for _ in range(count):
        yield np.array(integrate(tree, q.tolist(), rng.normal(scale=away, size=tree.nv).tolist()))


def closed_neighbours(
    loops: LoopEquations, q: np.ndarray, away: float = _AWAY, count: int = _NEIGHBOURS
) -> Iterator[np.ndarray]:
    """Closed configurations next to `neighbours`, for the usual rank."""
    for moved in neighbours(loops, q, away, count):
        with suppress(ModelError):  # there may be no closed posture near that one
            yield closed_near(loops, moved)


def _dependent(J: np.ndarray) -> list[int]:
    """The rows that the rows before them span."""
    basis, found = list[np.ndarray](), []
    largest = np.linalg.norm(J, axis=1).max(initial=0.0)
    for k, left in enumerate(J):
        for direction in 2 * basis:  # twice is enough
            left = left - (left @ direction) * direction
        size = np.linalg.norm(left)
        if size > 1e-7 * largest:
            basis.append(left / size)
        else:
            found.append(k)
    return found


def _determined(loops: LoopEquations, q: np.ndarray, rows: list[Row], idle: np.ndarray) -> dict[str, tuple[bool, ...]]:
    """By joint, which components of its force are unchanged by all idle combinations of the rows' forces (rows, k)."""
    mechanism, tree = loops.mechanism, loops.mechanism.tree
    scale = np.array([tree.size if row.angular else 1.0 for row in rows])  # U belongs to the scaled rows: J's forces are S U
    stress = scale[:, None] * idle
    carried = carried_forces(tree, link_motions(tree, q.tolist(), [0.0] * tree.nv), rows)
    bodies = {joint.name: tree.places[joint.child] for joint in mechanism.joints}

    def untouched(units: Mapping[int, Force]) -> tuple[bool, ...]:
        """Which components of Σ units·stress vanish for every column of stress."""
        changes = np.zeros((6, stress.shape[1]))
        for k, force in units.items():
            changes += np.outer([float(x) for x in force], stress[k])
        changes[:3] /= tree.size
        return tuple(bool(x) for x in np.abs(changes).max(axis=1, initial=0.0) < 1e-7)

    found = {}
    for link in tree.links:
        pose = bodies[link.name].pose
        found[link.name] = untouched({k: force.to_child(pose) for k, force in carried[link][0].items()})
    for chord in tree.chords:
        own = [(k, row) for k, row in enumerate(rows) if row.owner == chord.name]
        found[chord.name] = untouched({k: row.unit.to_parent(chord.turn) for k, row in own})
    return found


def closed_directions(equations: LoopEquations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Z (nv, m), W (nv, k) and P (nv, m): closed loops stay closed if ξ = Z y and δv = W w + P y.

    J δv + (δJ) v = 0, and J ξ = 0 in the rows that restrict positions: all, unless bodies roll.

    Args:
        equations: of the mechanism; a tree has the identity as Z and W, and zero as P.
        q, v: coordinates (nq) and velocities (nv) that satisfy them.

    Raises:
        ModelError: in a singular posture, where these directions are not a vector space.
    """
    mechanism, n = equations.mechanism, equations.mechanism.nv
    if not equations.names:
        return np.eye(n), np.eye(n), np.zeros((n, n))
    report = constraint_report(equations, q)
    if report.singular:
        raise ModelError(
            f"{mechanism.name}: the posture is singular: {report.mobility} motions are free here and {report.usual_mobility} "
            "nearby, so that no linear equations hold on all sides of it. Choose another posture"
        )
    J = equations.state(q, v).J
    U, s, Vt = np.linalg.svd(J)
    rank, W = report.rank, Vt[report.rank :].T
    Z = W if equations.holonomic.all() else null_space(J[equations.holonomic])
    tree, (E, _) = mechanism.tree, tangent(mechanism, q, v)
    sizes = {"q": tree.nq, "v": n}
    program = trace(lambda q, v: [row.rate for row in rigid_rows(tree, q, v)[0]], sizes, f"opening_{mechanism.name}")
    _, opened, _ = slopes_along(program, [q, v], [E @ Z, np.eye(n)])
    return Z, W, -(Vt[:rank].T / s[:rank]) @ U[:, :rank].T @ opened


def tangent(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E (nq, nv) and C (nv, nv): q̇ = E(q) v and ξ̇ = δv + C ξ.

    d/dt δq = δ q̇ with δq = E ξ is E ξ̇ + Ė ξ = E δv + (δE) v: the difference of two derivatives of q̇.
    """
    tree, n = mechanism.tree, mechanism.nv
    moved = Kernel(directional(trace(lambda q, v: rate(tree, q, v), {"q": tree.nq, "v": n}, f"rate_{mechanism.name}")))
    units, still, fixed = np.eye(n), np.zeros((n, n)), np.zeros((n, tree.nq))
    E = moved(q, units, fixed, still)[0].T
    by_q = moved(q, v, E.T, still)[1]  # of E v, along every ξ
    by_time = moved(q, units, E @ v, still)[1]  # of E ξ, along v
    return E, np.linalg.pinv(E) @ (by_q - by_time).T


def slopes_along(program: Program, at: Sequence[np.ndarray], along: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The program's output (k) at a point, and per input its derivatives (k, m) along the columns (size, m) of `along`."""
    ends = list(accumulate((columns.shape[1] for columns in along), initial=0))
    own = list(starmap(slice, pairwise(ends)))
    dots = [np.zeros((ends[-1], len(columns))) for columns in along]
    for dot, columns, place in zip(dots, along, own, strict=True):
        dot[place] = columns.T
    values, slopes = Kernel(directional(program))(*at, *dots)
    return values[0], *(slopes[place].T for place in own)


def null_space(J: np.ndarray) -> np.ndarray:
    """Orthonormal columns Z (nv, k) with J Z = 0."""
    _, s, Vt = np.linalg.svd(J)
    return np.asarray(Vt[int((s > _ZERO * s.max(initial=0.0)).sum()) :].T)
