"""How the functions that drive a run are evaluated: compiled into the step, called at every stage, or sampled.

A function that is proved pure is compiled. One that keeps state is called once per step, so that what it integrates or counts
advances with the steps and not with the stages of the integrator; any other that cannot be compiled is called at every stage.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, pairwise, starmap
from math import isfinite
from typing import Any

import numpy as np

from ...errors import InputError, did_you_mean
from ...kinematics import integrate
from ...model.values import checked_array, shown
from ...scalar import Program, trace
from ...scalar.arrays import SymbolArray
from ...scalar.purity import TAKEN, Verdict, judged
from ..prescribed.motion import PrescribedMotion
from ..prescribed.overlaps import Overlaps
from .commands import command_values
from .forcing import Forcing
from .reading import by_position, loops_at

#: t, q, v and inputs to try functions at.
_Trial = tuple[float, np.ndarray, np.ndarray, Mapping[str, np.ndarray]]


class How(StrEnum):
    """How a source of efforts is evaluated."""

    CONSTANT = "constant"
    COMPILED = "compiled"
    EACH_STAGE = "called at every stage"
    EACH_STEP = "called once per step"
    SAMPLED = "sampled"


@dataclass(frozen=True)
class Actuation:
    """A `Forcing` and how each of its sources is evaluated.

    Attributes:
        forcing: the sources of efforts.
        verdicts: for each source, whether it is pure; None for constants.
        how: how each of them is evaluated.
    """

    forcing: Forcing
    verdicts: tuple[Verdict | None, ...]
    how: tuple[How, ...]

    @classmethod
    def of(
        cls, forcing: Forcing, q: np.ndarray, v: np.ndarray, *, traced: bool = True, sampled: bool = False,
        stages: bool = False, held: bool = False,
    ) -> Actuation:  # fmt: skip
        """How a forcing is evaluated in a run that starts at (q, v).

        Args:
            traced: whether functions may be compiled.
            sampled: whether all functions are called at multiples of a sample time and held in between.
            stages: whether functions that keep state are also called at every stage.
            held: whether steps have no stages: what cannot be compiled is called once per step.
        """
        stages = stages and not held
        states = _states_to_try(forcing, q, v)
        verdicts: list[Verdict | None] = []
        how: list[How] = []
        for source, (_, names), reads in zip(forcing.sources, forcing.labels, forcing.reads, strict=True):
            given = isinstance(source, (PrescribedMotion, Overlaps))  # which can be compiled
            judge = callable(source) and not sampled and not given
            verdict = _verdict(source, states, len(names), reads, forcing.plain) if judge else None
            verdicts.append(verdict)
            how.append(How.COMPILED if given else _how(source, verdict, traced=traced, sampled=sampled, stages=stages))
        if held:
            how = [How.EACH_STEP if each is How.EACH_STAGE else each for each in how]
        return cls(forcing, tuple(verdicts), tuple(how))

    @property
    def mode(self) -> str:
        """One word for the whole: "called" (at every stage), "sampled" (once per step), "compiled", or "held"."""
        if How.EACH_STAGE in self.how:
            return "called"
        if How.EACH_STEP in self.how:
            return "sampled"
        return "compiled" if How.COMPILED in self.how else "held"

    @property
    def whole(self) -> bool:
        """Whether no Python function has to be called at the stages of a step."""
        return How.EACH_STAGE not in self.how

    @property
    def functions(self) -> list[How]:
        """How each source that is not a constant is evaluated."""
        return [how for how in self.how if how is not How.CONSTANT]

    def lines(self) -> list[str]:
        """How each function is evaluated, one line per function, for people."""
        lines = []
        for (label, _), verdict, how in zip(self.forcing.labels, self.verdicts, self.how, strict=True):
            if how is How.CONSTANT:
                continue
            because = f", because {verdict.reason}" if verdict and verdict.reason else ""
            lines.append(f"{label}: {how}{because}")
        return lines

    def changed(self) -> list[str]:
        """Values that compiled functions read as constants and that have changed since, one line per value."""
        found = []
        for (label, _), verdict, how in zip(self.forcing.labels, self.verdicts, self.how, strict=True):
            if how is How.COMPILED and verdict is not None and (path := verdict.changed_since()) is not None:
                found.append(f"{label} was compiled with `{path}` as it was at the start, and it changed during the run")
        return found

    @property
    def constants(self) -> np.ndarray:
        """u with the constants and the inputs' own values in place, and zeros for the rest."""
        nowhere = np.zeros(0)
        return self.forcing(0.0, nowhere, nowhere, last=self.forcing.blank, only=self._those({How.CONSTANT}))

    def put(
        self, u: np.ndarray, tau: Any, wrenches: Mapping[str, Any], loop_tau: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> None:
        """Puts what is given in its places of u, and the constants or an input's own values where nothing is given.

        Raises:
            InputError: for an input with a wrong name or shape, or for a source that is a function.
        """
        forcing, start = self.forcing, 0
        if tau is None and not (wrenches or loop_tau or inputs):
            for own, source in self._held_places:
                u[own] = 0.0 if source is None else source
            if forcing.inputs:
                self._put_inputs(u, {})
            return
        given = [tau, *map(wrenches.get, forcing.wrenches), *map(loop_tau.get, forcing.loop_tau)]
        given += [None] * (bool(forcing.overlaps) + len(forcing.motions))
        given += [self._command(name, inputs.get(name)) for name in forcing.commands]
        for what, known, asked in (("wrenches", forcing.wrenches, wrenches), ("loop_tau", forcing.loop_tau, loop_tau)):
            if asked and (unknown := set(asked) - set(known)):
                name = sorted(unknown)[0]
                raise InputError(
                    f"{forcing.mechanism.name}: {what} has no input for {name!r}; make the simulation with "
                    f"{what}={{{name!r}: None}}"
                )
        for value, how, (label, names), source in zip(given, self.how, forcing.labels, forcing.sources, strict=True):
            own = slice(start, start := start + len(names))
            if value is None:
                if how is How.CONSTANT:
                    u[own] = 0.0 if source is None else source
                continue
            if how is not How.CONSTANT:
                raise InputError(
                    f"{forcing.mechanism.name}: {label} is a function; make the simulation without it for an input"
                )
            if np.shape(value) != (len(names),):
                raise InputError(
                    f"{forcing.mechanism.name}: {label} as an input has shape {np.shape(value)}; it must have {len(names)} "
                    f"components: {', '.join(names)}"
                )
            u[own] = value
            if not isfinite(sum(u[own].tolist())):
                raise InputError(f"{forcing.mechanism.name}: {label} as an input is {shown(value)}; it must be finite")
        if inputs or forcing.inputs:
            self._put_inputs(u, {name: values for name, values in inputs.items() if name not in forcing.commands})

    @cached_property
    def _held_places(self) -> list[tuple[slice, Any]]:
        """Where the sources stand in u that are constants, and their values."""
        ends = list(accumulate((len(names) for _, names in self.forcing.labels), initial=0))
        places = zip(starmap(slice, pairwise(ends)), self.forcing.sources, self.how, strict=True)
        return [(own, source) for own, source, how in places if how is How.CONSTANT]

    def _command(self, name: str, given: Any) -> Any:
        """The values of a command; None where nothing is given, which leaves its own."""
        source = self.forcing.commands[name]
        return given if given is None or callable(source) else command_values(self.forcing.mechanism, name, given, source)  # type: ignore[arg-type]

    def begin(self, u: np.ndarray, q: np.ndarray) -> None:
        """Puts the overlaps of bodies at the starts (N, nq) into rows u (N, size), if springs of contact leave any out."""
        if self.forcing.overlaps:
            u[:, self.forcing.layout.at("depths")] = [self.forcing.overlaps.depths(row) for row in q]

    def put_parameters(self, u: np.ndarray, given: Mapping[str, Any]) -> None:
        """Puts values of parameters, by name, into rows u (N, size); those that are not given stay.

        Raises:
            InputError: for a name that is not a parameter, or values that are impossible.
        """
        forcing = self.forcing
        if not given:
            return
        if forcing.parameters is None:
            raise InputError(
                f"{forcing.mechanism.name}: there is no parameter {next(iter(given))!r}; make the simulation with "
                f"parameters={sorted(map(str, given))}"
            )
        forcing.parameters.put(u[:, forcing.layout.at("parameters")], given)

    def parameters(self, u: np.ndarray) -> dict[str, np.ndarray]:
        """The values of parameters in u (..., size), by the names that they were asked for."""
        varied = self.forcing.parameters
        return {} if varied is None else varied.shown(u[..., self.forcing.layout.at("parameters")])

    def _put_inputs(self, u: np.ndarray, inputs: Mapping[str, Any]) -> None:
        owner, known = self.forcing.mechanism.name, self.forcing.inputs
        names = [*self.forcing.commands, *known]
        for name in inputs:
            if name not in known:
                raise InputError(
                    f"{owner}: there is no input {name!r}{did_you_mean(name, names, lead=', ')}; make the simulation with "
                    f"inputs={{{name!r}: …}}. There are {', '.join(names) or 'none'}"
                )
        for name in known:
            own = self.forcing.own[name]
            u[own] = checked_array(owner, f"the input {name!r}", inputs.get(name, known[name]), known[name].shape)

    def sampled(self, t: float, q: np.ndarray, v: np.ndarray, last: np.ndarray) -> np.ndarray:
        """u with the functions that are called once per step, or at the sample times, evaluated now; the rest unchanged."""
        return self.forcing(t, q, v, last=last, only=self._those({How.EACH_STEP, How.SAMPLED}))

    def staged(self, t: float, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """u at a stage of the integrator, given the held efforts."""
        return self.forcing(t, q, v, last=held, only=self._those({How.EACH_STAGE, How.COMPILED}))

    @property
    def samples(self) -> bool:
        """Whether any function is called once per step, or at the sample times."""
        return bool(self._those({How.EACH_STEP, How.SAMPLED}))

    @cached_property
    def program(self) -> Program | None:
        """(t, q, v, u) → u with the compiled functions' values in place; None if none is compiled, or some must be called."""
        if self.mode == "called" or How.COMPILED not in self.how:
            return None
        forcing, m = self.forcing, self.forcing.mechanism

        def actuation(t: Any, q: Any, v: Any, u: Any) -> list[Any]:
            taken: list[Any] = []
            inputs = {name: SymbolArray(u[own]) for name, own in forcing.read.items()}
            for k, (how, (_, names)) in enumerate(zip(self.how, forcing.labels, strict=True)):
                own = range(len(taken), len(taken) + len(names))
                compiled = how is How.COMPILED
                taken += list(forcing.values(k, t, SymbolArray(q), SymbolArray(v), inputs)) if compiled else [u[i] for i in own]
            return taken + [u[i] for i in range(len(taken), forcing.layout.size)]

        return trace(actuation, {"t": (), "q": m.nq, "v": m.nv, "u": forcing.layout.size}, "actuation")

    def _those(self, kinds: set[How]) -> list[int]:
        return [k for k, how in enumerate(self.how) if how in kinds]


def _verdict(source: Any, states: list[_Trial], size: int, reads: tuple[str, ...], plain: Collection[str]) -> Verdict:
    """On a source of `size` values that reads these inputs, `plain` ones as numbers."""
    tried = [(t, q, v, *(inputs[name] for name in reads)) for t, q, v, inputs in states]  # loops are among the inputs
    return judged(by_position(source, reads, plain), tried, size, (*TAKEN, *reads))


def _states_to_try(forcing: Forcing, q: np.ndarray, v: np.ndarray) -> list[_Trial]:
    """The start, and two states around it at other times, with other inputs."""
    mechanism, rng, other = forcing.mechanism, np.random.default_rng(20121), np.random.default_rng(20122)
    blank = forcing.blank
    own = {name: blank[place] for name, place in forcing.own.items()}
    read = {name for reads in forcing.reads for name in reads}

    def seen(q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        return loops_at(mechanism, q, v) if read & set(forcing.loops) else {}

    states: list[_Trial] = [(0.0, q, v, own | seen(q, v))]
    for _ in "ab":
        t, move, faster = float(rng.uniform(0, 9)), 0.1 * rng.normal(size=len(v)), rng.normal(size=len(v))
        moved = integrate(mechanism.tree, q.tolist(), move.tolist())
        inputs = {name: values + 0.1 * other.normal(size=len(values)) for name, values in own.items()}
        there = np.array(moved, dtype=float)
        states.append((t, there, v + faster, inputs | seen(there, v + faster)))
    return states


def _how(source: Any, verdict: Verdict | None, *, traced: bool, sampled: bool, stages: bool) -> How:
    if not callable(source):
        return How.CONSTANT
    if sampled or verdict is None:
        return How.SAMPLED
    if verdict.program is not None and traced:
        return How.COMPILED
    return How.EACH_STEP if verdict.remembers and not stages else How.EACH_STAGE
