"""`Variation`: the parameters of one simulation, as inputs of its programs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, KumitateError
from ...model import Mechanism, check_resistance
from ...model.inertia_checks import VariedMechanism
from ...model.tree.traversal import rolled_runs
from ...model.values import real_array, shown
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, Parameter, Plant, Raw, VariedPlant, resolved
from .kinds import MODEL_KINDS, GainOfFunction, Gravity, SurfaceNumbers, gains_of

if TYPE_CHECKING:
    from ...contact.scene import Contact


@dataclass(frozen=True, eq=False)
class Variation:
    """The parameters of a simulation.

    They take a row of `size` numbers: first the `values` of all targets, as the user gave them, which nothing reads, then the
    numbers that programs read. The second follow from the first by linear maps and the like, once when a value is given, so
    that steps do not repeat it.

    Attributes:
        plant: the model as it was made.
        asked: the parameters by the names that they were asked for.
        columns: what stands in each column of the values: a kind and a target.
        given: values of rows of which nothing else is said, by name; of others, those of the plant.
    """

    plant: Plant
    asked: tuple[Parameter, ...]
    columns: tuple[tuple[ModelKind, str], ...]
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, plant: Plant, names: Sequence[str] | Mapping[str, Any] | str) -> Variation | None:
        """The variation of parameters of these names, or of the names of a dictionary of values; None without any."""
        given = names if isinstance(names, Mapping) else {}
        names = (names,) if isinstance(names, str) else tuple(names)
        if not names:
            return None
        owner = plant.mechanism.name
        asked = tuple(_parameter(plant, name) for name in names)
        columns: dict[tuple[str, str], tuple[ModelKind, str]] = {}
        for one in asked:
            for target in one.targets:
                if (one.kind.name, target) in columns:
                    raise InputError(f"{owner}: the parameters set {_label(one.kind, target)!r} twice; keep one")
                columns[one.kind.name, target] = (one.kind, target)  # type: ignore[assignment]
        if rolled_runs(plant.mechanism.base_parameter_tree):
            raise InputError(
                f"{owner}: its chains of similar links are so long that they are compiled as loops over tables of constants, "
                "which cannot be parameters; make a simulation for each value"
            )
        return cls(plant, asked, tuple(columns.values()), given)

    # --- sizes ------------------------------------------------------------------------------------------------------------
    @property
    def key(self) -> Hashable:
        """What programs depend on in addition to the plant."""
        return tuple((kind.name, target) for kind, target in self.columns), tuple(
            (name, own.stop - own.start) for name, own in self.gains.items()
        )

    @property
    def size(self) -> int:
        """Of a row."""
        return len(self.columns) + len(self._read)

    @cached_property
    def _parts(self) -> dict[ModelNumbers, slice]:
        """The sorts of numbers that vary, and where those of each stand among all that programs may read."""
        parts = list(dict.fromkeys(kind.place(self.plant, target).part for kind, target in self.columns))
        ends = np.cumsum([0, *(part.numbers(self.plant, part.raw(self.plant)).size for part in parts)]).tolist()
        return dict(zip(parts, (slice(start, end) for start, end in pairwise(ends)), strict=True))

    @cached_property
    def _own(self) -> Raw:
        return {name: array for part in self._parts for name, array in part.raw(self.plant).items()}

    @cached_property
    def _changed(self) -> Raw:
        """Which numbers of the plant vary."""
        changed = self._raw(1)
        for kind, target in self.columns:
            kind.write(self.plant, changed, target, np.array([np.nan]))
        return {name: np.isnan(array) & ~np.isnan(self._own[name]) for name, array in changed.items()}

    @cached_property
    def _read(self) -> np.ndarray:
        """The places of those that vary, and so are read of a row, among all that programs may read."""
        return np.flatnonzero(np.concatenate([part.read(self.plant, self._changed) for part in self._parts]))

    def varies(self, name: str) -> bool:
        """Whether any number of an array of the plant varies, such as "mass"."""
        return bool(name in self._changed and self._changed[name].any())

    @cached_property
    def gains(self) -> dict[str, slice]:
        """Where the gains that vary stand in a row."""
        at = next((own.start for part, own in self._parts.items() if isinstance(part, GainOfFunction)), None)
        if at is None:
            return {}
        found = {}
        for name, value in self.plant.gains.items():
            if self.varies(f"gain:{name}"):
                start = len(self.columns) + int(np.searchsorted(self._read, at))
                found[name] = slice(start, start + np.size(value))
            at += np.size(value)
        return found

    @cached_property
    def of_links(self) -> str:
        """The first one of a body, joint or drive, by its name; empty if all are of surfaces, gravity and functions."""
        parts = ((one, one[0].place(self.plant, one[1]).part) for one in self.columns)
        others = GainOfFunction | Gravity | SurfaceNumbers
        return next((_label(*one) for one, part in parts if not isinstance(part, others)), "")

    # --- values -----------------------------------------------------------------------------------------------------------
    @cached_property
    def blank(self) -> np.ndarray:
        """The row (size) of the plant with the values that are given. Targets whose numbers differ have the value NaN."""
        own = np.array([kind.value(self.plant, target) for kind, target in self.columns])
        raw = self._raw(1)
        for k, (kind, target) in enumerate(self.columns):
            array = kind.place(self.plant, target).array
            tried = {array: raw[array].copy()}
            kind.write(self.plant, tried, target, own[k : k + 1])
            if not np.allclose(tried[array], raw[array], 1e-12, 0.0):
                own[k] = np.nan
        row = np.concatenate([own, self._numbers(raw)[0]])
        if self.given:
            self.put(row[None], self.given)
        return row

    def put(self, rows: np.ndarray, given: Mapping[str, Any]) -> None:
        """Puts values into rows (N, size), in place; those that are not given stay. Impossible ones are refused, with the row.

        `given`: by name: a number, one for each row (N), or one for each row and target (N, targets).
        """
        count = len(self.columns)
        values = rows[:, :count].copy()
        for name, value in given.items():
            columns, checked = self._checked(name, value, len(rows))
            values[:, columns] = checked
        rows[:, :count], rows[:, count:] = values, self._rows(values)

    def slopes(self, rows: np.ndarray) -> np.ndarray:
        """The derivatives (N, values, size) of rows (N, size) by the values in them, which programs do not read themselves.

        They are differences: of maps of order two, as that of centers of mass to inertias, exact but for rounding.
        """
        count = len(self.columns)
        if (differ := np.isnan(rows[:, :count]).any(axis=0)).any():
            name = _label(*self.columns[int(np.argmax(differ))])
            raise InputError(
                f"{self.plant.mechanism.name}: {name!r} stands for numbers that differ, which have no common slope. Give one "
                "value, or name them apart"
            )
        found = np.zeros((len(rows), count, rows.shape[1]))
        for k in range(count):
            step, ends = _STEP * np.where(rows[:, k] == 0.0, 1.0, np.abs(rows[:, k])), []
            for sign in (1.0, -1.0):
                values = rows[:, :count].copy()
                values[:, k] += sign * step
                ends.append(self._numbers(self._of_values(values)))
            found[:, k, count:] = (ends[0] - ends[1]) / (2.0 * step[:, None])
        return found

    def shown(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The values in rows (..., size) by the names that were asked for: (...), or (..., targets) for several."""
        found, at = {}, 0
        for one in self.asked:
            values = rows[..., at : at + len(one.targets)]
            found[one.name] = values[..., 0] if len(one.targets) == 1 else values
            at += len(one.targets)
        return found

    def plant_of(self, row: np.ndarray) -> Plant:
        """The plant made again with the values of a row (size); a `KumitateError` if they are refused."""
        raw = self._of_values(row[None, : len(self.columns)])
        plant = self.plant
        for part in self._parts:
            plant = part.built(plant, raw)
        return plant

    # --- programs ---------------------------------------------------------------------------------------------------------
    def at(self, row: Sequence[Scalar]) -> VariedPlant:
        """The plant as a program sees it, with a row (size) of symbols; numbers that do not vary stay as they are."""
        varied = VariedPlant(VariedMechanism.of(self.plant.mechanism))
        numbers = [number for part in self._parts for number in part.own(self.plant)]
        for place, symbol in zip(self._read.tolist(), row[len(self.columns) :], strict=True):
            numbers[place] = symbol
        for part, own in self._parts.items():
            part.vary(self.plant, varied, numbers[own])
        return varied

    # --- rows -------------------------------------------------------------------------------------------------------------
    def _raw(self, rows: int) -> Raw:
        return {name: np.repeat(array, rows, axis=0) for name, array in self._own.items()}

    def _of_values(self, values: np.ndarray) -> Raw:
        """The numbers of the plant for rows of values; NaN leaves them as they were made."""
        raw = self._raw(len(values))
        for k, (kind, target) in self._ordered:
            given, array = ~np.isnan(values[:, k]), kind.place(self.plant, target).array
            if given.all():
                kind.write(self.plant, raw, target, values[:, k])
            elif given.any():
                some = {array: raw[array][given]}
                kind.write(self.plant, some, target, values[given, k])
                raw[array][given] = some[array]
        return raw

    @cached_property
    def _ordered(self) -> list[tuple[int, tuple[ModelKind, str]]]:
        """The columns in the order in which their kinds act."""
        return sorted(enumerate(self.columns), key=lambda item: MODEL_KINDS.index(item[1][0]))

    def _numbers(self, raw: Raw) -> np.ndarray:
        return np.concatenate([part.numbers(self.plant, raw) for part in self._parts], axis=1)[:, self._read]

    def _rows(self, values: np.ndarray) -> np.ndarray:
        """The numbers that programs read, for rows of checked values."""
        raw = self._of_values(values)
        for part in self._parts:
            if (bad := part.check(self.plant, raw, self._changed)) is not None:
                raise InputError(f"{self.plant.mechanism.name}: parameters of row {bad[0]}: {bad[1]}")
        self._check_resistance(values)
        return self._numbers(raw)

    def _check_resistance(self, values: np.ndarray) -> None:
        """Refuses rows in which a joint moves nothing with inertia, which zeros can make."""
        inertial = [k for k, (kind, _) in enumerate(self.columns) if kind.name in _RESISTING]
        for row in np.flatnonzero((values[:, inertial] == 0.0).any(axis=1)):
            try:
                check_resistance(self.plant_of(values[row]).mechanism)
            except KumitateError as error:
                raise InputError(f"{self.plant.mechanism.name}: parameters of row {row}: {error}") from None

    def _checked(self, name: str, given: Any, rows: int) -> tuple[list[int], np.ndarray]:
        """The columns that a name stands for, and their values in every row."""
        owner = self.plant.mechanism.name
        if name not in self._asked_before:
            self._asked_before[name] = self._columns_of(name)
        one, columns = self._asked_before[name]
        array = real_array(given)
        if array is None:
            raise InputError(f"{owner}: {name!r} is {shown(given)}; give a number, or one for each row")
        if array.ndim == 1 and len(array) == rows:
            array = array[:, None]
        if array.ndim not in (0, 2) or (array.ndim == 2 and array.shape not in ((rows, 1), (rows, len(columns)))):
            several = f", or one for each row and target ({rows}, {len(columns)})" if len(columns) > 1 else ""
            raise InputError(
                f"{owner}: the values of {name!r} have shape {array.shape}; give a number, one for each row ({rows},){several}"
            )
        units = (
            {one.kind.unit(self.plant, target) for target in one.targets} if array.size <= rows < rows * len(columns) else ()
        )
        if len(units) > 1:
            raise InputError(
                f"{owner}: {name!r} is given one value for {', '.join(one.targets)}, which have the units "
                f"{', '.join(sorted(units))}; name them apart, or give one for each row and target ({rows}, {len(columns)})"
            )
        values = np.array(np.broadcast_to(array, (rows, len(columns))))
        holds = one.kind.rule.holds
        for place, value in enumerate(values.ravel().tolist()):
            if not holds(value):
                row, k = divmod(place, len(columns))
                raise InputError(
                    f"{owner}: {_label(one.kind, one.targets[k])!r} is {value!r} in row {row}; it must be "
                    f"{one.kind.rule.words}. {one.kind.rule.remedy}"
                )
        return columns, values

    @cached_property
    def _asked_before(self) -> dict[str, tuple[Parameter, list[int]]]:
        """The parameters of names that values were given by, and their columns."""
        return {}

    def _columns_of(self, name: str) -> tuple[Parameter, list[int]]:
        owner, one = self.plant.mechanism.name, _parameter(self.plant, name)
        known = {(kind.name, target): k for k, (kind, target) in enumerate(self.columns)}
        missing = [target for target in one.targets if (one.kind.name, target) not in known]
        if missing:
            there = ", ".join(asked.name for asked in self.asked)
            raise InputError(
                f"{owner}: {_label(one.kind, missing[0])!r} is not a parameter of this simulation, which has {there}; make it "
                f"with parameters=[…, {name!r}]"
            )
        return one, [known[one.kind.name, target] for target in one.targets]


def variation_of(
    mechanism: Mechanism, contact: Contact | str | None, sources: Sequence[Any], names: Sequence[str] | Mapping[str, Any] | str
) -> Variation | None:
    """The parameters of these names, or of a dictionary of values, of a mechanism, its contact and its functions; or None."""
    if not names:
        return None
    if contact is not None:
        from ...contact.scene import Contact  # loaded only where something touches

        contact = (Contact(contact) if isinstance(contact, str) else contact).on(mechanism)
    return Variation.of(Plant(mechanism, contact, gains_of(sources)), names)


#: By which part values are changed for the slopes of what programs read.
_STEP = 1e-4
#: Kinds whose zeros can leave a joint without inertia.
_RESISTING = ("mass", "moment", "inertia", "armature", "center_of_mass")


def _label(kind: ModelKind | Any, target: str) -> str:
    return f"{kind.name}:{target}" if target else str(kind.name)


def _parameter(plant: Plant, name: Any) -> Parameter:
    """The parameter of a name; errors as of `resolved`, with the plant's name."""
    try:
        return resolved(MODEL_KINDS, plant, name, mixed=True)
    except InputError as error:
        raise InputError(f"{plant.mechanism.name}: {error}") from None
