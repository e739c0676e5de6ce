"""`FmuModel`: a simulation as a unit of FMI: one array of numbers, the programs that work on it, and names of its places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from .. import kinematics
from ..errors import InputError
from ..model import EffortDrive, VelocityDrive, drive_states
from ..scalar import Program, TraceError, call, trace
from ..scalar.derivatives import directional
from ..share.run_files import units
from ..simulate.driving.actuation import How
from ..simulate.parameters import Variation
from ..simulate.simulation import MechanismSimulation
from ..simulate.stepping.advance import start_of
from ..simulate.stepping.equations import NO_STEP, seen_program
from ..simulate.stepping.step_code import CompiledStep, StepCode
from ..version import __version__

#: The roles of variables, as of instance.h.
READ, INPUT, TUNABLE, FIXED, SEEN, RATE = 1, 2, 4, 8, 16, 32
#: The derivatives of parameters must be the same to this part of the largest.
_STRAIGHT = 1e-9
#: Programs of more operations are not differentiated.
_LONG = 100_000
_WRENCH = ("N·m",) * 3 + ("N",) * 3
_OBSERVED = {"energy": "J", "work": "J", "center_of_mass": "m"}


#: What names of FMI and C have not.
_OTHER = re.compile(r"[^A-Za-z0-9_]")


class Variable(NamedTuple):
    """A number that a tool sees.

    Attributes:
        name: as FMI and C allow; own: kumitate's; at: its place, which is its value reference.
        sort: what may be done with it, of `READ`, …; of: the place of the state that it is the rate of.
        unit: of its value, "" if it has none or it is not known; start: its value at the start, None if it follows from others.
    """

    name: str
    own: str
    at: int
    sort: int
    unit: str = ""
    start: float | None = None
    of: int | None = None


@dataclass
class Places:
    """The places of arrays in one array of numbers."""

    places: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    size: int = 0

    def take(self, name: str, shape: tuple[int, ...]) -> int:
        """The place of an array of this name, a new one if it has none yet."""
        if name not in self.places:
            self.places[name] = self.size, shape
            self.size += int(np.prod(shape))
        return self.places[name][0]

    def slots(self, name: str) -> range:
        """The places of an array's numbers."""
        start, shape = self.places[name]
        return range(start, start + int(np.prod(shape)))


