"""The programs of ADA in rounds, each for links or pairs of bodies of one form; the numbers that differ are inputs.

All pairs in a round of `rounds` do the same computation with other numbers, so one program serves them all. The equations are
those of `assembly.recursion`, one joint at a time; a drive acts when its joint is closed, so no sum over children is needed.
Angular velocities are a parallel prefix computation over the maps ω_L = R_LP ω_P + w, in the same rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from ...dynamics.ada import constraint_law
from ...dynamics.assembly.accelerations import Step, closed_bodies
from ...dynamics.assembly.connection import WORLD, Bodies, JointConnection, carriers
from ...dynamics.assembly.initial import Prepared, central_inertia, joint_of, unheld_motion
from ...dynamics.motion import falling, link_motion
from ...model import Link, Tree
from ...scalar import Program, Scalar, Scalars, flatten, trace
from ...spatial import Dense, Force, Inertia, InverseInertia, Matrix3, Motion, Symmetric3, Vector3

T = TypeVar("T")
Given = dict[str, Any]
Inputs = dict[str, int | tuple[int, ...]]


class FreeGrip:
    """W = 0, of a joint with six degrees of freedom: it constrains nothing, and only its drive acts."""

    def force(self, relative: Scalars) -> list[Scalar]:
        return [0.0] * len(relative)

    def between(self, left: Dense, right: Dense) -> Dense:
        return Dense.zero(len(left.rows), len(right.rows))


# --- links and pairs of bodies ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Turn:
    """The angular velocity of a link from that of another link further in: ω_L = R_LP ω_P + w, each in its own axes."""

    R_LP: Matrix3
    w: Vector3

    @classmethod
    def of(cls, link: Link, q: Scalars, v: Scalars) -> Turn:
        """The turn of a link relative to its carrier."""
        return cls(link.pose(q).rotation.matrix().T, link_motion(link, Vector3(), q, v).omega)

    def after(self, inner: Turn) -> Turn:
        """The composition of this turn with one further in."""
        return Turn(self.R_LP @ inner.R_LP, self.omega(inner.w))

    def omega(self, omega_P: Vector3) -> Vector3:
        """ω_L."""
        return self.R_LP @ omega_P + self.w


@dataclass(frozen=True)
class Single:
    """A single link: its joint, its center of mass, and its rotational inertia and Φ there."""

    link: Link
    center: Vector3
    rotational: Symmetric3
    Phi: InverseInertia


def closed_pair(joint: JointConnection, bodies: Bodies, kept: Sequence[int]) -> tuple[Bodies, list[Scalar], dict[int, Dense]]:
    """Closes the joint between two bodies (2.15, 2.18, 2.21).

    Gives the body at the handles that it keeps, and the joint's force F = F_0 + T Σ K_h F_h from the forces on these: F_0 (6)
    in its frame while they are free, its drive included; K by handle, (6 − n_J plus the number of armatures, 6).
    """
    free = not joint.holding.softness
    grip = FreeGrip() if free else constraint_law(joint, joint.mobility(bodies), None)
    driven = joint.pull(list(joint.drive))
    apart = joint.excess(lambda handle: bodies.B[handle] + bodies.response(handle, driven))
    held = grip.force([a + b for a, b in zip(apart, joint.drift, strict=True)])
    F_0 = [a + b for a, b in zip(joint.drive, held, strict=True)]
    K = {} if free else {handle: _gain(joint, bodies, grip, handle) for handle in kept}
    return closed_bodies(Step(0, joint, bodies, grip, F_0), set(kept)), F_0, K


def _gain(joint: JointConnection, bodies: Bodies, grip: Any, handle: int) -> Dense:
    """K: the joint's constraint forces per unit force on a handle."""
    columns = []
    for axis in range(6):
        push = {handle: Force.of([1.0 if k == axis else 0.0 for k in range(6)])}
        apart = Dense.column(joint.excess(lambda end, push=push: bodies.response(end, push)))  # type: ignore[misc]
        columns.append(grip.Y.solve((grip.T.T @ apart).entries()))
    return Dense.columns(columns)


def opened_pair(joint: JointConnection, F_0: Scalars, K: Mapping[int, Dense], forces: Mapping[int, Force]) -> dict[int, Force]:
    """Opens the joint again: the forces on the handles of both bodies, from those on the kept handles (2.15)."""
    F = list(F_0)
    for handle, gain in K.items():
        held = joint.holding.T @ (gain @ Dense.column(forces[handle]))
        F = [a + b for a, b in zip(F, held.entries(), strict=True)]
    total = dict(forces)
    for handle, pull in joint.pull(F).items():
        total[handle] = total[handle] + pull if handle in total else pull
    return total


