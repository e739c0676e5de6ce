"""What can be set on a page, by name: inputs, targets of drives, gains, gravity, friction, masses and other parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, did_you_mean
from ...simulate.driving.forcing import COMMANDS
from ...simulate.parameters import MODEL_KINDS, Variation
from ...simulate.simulation import MechanismSimulation
from ..loop import TARGET, Setting, joint_sliders, settings_of

#: Names of sliders, or the ends of each by its name; None for those that a page has by itself.
Asked = Sequence[str] | Mapping[str, tuple[float, float]] | None
#: Rows of parameters (n, size) → numbers (n, …).
Further = Callable[[np.ndarray], np.ndarray]
#: Values of a parameter at which its numbers are computed, as few of these as straight lines between them need.
_SAMPLES = (2, 9, 65)
#: Numbers on straight lines may be off by this part of the largest.
_STRAIGHT = 1e-12


class PageSlider(NamedTuple):
    """A number that a person may set.

    `rows` (samples, places) are the numbers that it sets at values evenly spaced from low to high, with straight lines between
    them; None where the one number of u is the value itself.
    """

    label: str
    unit: str
    low: float
    high: float
    value: float  # at the start
    at: np.ndarray  # the places in u, or behind it, of what it sets
    rows: np.ndarray | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """As data for the page."""
        ends = {"low": self.low, "high": self.high, "value": self.value, "at": self.at.astype(np.uint32)}
        rows = {} if self.rows is None else {"rows": np.ascontiguousarray(self.rows, dtype=float)}
        return {"label": self.label.removeprefix("gain:"), "unit": self.unit, **ends, **rows}


def parameters_asked(simulation: MechanismSimulation, asked: Asked) -> list[str]:
    """The parameters of the model that sliders of these names need, in addition to those that a simulation has.

    Gains can be named by themselves: "kp" for "gain:kp".
    """
    from ...simulate.parameters.kinds import gains_of

    setup, inputs = simulation.setup, list(simulation.actuation.forcing.own)
    functions = (setup.controller, *(setup.wrenches or {}).values(), *(setup.loop_tau or {}).values())
    gains = gains_of((*functions, *filter(callable, (setup.inputs or {}).values())))
    known = [one.name for one in simulation.parameters.asked] if simulation.parameters else []
    if asked is None:
        wanted = [f"gain:{name}" for name in gains]
        wanted += ["gravity"] if np.any(simulation.mechanism.gravity) else []
        wanted += [] if simulation.setup.contact is None or "friction:floor" in known else ["friction:floor"]
    else:
        names = [name for name in map(str, asked) if _first(name) not in inputs]
        wanted = [f"gain:{name}" if name in gains else name for name in names]
        for name in wanted:
            if name.partition(":")[0] not in (kind.name for kind in MODEL_KINDS):
                raise _unknown(simulation, name, [*inputs, *gains])
    return [name for name in dict.fromkeys(wanted) if name not in known]


def _first(name: str) -> str:
    """The input that a slider's name begins with: "target joint2" and "target[1]" are of "target"."""
    return name.split(" ")[0].split("[")[0]


def _unknown(simulation: MechanismSimulation, name: str, known: Sequence[str]) -> InputError:
    return InputError(
        f"{simulation.mechanism.name}: there is no slider {name!r}{did_you_mean(name, known, lead=', ')}; a page has "
        f"{', '.join(known) or 'no inputs'}, and parameters: {', '.join(kind.name for kind in MODEL_KINDS)}, as in 'mass:BODY'"
    )


def sliders_of(simulation: MechanismSimulation, asked: Asked, further: Further | None = None) -> list[PageSlider]:
    """The sliders of a page; None for all that the simulation has.

    `further`: the numbers that parameters change apart from those of u, of which a page has places behind u.
    """
    ends = {one.q: (one.lower, one.upper) for one in joint_sliders(simulation.mechanism)}
    first = simulation.actuation.parameters(simulation.actuation.constants)
    settings = [one for one in settings_of(simulation, first, ends) if one.group == "inputs"]  # type: ignore[arg-type]
    found = [_of_input(simulation, one, ends) for one in settings]
    varied = _Parameters(simulation, simulation.parameters, further) if simulation.parameters else None
    for one in varied.varied.asked if varied else ():
        with suppress(*(FixedParameterError,) if asked is None else ()):
            found.append(varied.slider(one.name))  # type: ignore[union-attr]
    if asked is not None:
        found = [one for name in asked for one in _named(simulation, varied, found, str(name), asked)]
    if varied:
        varied.check_sums([one for one in found if one.rows is not None])
    return found


def _named(
    simulation: MechanismSimulation, varied: _Parameters | None, known: Sequence[PageSlider], name: str, asked: Any
) -> list[PageSlider]:  # fmt: skip
    """The sliders of a name, with the ends that are asked for."""
    owner = simulation.mechanism.name
    own = {one.label: one for one in known}
    chosen = [one for label, one in own.items() if name in (label, _first(label), label.removeprefix("gain:"))]
    if not chosen:
        raise _unknown(simulation, name, list(own))
    if not isinstance(asked, Mapping):
        return chosen
    low, high = (float(end) for end in asked[name])
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(
            f"{owner}: the slider {name!r} has the ends {low} and {high}; give two finite numbers, the lower first"
        )
    wider = [one._replace(low=min(low, one.value), high=max(high, one.value)) for one in chosen]
    return [varied.slider(one.label, (one.low, one.high)) if varied and one.rows is not None else one for one in wider]


