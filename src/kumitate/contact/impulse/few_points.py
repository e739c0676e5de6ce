"""The contact problem among the few points that push, in the space of their impulses x: u = u_free + G x, G = J M⁻¹ Jᵀ.

A robot has many points that may touch and few that do, others in every row of a batch, and code for several rows computes what
any of them needs. Here every row puts its own points into the same few places, one after the other, so that all need the same.
Points that miss their targets the right way without impulses wait, and are added where the solution violates them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain

from ...model import Link, inward
from ...scalar import Scalar, Scalars, absolute, both, loop, maximum, select, sqrt, when
from ...spatial import Dense, Force, Motion, Vector3, dot
from .. import tuned
from ..laws import worst
from .contact_points import ContactPatch, places_for
from .frames import SMALLEST, ContactFrame
from .problem import Impulses, Problem, Solved

Rows = list[list[Scalar]]
Targets = Sequence[Scalars]
#: The points that are taken, the guess, its residual and the one that is accepted by now [m/s], and 1 to go on.
_Turned = tuple[Rows, Impulses, Scalar, Scalar, Scalar]

#: The axes of a point in its place.
_OWN = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)


@dataclass(frozen=True)
class _Place(ContactPatch):
    """A place for a point of each row; its twist is the velocity along the point's axes."""

    def twist(self, jacobians: object, twists: Sequence[Motion]) -> Motion:  # type: ignore[override]
        return twists[self.links[0]]


@dataclass(frozen=True)
class FewPoints(Problem):
    """The problem among the points in the places; its velocities v are the impulses x in all of them."""

    G: tuple[list[Rows], ...] = ()  # 3×3 by places, the later one first
    speed: Scalar = 0.0  # `fastest` of all points [m/s]

    @property
    def fastest(self) -> Scalar:
        return self.speed

    def twists(self, v: Scalars) -> list[Motion]:  # type: ignore[override]
        free = (Motion(Vector3(), Vector3.of(patch.points[0].free)) for patch in self.patches)
        return [start + more for start, more in zip(free, self.turned(v), strict=True)]

    def turned(self, change: Scalars) -> list[Motion]:  # type: ignore[override]
        def moved(s: int) -> list[Scalar]:
            return [sum((self.entry(i, k) * x for k, x in enumerate(change)), 0.0) for i in range(3 * s, 3 * s + 3)]

        speeds = [when(patch.near, partial(moved, s), [0.0] * 3) for s, patch in enumerate(self.patches)]
        return [Motion(Vector3(), Vector3.of(speed)) for speed in speeds]

    def entry(self, i: int, k: int) -> Scalar:
        """Of G."""
        (s, a), (t, b) = divmod(max(i, k), 3), divmod(min(i, k), 3)
        return self.G[s][t][a][b]

    def after(self, points: list[list[list[Scalar]]], loops: list[Scalar]) -> Impulses:
        return Impulses(points, loops, [part for (impulse,) in points for part in impulse])

    def efforts(self, wrenches: Sequence[Force], loops: Scalars) -> list[Scalar]:
        return [part for wrench in wrenches for part in wrench.force]

    def stiffened(self, on_patches: Sequence[Dense]) -> _Factors:  # type: ignore[override]
        return _Factors.of(self, [[list(row[3:]) for row in K.rows[3:]] for K in on_patches])