# --- which joints can be assembled in parallel ----------------------------------------------------------------------------
# A chain of n links takes ⌈log₂(n + 1)⌉ rounds. A body keeps at most two handles, so that all bodies of a round are alike and
# a round can be one batch. Trees also take O(log n) rounds unless a link carries very many others: the last link of a branch
# joins its carrier whatever handles that has, and links that carry one other link join in pairs. The links that one link
# carries are joined one per round: a hub with k spokes takes k rounds.

#: The most handles of a body that are still to be joined.
MOST_HANDLES = 2


@dataclass(frozen=True)
class Cluster:
    """Links assembled into one body.

    `number`: its identity; a single link has its index, the world −1. `handles`: links in it that further joints will act on,
    in the order of the tree; none of the world.
    """

    number: int
    handles: tuple[int, ...]


@dataclass(frozen=True)
class Merge:
    """The joint that carries link `joint`, closed between its carrier's body (or the world) and the link's."""

    joint: int
    carrier: int
    inner: Cluster
    outer: Cluster
    result: Cluster


def rounds(tree: Tree) -> list[list[Merge]]:
    """All joints of a tree in rounds. Each tree on the world has its own copy of the world: forces do not pass through it.

    >>> from kumitate.model.samples import planar_chain
    >>> [[merge.joint for merge in done] for done in rounds(planar_chain(7).tree)]
    [[0, 2, 4, 6], [1, 5], [3]]
    """
    carried_by = carriers(tree)
    still_open = Counter(end for pair in carried_by.items() for end in pair)
    cluster_of = {index: Cluster(index, (index,)) for index in carried_by} | {WORLD: Cluster(WORLD, ())}
    waiting, following, found = sorted(carried_by), len(carried_by), []
    while waiting:
        taken: set[int] = set()
        merges, later = [], []
        for joint in waiting:
            carrier = carried_by[joint]
            inner, outer = cluster_of[carrier], cluster_of[joint]
            kept = {end for end in (*inner.handles, *outer.handles) if still_open[end] > (end in (joint, carrier))}
            if len(kept) > MOST_HANDLES or taken & {inner.number, outer.number}:
                later.append(joint)
                continue
            result = Cluster(following, tuple(sorted(kept)))
            merges.append(Merge(joint, carrier, inner, outer, result))
            taken.add(result.number)  # the bodies in it have its number from now on
            still_open.subtract((joint, carrier))
            cluster_of |= dict.fromkeys(kept, result)
            following += 1
        found.append(merges)
        waiting = later
    return found


# --- programs -------------------------------------------------------------------------------------------------------------
#: Names of the handles of a pair: the joint's carrier and its link, and one further handle of either body.
CARRIER, LINK, BESIDE_CARRIER, BESIDE_LINK = 0, 1, 2, 3
_HANDLE = (InverseInertia.immovable(), Motion())
#: Sizes of a turn, and of a body by its number of handles; of a single link only B is stored.
TURN, BODY = 12, {0: 6, 1: 27, 2: 90}


def single_of(ready: Prepared, link: Link) -> Single:
    """The constants of a link, independent of its place in the tree."""
    center = ready.centers[link.index]
    rotational = central_inertia(link.inertia, center)
    anyone = replace(link, name="", index=LINK, parent=CARRIER, q_start=0, v_start=0, inertia=Inertia())
    return Single(anyone, center, rotational, InverseInertia.central(link.inertia.mass, rotational))


@dataclass(frozen=True)
class PairForm:
    """The handles of the two bodies of a pair, in the order they are stored, and which of them are kept.

    There are none of the world (if `grounded`, the inner body is that) and of single links, whose Φ are among the constants.
    """

    inner: tuple[int, ...]
    outer: tuple[int, ...]
    kept: tuple[int, ...]
    grounded: bool

    @classmethod
    def of(cls, merge: Merge, links: int) -> PairForm:
        """The form of one pair in a tree with this number of links."""
        name = dict.fromkeys(merge.inner.handles, BESIDE_CARRIER) | dict.fromkeys(merge.outer.handles, BESIDE_LINK)
        name |= {merge.carrier: CARRIER, merge.joint: LINK}
        inner, outer = (
            tuple(name[h] for h in body.handles) if body.number >= links else () for body in (merge.inner, merge.outer)
        )
        return cls(inner, outer, tuple(name[h] for h in merge.result.handles), merge.carrier == WORLD)


