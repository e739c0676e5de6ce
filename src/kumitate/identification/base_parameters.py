"""The unknown parameters of an identification, with the model that has others; and base parameters: the combinations of them
that the motion of a mechanism depends on, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from ..dynamics.motion import link_motion
from ..errors import InputError, did_you_mean
from ..kinematics import neutral, random_coordinates
from ..model import Body, Link, Mechanism, Tree, outward
from ..model.elements import in_order
from ..model.tree.base_parameters import SIZE, inertia_of, inertia_shift, numbers_of
from ..scalar import floats
from ..spatial import Motion, Vector3

#: The ten numbers of a body, in its frame and about its origin.
NUMBERS = ("mass", "hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
#: The properties of joints, in the order of the regressor's columns.
OF_JOINTS = ("armature", "damping", "friction")


@dataclass(frozen=True)
class Unknowns:
    """The unknown parameters, in this order: ten numbers for each body, then armatures, dampings, dry frictions.

    Attributes:
        mechanism: of the model.
        bodies: the indices of bodies of unknown inertia.
        dofs: for each of `OF_JOINTS`, the degrees of freedom where it is unknown.
        drives: the degrees of freedom of unknown drive constants.
    """

    mechanism: Mechanism
    bodies: tuple[int, ...]
    dofs: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    drives: tuple[int, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name per parameter, such as "hand.mass" or "damping:elbow"."""
        m = self.mechanism
        of_bodies = [f"{m.bodies[k].name}.{number}" for k in self.bodies for number in NUMBERS]
        return (*of_bodies, *(f"{key}:{m.v_names[i]}" for key, own in zip(OF_JOINTS, self.dofs, strict=True) for i in own))

    @property
    def inertial(self) -> int:
        """The number of those that belong to bodies."""
        return SIZE * len(self.bodies)

    @cached_property
    def values(self) -> np.ndarray:
        """The values in the model."""
        m = self.mechanism
        of_bodies = [float(x) for k in self.bodies for x in numbers_of(m.bodies[k].spatial_inertia())]
        given = [[x for joint in m.joints for x in getattr(joint, key)] for key in OF_JOINTS]
        return np.array(of_bodies + [values[i] for values, own in zip(given, self.dofs, strict=True) for i in own])

    @cached_property
    def columns(self) -> np.ndarray:
        """T (columns of the regressor, parameters): Y T is the regressor of the unknown parameters."""
        tree = self.mechanism.tree
        links = SIZE * len(tree.links)
        T = np.zeros((links + 3 * tree.nv, len(self.names)))
        for at, k in enumerate(self.bodies):
            place = tree.places[self.mechanism.bodies[k].name]
            T[SIZE * place.link : SIZE * (place.link + 1), SIZE * at : SIZE * (at + 1)] = inertia_shift(place.pose)
        rows = [links + part * tree.nv + i for part, own in enumerate(self.dofs) for i in own]
        T[rows, np.arange(self.inertial, len(self.names))] = 1.0
        return T

    def mechanism_with(self, values: np.ndarray) -> Mechanism:
        """The mechanism with these values of the unknown parameters."""
        m, bodies = self.mechanism, list(self.mechanism.bodies)
        for at, k in enumerate(self.bodies):
            bodies[k] = _body_with(bodies[k], values[SIZE * at : SIZE * (at + 1)])
        of_joints = [(key, i) for key, own in zip(OF_JOINTS, self.dofs, strict=True) for i in own]
        found, joints = dict(zip(of_joints, values[self.inertial :].tolist(), strict=True)), []
        for joint, _, v in in_order(m.joints):
            own: dict[str, Any] = {
                key: tuple(found.get((key, v + k), x) for k, x in enumerate(getattr(joint, key))) for key in OF_JOINTS
            }
            joints.append(replace(joint, **own) if any(getattr(joint, key) != x for key, x in own.items()) else joint)
        return replace(m, bodies=tuple(bodies), joints=tuple(joints), faults=())


