"""Forward dynamics in dense-block form: as one would write it by hand, once for all chains of like joints.

Every number of a mechanism is an input, each link's pose in its parent is one dense rotation and translation, and each block of
an inverse inertia is full; only the subspaces of a kind of joint are known. Nothing is then simplified across links. Joints are
without armature and friction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from kumitate.dynamics import Acting, aba, crba, factored, solve_symmetric
from kumitate.dynamics.ada import constraint_law
from kumitate.dynamics.assembly.accelerations import assembled, disassembled
from kumitate.dynamics.assembly.connection import WORLD, Bodies, JointConnection, Route
from kumitate.dynamics.assembly.initial import Prepared, joint_of, prepared
from kumitate.dynamics.assembly.order import assembly_order
from kumitate.dynamics.motion import link_motions
from kumitate.dynamics.subchains import JointSpace, Parted, joint_space, parted_tree, rates, side_by_side
from kumitate.lagrange.forward import energy_derivatives, joint_equations
from kumitate.model import Link, Tree
from kumitate.scalar import Program, Scalar, Symbol, call, flatten, trace
from kumitate.spatial import (
    Dense,
    DenseRotation,
    Force,
    Inertia,
    InverseInertia,
    Matrix3,
    Motion,
    Symmetric3,
    Transform,
    Vector3,
    centripetal,
)  # fmt: skip

__all__ = [
    "DenseForm", "dense_aba", "dense_ada", "dense_crba", "dense_hybrid", "dense_lagrange", "prepared_hybrid",
]  # fmt: skip

Gravity = Sequence[float]
Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class DenseForm:
    """A method in dense-block form: `page(q, v, tau, constants)` gives v̇, for floats and for symbols."""

    page: Callable[..., list[Scalar]]
    constants: np.ndarray

    def program(self, tree: Tree, name: str) -> Program:
        """The program: (q, v, tau, constants) → v̇."""
        return trace(self.page, {"q": tree.nq, "v": tree.nv, "tau": tree.nv, "constants": len(self.constants)}, name)


@dataclass(frozen=True)
class DenseLink(Link):
    """A link whose pose in its parent is one dense matrix."""

    def pose(self, q: Sequence[Scalar]) -> Transform:
        return super().pose(q).dense()


def dense_lagrange(tree: Tree, gravity: Gravity) -> DenseForm:
    """M, c and g by derivatives of the energies, LDLᵀ (thesis 4.2.1); the derivatives are taken once for all chains alike."""
    numbers = _numbers(tree)
    derivatives, kinds = (
        energy_derivatives(tree, lambda given: _dense(tree, iter(given)), len(numbers)),
        _dense(tree, iter(numbers)),
    )

    def page(q: Any, v: Any, tau: Any, given: Sequence[Scalar]) -> list[Scalar]:
        known = replace(derivatives, numbers=tuple(given))
        return solve_symmetric(*joint_equations(known, kinds, q, v, tau, Acting(gravity)))

    return DenseForm(page, numbers)


def dense_crba(tree: Tree, gravity: Gravity) -> DenseForm:
    """M by composite rigid bodies, bias by Newton-Euler, LDLᵀ."""
    return DenseForm(
        lambda q, v, tau, numbers: factored(crba, _dense(tree, iter(numbers)), q, v, tau, Acting(gravity)), _numbers(tree)
    )


def dense_aba(tree: Tree, gravity: Gravity) -> DenseForm:
    """Articulated bodies (thesis 2.2.2)."""
    return DenseForm(lambda q, v, tau, numbers: aba(_dense(tree, iter(numbers)), q, v, tau, Acting(gravity)), _numbers(tree))


def dense_ada(tree: Tree, gravity: Gravity) -> DenseForm:
    """ADA with a body for each link (thesis 2.2.1)."""
    ready = prepared(tree)
    steps = [j for j in assembly_order(tree) if tree.links[j].kind.rows]

    def page(q: Any, v: Any, tau: Any, numbers: Sequence[Scalar]) -> list[Scalar]:
        taken = iter(numbers)
        own = _dense(ready.tree, taken)
        centers = {link.index: Vector3.of(_take(taken, 3)) for link in own.links}
        now = replace(ready, tree=own, centers={WORLD: Vector3(), **centers})
        motions = link_motions(own, q, v)
        joints = [_dense_joint(now, link, q, v, tau, motions[link].bias) for link in own.links]
        pushed = [Force()] * len(own.links)
        for joint in joints:
            for handle, force in joint.pull(list(joint.drive)).items():
                if handle != WORLD:
                    pushed[handle] = pushed[handle] + force
        Phi, B = {WORLD: InverseInertia.immovable()}, {WORLD: Motion(linear=-Vector3.of(gravity))}
        for link in own.links:
            central = Symmetric3(*_take(taken, 6))
            omega, c = motions[link].omega, centers[link.index]
            Phi[link.index] = _symmetric(_take(taken, 21))
            push = pushed[link.index] - Inertia(rotational=central).velocity_force(omega)
            B[link.index] = Phi[link.index].times(push) - Motion(linear=centripetal(omega, c))
        bodies = Bodies(Phi, B, {})
        _, pulls = disassembled(assembled(constraint_law, joints, bodies, steps, {}))
        V = {handle: bodies.B[handle] + bodies.response(handle, pulls) for handle in bodies.B}
        return [rate for joint in joints for rate in joint.rates(V.__getitem__)]

    return DenseForm(page, np.array([*_numbers(ready.tree), *_central_numbers(ready)]))


def dense_hybrid(tree: Tree, gravity: Gravity, parts: Parts) -> DenseForm:
    """Hybrid modelling whose sub-chains' equations are in dense-block form too."""
    parted = parted_tree(tree, parts)

    def equations(k: int, numbers: Iterator[Scalar], *state: Any) -> JointSpace:
        subchain = parted.parts[k].subchain
        return joint_space(replace(subchain, tree=_dense(subchain.tree, numbers)), *state)

    numbers = [_numbers(part.subchain.tree) for part in parted.parts]
    return DenseForm(_hybrid(parted, gravity, equations), np.concatenate([_numbers(parted.ready.tree), *numbers]))