class FmuModel:
    """A simulation as a unit of FMI.

    Attributes:
        simulation: in straight-line code; code: of its step; notes: for people; exchange: why no model exchange is possible.
        memory: where everything stands; first: its numbers at the start; variables: in the order of their places.
        programs: by role: step, look, begin, numbers, flow, slope; fillings: for their holes.
    """

    def __init__(self, simulation: MechanismSimulation):
        """The unit of a simulation; an `InputError` for what cannot be one, with the reason and the remedy."""
        simulation.check_without_python("an FMU")
        if not isinstance(simulation.compiled, CompiledStep):
            raise InputError(
                f"{simulation.mechanism.name}: an FMU has one robot and up to two objects beside it, by code that is traced "
                f"pair by pair; scenes go through lists: {simulation.compiled.refusal}. Write one of its robots, or a table of "
                "a run, run.export('run.csv')"
            )
        compiled = simulation.straight
        self.simulation, self.code = simulation, compiled.code
        self.fillings: Mapping[str, Program] = compiled._fillings
        self.memory, self.notes = Places(), list(simulation.notes)
        self.exchange = _no_exchange(self.code)
        varied = simulation.parameters
        self.programs: dict[str, Program] = {"step": self.code.repeated, "look": self.code.recorded}
        if self.code.mechanism.tree.closed and self.code.projects:
            self.programs["begin"] = _begin_program(self.code)
        if varied:
            self.programs["numbers"] = _numbers_program(varied, self.code)
        if not self.exchange:
            self.programs["flow"] = _flow_program(self.code)
        self._lay_out()
        self.variables = self._named([*self._inputs(), *self._parameters(), *self._starts(), *self._outputs(), *self._states()])

    # --- memory -----------------------------------------------------------------------------------------------------------
    def _lay_out(self) -> None:
        """Places for all arrays: inputs of the same name share one, and what a step gives goes to where it is read."""
        memory, m = self.memory, self.code.mechanism
        memory.take("time", ())
        for array in self.programs["step"].inputs:
            memory.take(array.name, array.shape)
        memory.take("start_q", (m.nq,))
        memory.take("start_v", (m.nv,))
        for role in ("look", "flow"):
            for array in self.programs[role].outputs if role in self.programs else ():
                memory.take(f"{role}.{array.name}", array.shape)
        q, v = self.simulation._starts.given(None, None, self.simulation.bounds)  # refused beyond limits, as by a run
        start = start_of(self.simulation.actuation, self.simulation.step_size, q[None], v[None])
        self.first = np.zeros(memory.size)
        given = {name: array[0] for name, array in start.items()}
        given |= {"h": self.simulation.step_size, "start_q": given["q"], "start_v": given["v"]}
        for name, value in given.items():
            if name in memory.places:
                self.first[memory.slots(name)] = np.ravel(value)
        self._differentiate()

    def _differentiate(self) -> None:
        """Adds the derivatives of outputs and rates along a direction, where they can be found."""
        self.dots: list[tuple[int, int]] = []
        self.found_dots: list[tuple[int, int]] = []
        if self.exchange:
            return
        if sum(self.programs[role].operations.total() for role in ("flow", "look")) > _LONG:
            self.notes.append("There are no directional derivatives: the code is long already, and would be four times as long")
            return
        known, pages = {"q", "v", "states", "u"}, {"flow": _flow_program(self.code, along=True), "look": self.programs["look"]}
        try:
            both = {role: directional(page, self.fillings, self.code.slopes(), iterated=True) for role, page in pages.items()}
        except TraceError:
            return
        for role, program in both.items():
            for array in program.inputs:
                self.memory.take(array.name, array.shape)
            for array in program.outputs:
                self.memory.take(f"{role}.{array.name}", array.shape)
            self.programs[f"{role}_slope"] = program
        slots = self.memory.slots
        for name in (array.name for array in self.programs["step"].inputs if array.name in known):
            self.dots += zip(slots(name), slots(f"{name}_dot"), strict=True)
        for name in (f"{role}.{array.name}" for role in both for array in self.programs[role].outputs):
            self.found_dots += zip(slots(name), slots(f"{name}_dot"), strict=True)
        self.first = np.concatenate([self.first, np.zeros(self.memory.size - len(self.first))])

    def slot(self, name: str, index: int = 0) -> int:
        """The place of a number of an array."""
        return self.memory.slots(name)[index]

    # --- variables --------------------------------------------------------------------------------------------------------
    def _input(self, own: str, at: int, unit: str = "", sort: int = INPUT) -> Variable:
        return Variable("", own, at, READ | sort, unit, float(self.first[at]))

    def _inputs(self) -> Iterator[Variable]:
        actuation, u = self.simulation.actuation, self.slot("u")
        m, layout = self.code.mechanism, self.code.layout
        lengths = [units(m, order) for order in (0, 1, 3)]
        for source, how in zip(actuation.forcing.sources, actuation.how, strict=True):
            if how is not How.CONSTANT:
                continue
            group, name = source.group, source.name
            prefix = {"tau": "tau", "wrenches": f"wrench.{name}", "loop_tau": f"loop_tau.{name}"}.get(group, name)
            for k, part in enumerate(source.parts):
                unit = ""
                if group == "tau":
                    unit = lengths[2][k]
                elif group == "wrenches":
                    unit = _WRENCH[k]
                elif group == "commands" and m.driven[k].q < m.nq:
                    joint = m.driven[k]
                    order = {VelocityDrive: 1, EffortDrive: 2}.get(type(joint.drive), 0 if joint.drive.holds else 3)
                    order = {"target_velocity": 1, "feed_forward": 2}.get(name, order)
                    unit = "" if order == 3 else lengths[order][joint.v if order else joint.q]
                yield self._input(f"{prefix}.{part}", u + source.place.start + k, unit)
        for name, own in layout.group("inputs").items():
            many = own.stop - own.start > 1
            for k in range(own.start, own.stop):
                yield self._input(f"{name}[{k - own.start + 1}]" if many else name, u + k)

    def _parameters(self) -> Iterator[Variable]:
        varied = self.simulation.parameters
        if varied is None:
            return
        start = self.slot("u", self.code.layout.at("parameters").start)
        for k, (kind, target) in enumerate(varied.columns):
            label = _label(kind, target)
            if np.isnan(self.first[start + k]):
                self.notes.append(f"{label} stands for numbers that differ, and cannot be a parameter of the unit")
            else:
                yield self._input(label, start + k, kind.unit(varied.plant, target), TUNABLE)

    def _starts(self) -> Iterator[Variable]:
        m = self.code.mechanism
        for order, (name, names) in enumerate((("q", m.q_names), ("v", m.v_names))):
            for k, (own, unit) in enumerate(zip(names, units(m, order), strict=True)):
                yield self._input(f"start.{name}.{own}", self.slot(f"start_{name}", k), unit, FIXED)

    def _outputs(self) -> Iterator[Variable]:
        m, skipped = self.code.mechanism, ("error", "work")
        orders = {"q": 0, "v": 1, "a": 2, "tau": 3}
        for array in self.programs["look"].outputs:
            if array.name in skipped:
                continue
            slots = self.memory.slots(f"look.{array.name}")
            if array.name in orders:
                names = m.q_names if array.name == "q" else m.v_names
                parts = zip(names, units(m, orders[array.name]), slots, strict=True)
                # an input has the name tau already, and is not what acts where there are drives
                title = "effort" if array.name == "tau" else array.name
                yield from (Variable("", f"{title}.{part}", at, READ | SEEN, unit) for part, unit, at in parts)
                continue
            unit = _OBSERVED.get(array.name.split(".")[0], "N" if array.name.startswith("force:") else "")
            for index, at in zip(np.ndindex(array.shape), slots, strict=True):
                subscript = f"[{','.join(str(k + 1) for k in index)}]" if index else ""
                yield Variable("", f"{array.name}{subscript}", at, READ | SEEN, unit)

    @property
    def states(self) -> list[int]:
        """The places of the continuous states of model exchange, and `rates` those of their derivatives."""
        names = () if self.exchange else ("q", "v", "states")
        return [at for name in names if name in self.memory.places for at in self.memory.slots(name)]

    @property
    def rates(self) -> list[int]:
        """The places of the rates of the states."""
        outputs = () if self.exchange else self.programs["flow"].outputs
        return [at for array in outputs for at in self.memory.slots(f"flow.{array.name}")]

    def _states(self) -> Iterator[Variable]:
        m = self.code.mechanism
        if self.exchange:
            return
        drives = [f"drive.{joint.name}.{name}" for joint in m.driven for name in drive_states(joint.drive)]
        names = [*(f"q.{name}" for name in m.q_names), *(f"v.{name}" for name in m.v_names), *drives]
        of_q, of_v, of_a = (units(m, order) for order in (0, 1, 2))
        plain = [*of_q, *of_v, *([""] * len(drives))]
        rates = [*(f"{unit or '1'}/s" for unit in of_q), *of_a, *([""] * len(drives))]
        for name, at, unit in zip(names, self.states, plain, strict=True):
            yield Variable("", f"state.{name}", at, READ, unit)
        for name, at, unit, state in zip(names, self.rates, rates, self.states, strict=True):
            yield Variable("", f"der.{name}", at, READ | RATE, unit, of=state)

    def _named(self, variables: Sequence[Variable]) -> list[Variable]:
        """The variables with names that FMI and C allow: words of letters, digits and underscores, with dots between."""
        names: dict[str, None] = {}  # in the order of the variables
        for one in variables:
            stem, bracket, index = one.own.partition("[")
            words = (_OTHER.sub("_", word) for word in stem.replace(":", ".").split("."))
            name = ".".join(word if word[:1].isalpha() else f"x{word}" for word in words) + bracket + index
            while name in names:
                name += "_"
            names[name] = None
        return sorted((one._replace(name=name) for one, name in zip(variables, names, strict=True)), key=lambda one: one.at)


