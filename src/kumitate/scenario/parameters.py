"""Parameters of scenarios: numbers with names such as "mass:link3", which scenarios set; and designs, how sweeps vary them.

In addition to those of a simulation: the start, constant efforts, gains of controllers, settings of the solver. A design is all
combinations of a grid, and random draws with a seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from ..control.controllers import columns_of
from ..errors import InputError, KumitateError
from ..model.joints.contract import sort_of
from ..model.values import shown
from ..simulate.interactions import interaction_of
from ..simulate.parameters import MODEL_KINDS, Parameter, ParameterKind, Variation, resolved
from .setup import Described, setting
from .written import Section, number_of

#: What laws do not know of the robot: they are the same whatever touches.
_UNKNOWN_TO_LAWS = ("restitution",)
#: Laws that know the joints of the robot only, not what they move.
_BLIND_LAWS = ("pd",)


@dataclass(frozen=True)
class ScenarioParameter(Parameter):
    """A parameter of one setup; `shared`: whether runs that differ in nothing else share a compiled step, and so a batch."""

    shared: bool = False

    def checked(self, value: Any) -> Any:
        kind = self.kind
        return kind.checked(self.name, value) if isinstance(kind, OfSolver) else number_of(self.name, value, kind.rule)

    @property
    def of_model(self) -> bool:
        """Whether its values are parameters of the simulation."""
        return self.shared and not isinstance(self.kind, BatchInput)


def parameter(setup: Described, name: Any) -> ScenarioParameter:
    """The parameter of a name such as "mass:link3" or "damping:*"; errors as of `resolved`."""
    found = resolved(KINDS, setup, name)
    shared = isinstance(found.kind, BatchInput) or _shared(setup, found)
    return ScenarioParameter(found.name, found.kind, found.targets, found.unit, shared)


def _shared(setup: Described, one: Parameter) -> bool:
    """Whether a parameter of the model or of a law can be an input of the step.

    Controllers that know the robot's masses are made for the values of each run, as functions of files are. Where contact
    follows from them by default, it is too. Functions of files are made again for each of their gains. Where points are held,
    simulations have no parameters.
    """
    of_files = any(law.file is not None for law in setup.laws)
    if setup.held or one.kind.name not in {kind.name for kind in MODEL_KINDS} or (one.kind.name == "gain" and of_files):
        return False
    surfaces = set() if setup.contact is None else {"floor", *setup.contact.surfaces}
    touching = one.kind.name in _UNKNOWN_TO_LAWS or (one.kind.name == "friction" and set(one.targets) <= surfaces)
    if not touching and one.kind.name != "gain" and any(law.name not in _BLIND_LAWS for law in setup.functions):
        return False
    try:
        variation = Variation.of(setup.plant, [one.name])
        if setup.contact is not None and setup.contact.model == "penalty":
            interaction_of(setup.mechanism, setup.contact, parameters=variation)
    except KumitateError:
        return False
    return True


# --- inputs of the compiled step: the start, and constant efforts ---------------------------------------------------------
@dataclass(frozen=True)
class BatchInput(ParameterKind):
    """A kind whose numbers stand in an array of a batch, a component each.

    Attributes:
        name: also of the array of a `Described` that its numbers stand in.
        names: the property of a mechanism that names the components; key: the attribute of a joint's kind that does.
        units: of angles, of lengths, and of what is neither.
    """

    name: str
    meaning: str
    names: str
    key: str
    units: tuple[str, str, str]

    def targets(self, setup: Described) -> Sequence[str]:
        return getattr(setup.mechanism, self.names)  # type: ignore[no-any-return]

    def unit(self, setup: Described, target: str) -> str:
        components = [name for joint in setup.mechanism.joints for name in getattr(joint.kind, self.key)]
        sorts = dict(zip(("angle", "length", "plain"), self.units, strict=True))
        return sorts[sort_of(components[self.columns(setup, [target])[0]])]

    def columns(self, setup: Described, targets: Sequence[str]) -> list[int]:
        """Where the targets stand in the array."""
        return [self.targets(setup).index(target) for target in targets]

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        if self.name == EFFORT.name and setup.laws:
            raise InputError("tau is a constant effort, and there is a controller; write one of them")
        array = np.array(getattr(setup, self.name))
        array[self.columns(setup, targets)] = value
        changed: dict[str, Any] = {self.name: array}
        return replace(setup, **changed)


COORDINATE = BatchInput("q", "a coordinate of the start", "q_names", "coordinates", ("rad", "m", "1"))
VELOCITY = BatchInput("v", "a velocity of the start", "v_names", "velocities", ("rad/s", "m/s", "1"))
EFFORT = BatchInput("tau", "a constant effort at a joint, without a controller", "v_names", "velocities", ("N·m", "N", "1"))


# --- controllers and the solver -------------------------------------------------------------------------------------------
class Gain(ParameterKind):
    """A gain of a controller: "gain:kp" for all degrees of freedom, "gain:kp:JOINT" for a joint's."""

    name = "gain"
    meaning = "a gain of a controller; as gain:kp:JOINT, that of one joint"

    def targets(self, setup: Described) -> Sequence[str]:
        gains = list(dict.fromkeys(name for law in setup.laws for name in law.gains))
        of_joints = list(dict.fromkeys(name for law in setup.laws if law.file is None for name in law.gains))
        return [*gains, *(f"{gain}:{joint.name}" for gain in of_joints for joint in setup.mechanism.joints if joint.kind.nv)]

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        laws = list(setup.laws)
        for target in targets:
            gain, colon, joint = target.partition(":")
            for k, law in enumerate(laws):
                if gain in law.gains:
                    given = value
                    if colon:
                        given = np.array(np.broadcast_to(np.asarray(law.gains[gain], dtype=float), setup.mechanism.nv))
                        given[list(columns_of(setup.mechanism, [joint])[joint])] = value
                    laws[k] = replace(law, gains={**law.gains, gain: given})
        return replace(setup, laws=tuple(laws))


