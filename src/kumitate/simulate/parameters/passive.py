"""Properties of joints and of surfaces as parameters: damping, dry friction, springs, armatures; friction and restitution.

The friction of joints and that of what touches have the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.joints.contract import sort_of
from ...model.values import FRACTION, NOT_NEGATIVE, Rule
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, NumberPlace, Raw, VariedPlant

if TYPE_CHECKING:
    from ...contact.surface import Surface

#: Stands for the surface of everything that touches, unless it has one of its own.
FLOOR = "floor"
_STATIC, _KINETIC, _RESTITUTION = range(3)


def _moving(plant: Any) -> list[Any]:
    """The joints of the tree, and those that close loops: with their degrees of freedom in the order of the numbers."""
    return [part for part in (*plant.mechanism.joints, *plant.mechanism.loops) if part.kind.nv]


@dataclass(frozen=True)
class JointNumbers(ModelNumbers):
    """One property of joints: by its name (N, degrees of freedom of the tree, then of the loops)."""

    key: str

    def raw(self, plant: Any) -> Raw:
        return {self.key: np.array([[x for part in _moving(plant) for x in getattr(part, self.key)]], dtype=float)}

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_joints(self.key, numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        values = iter(raw[self.key][0].tolist())

        def with_own(part: Any) -> Any:
            return replace(part, **{self.key: tuple(next(values) for _ in range(part.kind.nv))}) if part.kind.nv else part

        m = plant.mechanism
        joints, loops = tuple(with_own(joint) for joint in m.joints), tuple(with_own(loop) for loop in m.loops)
        return replace(plant, mechanism=replace(m, joints=joints, loops=loops))


class JointArmatures(JointNumbers):
    """The armatures of joints; programs read them with those of the joints' drives, which do not vary."""

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        drives = (getattr(part, "drive", None) for part in _moving(plant) for _ in range(part.kind.nv))
        return raw[self.key] + np.array([0.0 if drive is None else drive.reflected_inertia for drive in drives])


@dataclass(frozen=True)
class OfJoints(ModelKind):
    """A property of joints, and of the joints that close loops: one value for all degrees of freedom of one.

    Attributes:
        units: of angles and of lengths.
        part: its numbers.
        springs: whether only joints have it whose velocities are the rates of their coordinates.
    """

    name: str
    meaning: str
    units: tuple[str, str]
    part: JointNumbers
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
                return NumberPlace(self.part, self.part.key, (slice(at, at + part.kind.nv),))
            at += part.kind.nv
        raise KeyError(target)


# --- Surfaces ---------------------------------------------------------------------------------------------------------


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
