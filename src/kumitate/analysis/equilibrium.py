"""Static equilibrium: the forces that hold a mechanism at rest, and whether it can stand there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import Wrenches, chord_closings, chord_drives, rnea
from ..errors import InputError
from ..kinematics import center_of_mass, jacobian, link_poses
from ..model import Place, Tree
from ..spatial import Transform, Vector3
from .balance import SupportPolygon, ground_wrench, support_polygon, zero_moment_point
from .loops import LoopEquations

#: Singular values below this fraction of the largest count as zero.
_ZERO = 1e-9


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The static equilibrium of a mechanism.

    Attributes:
        tau: forces of the drives (nv) [N·m, N]; zero where there is no drive.
        loops: forces (rows) of the equations of loops and couplings, as in `LoopEquations.rows`.
        holds: wrench [n; f] (6) on each held place by name: world's axes, about that place's origin.
        residual: (nv), the unbalanced force along the degrees of freedom without a drive [N·m, N].
        balanced: whether the residual is zero up to rounding.
        center_of_mass: (3) in the world [m].
        ground: [n; f] (6), the total wrench of the ground on the mechanism, about the world's origin.
        polygon: the support polygon, if contact points were given; `margin`: the distance of the center of pressure from its
            edge [m], negative outside, where the mechanism tips over.
    """

    tau: np.ndarray
    loops: np.ndarray
    holds: dict[str, np.ndarray]
    residual: np.ndarray
    balanced: bool
    center_of_mass: np.ndarray
    ground: np.ndarray
    polygon: SupportPolygon | None = None
    margin: float | None = None

    @property
    def stands(self) -> bool:
        """Whether it is balanced and does not tip over."""
        return self.balanced and (self.margin is None or self.margin >= 0.0)


def static_equilibrium(
    equations: LoopEquations,
    q: Any,
    *,
    passive: Sequence[str] = (),
    held: Sequence[str] = (),
    pressed: Mapping[str, Any] | None = None,
    wrenches: Mapping[str, Sequence[float]] | None = None,
    contacts: Any = None,
) -> Equilibrium:
    """The forces that hold a mechanism at rest; if they are not unique, those with the least squared drive forces.

    Loops, couplings, held places and springs of joints carry load as well. Contact points only determine whether the
    mechanism tips over: if nothing else carries a free body, name the bodies that stand on the ground in `held`.

    Args:
        equations: the loop equations of the mechanism (it need not have loops).
        q: coordinates (nq), closing the loops.
        passive: names of joints without a drive. A joint with six degrees of freedom to the world never has one.
        held: bodies or frames that the ground holds in all six directions.
        pressed: points (n, 3) in the world at which the ground carries bodies, without moments, by the bodies' names.
        wrenches: external [n; f] (6) by name of a body or frame: world's axes, about that place's origin.
        contacts: points (n, 3) in the world where it touches the ground; the ground is at their mean height.

    Raises:
        InputError: if a name is not that of a joint, body or frame.
    """
    mechanism = equations.mechanism
    tree, q, still = mechanism.tree, [float(x) for x in q], [0.0] * mechanism.nv
    for name in (*held, *(pressed or {}), *(wrenches or {})):
        tree.place(name, f"{mechanism.name}: a force acts on")
    applied = Wrenches(tree, wrenches) if wrenches else None
    pushed = chord_drives(tree, chord_closings(tree, q, still), {}, applied)
    load = np.array(rnea(tree, q, still, still, gravity=mechanism.gravity, wrenches=pushed))

    J_loops = equations.state(q, still).J
    J_held = [np.array(jacobian(tree, q, tree.places[name]), dtype=float) for name in held]
    J_points = [np.array(jacobian(tree, q, place), dtype=float)[3:] for place in body_points(tree, q, pressed or {})]
    J = np.vstack([J_loops.reshape(len(J_loops), tree.nv), *J_held, *J_points])
    idle = _idle(equations, passive)
    strengths = _least_drives(load, J, idle)
    left = load - J.T @ strengths
    residual = np.where(idle, left, 0.0)
    scale = np.abs(load).max(initial=0.0) + tree.mass * np.linalg.norm(mechanism.gravity) * tree.size
    ground = np.array(ground_wrench(tree, q, still, still, gravity=mechanism.gravity, wrenches=applied))
    polygon = margin = None
    if contacts is not None:
        polygon = support_polygon(contacts)
        height = float(np.mean(np.asarray(contacts, dtype=float)[:, 2])) if np.shape(contacts)[1] == 3 else 0.0
        margin = -np.inf  # where it is pulled down, or floats
        if ground[5] > 0.0:
            margin = float(polygon.margin(zero_moment_point(ground.tolist(), point=(0.0, 0.0, height))))
    rows = len(J_loops)
    wrench = strengths[rows : rows + 6 * len(held)].reshape(-1, 6)
    return Equilibrium(
        np.where(idle, 0.0, left), strengths[:rows], dict(zip(held, wrench, strict=True)), residual,
        bool(np.abs(residual).max(initial=0.0) <= 1e-9 * scale), np.array(center_of_mass(tree, q)), ground, polygon, margin,
    )  # fmt: skip


def body_points(tree: Tree, q: Sequence[float], points: Mapping[str, Any]) -> list[Place]:
    """The places on bodies that are at points (n, 3) in the world, by the bodies' names."""
    poses = link_poses(tree, q)
    links = [(tree.links[tree.places[name].link], row) for name, rows in points.items() for row in np.asarray(rows).tolist()]
    return [Place(link.index, Transform(translation=poses[link].inverse().point(Vector3(*row)))) for link, row in links]


def _idle(equations: LoopEquations, passive: Sequence[str]) -> np.ndarray:
    """Which degrees of freedom (nv) have no drive."""
    tree = equations.mechanism.tree
    links, idle = {link.name: link for link in tree.links}, np.zeros(tree.nv, dtype=bool)
    for name in passive:
        if name not in links:
            raise InputError(f"{equations.mechanism.name}: {name!r} is not a movable joint; there are {', '.join(links)}")
    floating = [link for link in tree.children(-1) if link.kind.nv == 6]
    for link in [*floating, *(links[name] for name in passive)]:
        idle[link.v_start : link.v_start + link.kind.nv] = True
    return idle


def _least_drives(load: np.ndarray, J: np.ndarray, idle: np.ndarray) -> np.ndarray:
    """The λ (rows) that carry the load where there is no drive, and minimize the forces of the drives."""
    if not J.size:
        return np.zeros(len(J))
    must, may = J[:, idle].T, J[:, ~idle].T
    small = _ZERO * float(np.linalg.norm(J, 2))
    inverse, free = _inverse(must, small)
    first = inverse @ load[idle]
    again, _ = _inverse(may @ free, small)
    return first + free @ (again @ (load[~idle] - may @ first))


def _inverse(A: np.ndarray, small: float) -> tuple[np.ndarray, np.ndarray]:
    """A⁺ and a basis of A's null space, singular values up to `small` counting as zero."""
    U, s, Vt = np.linalg.svd(A)
    rank = int((s > small).sum())
    return (Vt[:rank].T / s[:rank]) @ U[:, :rank].T, Vt[rank:].T
