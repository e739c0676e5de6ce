"""Parameters that are inputs of the compiled step: the start, and constant efforts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...errors import InputError
from ...simulate.parameters.passive import sort_of
from ..setup import Described
from .contract import BatchInput


class _State(BatchInput):
    """Components of one array of the start."""

    names: ClassVar[str]
    key: ClassVar[str]
    units: ClassVar[dict[str, str]]

    def targets(self, setup: Described) -> Sequence[str]:
        return getattr(setup.mechanism, self.names)  # type: ignore[no-any-return]

    def unit(self, setup: Described, target: str) -> str:
        components = [name for joint in setup.mechanism.joints for name in getattr(joint.kind, self.key)]
        return self.units[sort_of(components[self.columns(setup, [target])[0]])]

    def columns(self, setup: Described, targets: Sequence[str]) -> list[int]:
        names = list(getattr(setup.mechanism, self.names))
        return [names.index(target) for target in targets]

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        array = np.array(getattr(setup, self.array))
        array[self.columns(setup, targets)] = value
        changed: dict[str, Any] = {self.array: array}
        return replace(setup, **changed)


class Coordinate(_State):
    """A coordinate of the start."""

    name, array, names, key = "q", "q", "q_names", "coordinates"
    meaning = "a coordinate of the start"
    units: ClassVar = {"angle": "rad", "length": "m", "plain": "1"}


class Velocity(_State):
    """A velocity of the start."""

    name, array, names, key = "v", "v", "v_names", "velocities"
    meaning = "a velocity of the start"
    units: ClassVar = {"angle": "rad/s", "length": "m/s", "plain": "1"}


class ConstantEffort(_State):
    """A constant effort at a joint."""

    name, array, names, key = "tau", "tau", "v_names", "velocities"
    meaning = "a constant effort at a joint, without a controller"
    units: ClassVar = {"angle": "N·m", "length": "N", "plain": "1"}

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        if setup.laws:
            raise InputError("tau is a constant effort, and there is a controller; write one of them")
        return super().put(setup, targets, value)
