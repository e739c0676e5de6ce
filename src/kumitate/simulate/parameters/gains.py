"""Gains of controllers as parameters: numbers that a function reads by parameters with defaults, f(t, q, v, kp=100.0)."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, NumberPlace, Raw, VariedPlant

#: How many parameters come first: (t, q, v).
_FIRST = 3


def gains_of(functions: Iterable[Any]) -> dict[str, Any]:
    """The gains of functions of (t, q, v): their further parameters that have numbers as defaults, by name.

    Raises:
        InputError: if two functions have a gain of the same name with different values.

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


class GainNumbers(ModelNumbers):
    """GainNumbers: "gain:NAME" (N, size)."""

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


GAINS = GainNumbers()


class GainOfFunction(ModelKind):
    """A gain of a controller: "gain:kp" for all its entries; "gain:kp:JOINT" for a joint's where it has an entry for each."""

    name, meaning = "gain", "a gain of a controller; as gain:kp:JOINT, that of one joint"

    def targets(self, plant: Any) -> Sequence[str]:
        whole = [(name, np.ndim(value) and len(value) == plant.mechanism.nv) for name, value in plant.gains.items()]
        links = plant.mechanism.tree.links
        return [name for name, _ in whole] + [f"{name}:{link.name}" for name, by_joint in whole if by_joint for link in links]

    def place(self, plant: Any, target: str) -> NumberPlace:
        gain, colon, joint = target.partition(":")
        if not colon:
            return NumberPlace(GAINS, f"gain:{gain}", (slice(None),))
        link = next(link for link in plant.mechanism.tree.links if link.name == joint)
        return NumberPlace(GAINS, f"gain:{gain}", (slice(link.v_start, link.v_start + link.kind.nv),))
