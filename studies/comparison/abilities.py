"""The abilities of the methods, found by trying: thesis table 2.3, made from counts, fits and runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kumitate.analysis import assemble
from kumitate.analysis.loops import LoopEquations
from kumitate.dynamics import Acting, aba, aba_with_loops, crba, joint_forces, link_motions, rnea
from kumitate.dynamics.ada import ada
from kumitate.dynamics.dca import dca
from kumitate.dynamics.hybrid import hybrid
from kumitate.dynamics.rnea import supports
from kumitate.dynamics.subchains import parted_tree
from kumitate.errors import KumitateError
from kumitate.lagrange import lagrange
from kumitate.lagrange.forward import joint_forces as lagrange_forces
from kumitate.model import Tree
from kumitate.model.samples import pa10, planar_4r
from kumitate.model.tree.subchains import parts_by_cuts
from kumitate.scalar import Scalar, trace

from .chains import chain_in_space
from .inverses import inverse_sizes
from .program_depth import program_depth

__all__ = ["LENGTHS", "Ability", "abilities"]

#: Chains whose operations and depth are counted.
LENGTHS = (6, 12, 24)
#: Links of a sub-chain of the hybrid method here.
SUB_CHAIN = 3


@dataclass(frozen=True)
class Ability:
    """A line of the table.

    Attributes:
        method: its name here.
        inertia, joint: what it assembles; whether joints are written constraint-oriented (COR) or joint-oriented (JOR).
        loops: whether it gave the accelerations of a closed loop.
        forces: whether it also gave the joint forces.
        inverses: sizes and numbers of the matrices that it inverts for PA-10.
        operations: by the length of a chain in space; `depth`: the longest row of operations that wait for one another.
    """

    method: str
    inertia: str
    joint: str
    loops: bool
    forces: bool
    inverses: dict[int, int]
    operations: dict[int, int]
    depth: dict[int, int]

    @property
    def growth(self) -> float:
        """The exponent of n that operations grow with between the two longest chains."""
        return _exponent(self.operations)

    @property
    def deepening(self) -> float:
        """The exponent of n that the depth grows with there: 1 is serial; towards 0, as for log n, all can be done at once."""
        return _exponent(self.depth)


def abilities() -> list[Ability]:
    """The table, from runs of every method."""
    return [
        Ability(
            name, inertia, joint, _closes_loops(page), _gives_forces(with_forces), _inverses(name), *_growth(serial or page)
        )
        for name, inertia, joint, page, with_forces, serial in _METHODS
    ]


def _parts(tree: Tree) -> tuple[tuple[int, ...], ...]:
    return parts_by_cuts(tree, range(SUB_CHAIN, len(tree.links), SUB_CHAIN))


def _hybrid(tree: Tree, *state: Any, **options: Any) -> Any:
    return hybrid(tree, *state, partition=_parts(tree), **options)


def _vdot(page: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    return lambda *state, **options: page(*state, **fixed, **options).vdot


def _by_links(page: Callable[..., Any]) -> Callable[..., Any]:
    def forces(tree: Tree, *state: Any, **options: Any) -> list[Any]:
        found = page(tree, *state, **options).forces
        return [found[link.index] for link in tree.links]

    return forces


def _by_multipliers(tree: Tree, *state: Any) -> list[Any]:
    return lagrange_forces(tree, *state).tree


#: Method, inertia, joint equations, page, page of joint forces, page whose growth is counted where it is another.
_METHODS: tuple[tuple[str, str, str, Callable[..., Any], Callable[..., Any] | None, Callable[..., Any] | None], ...] = (
    ("Lagrange", "joint space", "—", lagrange, _by_multipliers, None),
    ("ABA", "ABI", "JOR", aba_with_loops, joint_forces, aba),
    ("DCA", "IABI", "JOR", _vdot(dca), _by_links(dca), _vdot(dca, order="balanced")),
    ("ADA", "IABI", "COR", _vdot(ada), _by_links(ada), _vdot(ada, order="balanced")),
    ("hybrid", "joint space, IABI", "COR", _hybrid, None, None),
)


def _closes_loops(page: Callable[..., Any]) -> bool:
    """Whether it moves the planar four-bar linkage as d'Alembert says: M v̇ = τ − h + Jᵀλ with J v̇ = c, solved by NumPy."""
    mechanism = planar_4r()
    loops = LoopEquations(mechanism)
    q = np.array(assemble(loops, np.radians((135.0, -45.0, 225.0)), None)[0])
    tree, still = mechanism.tree, [0.0] * mechanism.nv
    M: np.ndarray = np.array(crba(tree, q.tolist()))
    push = -np.array(_bias(tree, q.tolist(), mechanism.gravity))
    J = loops.state(q, np.zeros(mechanism.nv)).J
    free = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-9) :].T  # what the loop allows; at rest v̇ is one of these
    expected = free @ np.linalg.solve(free.T @ M @ free, free.T @ push)
    try:
        found = np.array(page(tree, q.tolist(), still, still, Acting(mechanism.gravity)))
    except (KumitateError, TypeError):
        return False
    return bool(np.abs(found - expected).max() < 1e-9 * np.abs(expected).max())


def _bias(tree: Tree, q: list[float], gravity: Any) -> list[Scalar]:
    return rnea(tree, q, [0.0] * tree.nv, [0.0] * tree.nv, gravity=gravity)


def _gives_forces(page: Callable[..., Any] | None) -> bool:
    """Whether it gives the force at every joint, so that each body of PA-10 gets what its acceleration takes."""
    if page is None:
        return False
    mechanism = pa10()
    rng, tree = np.random.default_rng(0), mechanism.tree
    q, v, tau = (rng.normal(size=7).tolist() for _ in range(3))
    vdot = aba(tree, q, v, tau, Acting(mechanism.gravity))
    held = supports(tree, link_motions(tree, q, v), q, vdot, wrenches=None, gravity=mechanism.gravity)
    expected = np.array([list(held[link][0]) for link in tree.links])
    return bool(
        np.abs(np.array([list(force) for force in page(tree, q, v, tau, Acting(mechanism.gravity))]) - expected).max() < 1e-8
    )


def _inverses(name: str) -> dict[int, int]:
    mechanism = pa10()
    if name != "hybrid":
        return inverse_sizes(mechanism, "crba" if name == "Lagrange" else name.lower())
    parted = parted_tree(mechanism.tree, _parts(mechanism.tree))
    sizes = [part.subchain.tree.nv for part in parted.parts] + [mechanism.tree.links[j].kind.rows for j in parted.between]
    return {size: sizes.count(size) for size in sorted(set(sizes), reverse=True)}


def _growth(page: Callable[..., Any]) -> tuple[dict[int, int], dict[int, int]]:
    operations, depth = {}, {}
    for links in LENGTHS:
        mechanism = chain_in_space(links)
        inputs: dict[str, int | tuple[int, ...]] = {"q": links, "v": links, "tau": links}
        program = trace(
            lambda q, v, tau, m=mechanism: page(m.tree, q, v, tau, Acting(m.gravity)), inputs, f"chain{links}"
        )  # fmt: skip
        operations[links], depth[links] = program.operations.total(), program_depth(program)
    return operations, depth


def _exponent(counts: dict[int, int]) -> float:
    (n, few), (m, many) = sorted(counts.items())[-2:]
    return math.log(many / few) / math.log(m / n)