def _label(kind: Any, target: str) -> str:
    return f"{kind.name}:{target}" if target else str(kind.name)


def _no_exchange(code: StepCode) -> str:
    """Why a simulation has no derivatives for the integrators of other tools; "" if it has."""
    if code.touches:
        return "impulses of contact make velocities jump"
    if code.bounds:
        return "joints stop at limits (limits=False takes them out)"
    if code.interaction.held is not None or code.forcing.following:
        return "points are held or joints follow motions"
    return ""


# --- programs -------------------------------------------------------------------------------------------------------------
def _begin_program(code: StepCode) -> Program:
    """(start_q, start_v, u) → q and v with the loops closed."""
    m, layout = code.mechanism, code.layout
    seen = seen_program(m, code.projection, code.parameters)

    def begin(start_q: Any, start_v: Any, u: Any) -> dict[str, Any]:
        return call(seen, start_q, start_v, *layout.row(u))  # type: ignore[no-any-return]

    return trace(begin, {"start_q": m.nq, "start_v": m.nv, "u": layout.size}, f"begin_{m.name}")


def _flow_program(code: StepCode, *, along: bool = False) -> Program:
    """(time, q, v, the drives' own states, u) → their rates, at the closed state next to (q, v).

    Closed states need no pass that closes them; `along` adds one, so that directions are closed where this is differentiated.
    """
    m, layout = code.mechanism, code.layout
    seen = seen_program(m, code.projection, code.parameters) if m.tree.closed and code.projects else None

    def flow(time: Any, q: Any, v: Any, *rest: Any) -> dict[str, Any]:
        *states, u = rest
        u = layout.with_states(u, [x for part in states for x in part])
        if seen is not None:
            q, v = call(seen, q, v, *layout.row(u)).values()
            if along:
                q, v = call(code.projection, q, v, *layout.row(u)).values()
        if code.efforts is not None:
            u = call(code.efforts, time, q, v, u)
        found = call(code.dynamics, NO_STEP, q, v, u)
        rates = {"dq": kinematics.rate(m.tree, q, v), "dv": list(found["acceleration"])}
        return rates | ({"dstates": list(found["states"])} if states else {})

    return trace(flow, {"time": (), "q": m.nq, "v": m.nv, **layout.own_states, "u": layout.size}, f"flow_{m.name}")


