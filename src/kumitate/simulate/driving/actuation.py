"""How the functions that drive a run are evaluated: compiled into the step, called at every stage, or sampled.

A function that is proved pure is compiled. One that keeps state is called once per step, so that what it integrates or counts
advances with the steps and not with the stages of the integrator; any other that cannot be compiled is called at every stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from ...analysis.loop_motion import LOOPS, loops_at
from ...errors import InputError, did_you_mean
from ...kinematics import integrate
from ...model.values import checked_array, shown
from ...scalar import Program, trace
from ...scalar.arrays import SymbolArray
from ...scalar.purity import TAKEN, Verdict, judged
from .forcing import Forcing, InputSource, Overlaps, by_position, command_values
from .motion import PrescribedMotion

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
        verdicts: for each source, whether it is pure; None for constants. how: it is evaluated.
        kept: how many numbers of the last step are kept for outputs, by name.
    """

    forcing: Forcing
    verdicts: tuple[Verdict | None, ...]
    how: tuple[How, ...]
    kept: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, forcing: Forcing, q: np.ndarray, v: np.ndarray, *, traced: bool = True, sampled: bool = False,
        stages: bool = False, held: bool = False,
    ) -> Actuation:  # fmt: skip
        """How a forcing is evaluated in a run that starts at (q, v).

        `traced`: whether functions may be compiled; `sampled`: whether all are called at multiples of a sample time; `stages`:
        whether those that keep state are also called at every stage; `held`: whether steps have no stages.
        """
        states = _states_to_try(forcing, q, v)

        def verdict_on(source: InputSource) -> Verdict | None:
            given, reads = source.given, source.reads
            if not callable(given) or sampled or isinstance(given, (PrescribedMotion, Overlaps)):
                return None
            tried = [(t, q, v, *(inputs[name] for name in reads)) for t, q, v, inputs in states]  # loops are among the inputs
            return judged(by_position(given, reads, forcing.plain), tried, len(source.parts), (*TAKEN, *reads))

        def how(source: InputSource, verdict: Verdict | None) -> How:
            if isinstance(source.given, (PrescribedMotion, Overlaps)):  # which can be compiled
                return How.COMPILED
            if not callable(source.given):
                return How.CONSTANT
            if verdict is None:
                return How.SAMPLED
            if verdict.program is not None and traced:
                return How.COMPILED
            return How.EACH_STEP if held or (verdict.remembers and not stages) else How.EACH_STAGE

        verdicts = tuple(map(verdict_on, forcing.sources))
        return cls(forcing, verdicts, tuple(map(how, forcing.sources, verdicts)))

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

    def _evaluated(self) -> Iterator[tuple[InputSource, Verdict | None, How]]:
        return zip(self.forcing.sources, self.verdicts, self.how, strict=True)

    def lines(self, *, but: How = How.CONSTANT) -> list[str]:
        """How each function is evaluated, one line per function, for people; `but`: those that are left out with constants."""
        return [
            f"{source.label}: {how}" + (f", because {verdict.reason}" if verdict and verdict.reason else "")
            for source, verdict, how in self._evaluated() if how not in (How.CONSTANT, but)
        ]  # fmt: skip

    def changed(self) -> list[str]:
        """Values that compiled functions read as constants and that have changed since, one line per value."""
        return [
            f"{source.label} was compiled with `{path}` as it was at the start, and it changed during the run"
            for source, verdict, how in self._evaluated()
            if how is How.COMPILED and verdict is not None and (path := verdict.changed_since()) is not None
        ]

    @cached_property
    def constants(self) -> np.ndarray:
        """u with the constants and the inputs' own values in place, and zeros for the rest; read-only."""
        nowhere = np.zeros(0)
        u = self.forcing(0.0, nowhere, nowhere, last=self.forcing.blank, only=self._those(How.CONSTANT))
        u.flags.writeable = False
        return u

    def put(
        self, u: np.ndarray, tau: Any, wrenches: Mapping[str, Any], loop_tau: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> None:
        """Puts what is given in its places of u, and the constants or an input's own values elsewhere; refuses wrong names."""
        values, places = self._plain
        u[places] = values
        if tau is not None:
            self._put_source(u, "tau", "", tau)
        for group, given in (("wrenches", wrenches), ("loop_tau", loop_tau)):
            for name, effort in given.items():
                if (group, name) not in self._by_place:
                    raise InputError(
                        f"{self.forcing.mechanism.name}: {group} has no input for {name!r}; make the simulation with "
                        f"{group}={{{name!r}: None}}"
                    )
                if effort is not None:
                    self._put_source(u, group, name, effort)
        for name, given in inputs.items():
            self._put_input(u, name, given)

    def _put_source(self, u: np.ndarray, group: str, name: str, values: Any) -> None:
        (source, how), owner = self._by_place[group, name], self.forcing.mechanism.name
        if how is not How.CONSTANT:
            raise InputError(f"{owner}: {source.label} is a function; make the simulation without it for an input")
        if group == "commands":
            values = command_values(self.forcing.mechanism, name, values, source.given)
        if np.shape(values) != (len(source.parts),):
            raise InputError(
                f"{owner}: {source.label} as an input has shape {np.shape(values)}; it must have {len(source.parts)} "
                f"components: {', '.join(source.parts)}"
            )
        u[source.place] = values
        if not isfinite(sum(u[source.place].tolist())):
            raise InputError(f"{owner}: {source.label} as an input is {shown(values)}; it must be finite")

    def _put_input(self, u: np.ndarray, name: str, values: Any) -> None:
        """Puts what is given for a command, or for an input that functions read, in its place of u."""
        forcing, owner = self.forcing, self.forcing.mechanism.name
        if name in forcing.commands:
            if values is not None:
                self._put_source(u, "commands", name, values)
            return
        names = [*forcing.commands, *forcing.inputs]
        if name not in names:
            raise InputError(
                f"{owner}: there is no input {name!r}{did_you_mean(name, names, lead=', ')}; make the simulation with "
                f"inputs={{{name!r}: …}}. There are {', '.join(names) or 'none'}"
            )
        u[forcing.own[name]] = checked_array(owner, f"the input {name!r}", values, forcing.inputs[name].shape)

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], tuple[InputSource, How]]:
        """The sources, and how they are evaluated, by their groups and names."""
        return {(source.group, source.name): (source, how) for source, _, how in self._evaluated()}

    @cached_property
    def _plain(self) -> tuple[np.ndarray, np.ndarray]:
        """The values that hold unless others are given, of constants and inputs, and their places in u."""
        own = [self.forcing.own[name] for name in self.forcing.inputs]
        constant = [source.place for source in self._those(How.CONSTANT)]
        places = np.concatenate([np.r_[place] for place in (*constant, *own, slice(0, 0))])
        return self.constants[places], places

    def begin(self, u: np.ndarray, q: np.ndarray) -> None:
        """Puts the overlaps of bodies at the starts (N, nq) into rows u (N, size), if springs of contact leave any out."""
        if self.forcing.overlaps:
            u[:, self.forcing.layout.at("depths")] = [self.forcing.overlaps.depths(row) for row in q]

    def put_parameters(self, u: np.ndarray, given: Mapping[str, Any]) -> None:
        """Puts values of parameters, by name, into rows u (N, size); those that are not given stay."""
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

    def sampled(self, t: float, q: np.ndarray, v: np.ndarray, last: np.ndarray) -> np.ndarray:
        """u with the functions that are called once per step, or at the sample times, evaluated now; the rest unchanged."""
        return self.forcing(t, q, v, last=last, only=self._those(How.EACH_STEP, How.SAMPLED))

    def staged(self, t: float, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """u at a stage of the integrator, given the held efforts."""
        return self.forcing(t, q, v, last=held, only=self._those(How.EACH_STAGE, How.COMPILED))

    @cached_property
    def samples(self) -> bool:
        """Whether any function is called once per step, or at the sample times."""
        return bool(self._those(How.EACH_STEP, How.SAMPLED))

    @cached_property
    def program(self) -> Program | None:
        """(t, q, v, u) → u with the compiled functions' values in place; None if none is compiled, or some must be called."""
        if self.mode == "called" or How.COMPILED not in self.how:
            return None
        forcing, m = self.forcing, self.forcing.mechanism

        def actuation(t: Any, q: Any, v: Any, u: Any) -> list[Any]:
            taken = list(u)
            inputs = {name: SymbolArray(u[own]) for name, own in forcing.read.items()}
            for source in self._those(How.COMPILED):
                taken[source.place] = forcing.values(source, t, SymbolArray(q), SymbolArray(v), inputs)
            return taken

        return trace(actuation, {"t": (), "q": m.nq, "v": m.nv, "u": forcing.layout.size}, "actuation")

    def _those(self, *kinds: How) -> list[InputSource]:
        return [source for source, _, how in self._evaluated() if how in kinds]


def _states_to_try(forcing: Forcing, q: np.ndarray, v: np.ndarray) -> list[_Trial]:
    """The start, and two states around it at other times, with other inputs."""
    mechanism, rng, other = forcing.mechanism, np.random.default_rng(20121), np.random.default_rng(20122)
    blank = forcing.blank
    own = {name: blank[place] for name, place in forcing.own.items()}
    looped = any(set(LOOPS) & set(source.reads) for source in forcing.sources)

    def loops(q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        return loops_at(mechanism, q, v) if looped else {}

    states: list[_Trial] = [(0.0, q, v, own | loops(q, v))]
    for _ in "ab":
        t, move, faster = float(rng.uniform(0, 9)), 0.1 * rng.normal(size=len(v)), rng.normal(size=len(v))
        moved = np.array(integrate(mechanism.tree, q.tolist(), move.tolist()), dtype=float)
        inputs = {name: values + 0.1 * other.normal(size=len(values)) for name, values in own.items()}
        states.append((t, moved, v + faster, inputs | loops(moved, v + faster)))
    return states
