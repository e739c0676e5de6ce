"""Legged robots in scenarios and on the command line: they start in their stance, and are held as stiffly as is asked for."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.cli.app import run as command
from kumitate.errors import InputError
from tests.quadruped import quadruped


@pytest.fixture(scope="module")
def dog(tmp_path_factory) -> str:
    return str(km.load(quadruped()).save(tmp_path_factory.mktemp("dog") / "dog.json"))


def described(dog: str, **parts) -> km.scenario.Scenario:
    return km.read_scenario({"robot": dog, "contact": "rigid", "solver": {"duration": 0.5}, **parts})


def test_a_legged_robot_on_a_floor_starts_in_its_stance_and_is_held_there(dog):
    scenario = described(dog, hold=True)
    stance = km.load(dog).stance()
    np.testing.assert_array_equal(scenario.setup.q, stance.q)
    assert scenario.setup.told.startswith("dog starts in its stance, a posture found by inverse kinematics")
    run = scenario.run()
    assert np.abs(run.q - run.q[0]).max() < 1e-6
    again = km.scenario_of(run).run()
    np.testing.assert_array_equal(again.q, run.q)


def test_another_start_can_be_named(dog):
    zero = described(dog, start={"from": "zero", "height": 0.0})
    assert np.count_nonzero(zero.setup.q) == 1
    assert zero.setup.told == ""
    bent = described(dog, start={"from": "stance", "q": {"fl knee": 1.0}})
    assert bent.setup.q[quadruped().q_names.index("fl knee")] == 1.0
    assert described(dog, start={"q": {"fl knee": 1.0}}).setup.q[quadruped().q_names.index("hl knee")] == 0.0
    with pytest.raises(InputError, match=r"there is no start 'stanec', did you mean 'stance'\?; there are stance, zero"):
        described(dog, start={"from": "stanec"})
    with pytest.raises(InputError, match="has no stance, as its base is not free"):
        km.read_scenario({"robot": "pa10", "start": {"from": "stance"}})


def test_the_stiffness_is_a_natural_frequency(dog):
    stiff = {
        given: described(dog, hold=given).setup.mechanism.joint("fl knee").drive.kp for given in (True, "soft", "20Hz", 10)
    }
    assert stiff["soft"] == pytest.approx(stiff[True] * 0.36)
    assert stiff["20Hz"] == pytest.approx(stiff[True] * 4.0)
    assert described(dog, hold=10).setup.mechanism.joint("fl knee").drive.kp == stiff[True]
    assert described(dog, hold=False).setup.mechanism.driven == ()
    for wrong in (0, "0Hz", "-3Hz", "nonsense", "nan", [10]):
        with pytest.raises(InputError, match=r"hold is .*; it must be a natural frequency above zero, 20Hz, or soft\. Leave"):
            described(dog, hold=wrong)


def test_efforts_that_are_given_come_before_those_that_carry_the_weight(dog):
    inputs = described(dog, hold=True, inputs={"feed_forward": {"fl knee": 1.0}}).setup.inputs
    assert inputs["feed_forward"] == {"fl knee": 1.0}
    above = described(dog, hold=True, start={"from": "stance", "height": 0.2}).setup.inputs
    assert set(above["feed_forward"].values()) == {0.0}


def test_the_command_says_where_it_starts_and_refuses_what_is_no_stiffness(dog, tmp_path, capsys):
    options = ["--contact", "rigid", "--duration", "0.1", "--json", "--out", str(tmp_path / "out")]
    assert command(["simulate", dog, "--hold", "12Hz", *options]) == 0
    printed = capsys.readouterr()
    assert "note: dog starts in its stance, a posture found by inverse kinematics" in printed.err
    held = km.open(json.loads(printed.out)["files"]["result.h5"])
    assert np.abs(held.q - held.q[0]).max() < 1e-6
    assert command(["simulate", dog, "--hold", *options, "--start", "zero"]) == 0
    assert "starts in" not in capsys.readouterr().err
    assert command(["simulate", dog, *options, "--hold", "0Hz"]) == 1
    assert "--hold: hold is '0Hz'; it must be a natural frequency above zero" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kumitate.KumitateWarning")
@pytest.mark.parametrize(
    ("name", "base", "push"),
    [
        ("go2", "base", (60, 0, 0)),
        ("anymal_c", "base", (0, 60, 0)),
        ("g1", "pelvis", (0, 100, 0)),
        ("talos", "base_link", (100, 0, 0)),
    ],
)
def test_robots_stand_for_ten_seconds_and_take_a_push(name, base, push):
    """Without a push for 10 s; and one of 0.1 s, after which the trunk is back within 1 cm but for what feet slid."""
    standing = {"robot": name, "floating_base": True, "contact": "rigid", "hold": True}
    run = km.read_scenario({**standing, "solver": {"duration": 10.0, "every": 10}}).run()
    m = run.mechanism
    x = next(column.q.start for column in km.model.joint_columns(m) if column.kind.nv == 6) + 4
    moved = run.q[:, x : x + 3] - run.q[0, x : x + 3]
    assert np.abs(moved[:, 2]).max() < 1e-3
    assert np.abs(moved[:, :2]).max() < 5e-3
    np.testing.assert_allclose(run.contact.force[-1].sum(axis=0)[2], run.robot.mass * 9.81, rtol=1e-3)
    scenario = km.read_scenario({**standing, "solver": {"duration": 2.0}})
    wrench = {base: km.control.push(push, km.control.pulse(0.2, 0.3))}
    setup = replace(scenario.setup.made(), wrenches=wrench)
    pushed = km.Simulation.of(setup).run(duration=2.0)
    moved = pushed.q[:, x : x + 3] - pushed.q[0, x : x + 3]
    assert 1e-3 < np.abs(moved[:, :2]).max() < 0.1
    assert np.abs(moved[-1]).max() < 0.02
