"""`Scenario`: a file that describes a simulation or a sweep of them, read with all its mistakes at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..model import Mechanism
from ..model.samples import SAMPLES
from ..outputs import checked_output
from ..run import Run
from ..simulate.checks import run_times
from .parameters import Design, parameter, read_design
from .parts import read_contact, read_driving, read_held, read_hold, read_robot, read_start
from .setup import SOLVER, Described, setting, with_functions, with_laws
from .written import Mistakes, Section, Written, names_in, read_yaml

#: What a scenario may say.
KEYS = (
    "robot", "floating_base", "fix_inertia", "lock", "start", "hold", "tau", "controller", "prescribed", "wrenches", "loop_tau",
    "inputs", "contact", "held", "solver", "outputs", "parameters", "sweep",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scenario:
    """A simulation, or a sweep of them.

    Attributes:
        source: the file it was read from, or what messages call it.
        plain: it as plain data, with paths in full.
        setup: the simulation; of a sweep, with the values that are not varied.
        design: the runs of a sweep; None of a single simulation.
        drawn: of a run of a sweep, its number `run`, and the `seed` where values were drawn.

    >>> from kumitate import read_scenario
    >>> read_scenario({"robot": "pendulum", "solver": {"duration": 0.1}}).design is None
    True
    """

    source: str
    plain: Mapping[str, Any]
    setup: Described
    design: Design | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of runs."""
        return 1 if self.design is None else len(self.design)

    @property
    def settings(self) -> dict[str, Any]:
        """What its results say about where they come from: the `scenario`, and which run of a `sweep` it is."""
        return {"scenario": dict(self.plain), **({"sweep": dict(self.drawn)} if self.drawn else {})}

    def values(self, run: int) -> dict[str, Any]:
        """The values that a run gives to the parameters that are varied, by name.

        Raises:
            InputError: if there is no such run.
        """
        if not 0 <= run < len(self):
            raise InputError(f"{self.source}: there is no run {run}; there are {len(self)}, from 0 to {len(self) - 1}")
        if self.design is None:
            return {}
        return {one.name: value for one, value in zip(self.design.parameters, self.design.values(run), strict=True)}

    def of_run(self, run: int) -> Scenario:
        """The scenario of one run alone, with its values among the `parameters`.

        Raises:
            KumitateError: if there is no such run, or the values are refused.
        """
        values, setup = self.values(run), self.setup
        if self.design is None:
            return self
        for one in self.design.parameters:
            setup = one.put(setup, values[one.name])
        plain = {key: value for key, value in self.plain.items() if key != "sweep"}
        plain["parameters"] = {**(self.plain.get("parameters") or {}), **values}
        drawn = {"run": run} if self.design.seed is None else {"run": run, "seed": self.design.seed}
        return Scenario(f"{self.source}, run {run}", plain, setup, drawn=drawn)

    def run(self, *, progress: Any = None) -> Run:
        """Simulates it; a result's settings hold `settings`.

        Raises:
            InputError: if it is a sweep. DivergenceError: if the motion runs away.
        """
        if self.design is not None:
            raise InputError(f"{self.source}: describes {len(self)} runs; choose one by of_run, or simulate all by km.sweep")
        return self.setup.run(self.settings, progress)


def names_scenario(source: str | Path) -> bool:
    """Whether this is the path of a scenario: of a YAML file that does not name the loops of a URDF.

    >>> names_scenario("fall.yaml"), names_scenario("pa10")
    (True, False)
    """
    from ..model.read.loops_yaml import names_loops  # loaded only to read a file

    return Path(source).suffix.lower() in (".yaml", ".yml") and not names_loops(source)


