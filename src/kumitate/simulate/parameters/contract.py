"""What a parameter is: a number with a name such as "mass:link3"; and how those of a model become inputs of its programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import InputError, did_you_mean
from ...model import Mechanism
from ...model.inertia_checks import VariedMechanism
from ...model.values import FINITE, Rule, checked_number, shown
from ...scalar import Scalar

if TYPE_CHECKING:
    from ...contact.scene import Contact, Pair
    from ...contact.surface import VariedSurface

#: So many values are tried to find what depends on a number: for the smaller one of two, some have to be below the other.
_TRIED = 32
#: Numbers of a model for N rows: arrays (N, …) by name.
Raw = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Plant:
    """What parameters belong to: a mechanism, what it touches, and gains of controllers, numbers or arrays by name."""

    mechanism: Mechanism
    contact: Contact | None = None
    gains: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class VariedPlant:
    """A plant with symbols among the mechanism's numbers, as programs see it while they are traced.

    Attributes:
        surfaces: the combined surface of two bodies by their surfaces' names; empty if no surface varies.
        named: the surfaces that have a name of their own; paired: pairs of bodies whose surface does not vary.
    """

    mechanism: VariedMechanism
    surfaces: dict[tuple[str, str], VariedSurface] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    paired: tuple[tuple[str, str], ...] = ()

    def pair(self, pair: Pair) -> Pair:
        """A pair of shapes with the surface that it has here."""
        if not self.surfaces or pair.bodies in self.paired or pair.bodies[::-1] in self.paired:
            return pair
        one, two = (name if name in self.named else "floor" for name in pair.bodies)
        return replace(pair, surface=self.surfaces[one, two])


class ParameterKind(ABC):
    """One kind of parameter, by the name before the colon; `meaning`: what it sets, for people.

    `rule`: that its numbers obey; `si`: their unit, where all have one.
    """

    name: str
    meaning: str
    rule: Rule = FINITE
    si: str = ""

    @abstractmethod
    def targets(self, plant: Any) -> Sequence[str]:
        """What may stand behind the colon; ("",) for kinds that are written without one."""

    def remedy(self, plant: Any) -> str:
        """What to do for targets that this plant does not have."""
        return ""

    def unit(self, plant: Any, target: str) -> str:
        """The unit of a target's number."""
        return self.si

    @abstractmethod
    def put(self, plant: Any, targets: Sequence[str], value: Any) -> Any:
        """The plant with the value in the place of each of the targets; a `KumitateError` if it cannot have it."""

    def checked(self, name: str, value: Any) -> Any:
        """The value of a parameter of this name; refused if it breaks the rule."""
        return checked_number("parameters", repr(name), value, self.rule, error=InputError)


class ModelNumbers(ABC):
    """One sort of numbers of a plant: which there are, what programs read of them, and how a plant is made from them."""

    @abstractmethod
    def raw(self, plant: Any) -> Raw:
        """The plant's own numbers, with one row (1, …)."""

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        """What programs read, (N, size), for rows of numbers: all of them, unless a sort says otherwise."""
        return np.concatenate([raw[name].reshape(len(raw[name]), -1) for name in self.raw(plant)], axis=1)

    def own(self, plant: Any) -> list[Any]:
        """What programs read (size) of the plant as it was made."""
        return self.numbers(plant, self.raw(plant))[0].tolist()  # type: ignore[no-any-return]

    def read(self, plant: Any, changed: Raw) -> np.ndarray:
        """Which of what programs read (size) depends on the changed numbers, both as truth values: found by trying others."""
        rng, raw = np.random.default_rng(0), self.raw(plant)
        other = {name: 10.0 ** rng.uniform(-3.0, 3.0, (_TRIED, *array.shape[1:])) for name, array in raw.items()}
        for array in other.values():
            array[0] = 0.0
        tried = {name: np.where(changed[name], other[name], array) for name, array in raw.items()}
        return np.asarray((self.numbers(plant, tried) != self.numbers(plant, raw)).any(axis=0))

    @abstractmethod
    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        """Puts numbers (size), symbols among them, into a plant that programs see."""

    @abstractmethod
    def built(self, plant: Any, raw: Raw) -> Any:
        """The plant made again with the numbers of one row (1, …); a `KumitateError` if they are refused."""

    def check(self, plant: Any, raw: Raw, changed: Raw) -> tuple[int, str] | None:
        """The first row whose numbers are impossible together, and why; None if there is none."""
        return None


