"""The contact of a step at its solution, linearised: how the generalised impulses of all points change with q and v.

The wrench of a pair changes with the motion and the twist of its link (`linearised_pair`), whose changes by q and v are the
columns of its Jacobian. So the sums over a tree are those of a stiffness matrix, from the leaves to the root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from ...model import Link, PerLink, Tree, inward, outward
from ...scalar import Program, Scalar, absolute, call, is_zero, trace, when
from ...spatial import Dense, Force, Motion, dot
from ..scene import Pair
from .jacobians import LinkJacobians, Pattern
from .linearised_pair import LinearisedPair, linearised_pair

_ZERO = Dense.zero(6, 6)
_NOTHING = LinearisedPair(_ZERO, _ZERO, _ZERO, _ZERO, Force())


class Pressing(NamedTuple):
    """The points of a pair at the solution: their impulses (n, 3) in the world's axes [N·s], and coefficients of friction."""

    impulses: Sequence[Sequence[Scalar]]
    frictions: Sequence[Scalar]


class LinearisedContact(NamedTuple):
    """How the generalised impulses of all points change; matrices (nv, nv) with the sparsity of the tree.

    Attributes:
        stiffness: JᵀKJ, less impulse by more velocity after the step; `carried_over`: JᵀDKJ, what the second round takes back.
        by_q: more impulse by more of a coordinate, while the velocities stay; `by_q_over`: what the second round adds to it.
    """

    stiffness: Pattern
    by_q: Pattern
    carried_over: Pattern
    by_q_over: Pattern


def linearised(
    jacobians: LinkJacobians,
    pairs: Sequence[Pair],
    pressing: Sequence[Pressing],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    h: Scalar,
    stiff: float,
    slow: Scalar,
) -> LinearisedContact:
    """The contact of a step h at its solution; every pair is one of a moving link and the world, without restitution.

    Args:
        q, v: the posture before the step (nq), the velocities after it (nv).
        stiff: the stiffness K of points along their axes [kg].
        slow: points that slide more slowly are at rest [m/s].
    """
    tree, twists = jacobians.tree, jacobians.twists(v)
    on: dict[int, LinearisedPair] = {}
    for pair, points in zip(pairs, pressing, strict=True):
        link = tree.links[pair.links[0]]
        X_WA, X_WB = pair.poses(tree, jacobians.poses)
        state = (list(jacobians.origins[link]), list(twists[link]), *points, h, slow)
        pressed = sum((absolute(part) for impulse in points.impulses for part in impulse), 0.0) > 0.0
        felt = when(pressed, partial(linearised_pair, pair, X_WB, stiff, X_WA, *state), _NOTHING)
        on[link.index] = on[link.index].plus(felt) if link.index in on else felt
    slopes = _subspace_slopes(jacobians, q)
    lagging = _lagging(jacobians, twists, slopes, v)

    wrenches: PerLink[Force] = inward(
        tree, lambda link, behind: sum(behind, on[link.index].wrench if link.index in on else Force())
    )
    columns = _Columns.of(jacobians, lagging, wrenches)
    places, program = _tree_program(tree, tuple(on), columns)

    def summed(stiffness: str, by_motion: str, turned: Sequence[Sequence[Scalar]]) -> list[Pattern]:
        given = ([row for felt in on.values() for row in getattr(felt, name).rows] for name in (stiffness, by_motion))
        found = call(program, *given, columns.S, columns.lag, turned)
        return [
            {i: dict(zip(row, entries[k : k + len(row)], strict=True)) for i, (k, row) in places.items()}
            for entries in (found["by_v"], found["by_q"])
        ]

    first = summed("stiffness", "by_motion", columns.turned)
    over = summed("carried_over", "by_motion_over", [[0.0] * 6] * tree.nv)
    _add_turned_joints(first[1], jacobians, slopes, wrenches)
    return LinearisedContact(*first, *over)


class _Columns(NamedTuple):
    """The columns of joints (nv, 6), what their twists lack, and S ×* F: what ∂Sᵀ/∂q F is for the joints that carry them."""

    S: list[list[Scalar]]
    lag: list[list[Scalar]]
    turned: list[list[Scalar]]

    @classmethod
    def of(cls, jacobians: LinkJacobians, lagging: PerLink[tuple[Motion, ...]], wrenches: PerLink[Force]) -> _Columns:
        """With the wrenches F on each link and all that it carries."""
        S, links = jacobians.S, jacobians.tree.links
        return cls(
            [list(column) for link in links for column in S[link]],
            [list(column) for link in links for column in lagging[link]],
            [list(column.cross_force(wrenches[link])) for link in links for column in S[link]],
        )