def prepared_hybrid(tree: Tree, gravity: Gravity, parts: Parts) -> DenseForm:
    """Hybrid modelling as in the thesis: each sub-chain's equations prepared symbolically for it, full blocks between them."""
    parted = parted_tree(tree, parts)
    made: dict[int, Any] = {}

    def equations(k: int, numbers: Iterator[Scalar], *state: Any) -> JointSpace:
        if k not in made:
            made[k] = _opaque(lambda *given: joint_space(parted.parts[k].subchain, *given), state, f"subchain_{k}")
        return made[k](state)

    form = DenseForm(_hybrid(parted, gravity, equations), _numbers(parted.ready.tree))
    form.program(tree, "prepared")  # prepares the sub-chains' programs, which floats may then be given to as well
    return form


def _hybrid(parted: Parted, gravity: Gravity, equations: Callable[..., JointSpace]) -> Any:
    parts, order = parted.parts, parted.order

    def page(q: Any, v: Any, tau: Any, numbers: Sequence[Scalar]) -> list[Scalar]:
        taken = iter(numbers)
        own = _dense(parted.ready.tree, taken)
        ready, motions = replace(parted.ready, tree=own), link_motions(own, q, v)
        joints = {j: _dense_joint(ready, own.links[j], q, v, tau, motions[own.links[j]].bias) for j in parted.between}
        pushed = [Force()] * len(own.links)
        for joint in joints.values():
            for handle, force in joint.pull(list(joint.drive)).items():
                pushed[handle] = pushed[handle] + force
        found = []
        for k, part in enumerate(parts):
            free, links = not part.subchain.grounded, own.links
            start = (*motions[links[part.root]].omega, 0.0, 0.0, 0.0) if free else ()
            rest = ((*start, *part.velocities(links, v)), (*[0.0] * len(start), *part.velocities(links, tau)))
            forces = tuple(pushed[index] for index in part.members)
            found.append(
                equations(k, taken, part.coordinates(links, q), *rest, forces, (0.0, 0.0, 0.0) if free else tuple(gravity))
            )
        bodies = side_by_side(parts, found, gravity)
        _, pulls = disassembled(assembled(constraint_law, joints, bodies, order, {}))  # type: ignore[arg-type]
        V = {handle: bodies.B[handle] + bodies.response(handle, pulls) for handle in bodies.B}
        vdot: dict[int, list[Scalar]] = {}
        for part, own_equations in zip(parts, found, strict=True):
            forces = tuple(pulls[part.members[handle]] for handle in part.subchain.handles)
            rate = rates(own_equations.factors, own_equations.driven, tuple(own_equations.reaches.values()), forces)
            if not part.subchain.grounded:
                V[part.root], rate = Motion.of(rate[:6]), rate[6:]
            inner = iter(rate)
            vdot |= {index: [next(inner) for _ in own.links[index].armature] for index in part.carried}
        vdot |= {j: joint.rates(V.__getitem__) for j, joint in joints.items()}
        return [rate for index in sorted(vdot) for rate in vdot[index]]

    return page


