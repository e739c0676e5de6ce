"""Gravity as a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...model.values import NOT_NEGATIVE
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, Raw, VariedPlant


class GravityNumbers(ModelNumbers):
    """The gravitational acceleration: "gravity" (N, 3)."""

    def raw(self, plant: Any) -> Raw:
        return {"gravity": np.array([plant.mechanism.gravity], dtype=float)}

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        return raw["gravity"]

    def read(self, plant: Any, changed: Raw) -> np.ndarray:
        return np.asarray(changed["gravity"][0])

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_gravity(numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        return replace(plant, mechanism=replace(plant.mechanism, gravity=tuple(raw["gravity"][0].tolist())))


class Gravity(ModelKind):
    """The acceleration of free fall, in the direction that it has; downward if it was zero."""

    name, meaning, rule, part = "gravity", "the acceleration of free fall", NOT_NEGATIVE, GravityNumbers()

    def targets(self, plant: Any) -> Sequence[str]:
        return ("",)

    def unit(self, plant: Any, target: str) -> str:
        return "m/s²"

    def value(self, plant: Any, target: str) -> float:
        return float(np.linalg.norm(plant.mechanism.gravity))

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        g, size = np.asarray(plant.mechanism.gravity, dtype=float), self.value(plant, target)
        direction = g / size if size else np.array([0.0, 0.0, -1.0])
        raw["gravity"] = np.where(direction == 0.0, 0.0, values[:, None] * direction)
