"""Benchmarks: that what is timed is the same thing on both sides. How fast it is, no test judges."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.dynamics import crba
from kumitate.errors import InputError, KumitateError
from kumitate.measure.timing import Contender, Timing, by_turns, once
from kumitate.model import Body, Box, Cylinder, Geometry, Joint, Mechanism, Sphere
from kumitate.model.samples import sample
from kumitate.papers import jacobian_inertia, unit_vector
from kumitate.scalar import evaluate, trace
from kumitate.simulate.driving.forcing import Forcing
from kumitate.spatial import pose
from studies.bench import CASES, Effort, Report, Row, run
from studies.bench import contact as steps_on_floor
from studies.bench.comparisons import Dynamics, PythonCall, Steps
from studies.bench.contact import ContactSteps
from studies.bench.contract import agreement
from studies.bench.dense import constants, dense_program, unit_vector_at_run_time
from studies.bench.four_bars import FourBars
from studies.bench.inertia_matrix import InertiaMatrix
from studies.bench.loop_derivatives import LoopDerivatives
from studies.bench.mujoco_floor import DEFAULT, STIFF, MuJoCoOnFloor, floor_mjcf
from studies.bench.mujoco_peer import MuJoCo
from studies.bench.ours import compiled_drives
from studies.bench.pinocchio_peer import Pinocchio
from studies.bench.postures import PosesReached
from studies.bench.scenes import missed_by, mjcf, piled
from studies.bench.second_derivatives import SecondDerivatives
from studies.bench.start import Compilation
from studies.bench.subjects import RandomChain
from studies.bench.touching import PAIRS as TOUCHING
from studies.bench.touching import TouchingPairs
from studies.commands.bench import bench

CHAIN = RandomChain("chain3", "a chain of three links", 3)
BRIEFLY = Effort(rounds=2, scale=0.01)
PAGES = (crba, unit_vector, jacobian_inertia)


# --- dense blocks -----------------------------------------------------------------------------------------------------
@pytest.mark.row("C-crb", "C-uv", "C-mj")
@pytest.mark.parametrize("name", ["planar_3r", "pa10", "free_rod"])
def test_dense_blocks_compute_the_same_matrix_from_numbers_at_run_time(name):
    mechanism = sample(name)()
    tree = mechanism.tree
    q = [float(x) for link in tree.links for x in link.kind.random(np.random.default_rng(5))]
    expected = np.array(crba(tree, q))
    given = [*q, *constants(tree, q), *np.zeros(tree.nv + 3)]
    programs = [*(dense_program(page, tree, page.__name__) for page in PAGES), unit_vector_at_run_time(tree)]
    for program in programs:
        found = np.array(evaluate(program, given)).reshape(tree.nv, tree.nv)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-13 * np.abs(expected).max(), err_msg=program.name)


def test_dense_blocks_take_other_numbers_without_being_traced_again():
    tree = sample("pa10")().tree
    q = [0.3] * tree.nq
    program, heavier = dense_program(crba, tree, "crba"), constants(tree, q)
    once_heavy = evaluate(program, [*q, *heavier, *np.zeros(tree.nv + 3)])
    per_link = len(heavier) // len(tree.links)
    mass = slice(12, 22)  # of each link: mass, first moment, rotational inertia
    for k in range(len(tree.links)):
        heavier[k * per_link :][mass] *= 2.0
    doubled = evaluate(program, [*q, *heavier, *np.zeros(tree.nv + 3)])
    np.testing.assert_allclose(doubled, 2.0 * np.array(once_heavy), rtol=1e-13)


@pytest.mark.row("C-crb", "C-uv", "C-mj")
def test_composite_bodies_take_the_fewest_operations_from_arms_on():
    # in dense blocks, trees of a few links are cheaper by Jacobians: turning a composite inertia has its price
    for mechanism in (sample("pa10")(), RandomChain("chain12", "", 12).mechanism):
        tree = mechanism.tree
        dense = [dense_program(page, tree, "").operations.total() for page in PAGES]
        traced = [trace(lambda q, page=page, tree=tree: page(tree, q), {"q": tree.nq}).operations.total() for page in PAGES]
        assert dense[0] < min(dense[1:])
        assert traced[0] < min(traced[1:])
        assert all(few < many for few, many in zip(traced, dense, strict=True))


# --- the peers --------------------------------------------------------------------------------------------------------
def test_a_chain_is_the_same_in_pinocchio():
    pytest.importorskip("pinocchio")
    rows = list(Dynamics(CHAIN, one=1.0, batch=1.0, states=16).rows(BRIEFLY))
    assert [row.what.split(",")[0] for row in rows] == ["forward dynamics"] * 2 + ["inverse dynamics"] * 2
    for row in rows:
        assert row.agreement < 1e-11
        assert row.ratio == row.theirs.minimum / row.ours.minimum


@pytest.mark.parametrize("name", ["panda", "hyq"])
def test_a_robot_is_the_same_in_pinocchio(name):
    pytest.importorskip("pinocchio")
    case = CASES[name]
    if case.missing:
        pytest.skip(f"{case.missing} is not installed")
    assert all(row.agreement < 1e-10 for row in case.rows(BRIEFLY))


def test_a_python_call_gives_the_same_on_both_sides():
    pytest.importorskip("pinocchio")
    (row,) = PythonCall(CHAIN, at_least=1.0).rows(BRIEFLY)
    assert row.agreement < 1e-11
    assert row.theirs is not None


def test_steps_are_mujocos_steps():
    pytest.importorskip("mujoco")
    one, batch = Steps(CHAIN, one=1.0, batch=1.0).rows(BRIEFLY)
    assert one.agreement < 1e-9
    assert one.theirs == batch.theirs is not None


def leg() -> Mechanism:
    """A trunk on a shin and a foot, hinged at right angles: its steps compile in a twentieth of a humanoid's time."""
    sole = Geometry(Box((0.3, 0.2, 0.02)), pose((0.0, 0.0, -0.03)))
    bodies = (
        Body("trunk", 2.0, inertia=(8e-3, 8e-3, 8e-3), collisions=(Geometry(Sphere(0.1)),)),
        Body("shin", 0.5, (0.0, 0.0, -0.1), (1.7e-3, 1.7e-3, 1e-4)),
        Body("foot", 0.5, (0.0, 0.0, -0.03), (1.7e-3, 3.8e-3, 5.4e-3), collisions=(sole,)),
    )
    joints = (
        Joint("free", "floating", "world", "trunk"),
        Joint("hip", "revolute", "trunk", "shin", pose((0.0, 0.0, -0.1)), axis=(1.0, 0.0, 0.0)),
        Joint("ankle", "revolute", "shin", "foot", pose((0.0, 0.0, -0.2)), axis=(0.0, 1.0, 0.0)),
    )
    return Mechanism("leg", bodies, joints)


