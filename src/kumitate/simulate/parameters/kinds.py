"""The kinds of parameters of a model, and their numbers: of bodies, gravity, joints, surfaces, drives and controllers."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...model import Mechanism
from ...model.joints.contract import sort_of
from ...model.tree.base_parameters import SIZE, inertia_of, numbers_of
from ...model.values import FINITE, FRACTION, MASS, NOT_NEGATIVE, Rule
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, NumberPlace, Raw, VariedPlant

if TYPE_CHECKING:
    from ...contact.surface import Surface

#: The entries of a symmetric matrix, in the order of `Symmetric3`.
ENTRIES = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
_ROUNDING = 1e-9


class InertiaNumbers(ModelNumbers):
    """The inertias of bodies: "mass" (N, bodies), "center" (N, bodies, 3), "central" (N, bodies, 6) about the center of mass.

    Programs read the ten numbers of every body, those of every link of the base-parameter tree, and the whole mass.
    """

    def raw(self, plant: Any) -> Raw:
        bodies = plant.mechanism.bodies
        return {
            "mass": np.array([[body.mass for body in bodies]]),
            "center": np.array([[body.center_of_mass for body in bodies]], dtype=float),
            "central": np.array([[[body.inertia[i][j] for i, j in ENTRIES.values()] for body in bodies]], dtype=float),
        }

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        mass, c = raw["mass"][..., None], raw["center"]
        x, y, z = (c[..., k : k + 1] for k in range(3))
        steiner = np.concatenate([y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z], axis=-1)
        bodies = np.concatenate([mass, mass * c, raw["central"] + mass * steiner], axis=-1)
        base = plant.mechanism.inertia_map.base(bodies)
        rows = len(bodies)
        total = sum((bodies[:, k, :1] for k in self._moving(plant.mechanism)), np.zeros((rows, 1)))
        return np.concatenate([bodies.reshape(rows, -1), base.reshape(rows, -1), total], axis=1)

    def own(self, plant: Any) -> list[Any]:
        # as the trees have them, in which what rounding leaves of zeros is zero
        of_bodies = [body.spatial_inertia() for body in plant.mechanism.bodies]
        of_links = [link.inertia for link in plant.mechanism.base_parameter_tree.links]
        return [x for inertia in (*of_bodies, *of_links) for x in numbers_of(inertia)] + [plant.mechanism.tree.mass]

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        bodies, links = len(plant.mechanism.bodies), len(plant.mechanism.tree.links)
        inertias = [inertia_of(numbers[SIZE * k : SIZE * (k + 1)]) for k in range(bodies + links)]
        varied.mechanism.vary_inertias(inertias[:bodies], inertias[bodies:], numbers[-1])

    def built(self, plant: Any, raw: Raw) -> Any:
        changed = tuple(
            replace(
                body,
                mass=float(raw["mass"][0, k]),
                center_of_mass=tuple(raw["center"][0, k].tolist()),
                inertia=_matrix(raw["central"][0, k]).tolist(),
            )
            for k, body in enumerate(plant.mechanism.bodies)
        )
        return replace(plant, mechanism=replace(plant.mechanism, bodies=changed))

    def check(self, plant: Any, raw: Raw, changed: Raw) -> tuple[int, str] | None:
        for k in np.flatnonzero(changed["central"][0].any(axis=1)):
            principal = np.linalg.eigvalsh(_matrix(raw["central"][:, k]))
            size = np.abs(principal).max(axis=1, initial=0.0)
            bad = (principal[:, 0] < -_ROUNDING * size) | (principal[:, 2] > principal[:, :2].sum(axis=1) + _ROUNDING * size)
            own = np.linalg.eigvalsh(_matrix(self.raw(plant)["central"][0, k]))
            if own[2] > own[:2].sum() + _ROUNDING * own[2]:  # the robot's own is not better, as some files have it
                bad = principal[:, 0] < -_ROUNDING * size
            if bad.any():
                row = int(np.argmax(bad))
                values = ", ".join(f"{x:.6g}" for x in principal[row])
                return row, (
                    f"the rotational inertia of body {plant.mechanism.bodies[k].name!r} has the principal values {values} "
                    "kg·m²; none may be negative, and none larger than the sum of the other two. Check the numbers"
                )
        return None

    @staticmethod
    def _moving(mechanism: Mechanism) -> list[int]:
        return [k for k, body in enumerate(mechanism.bodies) if mechanism.tree.places[body.name].link >= 0]


def _matrix(entries: np.ndarray) -> np.ndarray:
    """Symmetric matrices (…, 3, 3) of entries (…, 6)."""
    order = [[0, 3, 4], [3, 1, 5], [4, 5, 2]]
    return np.asarray(entries[..., order])


INERTIAS = InertiaNumbers()


@dataclass(frozen=True)
class OfBodies(ModelKind):
    """A number of bodies, in an `array` of `InertiaNumbers`.

    `entries`: that stand behind the body's name and a dot, in the order of the array; none for one number per body.
    """

    name: str
    meaning: str
    array: str
    si: str
    rule: Rule
    entries: tuple[str, ...] = ()

    def targets(self, plant: Any) -> Sequence[str]:
        names = [body.name for body in plant.mechanism.bodies]
        return [f"{name}.{entry}" for name in names for entry in self.entries] if self.entries else names

    def place(self, plant: Any, target: str) -> NumberPlace:
        body, _, entry = target.rpartition(".") if self.entries else (target, "", "")
        k = next(k for k, one in enumerate(plant.mechanism.bodies) if one.name == body)
        return NumberPlace(INERTIAS, self.array, (k, self.entries.index(entry)) if self.entries else (k,))


class InertiaFactor(OfBodies):
    """A factor on the rotational inertia of a body about its center of mass; entries that are zero stay zero."""

    def value(self, plant: Any, target: str) -> float:
        return 1.0

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        (k,) = self.place(plant, target).at
        own = raw["central"][:, k]
        raw["central"][:, k] = np.where(own == 0.0, 0.0, own * values[:, None])


# --- gravity ----------------------------------------------------------------------------------------------------------
class Gravity(ModelKind, ModelNumbers):
    """The acceleration of free fall, "gravity" (N, 3), in the direction that it has; downward if it was zero."""

    name, meaning, si, rule = "gravity", "the acceleration of free fall", "m/s²", NOT_NEGATIVE

    def raw(self, plant: Any) -> Raw:
        return {"gravity": np.array([plant.mechanism.gravity], dtype=float)}

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_gravity(numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        return replace(plant, mechanism=replace(plant.mechanism, gravity=tuple(raw["gravity"][0].tolist())))

    def targets(self, plant: Any) -> Sequence[str]:
        return ("",)

    def place(self, plant: Any, target: str) -> NumberPlace:
        return NumberPlace(self, "gravity", ())

    def value(self, plant: Any, target: str) -> float:
        return float(np.linalg.norm(plant.mechanism.gravity))

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        g, size = np.asarray(plant.mechanism.gravity, dtype=float), self.value(plant, target)
        direction = g / size if size else np.array([0.0, 0.0, -1.0])
        raw["gravity"] = np.where(direction == 0.0, 0.0, values[:, None] * direction)


# --- properties of joints and surfaces ------------------------------------------------------------------------------------
#: Stands for the surface of everything that touches, unless it has one of its own.
FLOOR = "floor"
_STATIC, _KINETIC, _RESTITUTION = range(3)


def _moving(plant: Any) -> list[Any]:
    """The joints of the tree, and those that close loops: with their degrees of freedom in the order of the numbers."""
    return [part for part in (*plant.mechanism.joints, *plant.mechanism.loops) if part.kind.nv]


@dataclass(frozen=True)
class OfJoints(ModelKind, ModelNumbers):
    """A property of joints, and of those that close loops, by its name (N, degrees of freedom of the tree, then of the loops).

    A parameter is one value for all degrees of freedom of a joint, with units of angles and of lengths; `springs`: whether only
    joints have it whose velocities are the rates of their coordinates.
    """

    name: str
    meaning: str
    units: tuple[str, str]
    rule: Rule = NOT_NEGATIVE
    springs: bool = False

    def targets(self, plant: Any) -> Sequence[str]:
        return [part.name for part in _moving(plant) if not self.springs or part.kind.nq == part.kind.nv]

    def unit(self, plant: Any, target: str) -> str:
        parts = {part.name: part.kind for part in _moving(plant)}
        turning, sliding = self.units
        sorts = {sort_of(name) for name in getattr(parts[target], "velocities", ("position",))}
        return turning if sorts == {"angle"} else sliding if sorts == {"length"} else f"{turning}, {sliding}"

    def place(self, plant: Any, target: str) -> NumberPlace:
        at = 0
        for part in _moving(plant):
            if part.name == target:
                return NumberPlace(self, self.name, (slice(at, at + part.kind.nv),))
            at += part.kind.nv
        raise KeyError(target)

    def raw(self, plant: Any) -> Raw:
        return {self.name: np.array([[x for part in _moving(plant) for x in getattr(part, self.name)]], dtype=float)}

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_joints(self.name, numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        values = iter(raw[self.name][0].tolist())

        def with_own(part: Any) -> Any:
            return replace(part, **{self.name: tuple(next(values) for _ in range(part.kind.nv))}) if part.kind.nv else part

        m = plant.mechanism
        joints, loops = tuple(map(with_own, m.joints)), tuple(map(with_own, m.loops))
        return replace(plant, mechanism=replace(m, joints=joints, loops=loops))


class Armature(OfJoints):
    """The armature of a joint; programs read it with that of the joint's drive, which does not vary."""

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        drives = (getattr(part, "drive", None) for part in _moving(plant) for _ in range(part.kind.nv))
        return raw[self.name] + np.array([0.0 if drive is None else drive.reflected_inertia for drive in drives])