def _numbers_program(varied: Variation, code: StepCode) -> Program:
    """u → the numbers that programs read of parameters: linear in these, as `put` has them."""
    own, count = code.layout.at("parameters"), len(varied.columns)
    blank, slopes = varied.blank, _slopes(varied, code.mechanism.name)

    def numbers(u: Any) -> dict[str, Any]:
        total: list[Any] = blank[count:].tolist()
        for k, slope in slopes.items():
            away = u[own.start + k] - float(blank[k])
            total = [x + away * by if by else x for x, by in zip(total, slope.tolist(), strict=True)]
        return {"numbers": total}

    return trace(numbers, {"u": code.layout.size}, f"numbers_{code.mechanism.name}")


def _slopes(varied: Variation, owner: str) -> dict[int, np.ndarray]:
    """How the numbers that programs read grow with each parameter; an `InputError` unless linearly and independently."""
    blank, count = varied.blank, len(varied.columns)
    whole, expected, slopes, names = blank[None].copy(), blank[count:].copy(), {}, []
    for k, (kind, target) in enumerate(varied.columns):
        if np.isnan(blank[k]):
            continue
        name, value = _label(kind, target), float(blank[k])
        far = 2.0 * value if value else 1.0
        if not kind.rule.holds(far):
            far = 0.5 * value if value else 0.5
        rows = np.tile(blank, (2, 1))
        varied.put(rows, {name: np.array([0.5 * (value + far), far])})
        half, all_of_it = rows[:, count:] - blank[count:]
        slopes[k] = all_of_it / (far - value)
        varied.put(whole, {name: np.array([far])})
        expected += all_of_it
        names.append(name)
        for found, wanted in ((2.0 * half, all_of_it), (whole[0, count:], expected)):
            if np.abs(found - wanted).max(initial=0.0) > _STRAIGHT * max(np.abs(wanted).max(initial=0.0), 1e-300):
                raise InputError(
                    f"{owner}: the model does not depend on {name!r} linearly, or not independently of "
                    f"{', '.join(names[:-1]) or 'others'}, and parameters of an FMU must "
                    "be so. Leave it out, or write an FMU for each value"
                )
    return slopes


def ready(simulation: MechanismSimulation) -> MechanismSimulation:
    """The simulation with code of one robot, where steps of single motions go through lists."""
    setup = simulation.setup
    if simulation.interaction.of_many_bodies and simulation.interaction.begins_traced:
        return type(simulation)(replace(setup, side_by_side=True))
    return simulation


# --- descriptions ---------------------------------------------------------------------------------------------------------
#: Powers of the base units in what others are made of.
_MADE_OF = {"N": {"kg": 1, "m": 1, "s": -2}, "J": {"kg": 1, "m": 2, "s": -2}, "W": {"kg": 1, "m": 2, "s": -3}, "1": {}}
_SIGNS = str.maketrans({"·": ".", "²": "2", "³": "3"})


def base_unit(unit: str) -> dict[str, int]:
    """The powers of the base units of SI, and of radians, in a unit.

    >>> base_unit("N·m·s/rad")
    {'kg': 1, 'm': 2, 's': -1, 'rad': -1}
    """
    powers: Counter[str] = Counter()
    for k, part in enumerate(unit.translate(_SIGNS).split("/")):
        for word in part.strip("()").split("."):
            found = re.fullmatch(r"([A-Za-z]+|1)(\d?)", word)
            if found is None:
                return {}
            for base, power in _MADE_OF.get(found[1], {found[1]: 1}).items():
                powers[base] += (-1 if k else 1) * power * int(found[2] or 1)
    return {base: power for base, power in powers.items() if power}


