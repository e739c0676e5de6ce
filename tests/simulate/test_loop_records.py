"""Loop joints, lines and couplings in results: by another cut, in closed form, by the balance of energy, and in files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import simpson

import kumitate as km
from kumitate.model import Body, Coupling, Joint, Loop, Mechanism, recut
from kumitate.records.archive import Hdf5Entries, load, save
from kumitate.share.run_files import columns_of
from kumitate.spatial import pose
from kumitate.view.page import channels_of

from ..model.test_recut import crank_rocker, same_state

DRIVE = [0.7]


def push(t, q, v):
    return np.array([0.0, 0.3 * t, 0.0, 1.0, 0.0, -2.0])


@pytest.fixture(scope="module")
def driven() -> km.Run:
    """A four-bar whose loop joint is driven and damped, with a wrench on its coupler."""
    robot = km.Robot(crank_rocker(0.5))
    q, v = robot.assemble([0.4, 0.3, 2.0], [1.0, 0.0, 0.0])
    return km.simulate(robot, q, v, duration=0.4, step=1e-3, loop_tau={"pin": DRIVE}, wrenches={"coupler": push})


def test_the_force_of_a_loop_joint_is_that_of_the_joint_where_the_loop_is_cut_elsewhere(driven):
    """The pin as a joint of the tree, the pivot as that of the loop; in the plane the motion determines the forces."""
    other = km.Robot(recut(driven.mechanism, "pin", "pivot"))
    pin, pivot = driven.loops["pin"], driven.joint_wrenches()["pivot"]
    for k in (0, 150, 400):
        q, v = same_state(driven.robot, driven.q[k], driven.v[k], other)
        tau = np.zeros(other.nv)
        names = other.mechanism.v_names
        tau[names.index("pin")] = DRIVE[0]
        tau[names.index("motor")] = driven.tau[k, 0]
        found = other.joint_wrenches(q, v, tau, wrenches={"coupler": push(driven.time[k], None, None)})
        for ours, theirs in ((pin.wrench[k], found["pin"]), (pivot[k], found["pivot"])):
            assert np.linalg.norm(ours[[3, 5]]) > 0.5
            np.testing.assert_allclose(np.linalg.norm(ours[[3, 5]]), np.linalg.norm(theirs[[3, 5]]), rtol=1e-8)
            np.testing.assert_allclose(abs(ours[1]), abs(theirs[1]), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(pin.q[k, 0], q[names.index("pin")], atol=1e-9)
        np.testing.assert_allclose(pin.v[k, 0], v[names.index("pin")], atol=1e-9)


def test_energy_is_the_work_along_loop_joints_and_of_what_acted(driven):
    """Drive and damping of the loop joint, damping of the pivot, and the wrench that the run keeps."""
    pin, pivot = driven.loops["pin"], driven.joint("pivot")
    np.testing.assert_allclose(pin.tau, np.full((401, 1), DRIVE[0]))
    np.testing.assert_allclose(pin.effort, pin.tau - 0.01 * pin.v, atol=1e-12)
    velocity = driven.robot.velocity(driven.q, driven.v, "coupler")
    powers = (pin.effort * pin.v)[:, 0] - 0.02 * pivot.v[:, 0] ** 2 + (driven.wrenches["coupler"] * velocity).sum(axis=1)
    work = simpson(powers, x=driven.time)
    total = driven.energy.total
    assert abs(work) > 1e-2
    assert total[-1] - total[0] == pytest.approx(work, abs=1e-9)
    a = np.gradient(pin.v[:, 0], driven.time, edge_order=2)
    np.testing.assert_allclose(a[1:-1], pin.a[1:-1, 0], atol=1e-3 * np.abs(pin.a).max())


def test_a_line_has_a_length_and_the_force_of_its_spring_and_damper():
    run = km.simulate(km.load("governor"), duration=0.05, step=1e-3)
    for spring in run.loops.values():
        np.testing.assert_allclose(spring.effort, -(8e5 * (spring.q - 0.5) + 4e4 * spring.v), rtol=1e-9, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(spring.wrench[:, 3:], axis=1), np.abs(spring.effort[:, 0]), rtol=1e-9)
        assert not spring.tau.any()
    assert {"Joint position", "Slider position"} & {channel["title"] for channel in channels_of(run)}


def geared() -> Mechanism:
    """Two flywheels of 1 and 4 kg·m² about one axis; the second turns three times as fast, the other way."""
    wheels = (Body("slow", 1.0, inertia=(1.0, 1.0, 1.0)), Body("fast", 1.0, inertia=(4.0, 4.0, 4.0)))
    joints = tuple(Joint(body.name, "revolute", "world", body.name, pose((k, 0.0, 0.0))) for k, body in enumerate(wheels))
    return Mechanism("gears", wheels, joints, couplings=(Coupling("gear", "fast", "slow", -3.0),))


def test_the_effort_of_a_coupling_is_what_its_joint_lacks():
    """(1 + 3²·4) α = τ of the slow wheel; the gear gives the fast one 4·(−3 α)."""
    run = km.simulate(geared(), duration=0.1, step=1e-2, controller=[37.0, 0.0])
    gear = run.couplings["gear"]
    np.testing.assert_allclose(gear.effort, -12.0, rtol=1e-9)
    np.testing.assert_allclose(run.joint("slow").a[:, 0], 1.0, rtol=1e-9)
    np.testing.assert_allclose(gear.v, -3.0 * run.joint("slow").v[:, 0], atol=1e-12)
    columns = {column.title: column.values for column in columns_of(run)}
    np.testing.assert_array_equal(columns["effort.gear [N·m]"], gear.effort)
    assert "Effort of couplings" in {channel["title"] for channel in channels_of(run)}


def test_rods_and_rolling_have_forces_and_no_coordinates():
    robot = km.load("bicycle")
    run = km.simulate(robot, *robot.start, duration=0.02, step=1e-2)
    contact = run.loops["rear_contact"]
    assert contact.q.shape == contact.effort.shape == (3, 0)
    weight = robot.mechanism.tree.mass * 9.81
    upward = sum(run.joint_wrenches(in_world=True)[name][0, 5] for name in run.loops)
    assert upward == pytest.approx(weight, rel=0.05)


# --- files --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_what_acted_comes_back_from_files(driven, tmp_path, suffix):
    back = load(save(driven, tmp_path / f"run{suffix}"))
    for name in ("wrenches", "loop_tau"):
        kept, found = getattr(driven, name), getattr(back, name)
        assert list(kept) == list(found)
        for key, values in kept.items():
            np.testing.assert_array_equal(values, found[key])
    np.testing.assert_allclose(driven.wrenches["coupler"], [push(t, None, None) for t in driven.time], atol=1e-12)
    np.testing.assert_allclose(back.loops["pin"].wrench, driven.loops["pin"].wrench, atol=1e-12)
    given = driven.robot.joint_wrenches(
        driven.q, driven.v, driven.tau, wrenches=driven.wrenches, loop_tau={"pin": np.full((401, 1), DRIVE[0])}
    )
    for name, values in driven.joint_wrenches().items():
        np.testing.assert_allclose(values, given[name], atol=1e-12)


def test_files_and_tables_have_the_loops(driven, tmp_path):
    entries = Hdf5Entries(save(driven, tmp_path / "run.h5"))
    pin = driven.loops["pin"]
    assert entries.text("loop/names") == '["pin"]'
    for part in ("q", "v", "a", "tau", "effort", "wrench"):
        np.testing.assert_allclose(entries.array(f"loop/0/{part}"), getattr(pin, part), atol=1e-12)
    entries.close()
    columns = {column.title: column.values for column in columns_of(driven)}
    units = {"q": "rad", "v": "rad/s", "a": "rad/s²", "tau": "N·m", "effort": "N·m"}
    for part, unit in units.items():
        np.testing.assert_array_equal(columns[f"{part}.pin [{unit}]"], getattr(pin, part)[:, 0])
    np.testing.assert_array_equal(columns["joint_wrench.pin.fx [N]"], pin.wrench[:, 3])
    np.testing.assert_array_equal(columns["wrench.coupler.ny [N·m]"], driven.wrenches["coupler"][:, 1])


def test_files_of_earlier_versions_ask_for_what_acted(driven):
    earlier = replace(driven, wrenches={}, loop_tau={})
    with pytest.raises(km.InputError, match=r"wrenches of coupler acted in this run; give them again"):
        earlier.joint_wrenches()
    found = earlier.joint_wrenches(wrenches={"coupler": push}, loop_tau={"pin": DRIVE})
    np.testing.assert_allclose(found["pin"], driven.joint_wrenches()["pin"], atol=1e-12)
    with pytest.warns(km.KumitateWarning, match="forces of loops are left out"):
        assert not [column for column in columns_of(replace(earlier, loop_tau=driven.loop_tau)) if "wrench" in column.name]


def test_pictures_have_loops(driven):
    titles = {channel["title"]: [series["name"] for series in channel["series"]] for channel in channels_of(driven)}
    assert "pin" in titles["Joint angle"]
    assert titles["Force of loop joints"] == ["pin"]
    torque = next(channel for channel in channels_of(driven) if channel["title"] == "Joint torque")
    shown = next(series["values"] for series in torque["series"] if series["name"] == "pin")
    np.testing.assert_allclose(shown, DRIVE[0])
    assert isinstance(driven.mechanism.loops[0], Loop)


# --- controllers --------------------------------------------------------------------------------------------------------
def test_controllers_read_loop_joints():
    """Compiled, called at every stage, or sampled: the efforts are those of the recorded coordinates and rates."""
    robot = km.Robot(crank_rocker(0.5))
    q, v = robot.assemble([0.4, 0.3, 2.0], [1.0, 0.0, 0.0])
    assert (robot.mechanism.loop_q_names, robot.mechanism.loop_v_names) == (("pin",), ("pin",))

    def law(t, q, v, loop_q, loop_v):
        return np.array([-2.0 * loop_v[0] - 5.0 * np.sin(loop_q[0]), 0.0, 0.0])

    runs = [km.simulate(robot, q, v, duration=0.2, step=1e-3, controller=law, traced=traced) for traced in (True, False)]
    assert "compiled" in runs[0].audit.efforts[0]
    assert "called" in runs[1].audit.efforts[0]
    for run in runs:
        pin = run.loops["pin"]
        np.testing.assert_allclose(run.tau[:, 0], -2.0 * pin.v[:, 0] - 5.0 * np.sin(pin.q[:, 0]), atol=1e-9)
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)
    assert runs[0].energy.total[-1] - runs[0].energy.total[0] == pytest.approx(runs[0].audit.work, abs=1e-9)


def test_what_a_controller_cannot_read_is_said():
    def law(t, q, v, loop_v):
        return np.zeros(1)

    with pytest.raises(km.InputError, match="loop_v"):
        km.simulate(km.load("pendulum"), duration=0.01, controller=law)
    with pytest.raises(km.InputError, match="an input is called 'loop_q'"):
        km.Simulation(km.load("planar_4r"), inputs={"loop_q": 2})