def unknowns_of(mechanism: Mechanism, find: Sequence[str]) -> Unknowns:
    """The parameters of names "inertia:BODY", "armature:JOINT", "damping:…", "friction:…", "drive:…"; * stands for any part.

    With *, bodies without mass and joints of six degrees of freedom are left out: they are frames and free bases.
    """
    tree, dofs = mechanism.tree, [joint for joint in mechanism.joints for _ in range(joint.kind.nv)]
    moving = [body for body in mechanism.bodies if tree.places[body.name].link >= 0]
    massive = [body.name for body in moving if body.mass > 0.0]
    driven = [joint.name for joint in dofs if joint.kind.nv < 6]
    bodies: set[str] = set()
    joints: dict[str, set[str]] = {key: set() for key in (*OF_JOINTS, "drive")}
    for name in [find] if isinstance(find, str) else find:
        key, _, pattern = name.partition(":")
        if key == "inertia":
            bodies |= _matching(name, pattern, massive, [body.name for body in moving])
        elif key in joints:
            joints[key] |= _matching(name, pattern, driven, [joint.name for joint in dofs])
        else:
            raise InputError(
                f"identify: there is no parameter {name!r}; there are inertia:BODY, {', '.join(f'{k}:JOINT' for k in joints)}. "
                "* stands for any part of a name"
            )
    own = [tuple(i for i, joint in enumerate(dofs) if joint.name in joints[key]) for key in joints]
    chosen = tuple(k for k, body in enumerate(mechanism.bodies) if body.name in bodies)
    return Unknowns(mechanism, chosen, (own[0], own[1], own[2]), own[3])


def _matching(name: str, pattern: str, usual: Sequence[str], known: Sequence[str]) -> set[str]:
    if pattern in known:
        return {pattern}
    found = {one for one in usual if fnmatchcase(one, pattern)}
    if not found and not ("*" in pattern and not usual):
        hint = did_you_mean(pattern, known, f"there are {', '.join(dict.fromkeys(known))}")
        raise InputError(f"identify: {name!r} names nothing that moves; {hint}")
    return found


def _body_with(body: Body, numbers: np.ndarray) -> Body:
    """The body with these ten numbers."""
    mass, h = float(numbers[0]), numbers[1:4]
    c = h / mass if mass > 0.0 else np.zeros(3)
    xx, yy, zz, xy, xz, yz = numbers[4:]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    central = about_origin - mass * (c @ c * np.eye(3) - np.outer(c, c))
    return replace(body, mass=mass, center_of_mass=tuple(c.tolist()), inertia=tuple(map(tuple, central.tolist())))


# --- combinations of inertias that move a mechanism at all, link by link from its structure, without states or ranks ------
# A change δπ of the inertias is never felt if it changes neither the inertia matrix nor the forces of gravity. Both are made of
# Sᵀ I V: S is a motion of a joint, I the inertia of everything that the joint carries, and V a velocity that the link may have,
# or the acceleration of free fall. So linear functions of the composite inertia must vanish, the *felt* ones:
#
# - Sᵀ I V at a link, for all pairs (S, V) that occur there: V runs through a linear space that grows from the root outward.
# - A composite consists of the link and of its children's composites, which their joints move about. Where a function r of it
#   vanishes for all positions of a child's joint, the differences r X(q) − r X(q₀) vanish for the child's composite.
#
# All functions that must vanish are then combinations of independent ones, which are the base parameters. This is the recursion
# of Wensing, Niemeyer, Slotine, A geometric characterization of observability in inertial parameter identification, Int. J.
# Robotics Research, 2024, for joints of any kind and with armatures; for revolute and prismatic joints its result is that of
# Gautier and Khalil, Direct calculation of minimum set of inertial parameters of serial robots, IEEE Trans. Robotics and
# Automation 6(3), 1990.

#: States of a joint at which its functions are evaluated: more than the ten dimensions that they span.
_STATES = 16
#: Singular values below this part of the largest are rounding.
_ROUNDING = 1e-9
#: The matrices (10, 6, 6) of the inertias of which one number is 1.
_UNITS = np.array(
    [[list(inertia_of(unit).times(Motion.of(axis))) for axis in np.eye(6).tolist()] for unit in np.eye(SIZE).tolist()]
)


@dataclass(frozen=True)
class _Felt:
    """What is known at one link, in its frame.

    Attributes:
        motions: a basis of its velocities and of the acceleration of free fall (…, 6).
        functions: of composite inertias that count here, as rows (…, 10): felt, or felt together with what is inward.
        felt: rows (…, 10 + nv of the joint) that must vanish for the composite at the neutral position; the last are armatures.
        inward: rows (…, 10) of all links inward, as functions of this link's inertia at the neutral position.
    """

    motions: np.ndarray
    functions: np.ndarray
    felt: np.ndarray = field(default_factory=lambda: np.zeros((0, SIZE)))
    inward: np.ndarray = field(default_factory=lambda: np.zeros((0, SIZE)))


