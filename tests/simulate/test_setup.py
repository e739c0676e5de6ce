"""One `Setup`, five doors: they take the same options with the same defaults, and give the same bits."""

import inspect
import json
from dataclasses import MISSING, fields
from types import SimpleNamespace

import numpy as np
import pytest

import kumitate as km
import kumitate.papers  # a method for held points is there
from kumitate.cli.app import run as command
from kumitate.cli.simulate import simulate as verb
from kumitate.errors import InputError
from kumitate.scenario.scenario import KEYS, SOLVER
from kumitate.simulate.setup import Experiment, Setup

#: How scenarios name an option, where its name is another.
NAMES = {"scenario": {"motions": "prescribed"}}
#: What each door takes.
DOORS = {
    "simulate": set(inspect.signature(km.simulate).parameters),
    "simulate_batch": set(inspect.signature(km.simulate_batch).parameters),
    "Simulation": set(inspect.signature(km.Simulation).parameters),
    "scenario": {*KEYS, *SOLVER},
    "command": set(inspect.signature(verb).parameters),
}
FILES = ("scenario", "command")
BATCH = "its steps are those of batches: equal, and traced side by side"
#: (door, option): why it does not take it.
LEFT_OUT = {
    **{("simulate_batch", name): BATCH for name in ("equal_steps", "side_by_side")},
    ("simulate_batch", "until"): "rows of a batch end together",
    **{("Simulation", name): "given to its `run`" for name in ("duration", "every", "until", "progress")},
    **{("Simulation", name): "given as `start`, a pair" for name in ("q", "v")},
    **{("scenario", name): "given as `start: {q: …, v: …}`" for name in ("q", "v")},
    **{(door, name): "chosen by whether it is a run or a sweep" for door in FILES for name in ("equal_steps", "side_by_side")},
    **{(door, "progress"): "drawn by the command, an argument of `Scenario.run`" for door in FILES},
}
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
        option = f"--{name.replace('_', '-')} "
        assert option in told
        if isinstance(named[name], float | str | bool) and name in SOLVER:
            default = OTHERWISE.get(("command", name), (named[name],))[0]
            assert f"[default: {default}]" in told.partition(option)[2].partition(" --")[0] or name == "limits"


#: Functions that a scenario and the command name.
FILE = """
def away(robot, force=2.0):
    return lambda t, q, v: [0.0, 0.0, 0.0, force * t, 0.0, 0.0]

def reading(robot):
    return lambda t, q, v, k: -k[0] * v - k[1] * q

def turning(robot, rate=1.0):
    return lambda t: rate * t * t

def rising(robot):
    return lambda t, q, v: 0.1 * t + 0.0 * q[:1]

def late(robot, time):
    return lambda t, q, v: t > time

def hill(robot, slope=0.2):
    return lambda r: r[2] - slope * (r[0] + 2.0)

def counting(robot):
    calls = []
    def law(t, q, v):
        calls.append(t)
        return -1e-3 * len(calls) - 0.1 * v
    return law
"""
#: By name: the robot and where it starts, if not at its own start; options in Python, of the module that `FILE` is, and of the
#: robot; the same as keys of a scenario, and as words of the command.
CASES = {
    "settings": (
        "planar_4r",
        None,
        lambda mine, robot: {
            "step": 2e-3, "integrator": "rk4", "stabilisation": "strict", "limits": False, "outputs": ["energy"], "every": 5,
        },
        {
            "solver": {"step": 2e-3, "integrator": "rk4", "stabilisation": "strict", "limits": False, "every": 5},
            "outputs": ["energy"],
        },
        [
            "--step", "2e-3", "--integrator", "rk4", "--stabilisation", "strict", "--no-limits", "--outputs", "energy",
            "--every", "5",
        ],
    ),
    "wrenches": (
        "planar_3r",
        (0.3, -0.5, 0.2),
        lambda mine, robot: {"wrenches": {"link3": [0, 0, 0, 0, 0, -10], "link2": mine.away(robot, force=3.0)}},
        {"wrenches": {"link3": [0, 0, 0, 0, 0, -10], "link2": {"law": "mine.py:away", "force": 3}}},
        ["--wrenches", "link3=0,0,0,0,0,-10, link2=mine.py:away, link2:force=3"],
    ),
    "loop_tau": (
        "four_bar",
        None,
        lambda mine, robot: {"loop_tau": {"loop0": [0.3]}},
        {"loop_tau": {"loop0": 0.3}},
        ["--loop-tau", "loop0=0.3"],
    ),
    "inputs": (
        "planar_3r",
        None,
        lambda mine, robot: {"inputs": {"k": [0.5, 2.0]}, "controller": mine.reading(robot)},
        {"inputs": {"k": [0.5, 2]}, "controller": "mine.py:reading"},
        ["--inputs", "k=0.5,2", "--controller", "mine.py:reading"],
    ),
    "targets": (
        "driven.json",
        None,
        lambda mine, robot: {"inputs": {"target": {"hinge": 0.3}, "feed_forward": 0.1}},
        {"inputs": {"target": {"hinge": 0.3}, "feed_forward": 0.1}},
        ["--inputs", "target:hinge=0.3, feed_forward=0.1"],
    ),
    "a target of a file": (
        "driven.json",
        None,
        lambda mine, robot: {"inputs": {"target": mine.rising(robot)}},
        {"inputs": {"target": "mine.py:rising"}},
        ["--inputs", "target=mine.py:rising"],
    ),
    "held": (
        "planar_3r",
        (-np.pi / 6, -np.pi / 3, -np.pi / 3),
        lambda mine, robot: {
            "held": [km.HeldPoint("link3", (0, 0, 1), mine.hill(robot, slope=0.1), 0.2)],
            "held_method": "newton_euler",
        },
        {
            "held": {"link3": {"point": [0, 0, 1], "surface": {"law": "mine.py:hill", "slope": 0.1}, "friction": 0.2}},
            "solver": {"held_method": "newton_euler"},
        },
        [
            "--held", "link3:point=0,0,1, link3:surface=mine.py:hill, link3:surface:slope=0.1, link3:friction=0.2",
            "--held-method", "newton_euler",
        ],
    ),
    "held on a sphere": (
        "planar_3r",
        (-np.pi / 6, -np.pi / 3, -np.pi / 3),
        lambda mine, robot: {"held": [km.HeldPoint("link3", (0, 0, 1), km.SphereSurface(2.0), name="tip")]},
        {"held": {"tip": {"body": "link3", "point": [0, 0, 1], "surface": {"kind": "sphere", "radius": 2}}}},
        ["--held", "tip:body=link3, tip:point=0,0,1, tip:surface:kind=sphere, tip:surface:radius=2"],
    ),
    "called": (
        "planar_3r",
        None,
        lambda mine, robot: {"controller": mine.counting(robot), "traced": False, "sample_time": 4e-3},
        {"controller": "mine.py:counting", "solver": {"traced": False, "sample_time": 4e-3}},
        ["--controller", "mine.py:counting", "--no-traced", "--sample-time", "4e-3"],
    ),
    "motions": (
        "planar_3r",
        None,
        lambda mine, robot: {"motions": {"joint1": mine.turning(robot, rate=2.0)}},
        {"prescribed": {"joint1": {"law": "mine.py:turning", "rate": 2}}},
        ["--motions", "joint1=mine.py:turning, joint1:rate=2"],
    ),
    "until": (
        "planar_3r",
        None,
        lambda mine, robot: {"until": mine.late(robot, time=0.02), "every": 10},
        {"solver": {"until": {"law": "mine.py:late", "time": 0.02}, "every": 10}},
        ["--until", "law=mine.py:late, time=0.02", "--every", "10"],
    ),
}  # fmt: skip
DURATION = 0.1


