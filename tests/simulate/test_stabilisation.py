"""How steps keep loops closed is one option, which all doors of a simulation take."""

from __future__ import annotations

import numpy as np

import kumitate as km
from kumitate.cli.app import run as command
from kumitate.model.samples import four_bars_start

START = four_bars_start(1, 0.3, 2.0)
OPTIONS = {"duration": 0.05, "step": 5e-3, "integrator": "rk4"}


def test_every_door_takes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = km.load("four_bar")
    lagged, strict = (km.simulate(robot, *START, **OPTIONS, stabilisation=how) for how in ("lagged", "strict"))
    assert 0.0 < np.abs(strict.q - lagged.q).max() < 1e-9
    np.testing.assert_array_equal(km.simulate(robot, *START, **OPTIONS).q, lagged.q)
    start, speed = START
    many = km.simulate_batch(robot, [start], [speed], **OPTIONS, stabilisation="strict")
    np.testing.assert_array_equal(many.q[0], strict.q)
    here = {
        "robot": "four_bar",
        "start": {"q": list(start), "v": list(speed)},
        "solver": {**OPTIONS, "stabilisation": "strict"},
    }
    np.testing.assert_array_equal(km.read_scenario(here).run().q, strict.q)
    named = ((robot.mechanism.q_names, start), (robot.mechanism.v_names, speed))
    q, v = (", ".join(f"{name}={x!r}" for name, x in zip(keys, values, strict=True)) for keys, values in named)
    arguments = [f"--{name}={value}" for name, value in OPTIONS.items()]
    command(["simulate", "four_bar", "--q", q, "--v", v, *arguments, "--stabilisation=strict", "--formats=png", "--out=out"])
    (saved,) = (tmp_path / "out").rglob("result.*")
    again = km.open(saved)
    np.testing.assert_allclose(again.q, strict.q, rtol=0.0, atol=1e-15)
    assert again.settings["stabilisation"] == "strict"
    np.testing.assert_array_equal(km.scenario_of(again).run().q, again.q)