def felt_by_structure(tree: Tree, gravity: Sequence[float]) -> np.ndarray:
    """The base parameters as independent rows (count, 10·links + nv), functions of the links' inertias and the armatures.

    The ten numbers of each link are those of `dynamics.regressor`, followed by the armature of each degree of freedom. Damping
    and dry friction are base parameters of their own.
    """
    rng = np.random.default_rng(0)  # any states will do
    states = [(random_coordinates(tree, rng), rng.normal(size=tree.nv).tolist()) for _ in range(_STATES)]
    still = neutral(tree)
    free_fall = np.array([[0.0, 0.0, 0.0, *gravity]]) if any(gravity) else np.zeros((0, 6))
    found = outward(tree, lambda link, parent: _felt_at(link, parent, states, still), _Felt(free_fall, np.zeros((0, SIZE))))
    starts = list(accumulate((len(found[link].felt) for link in tree.links), initial=0))
    rows = np.zeros((starts[-1], SIZE * len(tree.links) + tree.nv))
    for link in tree.links:
        felt = found[link]
        mine = slice(starts[link.index], starts[link.index + 1])
        block = slice(SIZE * link.index, SIZE * (link.index + 1))
        rows[mine, block] = felt.felt[:, :SIZE]
        armatures = SIZE * len(tree.links) + link.v_start
        rows[mine, armatures : armatures + link.kind.nv] = felt.felt[:, SIZE:]
        carried = 0
        for carrier in reversed(tree.ancestors(link.index)[1:]):  # from the root, as `inward` is stacked
            count = len(found[carrier].felt)
            rows[starts[carrier.index] : starts[carrier.index + 1], block] = felt.inward[carried : carried + count]
            carried += count
    return rows


def _felt_at(link: Link, parent: _Felt, states: Sequence[tuple[list[float], list[float]]], still: Sequence[float]) -> _Felt:
    pairs, motions, changes, carried = [], [parent.motions[:0]], [], []
    n = link.kind.nv
    X0 = inertia_shift(link.pose(still))
    for q, v in states:
        X = link.pose(q)
        S = np.array([[float(x) for x in motion] for motion in link.kind.subspace(link.coordinates(q))]).reshape(n, 6)
        inherited = np.array([floats(Motion.of(V).to_child(X)) for V in parent.motions.tolist()]).reshape(-1, 6)
        motions += [inherited, S]
        for V, armatures in ((inherited, np.zeros((n, len(inherited), n))), (S, np.einsum("kj,ki->kji", np.eye(n), np.eye(n)))):
            products = np.einsum("ka,pab,jb->kjp", S, _UNITS, V)  # Sᵀ I V as functions of the ten numbers
            pairs.append(np.concatenate([products, armatures], axis=2).reshape(-1, SIZE + n))
        pairs.append(np.pad(_turning(link, q, v), ((0, 0), (0, n))))
        moved = inertia_shift(X)
        changes.append(parent.functions @ (moved - X0))
        carried.append(parent.functions @ moved)
    difference = np.vstack(changes)
    felt = _span(np.vstack([*pairs, np.pad(difference, ((0, 0), (0, n)))]))
    functions = _span(np.vstack([felt[:, :SIZE], *carried]))
    inward = np.vstack([parent.inward, parent.felt[:, :SIZE]]) @ X0
    return _Felt(_span(np.vstack(motions)), functions, felt, inward)


def _turning(link: Link, q: Sequence[float], v: Sequence[float]) -> np.ndarray:
    """The forces (nv of the joint, 10) at the velocities v on a carrier at rest, as functions of the ten numbers.

    They follow from the inertia matrix where v are rates of coordinates, but not for angular velocities, whose armatures do not
    have the gyroscopic forces of bodies.
    """
    motion = link_motion(link, Vector3(), q, v)
    units = [inertia_of(unit) for unit in np.eye(SIZE).tolist()]
    forces = [unit.times(motion.bias) + unit.velocity_force(motion.omega) for unit in units]
    return np.array([[float(S.dot(force)) for force in forces] for S in motion.S]).reshape(-1, SIZE)