def _opaque(page: Callable[..., Any], given: tuple[Any, ...], name: str) -> Callable[[tuple[Any, ...]], Any]:
    """A page as a prepared program of which no result is known beforehand, whatever it is; traced for such arguments."""
    leaves, build = flatten(given)
    known = [leaf if isinstance(leaf, float) else None for leaf in leaves]
    kept: list[Any] = []

    def run(inputs: Any) -> list[Scalar]:
        given_here = iter(inputs)
        results, rebuild = flatten(page(*build([next(given_here) if x is None else x for x in known])))
        kept.append((results, rebuild))
        return list(dict.fromkeys(x for x in results if isinstance(x, Symbol))) + [
            x for x in results if not isinstance(x, Symbol)
        ]

    program = trace(run, {"given": sum(x is None for x in known)}, name)

    def prepared_page(values: tuple[Any, ...]) -> Any:
        now, _ = flatten(values)
        returned = call(program, [x for x, number in zip(now, known, strict=True) if number is None])
        results, rebuild = kept[0]
        symbols = dict.fromkeys(x for x in results if isinstance(x, Symbol))
        by_symbol = dict(zip(symbols, returned, strict=False))
        numbers = iter(returned[len(symbols) :])
        return rebuild([by_symbol[x] if isinstance(x, Symbol) else next(numbers) for x in results])

    return prepared_page


def _dense_joint(ready: Prepared, link: Link, q: Any, v: Any, tau: Any, bias: Motion) -> JointConnection:
    joint = joint_of(ready, link, q, v, tau, bias, in_carrier=False)
    whole = Transform()
    for X in joint.outer.poses:
        whole = whole @ X
    return replace(joint, outer=Route((whole.dense(),)))


def _numbers(tree: Tree) -> np.ndarray:
    """Rotation 9, translation 3, mass 1, first moment 3, inertia 6 of every link."""
    values: list[Scalar] = []
    for link in tree.links:
        values += [x for row in link.placement.rotation.matrix() for x in row]
        values += [*link.placement.translation, link.inertia.mass, *link.inertia.first_moment]
        values += link.inertia.rotational.entries
    return np.array(values, dtype=float)


def _dense(tree: Tree, numbers: Iterator[Scalar]) -> Tree:
    """The tree with its constants replaced by numbers of which nothing is known."""
    links = []
    for link in tree.links:
        rotation = DenseRotation(Matrix3.of([_take(numbers, 3), _take(numbers, 3), _take(numbers, 3)]))
        placement = Transform(rotation, Vector3.of(_take(numbers, 3)))
        inertia = Inertia(next(numbers), Vector3.of(_take(numbers, 3)), Symmetric3(*_take(numbers, 6)))
        kept = {field.name: getattr(link, field.name) for field in fields(Link)}
        none = (0.0,) * link.kind.nv
        passive = dict.fromkeys(("armature", "damping", "friction", "stiffness", "rest"), none)
        links.append(DenseLink(**(kept | {"placement": placement, "inertia": inertia} | passive)))
    return replace(tree, links=tuple(links))


def _central_numbers(ready: Prepared) -> list[Scalar]:
    """The links' centers of mass; then the inertia about each, and the upper triangle of its Φ there."""
    values = [x for link in ready.tree.links for x in ready.centers[link.index]]
    for link in ready.tree.links:
        central = link.inertia.to_parent(Transform(translation=-ready.centers[link.index])).rotational
        values += central.entries
        rows = InverseInertia.central(link.inertia.mass, central).matrix().rows
        values += [rows[i][k] for i in range(6) for k in range(i, 6)]
    return values


def _symmetric(entries: Sequence[Scalar]) -> InverseInertia:
    taken = iter(entries)
    rows: list[list[Scalar]] = [[0.0] * 6 for _ in range(6)]
    for i in range(6):
        for k in range(i, 6):
            rows[i][k] = rows[k][i] = next(taken)
    return InverseInertia.of(Dense.of(rows).rows)


def _take(numbers: Iterator[Scalar], count: int) -> list[Scalar]:
    return [next(numbers) for _ in range(count)]