def _tree_program(tree: Tree, loaded: Sequence[int], columns: _Columns) -> tuple[dict[int, tuple[int, list[int]]], Program]:
    """(K and F (6×6) of the loaded links, columns) → the entries of Σ Jᵀ K J and of Σ Jᵀ (F J + K lag); and their places.

    By row, the places are those of its first entry and of the columns. Structural zeros of the columns are left out.
    """
    places: dict[int, tuple[int, list[int]]] = {}

    def nonzero(given: Any, known: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        return [[0.0 if is_zero(x) else row[i] for i, x in enumerate(own)] for row, own in zip(given, known, strict=True)]

    def entries(K: Any, F: Any, S: Any, lag: Any, turned: Any) -> dict[str, list[Scalar]]:
        on = {index: tuple(Dense.of(part[6 * k : 6 * k + 6]) for part in (K, F)) for k, index in enumerate(loaded)}
        moved, lags, wrenches = (nonzero(*pair) for pair in zip((S, lag, turned), columns, strict=True))
        by_v, by_q = _summed(tree, on, [*map(Motion.of, moved)], [*map(Motion.of, lags)], [*map(Force.of, wrenches)])
        start = 0
        for i, row in by_v.items():
            places[i], start = (start, list(row)), start + len(row)
        return {
            "by_v": [x for row in by_v.values() for x in row.values()],
            "by_q": [by_q[i][j] for i, row in by_v.items() for j in row],
        }

    matrices, motions = (6 * len(loaded), 6), (tree.nv, 6)
    sizes: dict[str, int | tuple[int, ...]] = {"K": matrices, "F": matrices, "S": motions, "lag": motions, "turned": motions}
    program = trace(entries, sizes, f"felt_{tree.nv}")
    return places, program


def _summed(
    tree: Tree, on: Mapping[int, tuple[Dense, ...]], S: Sequence[Motion], lag: Sequence[Motion], turned: Sequence[Force]
) -> tuple[Pattern, Pattern]:
    """Σ Jᵀ K J and Σ Jᵀ (F J + K lag) over links, with K and F by link index and columns S of joints.

    `turned`: by column, a wrench whose product with the columns of the joints that carry it is added to the second sum.
    """
    by_v: Pattern = {k: {} for k in range(tree.nv)}
    by_q: Pattern = {k: {} for k in range(tree.nv)}

    def stage(link: Link, behind: list[tuple[Dense, ...] | None]) -> tuple[Dense, ...] | None:
        found = [part for part in (on.get(link.index), *behind) if part is not None]
        if not found:
            return None
        K, F = (reduce(Dense.__add__, parts) for parts in zip(*found, strict=True))
        for k in range(link.v_start, link.v_start + link.kind.nv):
            pushed, pushed_by_q = _wrench(K, S[k]), _wrench(F, S[k]) + _wrench(K, lag[k])
            pulled, pulled_by_q = _wrench(K.T, S[k]), _wrench(F.T, S[k]) + turned[k]
            for carrying in tree.ancestors(link.index):
                for i in range(carrying.v_start, carrying.v_start + carrying.kind.nv):
                    by_v[i][k], by_q[i][k] = S[i].dot(pushed), S[i].dot(pushed_by_q)
                    if carrying is not link:
                        by_v[k][i], by_q[k][i] = S[i].dot(pulled), S[i].dot(pulled_by_q) + lag[i].dot(pulled)
        return K, F

    inward(tree, stage)
    return by_v, by_q


def _wrench(matrix: Dense, motion: Motion) -> Force:
    return Force.of([dot(row, motion) for row in matrix.rows])


def _lagging(
    jacobians: LinkJacobians, twists: PerLink[Motion], slopes: PerLink[list[tuple[Motion, ...]]], v: Sequence[Scalar]
) -> PerLink[tuple[Motion, ...]]:
    """What the twist of a carried link lacks of S × twist, as a joint moves by S: S × the twist of the joint's parent."""
    still = Motion()

    def stage(link: Link, _: object) -> tuple[Motion, ...]:
        rates = link.velocities(v)
        parent = twists[link] - sum((S * rate for S, rate in zip(jacobians.S[link], rates, strict=True)), still)
        own = (sum((dS * rate for dS, rate in zip(each, rates, strict=True)), still) for each in slopes[link])
        return tuple(S.cross(parent) - change for S, change in zip(jacobians.S[link], own, strict=True))

    return outward(jacobians.tree, stage, None)


def _subspace_slopes(jacobians: LinkJacobians, q: Sequence[Scalar]) -> PerLink[list[tuple[Motion, ...]]]:
    """∂S/∂q of every joint by coordinate, as seen from its link, in the axes of the world about the origin of twists."""

    def stage(link: Link, _: object) -> list[tuple[Motion, ...]]:
        X_WL, n = jacobians.poses[link], link.kind.nv
        lever = X_WL.translation - jacobians.origins[link]
        found = []
        for k in range(n):
            unit = [1.0 if i == k else 0.0 for i in range(n)]
            turned = [(X_WL.rotation.rotate(S.angular), X_WL.rotation.rotate(S.linear))
                      for S in link.kind.subspace_rate(link.coordinates(q), unit)]  # fmt: skip
            found.append(tuple(Motion(omega, v + lever.cross(omega)) for omega, v in turned))
        return found

    return outward(jacobians.tree, stage, None)


def _add_turned_joints(
    total: Pattern, jacobians: LinkJacobians, slopes: PerLink[list[tuple[Motion, ...]]], wrenches: PerLink[Force]
) -> None:
    """Adds ∂Sᵀ/∂q F of joints with several degrees of freedom, which turn their own columns."""
    for link in jacobians.tree.links:
        for i, column in enumerate(jacobians.S[link]):
            for j, moved in enumerate(jacobians.S[link]):
                change = moved.cross(column) + slopes[link][j][i]
                row, k = total[link.v_start + i], link.v_start + j
                row[k] = row.get(k, 0.0) + change.dot(wrenches[link])