class OfSolver(ParameterKind):
    """A setting of the solver."""

    name, meaning = "solver", "a setting of the solver: solver:step, solver:integrator"
    units: ClassVar = {"step": "s", "duration": "s", "integrator": "", "every": "1"}

    def targets(self, setup: Described) -> Sequence[str]:
        return list(self.units)

    def unit(self, setup: Described, target: str) -> str:
        return self.units[target]

    def checked(self, name: str, value: Any) -> Any:
        return setting(name.partition(":")[2], value)

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        return replace(setup, **dict.fromkeys(targets, value))


#: Every kind. Gains are those of the scenario's laws, which are made again for each value.
KINDS: tuple[ParameterKind, ...] = (
    COORDINATE, VELOCITY, EFFORT, Gain(), *(kind for kind in MODEL_KINDS if kind.name != Gain.name), OfSolver(),
)  # fmt: skip


# --- designs of sweeps ------------------------------------------------------------------------------------------------
#: Most runs of one sweep.
MOST = 2_000_000
#: So many values of a grid's axis are tried on the setup before anything is simulated.
TRIED = 64

#: From a number in [0, 1) to a value.
Quantile = Callable[[float], Any]


@dataclass(frozen=True)
class Design:
    """The runs of a sweep: every combination of the grid's values, each with every random draw.

    Attributes:
        parameters: those of the grid, then those that are drawn.
        grid: the values of each parameter of the grid; the last varies fastest.
        drawn: the values of the others, a row for each draw; seed: of the draws.
        record: the runs whose motions are kept; None for all.
    """

    parameters: tuple[ScenarioParameter, ...]
    grid: tuple[tuple[Any, ...], ...]
    drawn: tuple[tuple[Any, ...], ...] = ((),)
    seed: int | None = None
    record: frozenset[int] | None = frozenset()

    def __len__(self) -> int:
        """The number of runs."""
        return math.prod(len(axis) for axis in self.grid) * len(self.drawn)

    def values(self, run: int) -> tuple[Any, ...]:
        """The values of the parameters in a run."""
        place, draw = divmod(run, len(self.drawn))
        chosen = np.unravel_index(place, [len(axis) for axis in self.grid]) if self.grid else ()
        return (*(axis[int(k)] for axis, k in zip(self.grid, chosen, strict=True)), *self.drawn[draw])


def read_design(section: Section, setup: Described) -> Design | None:
    """The design of a scenario's `sweep`, with the keys "grid", "random", "record"; mistakes go to the section's list."""
    before = len(section.mistakes)
    names: list[ScenarioParameter] = []
    grid = _grid(section.section("grid"), setup, names)
    drawn, seed = _drawn(section.section("random"), setup, names)
    if len(section.mistakes) > before:
        return None
    design = Design(tuple(names), grid, drawn, seed)
    if not names:
        section.mistakes.add(section.at, "varies nothing; write parameters under grid or random")
    elif len(design) > MOST:
        section.mistakes.add(section.at, f"has {len(design)} runs; it may have {MOST}. Take fewer values")
    else:
        record = section.take("record", lambda value: _recorded(value, len(design)), frozenset())
        design = Design(design.parameters, grid, drawn, seed, record)
    return design


# --- grids ------------------------------------------------------------------------------------------------------------
def _grid(section: Section, setup: Described, names: list[ScenarioParameter]) -> tuple[tuple[Any, ...], ...]:
    axes = []
    for name in section.values:
        with section.mistakes.catching((*section.at, name)):
            one = _varied(setup, name, names)
            axis = tuple(one.checked(value) for value in _axis(section.values[name]))
            if len(set(axis)) < len(axis):
                raise InputError(f"has the value {next(x for k, x in enumerate(axis) if x in axis[:k])!r} twice; keep one")
            for value in islice(axis, TRIED):
                one.put(setup, value)
            names.append(one)
            axes.append(axis)
    return tuple(axes)