# --- surfaces ---------------------------------------------------------------------------------------------------------
def _names(plant: Any) -> list[str]:
    """The surfaces that are parameters: none where shapes have frictions of their own, which these would hide."""
    contact = plant.contact
    if contact is None or any(contact.own_friction(*one) is not None for one in _shapes(plant)):
        return []
    return [FLOOR, *(name for name in contact.surfaces if name != FLOOR)]


def _shapes(plant: Any) -> Iterator[tuple[str, Any]]:
    """What touches, with the names of its bodies."""
    for body in plant.mechanism.bodies:
        yield from ((body.name, shape) for shape in body.collisions)
    yield from (("ground", shape) for shape in plant.contact.ground or ())


def _remedy(plant: Any) -> str:
    """What makes surfaces parameters."""
    if plant.contact is None or _names(plant):
        return ""
    return "; shapes have frictions of their own. For one surface in their place give Contact(surface=kumitate.Surface(...))"


def _surface(plant: Any, name: str) -> Surface:
    return plant.contact.of("" if name == FLOOR else name)  # type: ignore[no-any-return]


class SurfaceNumbers(ModelNumbers):
    """Surfaces: "surface" (N, surfaces, 3), of each the static and the kinetic friction, and the restitution.

    Programs read the combined surface of every two of them: for each property the smaller value of both. Where no kinetic
    friction is given, it is the static one.
    """

    def raw(self, plant: Any) -> Raw:
        found = [_surface(plant, name) for name in _names(plant)]
        return {"surface": np.array([[(one.friction, one.kinetic, one.restitution) for one in found]]).reshape(1, -1, 3)}

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        values = raw["surface"]
        combined = [np.minimum(values[:, i], values[:, k]) for i, k in self._pairs(plant)]
        return np.concatenate(combined, axis=1)

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        from ...contact.surface import VariedSurface

        names = _names(plant)
        varied.named, varied.paired = tuple(plant.contact.surfaces), tuple(plant.contact.pairs)
        for n, (i, k) in enumerate(self._pairs(plant)):
            friction, kinetic, restitution = numbers[3 * n : 3 * n + 3]
            if self.follows(plant, i) and self.follows(plant, k):
                kinetic = friction
            both = _surface(plant, names[i]).against(_surface(plant, names[k]))
            made = VariedSurface(
                friction, kinetic, restitution, both.threshold, both.torsional, both.rolling, both.stiffness, both.damping
            )
            varied.surfaces[names[i], names[k]] = varied.surfaces[names[k], names[i]] = made

    def built(self, plant: Any, raw: Raw) -> Any:
        contact, made = plant.contact, {}
        for k, name in enumerate(_names(plant)):
            friction, kinetic, restitution = raw["surface"][0, k].tolist()
            slides = None if self.follows(plant, k) else kinetic
            made[name] = replace(_surface(plant, name), friction=friction, kinetic_friction=slides, restitution=restitution)
        surfaces = {name: made[name] for name in contact.surfaces if name != FLOOR}
        return replace(plant, contact=replace(contact, surface=made[FLOOR], surfaces=surfaces))

    def check(self, plant: Any, raw: Raw, changed: Raw) -> tuple[int, str] | None:
        values = raw["surface"]
        bad = values[..., _KINETIC] > values[..., _STATIC]
        if not bad.any():
            return None
        row, k = np.argwhere(bad)[0]
        return int(row), (
            f"the surface {_names(plant)[k]!r} has the kinetic friction {values[row, k, _KINETIC]:g} and the static one "
            f"{values[row, k, _STATIC]:g}; the kinetic one must be between zero and the static one. Raise the static one"
        )

    @staticmethod
    def _pairs(plant: Any) -> list[tuple[int, int]]:
        return list(combinations_with_replacement(range(len(_names(plant))), 2))

    @staticmethod
    def follows(plant: Any, k: int) -> bool:
        """Whether the kinetic friction of surface number k is the static one."""
        return _surface(plant, _names(plant)[k]).kinetic_friction is None


