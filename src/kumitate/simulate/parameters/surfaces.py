"""The friction and restitution of what touches as parameters, and the dry friction of joints, which has the same name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...model.values import FRACTION, NOT_NEGATIVE
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, Raw, VariedPlant
from .passive import JointNumbers, OfJoints

if TYPE_CHECKING:
    from ...contact.surface import Surface

#: Stands for the surface of everything that touches, unless it has one of its own.
FLOOR = "floor"
_STATIC, _KINETIC, _RESTITUTION = range(3)


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

    def read(self, plant: Any, changed: Raw) -> np.ndarray:
        varies = changed["surface"][0]
        return np.concatenate([varies[i] | varies[k] for i, k in self._pairs(plant)])

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        from ...contact.surface import VariedSurface

        names = _names(plant)
        varied.named, varied.paired = tuple(plant.contact.surfaces), tuple(plant.contact.pairs)
        for n, (i, k) in enumerate(self._pairs(plant)):
            friction, kinetic, restitution = numbers[3 * n : 3 * n + 3]
            if self._follows(plant, i) and self._follows(plant, k):
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
            slides = None if self._follows(plant, k) else kinetic
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
    def _follows(plant: Any, k: int) -> bool:
        return _surface(plant, _names(plant)[k]).kinetic_friction is None


class _JointsAndSurfaces(ModelNumbers):
    """The dry friction of joints, and surfaces."""

    def __init__(self) -> None:
        self._joints, self._surfaces = JointNumbers("friction"), SurfaceNumbers()

    def _parts(self, plant: Any) -> list[ModelNumbers]:
        return [self._joints, self._surfaces] if _names(plant) else [self._joints]

    def raw(self, plant: Any) -> Raw:
        return {name: array for part in self._parts(plant) for name, array in part.raw(plant).items()}

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        return np.concatenate([part.numbers(plant, raw) for part in self._parts(plant)], axis=1)

    def read(self, plant: Any, changed: Raw) -> np.ndarray:
        return np.concatenate([part.read(plant, changed) for part in self._parts(plant)])

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        count = self._joints.raw(plant)["friction"].size
        self._joints.vary(plant, varied, numbers[:count])
        if _names(plant):
            self._surfaces.vary(plant, varied, numbers[count:])

    def built(self, plant: Any, raw: Raw) -> Any:
        for part in self._parts(plant):
            plant = part.built(plant, raw)
        return plant

    def check(self, plant: Any, raw: Raw, changed: Raw) -> tuple[int, str] | None:
        return self._surfaces.check(plant, raw, changed) if _names(plant) else None


_BOTH = _JointsAndSurfaces()


class Friction(OfJoints):
    """The dry friction of a joint, or the coefficient of friction of what touches."""

    name, rule, part = "friction", NOT_NEGATIVE, _BOTH
    meaning = "the dry friction of a joint; or, as friction:floor, the coefficient of friction of what touches"
    units: ClassVar = ("N·m", "N")

    def targets(self, plant: Any) -> Sequence[str]:
        return [*super().targets(plant), *_names(plant)]

    def remedy(self, plant: Any) -> str:
        return _remedy(plant)

    def unit(self, plant: Any, target: str) -> str:
        return "1" if target in _names(plant) else super().unit(plant, target)

    def value(self, plant: Any, target: str) -> float:
        return _surface(plant, target).friction if target in _names(plant) else super().value(plant, target)

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        if target not in _names(plant):
            super().write(plant, raw, target, values)
            return
        k = _names(plant).index(target)
        raw["surface"][:, k, _STATIC] = values
        if _surface(plant, target).kinetic_friction is None:
            raw["surface"][:, k, _KINETIC] = values


class Restitution(ModelKind):
    """The coefficient of restitution of what touches."""

    name, meaning, rule = "restitution", "the coefficient of restitution of what touches, as restitution:floor", FRACTION
    part = _BOTH

    def targets(self, plant: Any) -> Sequence[str]:
        return _names(plant)

    def remedy(self, plant: Any) -> str:
        return _remedy(plant)

    def unit(self, plant: Any, target: str) -> str:
        return "1"

    def value(self, plant: Any, target: str) -> float:
        return _surface(plant, target).restitution

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        raw["surface"][:, _names(plant).index(target), _RESTITUTION] = values
