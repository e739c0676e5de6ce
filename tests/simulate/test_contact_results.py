"""Runs with contact as results: in files, in the audit, and in the forces at the joints."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from importlib import import_module

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.placement import on_ground
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.kinematics import link_poses, place_pose
from kumitate.model import Body, Distance, Geometry, Joint, Loop, Mechanism, Sphere
from kumitate.records.archive import load, save
from kumitate.records.audit import Audit, ContactAccount, contact_account
from kumitate.records.contact_record import ContactRecord
from kumitate.records.readings import contact_loads
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

G = 9.81


def hopper(**joint) -> Mechanism:
    """A ball on a leg with a ball for a foot, free in space."""
    trunk = Body("trunk", 2.0, (0.0, 0.0, 0.02), (0.02, 0.03, 0.02), collisions=(Geometry(Sphere(0.1)),))
    leg = Body(
        "leg", 0.5, (0.0, 0.01, -0.2), (0.006, 0.006, 0.001), collisions=(Geometry(Sphere(0.04), pose((0.0, 0.0, -0.4))),)
    )  # fmt: skip
    joints = (
        Joint("base", "floating", "world", "trunk"),
        Joint("hip", "revolute", "trunk", "leg", pose((0.02, 0.0, -0.05)), axis=(0, 1, 0), **joint),
    )
    return Mechanism("hopper", (trunk, leg), joints)


@pytest.fixture(scope="module")
def fallen() -> km.Run:
    """The hopper falling over, with a stiffly damped hip."""
    mechanism = hopper(damping=(0.3,), stiffness=(4.0,))
    q = on_ground(mechanism, [0.0, 0.4, 0.0, np.sqrt(0.84), 0.0, 0.0, 0.0, -0.3], height=0.05)
    contact = Contact(surface=Surface(friction=0.6, restitution=0.3))
    return km.simulate(mechanism, q, duration=0.6, step=1e-3, contact=contact)


def same(one: ContactRecord, other: ContactRecord) -> bool:
    names = [field.name for field in fields(ContactRecord) if field.name != "bodies"]
    return one.bodies == other.bodies and all(np.array_equal(getattr(one, x), getattr(other, x)) for x in names)


# --- files ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_contact_comes_back_bit_by_bit(fallen, tmp_path, suffix):
    back = load(save(fallen, tmp_path / f"run{suffix}"))
    assert back.contact is not None
    assert len(back.contact.bodies) == 2
    assert same(back.contact, fallen.contact)
    assert (back.audit, back.settings) == (fallen.audit, json.loads(json.dumps(fallen.settings)))
    np.testing.assert_array_equal(back.contact.on("leg"), fallen.contact.on("leg"))
    assert [path.name for path in tmp_path.iterdir()] == [f"run{suffix}"]


def test_units_are_stored_with_the_arrays(fallen, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(save(fallen, tmp_path / "run.h5")) as file:
        units = {name: data.attrs["unit"] for name, data in file["contact"].items() if name != "bodies"}
    expected = {
        "force": "N", "position": "m", "normal": "", "gap": "m", "velocity": "m/s", "residual": "m/s", "penetration": "m",
        "work": "J",
    }  # fmt: skip
    assert {name: units[name] for name in expected} == expected


@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_files_without_contact_and_with_none_that_touched_open(fallen, tmp_path, suffix):
    plain = replace(fallen, contact=None, audit=replace(fallen.audit, contact=None))
    back = load(save(plain, tmp_path / f"plain{suffix}"))
    assert (back.contact, back.audit.contact) == (None, None)
    n = len(fallen)
    nothing = replace(
        fallen.contact, bodies=(), gap=np.zeros((n, 0)), friction=np.zeros((n, 0)),
        **{name: np.zeros((n, 0, 3)) for name in ("force", "position", "normal", "velocity")},
    )  # fmt: skip
    assert same(load(save(replace(fallen, contact=nothing), tmp_path / f"air{suffix}")).contact, nothing)


def test_contact_of_another_length_is_an_input_error(fallen, tmp_path):
    target = save(fallen, tmp_path / "run.npz")
    with np.load(target) as file:
        entries = dict(file)
    np.savez(target, **{**entries, "contact/force": entries["contact/force"][:-1]})
    with pytest.raises(InputError, match=r"run\.npz.*damaged.*shape"):
        load(target)
    np.savez(target, **{name: entry for name, entry in entries.items() if name != "contact/gap"})
    with pytest.raises(InputError, match=r"run\.npz.*contact/gap"):
        load(target)


# --- the audit --------------------------------------------------------------------------------------------------------
def test_the_audit_says_how_contact_went(fallen):
    account, record = fallen.audit.contact, fallen.contact
    assert account.penetration == record.penetration.max()
    assert account.residual == record.residual[:-1].max()
    assert account.work == pytest.approx(record.work[:-1].sum(), rel=1e-12)
    assert account.work < -0.5  # it fell
    # energy = start + work of contact + work of damping (the joint's spring is energy): two accounts of the same run
    text = "\n".join(fallen.audit.lines())
    assert f"penetration at most {account.penetration:.3g} m" in text
    assert f"work of contact {account.work:.6g} J" in text
    assert f"{fallen.audit.work - account.work:.6g} J" in text
    back = Audit.from_dict(json.loads(json.dumps(fallen.audit.as_dict())))
    assert back == fallen.audit
    assert isinstance(back.contact, ContactAccount)


def test_contact_of_few_states_or_that_compiles_long_is_recorded_by_the_code_of_the_steps(monkeypatch):
    """Code for several states at a time would be compiled for the record alone, in minutes; it finds the same contact."""
    module = import_module("kumitate.simulate.interactions.impulses")
    mechanism = hopper(damping=(0.2,))
    q = on_ground(mechanism, [0.0, 0.4, 0.0, np.sqrt(0.84), 0.0, 0.0, 0.0, -0.3])
    records = []
    for bound, few, widths in ((0.0, 0, 1), (np.inf, 52, 1), (np.inf, 51, 2)):
        monkeypatch.setattr(module, "_LONG", bound)
        monkeypatch.setattr(module, "_FEW", few)
        simulation = km.Simulation(mechanism, start=(q, np.zeros(7)), step=1e-3, contact=Contact(), side_by_side=True)
        records.append(simulation.run(duration=0.05).contact)
        assert len(simulation.compiled.code.kernel("jumps").widths) == widths
    one_by_one, few, several = records
    np.testing.assert_array_equal(one_by_one.force, few.force)
    assert np.abs(one_by_one.force).max() > 1.0
    np.testing.assert_allclose(one_by_one.force, several.force, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one_by_one.gap, several.gap, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(one_by_one.residual < 1e-9, several.residual < 1e-9)


def test_steps_that_gain_energy_are_counted(fallen):
    n = len(fallen)
    gained = np.zeros(n)
    gained[[3, 8]], gained[5], gained[-1] = 0.1, -0.2, 7.0  # the last step was not made
    record = replace(fallen.contact, gained=gained, work=0.5 * gained)
    account = contact_account(record, np.ones(n))
    assert (account.gains, account.gained) == (2, pytest.approx(0.2))
    assert account.work == pytest.approx(0.0, abs=1e-15)
    said = {gains: Audit(contact=ContactAccount(0.0, 0.0, 0.0, gains, 0.2)).lines() for gains in (0, 1, 2)}
    endings = ("no step gained", "1 step gained 0.2 J", "2 steps gained 0.2 J")
    assert all(any(line.endswith(words) for line in said[gains]) for gains, words in enumerate(endings))


@pytest.mark.parametrize("count", [1, 5], ids=["traced pairs", "scene"])
def test_contact_does_no_work_on_bodies_at_rest_or_that_roll(count):
    """Its impulses work at the mean of the velocities before and after a step, both of which are zero where it acts."""
    balls = unconnected(*(solid(f"ball{k}", km.Sphere(0.1), 2.0) for k in range(count)))
    q, v = [x for k in range(count) for x in (0.0, 0.0, 0.0, 1.0, float(k), 0.0, 0.1)], np.zeros(6 * count)
    v[[1, 3]] = 10.0, 1.0  # the first one rolls without slip
    run = km.simulate(balls, q, v, duration=0.1, contact="rigid")
    assert np.abs(run.contact.normal_force[-1].sum() - count * 2.0 * 9.81) < 1e-6
    assert run.audit.contact.work == pytest.approx(0.0, abs=1e-9)
    assert run.audit.work == pytest.approx(0.0, abs=1e-9)
    assert run.audit.contact.gains == 0


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)], ids=["drawn", "lifted"])
def test_a_platform_that_follows_a_motion_is_not_contact_that_gains_energy(axis):
    plate = replace(solid("plate", km.Box((1.0, 1.0, 0.1)), 3.0), inertia=(0.1, 0.1, 0.1))
    joints = (km.Joint("along", "prismatic", "world", "plate", axis=axis), km.Joint("free", "floating", "world", "box"))
    mechanism = km.Mechanism("platform", (plate, solid("box", km.Sphere(0.1), 2.0)), joints)
    motion = km.PrescribedMotion(velocity=lambda t: 0.5)
    run = km.simulate(
        mechanism, [0, 0, 0, 0, 1, 0, 0, 0.15], duration=0.1, contact=km.Contact(ground=()), motions={"along": motion}
    )
    assert run.contact.normal_force.max() > 19.0
    assert run.energy.total[-1] - run.energy.total[0] > 0.05  # the motion works on the body
    assert run.audit.contact.gains == 0


def test_files_from_before_gains_had_an_entry_have_them_as_work(fallen, tmp_path):
    target = save(fallen, tmp_path / "run.npz")
    with np.load(target) as file:
        entries = dict(file)
    np.savez(target, **{name: entry for name, entry in entries.items() if name != "contact/gained"})
    found = load(target).contact
    np.testing.assert_array_equal(found.gained, found.work)


# --- forces at joints ---------------------------------------------------------------------------------------------------
def leg_forces(run: km.Run) -> np.ndarray:
    """What the hip exerts on the leg (n, 3), by the leg's own momentum: m (a − g) less the contact's force on it.

    The acceleration of the leg's center of mass comes from its velocities at the ends of the step, each from the poses.
    """
    mechanism, h = run.mechanism, run.settings["step"]
    tree = mechanism.tree

    def velocity(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        def center(q: list[float]) -> np.ndarray:
            X = np.array(place_pose(tree, link_poses(tree, q), tree.places["leg"]).matrix(), dtype=float)
            return X[:3] @ [0.0, 0.01, -0.2, 1.0]

        robot, d = run.robot, 1e-6
        ends = (robot.integrate(q, sign * d * v).tolist() for sign in (1.0, -1.0))
        after, before = map(center, ends)
        return (after - before) / (2.0 * d)

    # at the posture where the step begins: its mean acceleration is ∂v_C/∂v·a + what the velocity does there
    rows = []
    for q, v, a in zip(run.q, run.v, run.a, strict=True):
        eps = 1e-5
        bent = (velocity(run.robot.integrate(q, eps * v), v) - velocity(run.robot.integrate(q, -eps * v), v)) / (2.0 * eps)
        rows.append(velocity(q, v + h * a) / h - velocity(q, v) / h + bent)
    return 0.5 * (np.array(rows) + np.array([0.0, 0.0, G])) - run.contact.on("leg")


def test_joint_forces_hold_each_body_against_its_contact(fallen):
    some = np.r_[0:600:60, np.argsort(-np.abs(fallen.contact.on("leg")).max(axis=1))[:4]]  # flight, rest, and the hardest blows
    wrenches = fallen.joint_wrenches(in_world=True)["hip"]
    part = replace_rows(fallen, some)
    expected = leg_forces(part)
    size = np.abs(expected).max(axis=1, keepdims=True) + 1.0
    np.testing.assert_allclose(wrenches[some, 3:] / size, expected / size, atol=2e-6)
    assert np.abs(fallen.contact.on("leg")).max() > 100.0


def replace_rows(run: km.Run, some: np.ndarray) -> km.Run:
    """The run at some of its times only."""
    order = np.arange(len(run))[some]
    record = run.contact
    arrays = {name: value[order] for name, value in vars(record).items() if name != "bodies" and value is not None}
    columns = {name: getattr(run, name)[order] for name in ("q", "v", "a", "tau", "center_of_mass", "momentum")}
    energy = type(run.energy)(*(part[order] for part in run.energy))
    time = np.arange(len(order)) * 1.0
    return replace(run, time=time, energy=energy, contact=ContactRecord(record.bodies, **arrays), **columns)


def test_nothing_but_contact_holds_a_free_body(fallen):
    """The joint that lets the mechanism move about exerts nothing: contact and weight make all of its acceleration."""
    wrenches = fallen.joint_wrenches()["base"]
    size = np.abs(fallen.contact.force).max()
    assert size > 100.0
    assert np.abs(wrenches).max() < 1e-9 * size
    assert np.abs(fallen.robot.inverse_dynamics(fallen.q, fallen.v, fallen.a)[:, :6]).max() > 0.1 * size  # it matters


def test_other_wrenches_act_besides(fallen):
    push = np.broadcast_to([0.0, 0.0, 0.0, 1.0, 0.0, 0.0], (len(fallen), 6))
    loads = contact_loads(fallen, {"trunk": push})
    np.testing.assert_allclose(loads.wrenches["trunk"] - contact_loads(fallen).wrenches["trunk"], push, atol=1e-9)
    base = fallen.joint_wrenches(wrenches={"trunk": push}, in_world=True)["base"]
    np.testing.assert_allclose(base[:, 3:], np.broadcast_to([-1.0, 0.0, 0.0], (len(fallen), 3)), atol=1e-8)


ROD = Loop("rod", Distance(0.45), "trunk", "leg", pose((0.3, 0.0, 0.0)), pose((0.0, 0.0, -0.3)))


def test_contact_makes_the_accelerations_of_closed_loops():
    """A rod ties the leg: with the contact's wrenches the closed mechanism accelerates as it did, to the order of the step."""
    mechanism = replace(hopper(), loops=(ROD,))
    tied = km.Robot(mechanism).assemble([0.0, 0.4, 0.0, np.sqrt(0.84), 0.0, 0.0, 0.0, -0.1])
    q = on_ground(mechanism, tied, height=0.02)
    run = km.simulate(mechanism, q, duration=0.12, contact="rigid")
    loads = contact_loads(run)
    assert loads.tau is run.tau
    a = run.robot.forward_dynamics(run.q, run.v, loads.tau, wrenches=loads.wrenches)
    size = np.abs(run.a).max()
    assert size > 100.0
    np.testing.assert_allclose(a / size, run.a / size, atol=2e-3)
    free = run.robot.forward_dynamics(run.q, run.v, loads.tau)
    assert np.abs(free - run.a).max() > 0.5 * size


def test_closed_loops_with_fast_joints_are_refused_by_name(fallen, monkeypatch):
    part = replace(replace_rows(fallen, np.arange(3)), mechanism=replace(hopper(), loops=(ROD,)))
    assert contact_loads(part).tau is part.tau
    module = import_module("kumitate.records.readings")  # `km.simulate` is a function
    monkeypatch.setattr(module, "fastest_rate", lambda *_: (600.0, "hip"))
    with pytest.raises(InputError, match=r"hopper: damping, springs or drives at 'hip' act at 600 1/s.*0\.001 s.*smaller step"):
        contact_loads(part)