@dataclass(frozen=True)
class PairNumbers:
    """The constants of a pair: the link and its joint, the centers of mass of it and its carrier, and Φ of single links."""

    link: Link
    centers: tuple[Vector3, Vector3]
    singles: dict[int, InverseInertia]

    @classmethod
    def of(cls, form: PairForm, carrier: Single | None, outer: Single) -> PairNumbers:
        """From the links at the joint's ends; `carrier`: None for the world."""
        singles = {} if carrier is None or form.inner else {CARRIER: carrier.Phi}
        singles |= {} if form.outer else {LINK: outer.Phi}
        return cls(outer.link, (Vector3() if carrier is None else carrier.center, outer.center), singles)


class Family(Generic[T]):
    """Values of one structure, and the numbers in which they differ.

    Attributes:
        rows: (values, size), the numbers that are not the same in all of them; `size`: how many these are.
        shape: one of the values.

    >>> from kumitate.spatial import Vector3
    >>> family = Family([Vector3(1.0, 2.0, 3.0), Vector3(1.0, 5.0, 3.0)])
    >>> family.rows.tolist(), family.like(["y"])
    ([[2.0], [5.0]], Vector3(x=1.0, y='y', z=3.0))
    """

    def __init__(self, things: Sequence[T]):
        """The family of these values; all must have one structure."""
        leaves, self._build = flatten(things[0])
        numbers = np.array([flatten(thing)[0] for thing in things], dtype=float).reshape(len(things), len(leaves))
        self.shape, self._shared = things[0], leaves
        self._differing = np.flatnonzero((numbers != numbers[0]).any(axis=0)).tolist()
        self.size, self.rows = len(self._differing), np.ascontiguousarray(numbers[:, self._differing])

    def like(self, numbers: Sequence[Any]) -> T:
        """A value of this structure with these numbers (size) in place of those that differ."""
        leaves = list(self._shared)
        for k, place in enumerate(self._differing):
            leaves[place] = numbers[k]
        return self._build(leaves)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class SinglePrograms:
    """The programs for the links of one form."""

    family: Family[Single]

    def turn(self) -> Program:
        """state → turn: from the link's carrier to the link."""

        def page(given: Given) -> Any:
            single = self.family.like(given["numbers"])
            q, v, _ = _parts(single.link, given["state"])
            return flatten(Turn.of(single.link, q, v))[0]

        return _program("ada_turn", page, _inputs(self.family))

    def unheld(self) -> Program:
        """state, ω of the carrier → the velocity-dependent relative acceleration at the joint, B (2.4) without any drive."""

        def page(given: Given) -> Any:
            single = self.family.like(given["numbers"])
            q, v, _ = _parts(single.link, given["state"])
            motion = link_motion(single.link, Vector3.of(given["omega"]), q, v)
            B = unheld_motion(single.Phi, single.rotational, single.center, motion.omega, Force())
            return {"bias": list(motion.bias), "B": list(B)}

        return _program("ada_unheld", page, _inputs(self.family, omega=3))

    def moved(self) -> Program:
        """B, the sum of all forces on the link → V̇."""

        def page(given: Given) -> Any:
            Phi = self.family.like(given["numbers"]).Phi
            return list(Motion.of(given["B"]) + Phi.times(Force.of(given["force"])))

        return _program("ada_moved", page, {"B": 6, "force": 6, "numbers": self.family.size})


