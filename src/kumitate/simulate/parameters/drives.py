"""Gains of drives as parameters: "kp:JOINT" and "kd:JOINT"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...model.values import NOT_NEGATIVE
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, NumberPlace, Raw, VariedPlant


@dataclass(frozen=True)
class DriveNumbers(ModelNumbers):
    """One number of drives by its name (N, drives that have it)."""

    key: str

    def driven(self, plant: Any) -> list[Any]:
        """The joints whose drives have the number."""
        return [joint for joint in plant.mechanism.driven if hasattr(joint.drive, self.key)]

    def raw(self, plant: Any) -> Raw:
        return {self.key: np.array([[getattr(joint.drive, self.key) for joint in self.driven(plant)]], dtype=float)}

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_drives(self.key, numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        values = zip(self.driven(plant), raw[self.key][0].tolist(), strict=True)
        drives = {joint.name: replace(joint.drive, **{self.key: value}) for joint, value in values}
        return replace(plant, mechanism=plant.mechanism.with_drives(drives))


class OfDrives(ModelKind):
    """A gain of the drive of a joint."""

    rule = NOT_NEGATIVE

    def __init__(self, name: str, meaning: str, si: str):
        """A kind of parameter for the number `name` of drives, in a unit of angles and of lengths."""
        self.name, self.meaning, self.si, self.part = name, meaning, si, DriveNumbers(name)

    def targets(self, plant: Any) -> Sequence[str]:
        return [joint.name for joint in self.part.driven(plant)]

    def remedy(self, plant: Any) -> str:
        return (
            "" if self.targets(plant) else '. Give joints drives, as mechanism.with_drives({"joint": PositionDrive(kp=100.0)})'
        )

    def place(self, plant: Any, target: str) -> NumberPlace:
        return NumberPlace(self.part, self.name, (self.targets(plant).index(target),))
