"""What a parameter of a scenario is: a number with a name such as "mass:link3", that sweeps vary and scenarios set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from ...errors import InputError
from ...model.values import FINITE, Rule, shown
from ..mistakes import number_of
from ..setup import Setup

__all__ = ["BatchInput", "Parameter", "ParameterKind", "resolved"]


class ParameterKind(ABC):
    """One kind of parameter: what stands before the colon.

    Attributes:
        name: of the kind.
        meaning: what it sets, for people.
        rule: that its numbers obey.
    """

    name: ClassVar[str]
    meaning: ClassVar[str]
    rule: ClassVar[Rule] = FINITE

    @abstractmethod
    def targets(self, setup: Setup) -> Sequence[str]:
        """What may stand behind the colon; ("",) for kinds that are written without one."""

    @abstractmethod
    def unit(self, setup: Setup, target: str) -> str:
        """The unit of a target's number."""

    @abstractmethod
    def put(self, setup: Setup, targets: Sequence[str], value: Any) -> Setup:
        """The setup with the value in the place of each of the targets.

        Raises:
            KumitateError: if it cannot have that value.
        """

    def checked(self, name: str, value: Any) -> Any:
        """The value of a parameter of this name.

        Raises:
            InputError: if it breaks the rule.
        """
        return number_of(name, value, self.rule)


class BatchInput(ParameterKind):
    """A kind whose numbers are inputs of the compiled step: runs that differ in nothing else share one batch.

    Attributes:
        array: of a `Setup` that its numbers stand in: "q", "v" or "tau".
    """

    array: ClassVar[str]

    @abstractmethod
    def columns(self, setup: Setup, targets: Sequence[str]) -> list[int]:
        """Where the targets stand in the array."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of one setup.

    Attributes:
        name: as the user wrote it; `targets`: what it sets, all to the same value.
        unit: of its number.
    """

    name: str
    kind: ParameterKind
    targets: tuple[str, ...]
    unit: str

    def checked(self, value: Any) -> Any:
        """The value, in SI units; errors as of `ParameterKind.checked`."""
        return self.kind.checked(self.name, value)

    def put(self, setup: Setup, value: Any) -> Setup:
        """The setup with this value; errors as of `ParameterKind.put`."""
        return self.kind.put(setup, self.targets, self.checked(value))


def resolved(kinds: Sequence[ParameterKind], setup: Setup, name: Any) -> Parameter:
    """The parameter of a name such as "mass:link3" or "damping:*".

    Raises:
        InputError: for a name that the setup does not have; with the closest one.
    """
    by_name = {kind.name: kind for kind in kinds}
    before, colon, target = str(name).partition(":")
    if before not in by_name:
        near = get_close_matches(before, by_name, 1)
        meant = f", did you mean {near[0] + colon + target!r}?" if near else ""
        raise InputError(f'there is no parameter {shown(name)}{meant}; there are {", ".join(by_name)}, as in "mass:BODY"')
    kind = by_name[before]
    known = kind.targets(setup)
    found = tuple(one for one in known if one == target) or tuple(one for one in known if fnmatchcase(one, target))
    if not found:
        near = get_close_matches(target, known, 1)
        meant = f", did you mean {f'{before}:{near[0]}'!r}?" if near else ""
        some = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
        raise InputError(f"there is no parameter {name!r}{meant}; {kind.name} has {some or 'nothing to vary in this scenario'}")
    units = {kind.unit(setup, one) for one in found}
    if len(units) > 1:
        raise InputError(
            f"{name!r} stands for {', '.join(found)}, which have the units {', '.join(sorted(units))}; name them apart"
        )
    return Parameter(str(name), kind, found, units.pop())