def _span(rows: np.ndarray) -> np.ndarray:
    """Orthonormal rows that span the same space."""
    if not rows.size:
        return rows[:0]
    _, s, Vt = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(Vt[s > _ROUNDING * max(float(s[0]), 1e-300)])


# --- base parameters ------------------------------------------------------------------------------------------------------
#: A column that adds less than this part of its length to those before it depends on them.
_DEPENDENT = 1e-7
#: Factors below this part of the largest in their row are rounding.
_NOTHING = 1e-11
#: Parameters in the order in which they represent combinations: first moments and inertias before masses.
_RANKS = tuple(NUMBERS.index(name) for name in ("hx", "hy", "hz", "Ixx", "Izz", "Ixy", "Ixz", "Iyz", "Iyy", "mass"))


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters β = G π of unknown parameters π; tau = Y π = (Y H) β.

    Attributes:
        names: of the parameter that represents each; the others that it is combined with are in `combination`.
        of: the names of the parameters π.
        G: (count, parameters), 1 for the parameter that names the combination, 0 for those that name others.
        H: (parameters, count), with G H = 1.
    """

    names: tuple[str, ...]
    of: tuple[str, ...]
    G: np.ndarray
    H: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def combination(self, k: int) -> str:
        """The k-th of them in words, such as "link2.Izz + 0.25·link3.mass"."""
        row = self.G[k]
        parts = [(row[i], self.of[i]) for i in np.flatnonzero(row) if self.of[i] != self.names[k]]
        return self.names[k] + "".join(f" {'-' if x < 0.0 else '+'} {abs(x):.4g}·{name}" for x, name in parts)


def base_parameters(mechanism: Mechanism | Unknowns, find: tuple[str, ...] | None = None) -> BaseParameters:
    """The base parameters of a mechanism, or of some unknown parameters of it; from its structure, without a motion.

    Without `find` these are the inertias of all bodies; with names as those of `identify`, any others.

    >>> import kumitate as km
    >>> from kumitate.identification import base_parameters
    >>> len(base_parameters(km.load("double_pendulum").mechanism))
    6
    """
    return _of(mechanism if isinstance(mechanism, Unknowns) else unknowns_of(mechanism, find or ("inertia:*",)))


@lru_cache(maxsize=16)
def _of(unknowns: Unknowns) -> BaseParameters:
    tree = unknowns.mechanism.tree
    felt = felt_by_structure(tree, unknowns.mechanism.gravity)
    frictions = np.eye(2 * tree.nv)  # v and v/√(v² + ε²) are independent of all others, and of each other
    rows = np.block([[felt, np.zeros((len(felt), 2 * tree.nv))], [np.zeros((2 * tree.nv, felt.shape[1])), frictions]])
    return regrouped(rows @ unknowns.columns, unknowns)


def regrouped(rows: np.ndarray, unknowns: Unknowns) -> BaseParameters:
    """The combinations of unknown parameters that span these rows (…, parameters), each named by one of them."""
    by_body = [SIZE * k + rank for k in range(len(unknowns.bodies)) for rank in _RANKS]  # outward, regrouped inward
    chosen = _independent(rows, [*by_body, *range(unknowns.inertial, len(unknowns.names))])
    G = np.linalg.lstsq(rows[:, chosen], rows, rcond=None)[0] if chosen else np.zeros((0, len(unknowns.names)))
    G = np.where(np.abs(G) <= _NOTHING * np.abs(G).max(axis=1, keepdims=True, initial=1e-300), 0.0, G)
    G[:, chosen] = np.eye(len(chosen))
    H = np.zeros((len(unknowns.names), len(chosen)))
    H[chosen, range(len(chosen))] = 1.0
    return BaseParameters(tuple(unknowns.names[i] for i in chosen), unknowns.names, G, H)


def _independent(rows: np.ndarray, order: list[int]) -> list[int]:
    """The first columns, in this order, that do not depend on those taken before."""
    basis = np.zeros((len(rows), 0))
    chosen = []
    for i in order:
        column = rows[:, i]
        left = column - basis @ (basis.T @ column)
        left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) > _DEPENDENT * max(float(np.linalg.norm(column)), _DEPENDENT):
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            chosen.append(i)
    return sorted(chosen)