@pytest.mark.slow
def test_what_stands_on_a_floor_is_mujocos_in_flight_and_stands_harder(monkeypatch):
    pytest.importorskip("mujoco")
    monkeypatch.setattr(steps_on_floor, "hoap1", leg)
    monkeypatch.setattr(steps_on_floor, "HOAP1_STANDING", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.34, 0.0, 0.0))
    case = ContactSteps(one=1.0, batch=1.0, at_most={"standing": (1.0, 1.0)}, trajectories=8, count=16)
    rows = list(case.rows(BRIEFLY))
    assert {row.what.split(",")[0] for row in rows} == {"step standing", "step falling"}
    assert all(row.agreement is None or row.agreement < 1e-11 for row in rows)
    ours = case.residuals
    assert ours.penetration < 1e-9
    assert ours.cone < 1e-9
    assert ours.creep < 1e-6
    assert ours.complementarity < 1e-3
    for settings in (DEFAULT, STIFF):
        theirs = case.peer_residuals(
            MuJoCoOnFloor(case.mechanism, case.contact, settings, step=case.step, stiffness=case.stiffness)
        )
        assert theirs.penetration > 1e3 * ours.penetration
        assert theirs.creep > 10.0 * ours.creep


def test_what_mujoco_is_not_given_is_refused():
    mechanism = sample("planar_3r")()
    with pytest.raises(InputError, match="must be the plane z = 0"):
        floor_mjcf(mechanism, Contact(ground=()), DEFAULT, step=1e-3, stiffness=0.0)
    ball = replace(
        mechanism, bodies=(replace(mechanism.bodies[0], collisions=(Geometry(Cylinder(0.1, 0.1)),)), *mechanism.bodies[1:])
    )
    with pytest.raises(InputError, match="Cylinder: for MuJoCo shapes must be boxes, spheres or capsules"):
        floor_mjcf(ball, Contact(), DEFAULT, step=1e-3, stiffness=0.0)


def test_without_peers_our_own_times_stand_alone(monkeypatch):
    monkeypatch.setattr(Pinocchio, "installed", staticmethod(lambda: False))
    monkeypatch.setattr(MuJoCo, "installed", staticmethod(lambda: False))
    cases = (Dynamics(CHAIN, one=1.0, batch=1.0), PythonCall(CHAIN, at_least=1.0), Steps(CHAIN, one=1.0, batch=1.0))
    for case in cases:
        for row in case.rows(BRIEFLY):
            assert row.ours is not None
            assert row.theirs is row.ratio is row.agreement is None
            assert row.verdict == ("not measured" if row.at_least else "")
    monkeypatch.setitem(CASES, "chain3", cases[0])
    (note,) = run(["chain3"], effort=BRIEFLY).notes
    assert note.startswith("Pinocchio (package pin) is not installed")


def test_results_that_differ_are_not_timed():
    with pytest.raises(KumitateError, match="differ by"):
        agreement("a", np.ones(3), np.array([1.0, 1.0, 1.1]), 1e-9)
    with pytest.raises(KumitateError, match="differ by"):
        agreement("a", np.array([1.0, np.nan]), np.ones(2), 1e-9)