@dataclass(frozen=True)
class _Factors:
    """L U of 1 + K G without the rows and columns of places that no row needs; the normal of a point comes first."""

    near: list[Scalar]
    lower: Rows  # L, 1 on its diagonal
    upper: Rows  # U
    inverses: list[Scalar]  # of the diagonal of U

    @classmethod
    def of(cls, few: FewPoints, K: Sequence[Rows]) -> _Factors:
        """The factors, one place after the other."""
        near = [patch.near for patch in few.patches]
        size = 3 * len(near)
        L, U = (_zeros(size, size) for _ in range(2))
        inverses: list[Scalar] = [1.0] * size

        def bordered(first: int) -> tuple[Rows, Rows, list[Scalar]]:
            """The new columns of U and rows of L."""
            for i in range(first + 3):
                s, a = divmod(i, 3)
                for k in range(0 if i >= first else first, first + 3):
                    value = sum((K[s][a][b] * few.entry(3 * s + b, k) for b in range(3)), 1.0 if i == k else 0.0)
                    value = value - sum((L[i][j] * U[j][k] for j in range(min(i, k))), 0.0)
                    if k < i:
                        L[i][k] = value * inverses[k]
                    else:
                        U[i][k] = value
                if i >= first:
                    inverses[i] = 1.0 / U[i][i]
            end = first + 3
            return [row[:end] for row in L[first:end]], [row[first:end] for row in U[:end]], inverses[first:end]

        for s, there in enumerate(near):
            first, end = 3 * s, 3 * s + 3
            bare = _zeros(3, end), _zeros(end, 3), [1.0] * 3
            rows, columns, inverses[first:end] = when(there, partial(bordered, first), bare)
            for row, new in zip(L[first:end], rows, strict=True):
                row[:end] = new
            for row, new in zip(U[:end], columns, strict=True):
                row[first:end] = new
        return cls(near, L, U, inverses)

    def solve(self, b: Scalars) -> list[Scalar]:
        """x of (1 + K G) x = b."""
        x = list(b)

        def forward(s: int) -> list[Scalar]:
            found = list(x)
            for i in range(3 * s, 3 * s + 3):
                found[i] = found[i] - dot(self.lower[i][:i], found[:i])
            return found[3 * s : 3 * s + 3]

        def backward(s: int) -> list[Scalar]:
            found = list(x)
            for i in reversed(range(3 * s, 3 * s + 3)):
                found[i] = (found[i] - dot(self.upper[i][i + 1 :], found[i + 1 :])) * self.inverses[i]
            return found[3 * s : 3 * s + 3]

        for page, places in ((forward, range(len(self.near))), (backward, reversed(range(len(self.near))))):
            for s in places:
                x[3 * s : 3 * s + 3] = when(self.near[s], partial(page, s), x[3 * s : 3 * s + 3])
        return x


def _zeros(height: int, width: int) -> Rows:
    return [[0.0] * width for _ in range(height)]


def among_few(
    given: Problem, targets: Targets, closing: Scalar, enough: Scalar, solve: Callable[[Problem, Targets], Solved]
) -> Solved:
    """The impulses that leave at most the residual `enough` [m/s], or what is accepted late; more where points are not few.

    Args:
        closing: by how much a point misses its target without impulses [m/s]; nothing is to be done unless it is positive.
        solve: the impulses of a problem.
    """
    fastest, size = given.fastest, places_for(given.jacobians.tree, given.patches)
    margin = tuned.WAITS * fastest + tuned.WAITS_ABOVE

    def turn(_: object, now: _Turned) -> tuple[_Turned, None]:
        taken = now[0]
        places, count = _places(taken)
        few = _gathered(given, targets, places, count, fastest)
        solved = solve(few, few.targets)
        found = given.after(_scattered(places, solved.impulses.points), [])
        speeds = given.speeds(found.v)
        rows = zip(given.patches, targets, speeds, strict=True)
        missing = [select(patch.near, aim - speed, 0.0) for patch, *row in rows for aim, speed in zip(*row, strict=True)]
        left = worst([solved.left, *missing])  # those in no place push nothing
        more = _missed(given, targets, speeds, enough, taken)
        grown = _places(more)[1]
        goes_on = as_number(both(both(left > enough, grown > count), grown <= size))
        return (more, found, left, maximum(solved.enough, enough), goes_on), None

    free = [[point.free[0] for point in patch.points] for patch in given.patches]
    begun = _missed(given, targets, free, -margin, [[0.0] * len(row) for row in free])
    goes_on = as_number(both(closing > 0.0, _places(begun)[1] <= size))
    start = begun, given.nothing(), select(closing > 0.0, 1e300, 0.0), enough, goes_on
    _, found, left, accepted, _ = loop(tuned.TURNS_OF_FEW, turn, start, while_=lambda now: now[4] > 0.5, varies=True)[0]
    return Solved(found, left, left, accepted)


def as_number(condition: Scalar) -> Scalar:
    """1 where it holds, else 0."""
    return select(condition, 1.0, 0.0)


def _missed(given: Problem, targets: Targets, speeds: Targets, by: Scalar, taken: Targets) -> Rows:
    """The points that are taken, and those near whose normal velocity misses its target by more."""
    return [
        [select(both(patch.near, speed < aim - by), 1.0, flag) for speed, aim, flag in zip(*row, strict=True)]
        for patch, *row in zip(given.patches, speeds, targets, taken, strict=True)
    ]