def _of_input(simulation: MechanismSimulation, one: Setting, ends: Mapping[int, tuple[float, float]]) -> PageSlider:
    m, own = simulation.mechanism, simulation.actuation.forcing.own[one.name]
    k, size = one.place or 0, own.stop - own.start
    label, low, high, unit = one.label, one.lower, one.upper, ""
    if one.name == TARGET and m.driven and m.driven[k].drive.holds:
        unit = next((joint.unit for joint in joint_sliders(m) if joint.q == m.driven[k].q), "")
    if size == m.nv == m.nq > 1 and not (m.driven and one.name in COMMANDS):
        label = f"{one.name} {m.v_names[k]}"
        if one.name.startswith(TARGET) and k in ends and ends[k][0] <= one.value <= ends[k][1]:
            low, high = ends[k]
            unit = next(joint.unit for joint in joint_sliders(m) if joint.q == k)
    if low is None or high is None or low >= high:
        reach = max(abs(one.value), 1.0)
        low, high = one.value - reach, one.value + reach
    return PageSlider(label, unit, low, high, one.value, np.array([own.start + k]))


class FixedParameterError(InputError):
    """A parameter of which numbers are compiled into the code of a page."""


class _Parameters(NamedTuple):
    """The sliders of the parameters of a simulation; `further`: as of `sliders_of`."""

    simulation: MechanismSimulation
    varied: Variation
    further: Further | None

    def slider(self, name: str, ends: tuple[float, float] | None = None) -> PageSlider:
        """The slider of a parameter: its numbers at some of its values, of which it must have one and not several."""
        varied, owner = self.varied, self.simulation.mechanism.name
        one = next(one for one in varied.asked if one.name == name)
        own = np.ravel(varied.shown(varied.blank)[name])
        value = float(own[0])
        if not (own == value).all():  # nor if they are not numbers
            raise InputError(f"{owner}: {name!r} stands for different numbers, {', '.join(one.targets)}; give each a slider")
        low, high = ends or _range(one.kind.rule.holds, value)
        checked = np.linspace(low, high, 13)[1:-1]
        for count in _SAMPLES:
            rows = self.numbers({name: np.linspace(low, high, count)})
            exact = self.numbers({name: checked})
            lines = [np.interp(checked, np.linspace(low, high, count), column) for column in rows.T]
            between = np.array(lines).T.reshape(exact.shape)
            if np.abs(between - exact).max(initial=0.0) <= _STRAIGHT * max(np.abs(exact).max(initial=0.0), 1e-300):
                break
        moves = np.flatnonzero((rows != rows[:1]).any(axis=0))
        return PageSlider(name, one.unit, low, high, value, self.places[moves], rows[:, moves])

    @property
    def places(self) -> np.ndarray:
        """Where the numbers stand: in u, and those of `further` behind it."""
        layout, own = self.simulation.actuation.forcing.layout, len(self.varied.columns)
        behind = np.arange(self.further(self.varied.blank[None]).shape[1]) if self.further else np.zeros(0, dtype=int)
        start = layout.at("parameters").start
        return np.concatenate([np.arange(start + own, start + self.varied.size), layout.size + behind])

    def numbers(self, given: Mapping[str, np.ndarray]) -> np.ndarray:
        """The numbers that are read, at values (n) of parameters, (n, numbers)."""
        count = len(next(iter(given.values())))
        rows = np.tile(self.varied.blank, (count, 1))
        try:
            self.varied.put(rows, given)
        except InputError as error:
            raise InputError(
                f"{self.simulation.mechanism.name}: the sliders of {', '.join(given)} reach too far: {error}. Give them ends, "
                "(low, high)"
            ) from None
        further = self.further(rows) if self.further else np.zeros((count, 0))
        return np.hstack([rows[:, len(self.varied.columns) :], further])

    def check_sums(self, sliders: Sequence[PageSlider]) -> None:
        """Refuses two parameters whose changes of the same numbers are not added, such as a mass and its center."""
        own = self.numbers({one.label: np.array([one.value]) for one in sliders[:1]}) if sliders else np.zeros(0)
        for a, b in combinations(sliders, 2):
            if not np.intersect1d(a.at, b.at).size:
                continue
            alone = [self.numbers({one.label: np.array([one.high])}) - own for one in (a, b)]
            both = self.numbers({one.label: np.array([one.high]) for one in (a, b)}) - own
            if np.abs(both - alone[0] - alone[1]).max() > 1e-9 * max(np.abs(both).max(), 1e-300):
                raise InputError(
                    f"{self.simulation.mechanism.name}: {a.label!r} and {b.label!r} change the same numbers, and not "
                    "independently of each other; give a page one of them"
                )


def _range(holds: Any, value: float) -> tuple[float, float]:
    """Ends around a value, as its rule allows."""
    if holds(-1.0):
        reach = max(abs(value), 0.1)
        return value - reach, value + reach
    return (0.0 if holds(0.0) else 0.1 * value), (2.0 * value or 1.0)