def model_description(model: FmuModel, version: str, name: str, token: str, glue: str) -> bytes:
    """modelDescription.xml."""
    third = version == "3.0"
    root = Element("fmiModelDescription", {
        "fmiVersion": version, "modelName": model.code.mechanism.name, "instantiationToken" if third else "guid": token,
        "description": f"{model.code.mechanism.name}: a mechanism simulated in steps of {model.simulation.step_size:g} s",
        "generationTool": f"kumitate {__version__}", "variableNamingConvention": "structured",
        **({} if third else {"numberOfEventIndicators": "0"}),
    })  # fmt: skip
    state = "FMUState" if third else "FMUstate"
    able = {f"canGetAndSet{state}": "true", f"canSerialize{state}": "true"}
    slopes = {"providesDirectionalDerivatives" if third else "providesDirectionalDerivative": "true"} if model.dots else {}
    kinds = {} if model.exchange else {"ModelExchange": able | slopes}
    kinds["CoSimulation"] = able | {"canHandleVariableCommunicationStepSize": "true"}
    for kind, options in kinds.items():
        element = SubElement(root, kind, {"modelIdentifier": name, **options})
        if not third:
            SubElement(SubElement(element, "SourceFiles"), "File", {"name": glue})
    units = SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(one.unit for one in model.variables):
        if unit:
            powers = {base: str(power) for base, power in base_unit(unit).items()}
            SubElement(SubElement(units, "Unit", {"name": unit.translate(_SIGNS)}), "BaseUnit", powers)
    if not len(units):
        root.remove(units)
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", {"name": "logStatusError", "description": "why a call failed"})
    SubElement(root, "DefaultExperiment", {
        "startTime": "0", "stopTime": "1", "stepSize": repr(model.simulation.step_size),
    })  # fmt: skip
    variables = [Variable("time", "time", 0, 1, "s"), *model.variables]
    listed = SubElement(root, "ModelVariables")
    index = {one.at: k for k, one in enumerate(variables, 1)}
    for one in variables:
        common, own = _attributes(one, index if not third else None)
        if third:
            SubElement(listed, "Float64", common | own)
        else:
            SubElement(SubElement(listed, "ScalarVariable", common), "Real", own)
    _structure(SubElement(root, "ModelStructure"), model, index, third=third)
    return _text(root)


def _attributes(one: Variable, index: dict[int, int] | None) -> tuple[dict[str, str], dict[str, str]]:
    """What is said of a variable, and of its value; `index`: of variables by their places, where these are named by it."""
    kinds = {
        INPUT: ("input", "continuous", ""), TUNABLE: ("parameter", "tunable", "exact"), FIXED: ("parameter", "fixed", "exact"),
        SEEN: ("output", "continuous", "calculated"),
    }  # fmt: skip
    usual = ("local", "continuous", "calculated")
    causality, variability, initial = next((said for bit, said in kinds.items() if one.sort & bit), usual)
    if one.at == 0:
        causality, initial = "independent", ""
    common = {"name": one.name, "valueReference": str(one.at), "causality": causality, "variability": variability}
    common |= {"initial": initial} if initial else {}
    common |= {"description": one.own} if one.own != one.name else {}
    own = {"unit": one.unit.translate(_SIGNS)} if one.unit and one.at else {}
    own |= {} if one.start is None else {"start": repr(one.start)}
    if one.of is not None:
        own["derivative"] = str(one.of if index is None else index[one.of])
    return common, own


def _structure(element: Element, model: FmuModel, index: dict[int, int], *, third: bool) -> None:
    """What follows from what: nothing is said of dependencies, so that all may depend on all."""
    seen = [one.at for one in model.variables if one.sort & SEEN]
    rates = [one.at for one in model.variables if one.sort & RATE]
    first = sorted([*seen, *rates, *model.states])
    groups: Iterable[tuple[str, str, Sequence[int]]] = (
        ("Outputs", "Output", seen),
        ("Derivatives", "ContinuousStateDerivative", rates),
        ("InitialUnknowns", "InitialUnknown", first),
    )
    for group, name, places in groups:
        if third:
            for at in places:
                SubElement(element, name, {"valueReference": str(at)})
        elif places:
            inside = SubElement(element, group)
            for at in places:
                SubElement(inside, "Unknown", {"index": str(index[at])})


def build_description(name: str, glue: str, options: Sequence[str]) -> bytes:
    """buildDescription.xml of version 3.0."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": name})
    files = SubElement(configuration, "SourceFileSet", {"language": "C99", "compilerOptions": " ".join(options)})
    SubElement(files, "SourceFile", {"name": glue})
    return _text(root)


def _text(root: Element) -> bytes:
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8") + b"\n"