# --- our own cases ----------------------------------------------------------------------------------------------------
def test_the_methods_for_the_inertia_matrix_agree_before_they_are_timed():
    rows = list(InertiaMatrix(CHAIN, at_least=1.0).rows(BRIEFLY))
    assert {row.beside for row in rows} == {"unit_vector", "unit_vector, e_i at run time", "jacobian_inertia"}
    assert all(row.agreement < 1e-13 and row.ours is not None for row in rows)


def test_compilation_is_timed_without_the_cache_and_leaves_it_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    rows = {row.what: row for row in Compilation(CHAIN, total=60.0).rows(Effort(rounds=1))}
    assert rows["from the cache, one state"].ours.minimum < rows["LLVM, one state"].ours.minimum
    assert rows["trace and LLVM, one state"].verdict == "met"
    assert not list(tmp_path.iterdir())


def test_drives_that_are_not_compiled_are_not_timed():
    mechanism = CHAIN.mechanism
    calls = []
    forcing = Forcing(mechanism, lambda t, q, v: calls.append(t) or -q)
    with pytest.raises(KumitateError, match=r"chain3: the controller: called .*; drives that are timed must be compiled"):
        compiled_drives(forcing, np.zeros(3), np.zeros(3))


def test_contenders_take_turns():
    calls = []
    timings = by_turns({name: Contender(lambda name=name: calls.append(name), 10) for name in "ab"}, rounds=2)
    assert "".join(calls) == "aabbaabb"
    assert timings["a"].samples == 2
    assert 0.0 <= timings["a"].minimum <= timings["a"].median


def test_verdicts():
    fast, slow = Timing(1e-6, 2e-6, 9), Timing(3e-6, 4e-6, 9)
    assert Row("a", "b", fast, theirs=slow, at_least=2.5).verdict == "met"
    assert Row("a", "b", fast, theirs=slow, at_least=3.5).verdict == "missed"
    assert Row("a", "b", once(0.2), at_most=0.1).verdict == "missed"
    assert Row("a", "b", fast, theirs=slow).verdict == ""
    assert Row("a", "b", None, operations=(100, 250)).ratio == 2.5


def test_the_page_is_a_table_of_all_rows():
    row = Row("a", "b", Timing(1e-6, 2e-6, 9), "peer", Timing(3e-6, 4e-6, 9), at_least=2.5, agreement=1e-14)
    text = Report({"processor": "x"}, (row,), ("peer is old",), 9).markdown()
    assert "| a | b | 1 µs / 2 µs | peer | 3 µs / 4 µs | 3.00× | ≥ 2.5× | met | 1e-14 |  |" in text
    assert "- peer is old" in text


def test_the_command_answers_machines(capsys, tmp_path):
    page = tmp_path / "bench.md"
    bench("import", quick=True, as_json=True, markdown=page)
    said = json.loads(capsys.readouterr().out)
    assert said["rows"][0]["case"] == "import"
    assert {"processor", "float64 lanes", "Python", "llvmlite", "Pinocchio", "MuJoCo"} <= set(said["machine"])
    assert said["machine"]["processor"] in page.read_text(encoding="utf-8")


def test_an_unknown_benchmark_is_refused_with_its_neighbours():
    with pytest.raises(InputError, match="did you mean 'panda'"):
        bench("pandda")


def test_touching_pairs_are_as_deep_in_mujoco():
    pytest.importorskip("mujoco")
    rows = list(TouchingPairs(pairs=16).rows(BRIEFLY))
    assert [row.what for row in rows] == [f"{a}, {b}" for a, b in TOUCHING]
    assert all(row.agreement < 1e-3 and row.theirs is not None for row in rows)


def test_how_much_mujocos_contacts_miss_the_laws():
    mujoco = pytest.importorskip("mujoco")
    mechanism, contact, _, _ = piled(1.0)
    model = mujoco.MjModel.from_xml_string(mjcf(mechanism, contact, DEFAULT))
    data = mujoco.MjData(model)
    data.qpos[2] = 0.06
    mujoco.mj_step(model, data, 500)
    assert missed_by(mujoco, model, data) < 1e-6  # it lies
    data.qvel[2] -= 1.0
    assert missed_by(mujoco, model, data) == pytest.approx(1.0, abs=1e-6)  # it sinks
    data.qvel[:3] = 0.3, 0.0, 0.0
    # it slides, and friction is not what it could be: λ = W h / 4 on each of four corners, 1 kg
    assert missed_by(mujoco, model, data) == pytest.approx(0.5 * 9.81e-3 / 4.0, rel=1e-3)


# --- derivatives, postures, parameters ----------------------------------------------------------------------------------
NEW = {
    "derivatives with a loop": LoopDerivatives(FourBars("four_bar", "a planar four-bar linkage", 1), one=1.0, batch=1.0),
    "second derivatives": SecondDerivatives(CHAIN, one=1.0, batch=1.0),
    "postures": PosesReached(CHAIN, one=1.0, batch=1.0),
}


@pytest.mark.parametrize("case", NEW.values(), ids=NEW)
def test_derivatives_and_postures_are_timed_one_by_one_and_together(case):
    one, batch = case.rows(BRIEFLY)
    assert one.case == batch.case == case.name
    assert one.ours.minimum > 0.0
    assert batch.ours.minimum > 0.0
