"""Coordinates by name, as on the command line: "shoulder=30deg, elbow=-0.2"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InputError, did_you_mean
from ..scenario.mistakes import number_of

if TYPE_CHECKING:
    from ..robot import Robot


def with_values(text: str, option: str, names: Sequence[str], start: Sequence[float]) -> list[float]:
    """`start` with the values that the text names.

    Args:
        text: "name=value" with commas between; SI units, or degrees as in "30deg".
        option: where the text is from, for messages.
        names: of the components of `start`.

    Raises:
        InputError: for an unknown name or a value that is not a number.

    >>> with_values("b=90deg, a=2", "--q", ("a", "b"), (0.0, 0.0))
    [2.0, 1.5707963267948966]
    """
    values = [float(value) for value in start]
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (part.strip() for part in item.partition("="))
        if not names:
            raise InputError(
                f"{option}: {item!r} names a component, and there are none: all joints are fixed. Leave {option} out"
            )
        if not equals:
            raise InputError(f'{option}: {item!r} is not of the form name=value; write "{names[0]}=0.5" or "{names[0]}=30deg"')
        if name not in names:
            near = did_you_mean(name, names, lead=", ")
            raise InputError(f"{option}: there is no component {name!r}{near}; there are {', '.join(names)}")
        values[list(names).index(name)] = _number(option, item, number)
    return values


def start_by_name(robot: Robot, q: str | None, v: str | None = None) -> tuple[list[float], list[float]]:
    """The robot's start with the values that the texts of --q and --v name; other joints close its loops around these.

    Raises:
        InputError: as `with_values`, and if the loops cannot be closed with these values.

    >>> from kumitate import load
    >>> start_by_name(load("pendulum"), "hinge=90deg", "hinge=2")
    ([1.5707963267948966], [2.0])
    """
    m, (usual_q, usual_v) = robot.mechanism, (list(part) for part in robot.start)
    q0 = with_values(q or "", "--q", m.q_names, usual_q)
    v0 = with_values(v or "", "--v", m.v_names, usual_v)
    if not (q or v) or not (m.loops or m.couplings):
        return q0, v0
    named_q = {name: q0[m.q_names.index(name)] for name in _names(q)}
    named_v = {name: v0[m.v_names.index(name)] for name in _names(v)}
    closed_q, closed_v = robot.state(named_q, named_v)
    return closed_q.tolist(), closed_v.tolist()


def values_by_name(text: str, option: str) -> dict[str, float]:
    """The numbers of a text such as "mass:link3=6, gravity=3.7", by name; errors as of `with_values`."""
    names = _names(text)
    return dict(zip(names, with_values(text, option, names, [0.0] * len(names)), strict=True))


def _names(text: str | None) -> list[str]:
    return [item.partition("=")[0].strip() for item in (text or "").split(",") if item.strip()]


def _number(option: str, item: str, text: str) -> float:
    try:
        return number_of(item, text if text.endswith("deg") else float(text))
    except ValueError:  # of float, or an InputError
        raise InputError(f"{option}: in {item!r}, {text!r} is not a finite number; write 0.5 (SI units) or 30deg") from None