SURFACES = SurfaceNumbers()


class Friction(OfJoints):
    """The dry friction of a joint, or the coefficient of friction of what touches."""

    def targets(self, plant: Any) -> Sequence[str]:
        return [*super().targets(plant), *_names(plant)]

    def remedy(self, plant: Any) -> str:
        return _remedy(plant)

    def unit(self, plant: Any, target: str) -> str:
        return "1" if target in _names(plant) else super().unit(plant, target)

    def place(self, plant: Any, target: str) -> NumberPlace:
        if target not in _names(plant):
            return super().place(plant, target)
        k = _names(plant).index(target)
        return NumberPlace(SURFACES, "surface", (k, slice(_STATIC, _RESTITUTION if SURFACES.follows(plant, k) else _KINETIC)))


class Restitution(ModelKind):
    """The coefficient of restitution of what touches."""

    name, si, rule = "restitution", "1", FRACTION
    meaning = "the coefficient of restitution of what touches, as restitution:floor"

    def targets(self, plant: Any) -> Sequence[str]:
        return _names(plant)

    def remedy(self, plant: Any) -> str:
        return _remedy(plant)

    def place(self, plant: Any, target: str) -> NumberPlace:
        return NumberPlace(SURFACES, "surface", (_names(plant).index(target), _RESTITUTION))


