"""The table of a sweep: each row is what its run gives alone, and what cannot be simulated is said in its row."""

import time as clock
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow.parquet
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.sweeps.blocks import blocks_of

from .makers import rows, written

SOLVER = {"duration": 0.2, "integrator": "rk4"}


def test_a_row_is_what_its_run_gives_alone(tmp_path):
    sweep = km.sweep(written(tmp_path), tmp_path / "swept")
    assert sweep.table.num_rows == len(sweep) == 160
    assert set(sweep.column("status")) == {"done"}
    assert [sweep.units[name] for name in ("reached", "q:*", "damping:*", "work")] == ["s", "rad", "N·m·s/rad", "J"]
    for number in (3, 97):
        run, row = sweep.run(number), sweep.table.slice(number, 1).to_pylist()[0]
        assert row["run"] == number
        for k, name in enumerate(run.mechanism.q_names):
            assert row[f"end:q:{name}"] == pytest.approx(run.q[-1, k], rel=1e-12)
        assert row["work"] == pytest.approx(run.audit.work, rel=1e-9, abs=1e-12)
        every = run.outputs["energy.kinetic"][:: len(run.time) // 100]
        assert row["largest:energy.kinetic"] == pytest.approx(every.max(), rel=1e-12)
        assert row["least:energy.kinetic"] == pytest.approx(every.min(), rel=1e-9, abs=1e-12)
        assert run.settings["scenario"]["parameters"] == {name: row[name] for name in ("damping:*", "q:*", "v:*")}


def test_other_readers_take_the_parts_as_one_table_with_units(tmp_path):
    sweep = km.sweep(written(tmp_path), tmp_path / "swept")
    read = pyarrow.parquet.read_table(tmp_path / "swept" / "parts")
    assert read.num_rows == 160
    assert {field.name: field.metadata[b"unit"].decode() for field in read.schema} == sweep.units
    assert read.schema.metadata[b"kumitate-sweep"]
    assert read.schema.metadata[b"kumitate"].decode() == km.__version__


def test_shards_and_resumed_sweeps_fill_one_table(tmp_path):
    scenario = written(tmp_path)
    whole = rows(km.sweep(scenario, tmp_path / "whole"))
    out, told = tmp_path / "shared", []
    for shard in ("2/3", "3/3"):
        partly = km.sweep(scenario, out, shard=shard)
    assert 0 < partly.table.num_rows < 160
    next(out.glob("parts/*.parquet")).write_bytes(b"damaged")
    km.sweep(scenario, out, shard="1/3")
    assert rows(km.sweep(scenario, out, progress=told.append)) == whole
    assert told[0].done == 160 - 8
    assert told[-1].done == told[-1].of == 160
    assert told[-1].fresh == 8
    assert rows(km.open_sweep(out)) == whole


def test_progress_tells_the_time_since_this_start_and_the_rate_in_it(tmp_path):
    told, begin = [], clock.perf_counter()
    km.sweep(written(tmp_path, duration=0.01), tmp_path / "swept", progress=told.append)
    passed = clock.perf_counter() - begin
    seconds = [one.seconds for one in told]
    assert seconds == sorted(seconds)
    assert 0.0 <= seconds[0] < seconds[-1] <= passed
    assert told[-1].rate == 160 / seconds[-1]


def test_a_folder_holds_one_sweep(tmp_path):
    km.sweep(written(tmp_path), tmp_path / "swept", shard="1/20")
    with pytest.raises(InputError, match="holds another sweep"):
        km.sweep(written(tmp_path, duration=0.3), tmp_path / "swept")
    with pytest.raises(InputError, match="is not the folder of a sweep, and not empty"):
        km.sweep(written(tmp_path), tmp_path)
    with pytest.raises(InputError, match="has no sweep"):
        km.sweep({"robot": "pendulum"}, tmp_path / "other")
    with pytest.raises(InputError, match="is not the folder of a sweep"):
        km.open_sweep(tmp_path)


def test_what_is_refused_or_runs_away_is_said_in_its_row_and_others_go_on(tmp_path):
    body, joint = (km.load("pendulum").mechanism.bodies[0].name, km.load("pendulum").mechanism.v_names[0])
    sweep = {"grid": {f"mass:{body}": [1.0, 2.0], "tau:*": [0.0, 1e11]}}
    found = km.sweep({"robot": "pendulum", "solver": SOLVER, "sweep": sweep}, tmp_path / "a")
    assert list(found.column("status")) == ["done", "diverged"] * 2
    np.testing.assert_array_equal(found.column("reached") < 0.2, [False, True] * 2)
    np.testing.assert_array_equal(np.isnan(found.column(f"end:q:{joint}")), [False, True] * 2)
    random = {"count": 40, "seed": 1, f"mass:{body}": {"normal": [1.0, 1.0]}}
    found = km.sweep({"robot": "pendulum", "solver": SOLVER, "sweep": {"random": random}}, tmp_path / "b")
    negative = found.column(f"mass:{body}") < 0.0
    assert 0 < negative.sum() < 40
    np.testing.assert_array_equal(found.column("status") == "failed", negative)
    assert all("it must be zero, or from" in message for message in found.column("message")[negative])
    assert np.isfinite(found.column(f"end:q:{joint}")[~negative]).all()


def test_loops_that_do_not_close_fail_alone(tmp_path):
    name = km.load("four_bars_2").mechanism.q_names[0]
    start = float(km.load("four_bars_2").start[0][0])
    given = {"robot": "four_bars_2", "solver": {"duration": 0.01, "integrator": "semi_implicit_euler"}}
    found = km.sweep({**given, "sweep": {"grid": {f"q:{name}": [start, start + 0.3]}}}, tmp_path / "open")
    assert list(found.column("status")) == ["done", "failed"]
    assert "open" in found.column("message")[1]
    closing = {**given, "start": {"assemble": True}, "sweep": {"grid": {f"q:{name}": [start, start + 1e-3]}}}
    assert set(km.sweep(closing, tmp_path / "closed").column("status")) == {"done"}


def test_recorded_runs_end_as_their_rows_do_bit_by_bit(tmp_path):
    text = written(tmp_path).read_text().replace("count: 80", "count: 8") + "  record: [1, 9]\n"
    (tmp_path / "kept.yaml").write_text(text)
    found = km.sweep(tmp_path / "kept.yaml", tmp_path / "swept")
    assert [k for k, kept in enumerate(found.column("recorded")) if kept] == [1, 9]
    for number in (1, 9):
        run, row = found.run(number), found.table.slice(number, 1).to_pylist()[0]
        assert [row[f"end:q:{name}"] for name in run.mechanism.q_names] == run.q[-1].tolist()
        assert row["largest:energy.kinetic"] == run.outputs["energy.kinetic"].max()
        assert run.audit.energy_drift < 1e-9
        alone = km.scenario_of(run).run()
        np.testing.assert_allclose(alone.q[:: len(alone.time) // 100], run.q, rtol=1e-11, atol=1e-12)
        assert (tmp_path / "swept" / row["recorded"] / "page.html").exists()
        assert (
            run.settings["sweep"]
            == alone.settings["sweep"]
            == {"run": number, "seed": row["seed"]}
            == {"run": number, "seed": 7}
        )
        assert run.settings["kumitate"] == km.__version__
        assert "sweep" not in km.read_scenario({"robot": "pendulum", "solver": SOLVER}).run().settings


def test_runs_that_need_python_are_simulated_one_by_one(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Integral:\n    def __init__(self):\n        self.sum = 0.0\n"
        "    def __call__(self, t, q, v):\n        self.sum = self.sum + 0.01 * q\n        return -self.sum\n"
        "def law(robot, gain):\n    return Integral()\n"
    )
    joint = km.load("pendulum").mechanism.q_names[0]
    grid = f"sweep:\n  grid:\n    q:{joint}: [0.1, 0.1000001]\n"
    text = "robot: pendulum\nsolver: {duration: 0.1}\ncontroller: {law: 'mine.py:law', gain: 1}\n" + grid
    (tmp_path / "s.yaml").write_text(text)
    found = km.sweep(tmp_path / "s.yaml", tmp_path / "swept")
    for number in range(2):  # each run begins with the controller in its initial state
        assert found.column(f"end:q:{joint}")[number] == km.read_scenario(tmp_path / "s.yaml").of_run(number).run().q[-1, 0]
    opened = km.open_sweep(tmp_path / "swept")
    assert rows(opened) == rows(found)
    with pytest.raises(InputError, match="is code that a file of results names"):
        opened.run(0)
    assert km.open_sweep(tmp_path / "swept", controller=f"{tmp_path / 'mine.py'}:law").run(0).q.shape == (101, 1)


def test_functions_of_files_push_hold_and_end_the_runs(tmp_path):
    """Each mass has a step of its own, as functions of files may know it; where runs end by themselves, each is alone."""
    (tmp_path / "mine.py").write_text(
        "def push(robot):\n    return lambda t, q, v: [0, 0, 0, 2.0 * t, 0, 0]\n"
        "def late(robot, time):\n    return lambda t, q, v: t > time\n"
        "def hill(robot):\n    return lambda r: r[2] - 0.1 * (r[0] + 2.0)\n"
    )
    start = {"q": [-np.pi / 6, -np.pi / 3, -np.pi / 3]}
    mass = {"grid": {"mass:link1": [1.0, 2.0]}}
    given = {"robot": "planar_3r", "start": start, "solver": {"duration": 0.05, "integrator": "rk4"}, "sweep": mass}
    file = f"{tmp_path / 'mine.py'}:"
    until = {"until": {"law": f"{file}late", "time": 0.0195}}
    cases = {
        "wrenches": {"wrenches": {"link3": f"{file}push"}},
        "held": {"held": {"link3": {"point": [0, 0, 1], "surface": f"{file}hill"}}},
        "until": {"solver": given["solver"] | until},
    }
    for name, more in cases.items():
        found = km.sweep(given | more, tmp_path / name)
        assert list(found.column("status")) == ["done", "done"], list(found.column("message"))
        scenario = km.read_scenario(given | more)
        for number in range(2):
            run = scenario.of_run(number).run()
            assert found.column("end:q:joint1")[number] == pytest.approx(run.q[-1, 0], abs=1e-13)
            assert found.column("reached")[number] == pytest.approx(0.02 if name == "until" else 0.05)
        assert rows(km.open_sweep(tmp_path / name)) == rows(found)


def test_solvers_are_compared_whether_their_runs_are_side_by_side_or_not(tmp_path):
    grid = {"solver:integrator": ["rk4", "rkf45_adaptive", "semi_implicit_euler"], "solver:step": [1e-3, 2e-3]}
    found = km.sweep({"robot": "pendulum", "solver": {"duration": 0.2}, "sweep": {"grid": grid}}, tmp_path / "swept")
    assert list(found.column("solver:integrator")) == [name for name in grid["solver:integrator"] for _ in "ab"]
    q = found.column(f"end:q:{km.load('pendulum').mechanism.q_names[0]}")
    np.testing.assert_allclose(q[:4], q[0], rtol=1e-8)
    np.testing.assert_allclose(q[4:], q[0], rtol=2e-2)
    assert abs(q[5] - q[0]) == pytest.approx(2.0 * abs(q[4] - q[0]), rel=0.1)  # of order one


def test_balls_slide_as_their_friction_says(tmp_path):
    """With a start on the floor for each run, and in a process of its own."""
    body = km.Body("ball", 1.0, inertia=(0.004, 0.004, 0.004), collisions=(km.Geometry(km.Sphere(0.1)),))
    ball = km.Mechanism("ball", (body,), (km.Joint("free", "floating", "world", "ball"),))
    given = {
        "robot": "ball", "contact": "rigid", "start": {"height": 0.0}, "solver": {"duration": 0.1, "step": 1e-3},
        "outputs": ["momentum"],
        "sweep": {"grid": {"friction:floor": [0.05, 0.1], "v:free.vx": [1.0, 2.0], "q:free.z": [0.3, 3.0]}},
    }  # fmt: skip
    found = km.sweep(km.read_scenario(given, mechanism=ball), tmp_path / "swept", processes=2)
    assert set(found.column("status")) == {"done"}
    slowed = found.column("v:free.vx") - found.column("friction:floor") * 9.81 * 0.1
    np.testing.assert_allclose(found.column("end:momentum[3]"), slowed, rtol=1e-9)


def test_shards_may_begin_at_the_same_time(tmp_path):
    scenario = km.read_scenario(written(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(km.sweep, scenario, tmp_path / "swept", shard=f"{k}/40") for k in range(21, 37)]
        assert all(one.result().table.num_rows == 0 for one in made)


def test_a_controller_that_fails_in_a_run_fails_that_run_alone(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import math\n\n\ndef law(robot, k):\n"
        "    return lambda t, q, v: [0.0 if t < 0.05 or k > 1.5 else math.sqrt(-1.0)] if type(t) is float else [t.nothing]\n"
    )
    controller = {"law": f"{tmp_path / 'mine.py'}:law", "k": 1.0}
    given = {"robot": "pendulum", "controller": controller, "solver": SOLVER, "sweep": {"grid": {"gain:k": [1.0, 2.0]}}}
    found = km.sweep(given, tmp_path / "swept")
    assert list(found.column("status")) == ["failed", "done"]
    assert "ValueError" in found.column("message")[0]


def test_numbers_of_the_model_share_one_step_and_give_what_each_run_gives_alone(tmp_path):
    """Masses, springs and gravity of a row act as in a mechanism built for it; so does the choice of "auto"."""
    robot = km.load("double_pendulum").mechanism
    body, joint = robot.bodies[1].name, robot.joints[0].name
    random = {
        "count": 12, "seed": 4, f"mass:{body}": {"uniform": [0.2, 3.0]}, f"center_of_mass:{body}.z": {"normal": [0.0, 0.1]},
        f"stiffness:{joint}": {"uniform": [0.0, 5.0]}, "gravity": {"uniform": [1.0, 20.0]},
    }  # fmt: skip
    sweep = {"grid": {f"damping:{joint}": [0.1, 3e3]}, "random": random}
    given = {"robot": "double_pendulum", "solver": {"duration": 0.1}, "outputs": ["energy", "center_of_mass"], "sweep": sweep}
    found = km.sweep(given, tmp_path / "swept", processes=1)
    assert len(blocks_of(km.read_scenario(given).design)) == 3
    assert {block.group for block in blocks_of(km.read_scenario(given).design)} == {0}
    for number in (0, 5, 17, 23):
        setup = km.read_scenario(given).of_run(number).setup
        alone = setup.simulation(equal_steps=True)
        assert alone.integrator.name == ("rkf45" if number < 12 else "semi_implicit_euler")
        run, row = alone.run(duration=0.1), found.table.slice(number, 1).to_pylist()[0]
        for k, name in enumerate(robot.q_names):
            assert row[f"end:q:{name}"] == pytest.approx(run.q[-1, k], rel=1e-11, abs=1e-13)
        assert row["work"] == pytest.approx(run.audit.work, rel=1e-9, abs=1e-12)
        assert row["end:energy.potential"] == pytest.approx(run.energy.potential[-1], rel=1e-11)
        assert row["end:center_of_mass[2]"] == pytest.approx(run.center_of_mass[-1, 2], rel=1e-11)


def test_gains_of_laws_share_one_step_and_masses_do_not_where_a_law_knows_them(tmp_path):
    body = km.load("double_pendulum").mechanism.bodies[1].name
    laws = ["gravity_compensation", {"law": "pd", "kp": 5.0, "kd": 1.0, "reference": {"shoulder": 0.5}}]
    grid = {f"mass:{body}": [0.5, 2.0], "gain:kp": [1.0, 4.0, 9.0]}
    given = {"robot": "double_pendulum", "controller": laws, "solver": SOLVER, "sweep": {"grid": grid}}
    scenario = km.read_scenario(given)
    assert [one.shared for one in scenario.design.parameters] == [False, True]
    assert len(blocks_of(scenario.design)) == 2
    found = km.sweep(given, tmp_path / "swept", processes=1)
    for number in range(6):
        run = scenario.of_run(number).run()
        for k, name in enumerate(run.mechanism.q_names):
            assert found.column(f"end:q:{name}")[number] == pytest.approx(run.q[-1, k], rel=1e-11, abs=1e-13)
