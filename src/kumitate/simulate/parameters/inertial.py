"""Masses, centers of mass and rotational inertias of bodies, and gravity, as parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...model import Mechanism
from ...model.tree.base_parameters import SIZE, inertia_of, numbers_of
from ...model.values import NOT_NEGATIVE, Rule
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, NumberPlace, Raw, VariedPlant

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
    """A number of bodies.

    Attributes:
        array: of `InertiaNumbers` that it stands in.
        entries: that stand behind the body's name and a dot, in the order of the array; none for one number per body.
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


# --- Gravity ----------------------------------------------------------------------------------------------------------


class GravityNumbers(ModelNumbers):
    """The gravitational acceleration: "gravity" (N, 3)."""

    def raw(self, plant: Any) -> Raw:
        return {"gravity": np.array([plant.mechanism.gravity], dtype=float)}

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_gravity(numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        return replace(plant, mechanism=replace(plant.mechanism, gravity=tuple(raw["gravity"][0].tolist())))


class Gravity(ModelKind):
    """The acceleration of free fall, in the direction that it has; downward if it was zero."""

    name, meaning, si, rule = "gravity", "the acceleration of free fall", "m/s²", NOT_NEGATIVE
    part = GravityNumbers()

    def targets(self, plant: Any) -> Sequence[str]:
        return ("",)

    def place(self, plant: Any, target: str) -> NumberPlace:
        return NumberPlace(self.part, "gravity", ())

    def value(self, plant: Any, target: str) -> float:
        return float(np.linalg.norm(plant.mechanism.gravity))

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        g, size = np.asarray(plant.mechanism.gravity, dtype=float), self.value(plant, target)
        direction = g / size if size else np.array([0.0, 0.0, -1.0])
        raw["gravity"] = np.where(direction == 0.0, 0.0, values[:, None] * direction)
