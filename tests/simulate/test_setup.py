"""One `Setup`, five doors: they take the same options with the same defaults, and give the same bits."""

import inspect
import json
from dataclasses import MISSING, fields

import numpy as np
import pytest

import kumitate as km
from kumitate.cli.app import run as command
from kumitate.cli.placing import Placing
from kumitate.cli.simulate import simulate as verb
from kumitate.errors import InputError
from kumitate.scenario.scenario import KEYS, SOLVER
from kumitate.simulate.setup import Experiment, Setup

#: How scenarios and the command name an option, where its name is another.
NAMES = {"scenario": {"motions": "prescribed"}}
#: What each door takes.
DOORS = {
    "simulate": set(inspect.signature(km.simulate).parameters),
    "simulate_batch": set(inspect.signature(km.simulate_batch).parameters),
    "Simulation": set(inspect.signature(km.Simulation).parameters),
    "scenario": {*KEYS, *SOLVER},
    "command": {*inspect.signature(verb).parameters, *(one.name for one in fields(Placing))},
}
FUNCTIONS = "a function, which files and the command know by its name alone: FILE.py:FUNCTION, as `controller`"
NO_TEXT = "values by names that have no text yet; km.Simulation takes them"
FILES = ("scenario", "command")
BATCH = "its steps are those of batches: equal, and traced side by side"
#: (door, option): why it does not take it.
LEFT_OUT = {
    **{("simulate_batch", name): BATCH for name in ("equal_steps", "side_by_side")},
    ("simulate_batch", "until"): "rows of a batch end together",
    **{("Simulation", name): "given to its `run`" for name in ("duration", "every", "until", "progress")},
    **{("Simulation", name): "given as `start`, a pair" for name in ("q", "v")},
    **{("scenario", name): "given as `start: {q: …, v: …}`" for name in ("q", "v")},
    **{(door, name): FUNCTIONS for door in FILES for name in ("until", "traced")},
    **{(door, name): NO_TEXT for door in FILES for name in ("wrenches", "loop_tau", "inputs", "held", "held_method")},
    **{(door, name): "chosen by whether it is a run or a sweep" for door in FILES for name in ("equal_steps", "side_by_side")},
    **{(door, "progress"): "drawn by the command, an argument of `Scenario.run`" for door in FILES},
    ("command", "motions"): "written in a scenario, as `prescribed`",
    ("command", "sample_time"): "of controllers, which are written in a scenario",
}  # fmt: skip
#: (door, option): a default of its own, and why.
OTHERWISE = {
    ("Simulation", "equal_steps"): (True, "can be stepped one by one and in batches"),
    ("scenario", "duration"): (10.0, "a file may leave it out"),
    ("command", "duration"): (10.0, "as of scenarios"),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_option_is_taken_or_left_out_for_a_reason(door):
    """Nothing in the table is taken after all, and nothing of `Setup` is forgotten."""
    known = {NAMES.get(door, {}).get(one.name, one.name) for one in fields(Experiment)} - {"mechanism"}
    left_out = {name for where, name in LEFT_OUT if where == door}
    assert known - DOORS[door] == left_out - DOORS[door]
    assert not left_out & DOORS[door]


@pytest.mark.parametrize("door", ["simulate", "simulate_batch", "Simulation"])
def test_doors_show_the_defaults_of_the_fields(door):
    shown = inspect.signature(getattr(km, door)).parameters
    for one in fields(Setup if door == "Simulation" else Experiment):
        if one.kw_only and (door, one.name) not in LEFT_OUT:
            default = inspect.Parameter.empty if one.default is MISSING else one.default
            assert shown[one.name].default == OTHERWISE.get((door, one.name), (default,))[0], one.name


def test_files_and_the_command_have_the_defaults_of_the_fields(capsys):
    """A scenario that says nothing is a setup that says nothing; the help of the command shows the same numbers."""
    named = {one.name: one.default for one in fields(Experiment) if one.kw_only and one.name not in ("progress", "equal_steps")}
    said = km.read_scenario({"robot": "arm"}, mechanism=km.load("planar_3r").mechanism).setup
    for name, default in named.items():
        expected = OTHERWISE.get(("scenario", name), (default,))[0]
        assert getattr(said, name) == expected or (not getattr(said, name) and not expected), name
    assert command(["simulate", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name in set(DOORS["command"]) & set(named) - {"contact"}:
        assert f"--{name} " in told
        if isinstance(named[name], float | str | bool) and name in SOLVER:
            default = OTHERWISE.get(("command", name), (named[name],))[0]
            assert f"[default: {default}]" in told.partition(f"--{name} ")[2].partition(" --")[0] or name == "limits"


OPTIONS = {"step": 2e-3, "integrator": "rk4", "stabilisation": "strict", "limits": False, "outputs": ["energy"], "every": 5}
ROBOT, DURATION = "planar_4r", 0.1


def test_one_case_through_five_doors_has_equal_bits(tmp_path, monkeypatch, capsys):
    robot, run = km.load(ROBOT), {key: value for key, value in OPTIONS.items() if key != "every"}
    q, v = robot.start
    alone = km.simulate(robot, duration=DURATION, **OPTIONS)
    batch = km.simulate_batch(robot, [q, q], [v, v], duration=DURATION, **OPTIONS)
    made = km.Simulation(robot, **run).run(duration=DURATION, every=OPTIONS["every"])
    solver = {key: OPTIONS[key] for key in SOLVER if key in OPTIONS} | {"duration": DURATION}
    written = km.read_scenario({"robot": ROBOT, "solver": solver, "outputs": OPTIONS["outputs"]}).run()
    monkeypatch.chdir(tmp_path)
    asked = ["--step", "2e-3", "--integrator", "rk4", "--stabilisation", "strict", "--no-limits", "--outputs", "energy"]
    assert command(["simulate", ROBOT, "--duration", "0.1", *asked, "--every", "5", "--formats", "", "--json"]) == 0
    typed = km.open(json.loads(capsys.readouterr().out)["files"]["result.h5"])
    assert len(alone.time) == 11
    for other in (made, written, typed):
        for name in ("time", "q", "v", "a", "tau"):
            np.testing.assert_array_equal(getattr(other, name), getattr(alone, name))
    for name in ("q", "v"):
        np.testing.assert_array_equal(getattr(batch, name)[1], getattr(alone, name))
    assert set(alone.outputs) == {"energy.kinetic", "energy.potential"}
    for name, values in alone.outputs.items():
        for other in (made.outputs[name], written.outputs[name], batch.outputs[name][0]):
            np.testing.assert_array_equal(other, values)
        np.testing.assert_array_equal(typed.outputs[name], values)


@pytest.mark.parametrize("door", [km.simulate, lambda *args, **options: km.simulate_batch(args[0], [[0.3], [0.3]], **options)])
def test_values_of_parameters_are_those_of_a_robot_made_with_them(door):
    """A dictionary gives values where a list gives names; a batch takes one for each run, too."""
    pendulum = km.load("pendulum")
    run = door(pendulum, [0.3], duration=0.2, integrator="rk4", parameters={"gravity": 3.7})
    moon = km.read_scenario({"robot": "pendulum", "parameters": {"gravity": 3.7}}).setup.mechanism
    other = km.simulate(moon, [0.3], duration=0.2, integrator="rk4")
    np.testing.assert_allclose(run.q.reshape(-1, 201, 1)[-1], other.q, rtol=0.0, atol=1e-13)
    made = km.Simulation(pendulum, integrator="rk4", parameters={"gravity": 3.7})
    assert made.start().parameters["gravity"] == made.batch(3).parameters["gravity"][2] == 3.7
    assert made.start(parameters={"gravity": 1.6}).parameters["gravity"] == 1.6


def test_runs_of_a_batch_have_parameters_and_outputs_of_their_own():
    pendulum, gravities = km.load("pendulum"), np.array([1.6, 3.7, 9.8])
    runs = km.simulate_batch(
        pendulum,
        [[0.3]] * 3,
        duration=0.2,
        every=20,
        parameters={"gravity": gravities},
        outputs={"speed": lambda t, q, v: v @ v},
    )
    for k, gravity in enumerate(gravities):
        alone = km.simulate(pendulum, [0.3], duration=0.2, every=20, parameters={"gravity": float(gravity)})
        np.testing.assert_allclose(runs.q[k], alone.q, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(runs.outputs["speed"], (runs.v**2).sum(axis=2), rtol=1e-14)
    with pytest.raises(InputError, match="parameters of each run"):
        runs.contact(0)


def test_a_run_ends_where_it_is_told_to():
    run = km.simulate(km.load("pendulum"), [0.3], duration=1.0, every=10, until=lambda t, q, v: t > 0.095)
    np.testing.assert_allclose(run.time, np.arange(11) * 1e-2, atol=1e-15)


def test_all_that_cannot_be_is_told_at_once():
    """Each option's own rule, and options that exclude each other, before anything is compiled."""
    point = km.HeldPoint("tip", "link3", km.PlaneSurface(normal=(0, 0, 1)))
    with pytest.raises(InputError) as refused:
        km.simulate(
            km.load("planar_3r"), duration=1.0, tolerance=2.0, stabilisation="strict", baumgarte=1.0, wrenches=[1.0],
            held=[point], contact="rigid", motions={"joint1": lambda t: t}, parameters=["gravity"],
        )  # fmt: skip
    first, *others = str(refused.value).splitlines()
    assert first == "6 options cannot be; nothing was computed"
    for words in (
        "tolerance is 2.0",
        "wrenches is [1.0]",
        "leave one out",
        "give `held` or `contact`",
        "Take one of them out",
        "no parameters",
    ):
        assert sum(words in line for line in others) == 1, words


@pytest.mark.parametrize(
    ("door", "options", "words"),
    [
        (km.simulate, {"duration": 1.0, "integratr": "rk4"}, "no option 'integratr', did you mean 'integrator'"),
        (km.simulate, {}, "no duration is given; write duration=…"),
        (km.simulate_batch, {"duration": 1.0, "until": min}, "until is for single runs"),
    ],
)
def test_options_that_there_are_not_are_named(door, options, words):
    with pytest.raises(InputError, match=words):
        door(km.load("pendulum"), [[0.1]], **options)