@pytest.mark.parametrize("case", CASES)
def test_one_case_through_five_doors_has_equal_bits(case, tmp_path, monkeypatch, capsys):
    name, q, options, keys, words = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    km.load("pendulum").with_drives({"hinge": km.PositionDrive(kp=20.0, kd=2.0)}).save("driven.json")
    scope = {}
    exec(FILE, scope)
    robot = km.load(name)
    mine, start = SimpleNamespace(**scope), robot.start if q is None else (np.array(q), np.zeros(len(q)))
    alone = km.simulate(robot, *start, duration=DURATION, **options(mine, robot))
    own = options(mine, robot)
    lasting = {key: own.pop(key) for key in ("every", "until") if key in own}
    made = km.Simulation(robot, start=start, **own).run(duration=DURATION, **lasting)
    given = {} if q is None else {"start": {"q": list(q)}}
    solver = keys.get("solver", {}) | {"duration": DURATION}
    written = km.read_scenario({"robot": name, **keys, **given, "solver": solver}).run()
    place = (
        []
        if q is None
        else ["--q", ", ".join(f"{one}={float(x)!r}" for one, x in zip(robot.mechanism.q_names, q, strict=True))]
    )
    assert command(["simulate", name, *place, "--duration", "0.1", *words, "--formats", "", "--json"]) == 0
    typed = km.open(json.loads(capsys.readouterr().out)["files"]["result.h5"])
    assert len(alone.time) == (
        4 if case == "until" else 1 + round(DURATION / alone.settings["step"]) // lasting.get("every", 1)
    )
    for other in (made, written, typed):
        for array in ("time", "q", "v", "a", "tau"):
            np.testing.assert_array_equal(getattr(other, array), getattr(alone, array))
        assert (
            set(other.outputs) == set(alone.outputs) == ({"energy.kinetic", "energy.potential"} if "outputs" in own else set())
        )
        for output, values in alone.outputs.items():
            np.testing.assert_array_equal(other.outputs[output], values)
    if case not in ("until", "called"):  # rows of a batch end together, and share what a controller keeps
        batch = km.simulate_batch(robot, [start[0]] * 2, [start[1]] * 2, duration=DURATION, **own, **lasting)
        for array in ("q", "v"):
            rounding = 1e-14 if "held" in own else 0.0  # of the order in which lanes sum up
            np.testing.assert_allclose(getattr(batch, array)[1], getattr(alone, array), rtol=0.0, atol=rounding)
    allowed = ", ".join(f"{tmp_path / 'mine.py'}:{function}" for function in scope)
    again = km.scenario_of(typed, controller=allowed).run()
    np.testing.assert_array_equal(again.q, alone.q)
    if "mine.py" in str(words):
        with pytest.raises(InputError, match="is code that a file of results names, and is not run unasked"):
            km.scenario_of(typed)


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