class NumberPlace(NamedTuple):
    """Where the number of a target stands: in an array of a `part`, at a place of each row, or all that have the one value."""

    part: ModelNumbers
    array: str
    at: tuple[int | slice, ...]


class ModelKind(ParameterKind):
    """A kind whose numbers are inputs of the compiled step."""

    @abstractmethod
    def place(self, plant: Any, target: str) -> NumberPlace:
        """Where the number of a target stands among those of the plant."""

    def value(self, plant: Any, target: str) -> float:
        """The number that a target has in the plant itself."""
        part, array, at = self.place(plant, target)
        return float(part.raw(plant)[array][0][at].flat[0])

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        """Puts values (N) of a target into rows of numbers. What it changes becomes NaN for values that are NaN."""
        _, array, at = self.place(plant, target)
        rows = raw[array][:, *at]
        raw[array][:, *at] = values.reshape(-1, *(1 for _ in rows.shape[1:]))

    def put(self, plant: Any, targets: Sequence[str], value: Any) -> Any:
        parts = dict.fromkeys(self.place(plant, target).part for target in targets)
        raw = {name: array for part in parts for name, array in part.raw(plant).items()}
        for target in targets:
            self.write(plant, raw, target, np.array([value], dtype=float))
        for part in parts:
            plant = part.built(plant, raw)
        return plant


@dataclass(frozen=True)
class Parameter:
    """A parameter of one plant, by the name that the user wrote: what it sets to one value; the unit of this, or several."""

    name: str
    kind: ParameterKind
    targets: tuple[str, ...]
    unit: str

    def checked(self, value: Any) -> Any:
        """The value, in SI units; errors as of `ParameterKind.checked`."""
        return self.kind.checked(self.name, value)

    def put(self, plant: Any, value: Any) -> Any:
        """The plant with this value; errors as of `ParameterKind.put`."""
        return self.kind.put(plant, self.targets, self.checked(value))


def resolved(kinds: Sequence[ParameterKind], plant: Any, name: Any, *, mixed: bool = False) -> Parameter:
    """The parameter of a name such as "mass:link3" or "damping:*"; one that the plant does not have is refused.

    `mixed`: whether it may stand for numbers of several units, as dampings of angles and of lengths.
    """
    by_name = {kind.name: kind for kind in kinds}
    before, colon, target = str(name).partition(":")
    if before not in by_name:
        meant = did_you_mean(str(name), [one + colon + target for one in by_name], lead=", ")
        raise InputError(f'there is no parameter {shown(name)}{meant}; there are {", ".join(by_name)}, as in "mass:BODY"')
    kind = by_name[before]
    known = kind.targets(plant)
    found = tuple(one for one in known if one == target) or tuple(one for one in known if fnmatchcase(one, target))
    if not found:
        meant = did_you_mean(str(name), [f"{before}:{one}" for one in known], lead=", ")
        some = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
        has = f"{kind.name} has {some or 'nothing to vary here'}{kind.remedy(plant)}"
        raise InputError(f"there is no parameter {name!r}{meant}; {has}")
    units = dict.fromkeys(kind.unit(plant, one) for one in found)
    if len(units) > 1 and not mixed:
        raise InputError(
            f"{name!r} stands for {', '.join(found)}, which have the units {', '.join(sorted(units))}; name them apart"
        )
    return Parameter(str(name), kind, found, ", ".join(units))