def _places(taken: Targets) -> tuple[Rows, Scalar]:
    """The place of every point that is taken, −1 of others, and how many are."""
    count: Scalar = 0.0
    found: Rows = []
    for flags in taken:
        found.append([])
        for flag in flags:
            found[-1].append(select(flag > 0.5, count, -1.0))
            count = count + flag
    return found, count


def _gathered(given: Problem, targets: Targets, places: Targets, count: Scalar, fastest: Scalar) -> FewPoints:
    """The problem of the points that are taken."""
    size, rows = places_for(given.jacobians.tree, given.patches), []
    for patch, aims in zip(given.patches, targets, strict=True):
        for point, aim in zip(patch.points, aims, strict=True):
            frame = point.frame
            axes = [part for axis in frame.axes for part in axis]
            rows.append([float(patch.links[0]), *frame.lever, *axes, frame.friction, aim, *point.initial_mode, *point.free])
    # what is the same number at all points stays one
    known: Rows = [[column[0] if len(set(column)) == 1 else 1.0 for column in zip(*rows, strict=True)] for _ in range(size)]
    for number, (row, place) in enumerate(zip(rows, chain(*places), strict=True)):
        for s, facts in enumerate(known[: number + 1]):
            here = absolute(place - s) < 0.5
            facts[:] = [select(here, a, b) for a, b in zip(row, facts, strict=True)]
    patches, W, G = [], [], []
    for s, (link, *facts) in enumerate(known):
        near = count > s + 0.5
        lever, normal, one, other = (Vector3.of(facts[k : k + 3]) for k in range(0, 12, 3))
        frame = ContactFrame(lever, (normal, one, other), facts[12])
        W.append(when(near, partial(_felt_by, given, link, frame), _zeros(len(given.v_free), 3)))
        G.append(when(near, partial(_products, W), [_zeros(3, 3) for _ in W]))
        give = reduce(maximum, (G[-1][-1][k][k] for k in range(3)), SMALLEST)
        point = replace(
            given.patches[0].points[0], frame=ContactFrame(Vector3(), _OWN, frame.friction, give, 1.0 / give), target=facts[13],
            initial_mode=tuple(facts[14:17]), free=tuple(facts[17:20]),
        )  # fmt: skip
        patches.append(_Place((s, -1), None, (point,), near, 1.0))
    return FewPoints(given.branch_factors, patches, [], {}, given.factors, [0.0] * (3 * size), tuple(G), fastest)


def _products(W: Sequence[Rows]) -> list[Rows]:
    """The last of these by each."""
    return [[[dot([w[a] for w in W[-1]], [w[b] for w in other]) for b in range(3)] for a in range(3)] for other in W]


def _felt_by(given: Problem, link: Scalar, frame: ContactFrame) -> Rows:
    """M^(-1/2) Jᵀ of a point, by degrees of freedom (nv, 3); `link`: the number of the one that it is on."""
    tree, touched = given.jacobians.tree, {patch.links[0] for patch in given.patches}

    def carries(at: Link, behind: list[Scalar]) -> Scalar:
        return sum(behind, as_number(absolute(link - float(at.index)) < 0.5) if at.index in touched else 0.0)

    carried = inward(tree, carries)
    J = [[part * carried[at] for part in frame.along(S)] for at in tree.links for S in given.jacobians.S[at]]
    for step in given.factors.steps:
        for i, factor in step.column.items():
            J[i] = [a - factor * b for a, b in zip(J[i], J[step.pivot], strict=True)]
    roots = {step.pivot: sqrt(step.inverse) for step in given.factors.steps}
    return [[part * roots[k] for part in row] for k, row in enumerate(J)]


def _scattered(places: Targets, impulses: Sequence[Rows]) -> list[Rows]:
    """The impulses of all points, from those in the places."""

    def pushed(place: Scalar) -> list[Scalar]:
        found: list[Scalar] = [0.0] * 3
        for s, (impulse,) in enumerate(impulses):
            found = [select(absolute(place - s) < 0.5, a, b) for a, b in zip(impulse, found, strict=True)]
        return found

    return [[pushed(place) for place in row] for row in places]