def _axis(given: Any) -> Sequence[Any]:
    """The values of an axis: a list of them, or from, to and count."""
    if isinstance(given, list | tuple) and given:
        return given
    if isinstance(given, dict) and set(given) - {"scale"} == {"from", "to", "count"}:
        first, last = number_of("from", given["from"]), number_of("to", given["to"])
        count, scale = given["count"], given.get("scale", "linear")
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
            raise InputError(f"count is {shown(count)}; write a whole number, 1 or more")
        if scale == "linear":
            return np.linspace(first, last, count).tolist()  # type: ignore[no-any-return]
        if scale == "log" and first > 0.0 and last > 0.0:
            return np.geomspace(first, last, count).tolist()  # type: ignore[no-any-return]
        raise InputError(f"scale is {shown(scale)}; write linear, or log with from and to above zero")
    raise InputError(f"is {shown(given)}; write a list of values, or {{from: 0, to: 1, count: 11}}")


# --- random -----------------------------------------------------------------------------------------------------------
def _drawn(
    section: Section, setup: Described, names: list[ScenarioParameter]
) -> tuple[tuple[tuple[Any, ...], ...], int | None]:
    if not section.values:
        return ((),), None
    count = section.whole("count", 1)
    seed = section.whole("seed", 0, 0)
    if "count" not in section:
        section.mistakes.add(section.at, "has no count; write how many draws, count: 1000")
    laws: list[tuple[ScenarioParameter, Quantile]] = []
    for name, given in section.values.items():
        if name in ("count", "seed"):
            continue
        with section.mistakes.catching((*section.at, name)):
            one = _varied(setup, name, [*names, *(one for one, _ in laws)])
            law, tried, each = _distribution(given, one)
            for value in tried:
                one.put(setup, value)
            apart = [parameter(setup, f"{one.kind.name}:{target}") for target in one.targets] if each else [one]
            laws += [(part, law) for part in apart]
    if len(laws) == 0 and count is not None and not len(section.mistakes):
        section.mistakes.add(section.at, "draws nothing; write parameters with their distributions")
    names += [one for one, _ in laws]
    if count is None or seed is None or count > MOST:
        return ((),), None
    # row by row, so that a larger count only adds draws
    u = np.random.default_rng(seed).random((count, len(laws)))
    return tuple(tuple(law(x) for (_, law), x in zip(laws, row, strict=True)) for row in u.tolist()), seed


def _distribution(given: Any, one: ScenarioParameter) -> tuple[Quantile, list[Any], bool]:
    """The quantile function of a distribution, values of it to try, and whether each target has draws of its own."""
    each = isinstance(given, dict) and given.get("each") is True
    rest = {key: value for key, value in given.items() if key != "each"} if isinstance(given, dict) else {}
    if len(rest) != 1:
        raise InputError(
            f"is {shown(given)}; write {{uniform: [least, most]}}, {{log_uniform: [least, most]}}, "
            "{normal: [mean, deviation]} or {choice: [one, other]}, with each: true for a draw of its own for each name that a "
            "* stands for"
        )
    (kind, numbers), *_ = rest.items()
    if kind == "choice" and isinstance(numbers, list) and numbers:
        values = [one.checked(value) for value in numbers]
        return (lambda u: values[int(u * len(values))]), values, each
    if kind not in ("uniform", "log_uniform", "normal") or not isinstance(numbers, list) or len(numbers) != 2:
        raise InputError(f"is {shown(given)}; uniform, log_uniform and normal have two numbers, choice a list")
    a, b = (number_of(kind, x) for x in numbers)
    if kind == "normal":
        if b < 0.0:
            raise InputError(f"the deviation of the normal distribution is {b}; it must be zero or more")
        return (lambda u: a + b * NormalDist().inv_cdf(min(max(u, 1e-300), 1.0 - 2e-16))), [a], each
    if not a <= b or (kind == "log_uniform" and a <= 0.0):
        raise InputError(f"{kind} is from {a} to {b}; write the lesser number first{', above zero' * (kind != 'uniform')}")
    if kind == "uniform":
        return (lambda u: a + (b - a) * u), [a, b], each
    return (lambda u: a * (b / a) ** u), [a, b], each


def _varied(setup: Described, name: str, before: Sequence[ScenarioParameter]) -> ScenarioParameter:
    """The parameter of this name, refused if it sets what one before it sets."""
    one = parameter(setup, name)
    for other in (other for other in before if other.kind.name == one.kind.name):
        shared = [target for target in one.targets if target in other.targets]
        if shared:
            both = f"{other.name!r} and {name!r}" if other.name != name else f"{name!r} in grid and in random"
            raise InputError(f"{both} both set {one.kind.name}:{shared[0]}; a run has one value of it: keep one")
    return one


def _recorded(given: Any, runs: int) -> frozenset[int] | None:
    if given in ("all", "none"):
        return None if given == "all" else frozenset()
    whole = isinstance(given, list) and all(isinstance(k, int) and not isinstance(k, bool) and 0 <= k < runs for k in given)
    if not whole:
        raise InputError(f"is {shown(given)}; write all, none, or a list of runs from 0 to {runs - 1}")
    return frozenset(given)