# --- gains of drives ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class OfDrives(ModelKind, ModelNumbers):
    """A gain of the drive of a joint, by its name (N, drives that have it); `si`: its unit, of angles and of lengths."""

    name: str
    meaning: str
    si: str
    rule = NOT_NEGATIVE

    def driven(self, plant: Any) -> list[Any]:
        """The joints whose drives have the number."""
        return [joint for joint in plant.mechanism.driven if hasattr(joint.drive, self.name)]

    def targets(self, plant: Any) -> Sequence[str]:
        return [joint.name for joint in self.driven(plant)]

    def remedy(self, plant: Any) -> str:
        return (
            "" if self.targets(plant) else '. Give joints drives, as mechanism.with_drives({"joint": PositionDrive(kp=100.0)})'
        )

    def place(self, plant: Any, target: str) -> NumberPlace:
        return NumberPlace(self, self.name, (self.targets(plant).index(target),))

    def raw(self, plant: Any) -> Raw:
        return {self.name: np.array([[getattr(joint.drive, self.name) for joint in self.driven(plant)]], dtype=float)}

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_drives(self.name, numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        values = zip(self.driven(plant), raw[self.name][0].tolist(), strict=True)
        drives = {joint.name: replace(joint.drive, **{self.name: value}) for joint, value in values}
        return replace(plant, mechanism=plant.mechanism.with_drives(drives))


# --- gains of controllers -------------------------------------------------------------------------------------------------
#: How many parameters come first: (t, q, v).
_FIRST = 3


def gains_of(functions: Iterable[Any]) -> dict[str, Any]:
    """The gains of functions of (t, q, v): their further parameters that have numbers as defaults, by name.

    >>> gains_of([lambda t, q, v, kp=100.0, target=None: -kp * q])
    {'kp': 100.0}
    """
    found: dict[str, Any] = {}
    for function in functions:
        try:
            parameters = list(inspect.signature(function).parameters.values())[_FIRST:] if callable(function) else []
        except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
            continue
        for one in parameters:
            value = one.default
            if isinstance(value, bool) or not isinstance(value, int | float | np.ndarray | list | tuple):
                continue
            array = np.asarray(value)
            if array.dtype.kind not in "fiu" or array.ndim > 1 or not array.size:
                continue
            if one.name in found and not np.array_equal(found[one.name], value):
                raise InputError(
                    f"two functions have the gain {one.name!r}, with {found[one.name]} and {value}; give them different names"
                )
            found[one.name] = array.astype(float) if array.ndim else float(array)
    return found


class GainOfFunction(ModelKind, ModelNumbers):
    """A gain of a controller, "gain:NAME" (N, size): of all entries, "gain:kp", or of a joint's, "gain:kp:JOINT"."""

    name, meaning = "gain", "a gain of a controller; as gain:kp:JOINT, that of one joint"

    def raw(self, plant: Any) -> Raw:
        return {f"gain:{name}": np.array(value, dtype=float).reshape(1, -1) for name, value in plant.gains.items()}

    def read(self, plant: Any, changed: Raw) -> np.ndarray:
        # whole: a function reads an array, not its entries
        arrays = (changed[f"gain:{name}"][0] for name in plant.gains)
        return np.concatenate([np.full(len(array), array.any()) for array in arrays])

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        """Functions read gains by name, from `Variation.gains`."""

    def built(self, plant: Any, raw: Raw) -> Any:
        gains = {
            name: raw[f"gain:{name}"][0] if np.ndim(value) else float(raw[f"gain:{name}"][0, 0])
            for name, value in plant.gains.items()
        }
        return replace(plant, gains=gains)

    def targets(self, plant: Any) -> Sequence[str]:
        whole = [(name, np.ndim(value) and len(value) == plant.mechanism.nv) for name, value in plant.gains.items()]
        links = plant.mechanism.tree.links
        return [name for name, _ in whole] + [f"{name}:{link.name}" for name, by_joint in whole if by_joint for link in links]

    def place(self, plant: Any, target: str) -> NumberPlace:
        gain, colon, joint = target.partition(":")
        if not colon:
            return NumberPlace(self, f"gain:{gain}", (slice(None),))
        link = next(link for link in plant.mechanism.tree.links if link.name == joint)
        return NumberPlace(self, f"gain:{gain}", (slice(link.v_start, link.v_start + link.kind.nv),))


# --- every kind of parameter that is an input of the compiled step: an object of a class under `ModelKind`, by a line here ----
_CENTER = "a coordinate of a body's center of mass, as center_of_mass:BODY.x"
_MOMENT = "an entry of a body's rotational inertia about its center of mass, as moment:BODY.xx"
_FACTOR = "a factor on the rotational inertia of a body about its center of mass"
_FRICTION = "the dry friction of a joint; or, as friction:floor, the coefficient of friction of what touches"

#: In the order in which they are applied: a factor on an inertia acts on the entries that a moment has set. Other numbers of a
#: body stay where one is set, such as its rotational inertia about the center of mass; armatures are in addition to drives'.
MODEL_KINDS: tuple[ModelKind, ...] = (
    GainOfFunction(),
    OfBodies("mass", "the mass of a body; its rotational inertia stays", "mass", "kg", MASS),
    OfBodies("center_of_mass", _CENTER, "center", "m", FINITE, ("x", "y", "z")),
    OfBodies("moment", _MOMENT, "central", "kg·m²", FINITE, tuple(ENTRIES)),
    InertiaFactor("inertia", _FACTOR, "central", "1", NOT_NEGATIVE),
    OfJoints("damping", "the viscous friction of a joint", ("N·m·s/rad", "N·s/m")),
    Friction("friction", _FRICTION, ("N·m", "N")),
    Armature("armature", "the inertia of a drive as felt at its joint", ("kg·m²", "kg"), MASS),
    OfJoints("stiffness", "the stiffness of a spring in a joint", ("N·m/rad", "N/m"), springs=True),
    OfDrives("kp", "the stiffness of a position drive", "N·m/rad or N/m"),
    OfDrives("kd", "the damping of a position or velocity drive", "N·m·s/rad or N·s/m"),
    Gravity(),
    Restitution(),
)