@dataclass(frozen=True)
class PairPrograms:
    """The programs for the pairs of one form."""

    form: PairForm
    family: Family[PairNumbers]
    ready: Prepared
    gravity: tuple[float, ...]

    def close(self) -> Program:
        """state, bias, the bodies (of single links: B) → the body, F_0, K of every kept handle."""
        form = self.form

        def page(given: Given) -> Any:
            pair = self.family.like(given["numbers"])
            joint = self._joint(pair, given["state"], given["bias"])
            bodies, F_0, K = closed_pair(joint, self._bodies(pair, given), form.kept)
            body = {"body": _stored(bodies, form.kept)} if form.kept else {}
            return body | {"F_0": F_0} | {f"K_{h}": gain.rows for h, gain in K.items()}

        inner = 0 if form.grounded else BODY[len(form.inner)]
        return _program("ada_close", page, _inputs(self.family, bias=6, inner=inner, outer=BODY[len(form.outer)]))

    def open(self, held: int) -> Program:
        """state, F_0, K, the forces on the kept handles → those on the joint's link and (unless the world) its carrier.

        `held` is the number of the joint's constraint forces.
        """
        kept = self.form.kept

        def page(given: Given) -> Any:
            joint = self._joint(self.family.like(given["numbers"]), given["state"], [0.0] * 6)
            K = {h: Dense.of(given[f"K_{h}"]) for h in kept if held}
            total = opened_pair(joint, given["F_0"], K, {h: Force.of(given[f"force_{h}"]) for h in kept})
            ends = {"on_link": LINK} if self.form.grounded else {"on_link": LINK, "on_carrier": CARRIER}
            return {name: list(total[end]) for name, end in ends.items()}

        gains: Inputs = {f"K_{h}": (held, 6) for h in kept if held}
        return _program("ada_open", page, _inputs(self.family, F_0=6, **gains, **{f"force_{h}": 6 for h in kept}))

    def rates(self) -> Program:
        """state, bias, V̇ of the link and (unless the world) of its carrier → v̇ of the joint."""

        def page(given: Given) -> Any:
            joint = self._joint(self.family.like(given["numbers"]), given["state"], given["bias"])
            V = {LINK: Motion.of(given["V_L"]), WORLD: falling(self.gravity)}
            return joint.rates((V if self.form.grounded else V | {CARRIER: Motion.of(given["V_P"])}).__getitem__)

        return _program("ada_rates", page, _inputs(self.family, bias=6, V_L=6, V_P=0 if self.form.grounded else 6))

    def _joint(self, pair: PairNumbers, state: Any, bias: Scalars) -> JointConnection:
        carrier = WORLD if self.form.grounded else CARRIER
        centers = dict(zip((carrier, LINK), pair.centers, strict=True))
        about = Prepared(self.ready.tree, {}, {}, centers, {LINK: carrier})
        return joint_of(about, pair.link, *_parts(pair.link, state), Motion.of(bias), in_carrier=False)

    def _bodies(self, pair: PairNumbers, given: Given) -> Bodies:
        Phi, B = {WORLD: InverseInertia.immovable()}, {WORLD: falling(self.gravity)}
        between: dict[int, dict[int, Dense]] = {}
        for name, handles, end in (("inner", self.form.inner, CARRIER), ("outer", self.form.outer, LINK)):
            numbers = list(given[name])
            if not handles and numbers:  # a single link
                Phi[end], B[end] = pair.singles[end], Motion.of(numbers)
            for handle in handles:
                Phi[handle], B[handle] = flatten(_HANDLE)[1](numbers[:27])
                numbers = numbers[27:]
            if len(handles) == 2:
                block = Dense.of(numbers[k : k + 6] for k in range(0, 36, 6))
                between |= {handles[0]: {handles[1]: block}, handles[1]: {handles[0]: block.T}}
        return Bodies(Phi, B, between)


def join_turns() -> Program:
    """A turn and one further out → their composition."""

    def page(given: Given) -> Any:
        return flatten(_turn(given["outer"]).after(_turn(given["inner"])))[0]

    return _program("ada_join_turns", page, {"inner": TURN, "outer": TURN})


def rotate() -> Program:
    """A turn, ω at its start → ω at its end."""
    return _program(
        "ada_rotate", lambda given: list(_turn(given["turn"]).omega(Vector3.of(given["omega"]))), {"turn": TURN, "omega": 3}
    )


def _program(name: str, page: Callable[[Given], Any], inputs: Inputs) -> Program:
    """Inputs without entries are left out; the page receives them empty."""
    read: Inputs = {key: size for key, size in inputs.items() if size != 0}
    return trace(lambda *arrays: page(dict.fromkeys(inputs, ()) | dict(zip(read, arrays, strict=True))), read, name)


def _inputs(family: Family[Any], **more: int | tuple[int, ...]) -> Inputs:
    kind = family.shape.link.kind
    return {"state": kind.nq + 2 * kind.nv, **more, "numbers": family.size}


def _turn(numbers: Scalars) -> Turn:
    turn: Turn = flatten(Turn(Matrix3.zero(), Vector3()))[1](list(numbers))
    return turn


def _parts(link: Link, state: Scalars) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """q, v and tau of one joint."""
    kind, every = link.kind, list(state)
    return every[: kind.nq], every[kind.nq : kind.nq + kind.nv], every[kind.nq + kind.nv :]


def _stored(bodies: Bodies, handles: Sequence[int]) -> list[Scalar]:
    """The numbers of a body: Φ and B of each handle, and of two handles the Φ between them."""
    numbers = [number for h in handles for number in flatten((bodies.Phi[h], bodies.B[h]))[0]]
    if len(handles) == 2:
        first, second = handles
        block = bodies.block(first, second)
        numbers += (Dense.zero(6, 6) if block is None else block).entries()
    return numbers