def read_scenario(
    given: str | Path | Mapping[str, Any] | Written,
    *,
    mechanism: Mechanism | None = None,
    source: str = "the scenario",
    allowed: Collection[str] | None = None,
) -> Scenario:
    """A scenario from a YAML file, or from a dictionary with the same keys.

    Args:
        given: path or dictionary, or what has been read of one. Paths in a file are relative to it.
        mechanism: that moves, in place of the robot that is named, as the `parameters` made it.
        source: what messages call a dictionary.
        allowed: the functions of files, "FILE.py:FUNCTION", whose code may be run; all that the scenario names unless given.

    Raises:
        InputError: with all mistakes, each with its line in the file.

    >>> scenario = read_scenario({"robot": "pendulum", "solver": {"duration": 0.1}})
    >>> float(scenario.run().time[-1])
    0.1
    """
    if isinstance(given, Mapping):
        given = Written(source, _plain_copy(given, source), folder=Path.cwd())
    written = given if isinstance(given, Written) else read_yaml(given)
    mistakes = Mistakes(written)
    top = Section(with_functions(written.data, written.folder, mistakes), (), mistakes, KEYS)
    if written.data is None:
        mistakes.add((), "there is nothing in it; a scenario names at least a robot")
    plain: dict[str, Any] = with_laws(top.values, lambda law: law.plain)
    robot = read_robot(top, written.folder, mechanism, plain)
    solver = _solver(top.section("solver", SOLVER), top.values.get("robot"))
    if robot is None:  # names in the rest belong to a robot that is not known
        if len(mistakes):
            mistakes.add((), "names of joints, bodies and parameters were not checked, as the robot could not be read")
        mistakes.check()
    assert robot is not None
    setup = replace(read_start(top, robot, solver, plain), allowed=allowed)
    with mistakes.catching(("solver",)):
        fitted = setup.fitted
        run_times(setup.mechanism.name, setup.duration, fitted.step, setup.every)
    setup = read_contact(top, setup)
    setup = read_hold(top, setup, plain) if mechanism is None else setup
    setup = _outputs(top, read_held(top, read_driving(top, setup, plain)))
    parameters = top.section("parameters")
    for name, value in parameters.values.items():
        with mistakes.catching((*parameters.at, name)):
            changed = parameter(setup, name).put(setup, value)
            # the mechanism that is given is as the parameters made it: a factor must not act twice
            setup = changed if mechanism is None else replace(changed, mechanism=mechanism)
    design = read_design(top.section("sweep", ("grid", "random", "record")), setup) if "sweep" in top else None
    if not len(mistakes) and setup.refused is None:
        with mistakes.catching(()):
            setup.simulation(equal_steps=design is not None)
    mistakes.check()
    return Scenario(written.source, plain, setup, design)


def scenario_of(result: Run, *, controller: str | None = None) -> Scenario:
    """The scenario that a result was made from, to run it again with the mechanism that is inside the result.

    Args:
        controller: "FILE.py:FUNCTION" of the function that the scenario names, several separated by commas: the code of a file
            is not run because a result names it, but because it is named here.

    Raises:
        InputError: if the result does not hold a scenario, or its functions are not named.

    >>> run = read_scenario({"robot": "pendulum", "solver": {"duration": 0.1}}).run()
    >>> bool((scenario_of(run).run().q == run.q).all())
    True
    """
    plain, name = result.settings.get("scenario"), result.mechanism.name
    if not isinstance(plain, Mapping):
        raise InputError(
            f"{name}: the result holds no scenario, so it cannot be run again; results of scenarios and of `kumitate simulate` "
            "hold one"
        )
    scenario = read_scenario(
        plain, mechanism=result.mechanism, source=f"the scenario of {name}", allowed=functions_of(controller)
    )
    scenario.setup.simulation()  # refuses functions that are not allowed
    drawn = result.settings.get("sweep")
    return replace(scenario, drawn=drawn) if isinstance(drawn, Mapping) else scenario


def functions_of(controller: str | None) -> tuple[str, ...]:
    """The functions in a list such as "balance.py:upright, push.py:away"; none of None."""
    return tuple(name.strip() for name in (controller or "").split(",") if name.strip())


def _plain_copy(given: Mapping[str, Any], source: str) -> Any:
    try:
        return json.loads(json.dumps(dict(given), default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x)))
    except (TypeError, ValueError) as error:
        raise InputError(f"{source}: is not plain data ({error}); keep numbers, texts, lists and dictionaries") from None


def _solver(section: Section, robot: Any) -> dict[str, Any]:
    """The settings of the solver that are said, and the step and the duration of a sample where nothing is."""
    sample = SAMPLES.get(robot) if isinstance(robot, str) else None
    own = {} if sample is None else {"step": sample.step, "duration": sample.duration}
    said = {name: section.take(name, partial(setting, name)) for name in SOLVER if name in section}
    return {**own, **{name: value for name, value in said.items() if value is not None}}


def _outputs(top: Section, setup: Described) -> Described:
    found: list[str] = []
    for k, name in enumerate(names_in(top.values.get("outputs") or [])):
        with top.mistakes.catching(("outputs", k)):
            checked_output(setup.mechanism, name)
            if name in found:
                raise InputError(f"{name!r} stands here twice; keep one")
            found.append(name)
    return replace(setup, outputs=tuple(found))
