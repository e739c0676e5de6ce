"""Mechanisms written as MJCF have the same poses, inertia matrix and drives' forces in MuJoCo; what differs is said."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import crba, rnea
from kumitate.errors import InputError, KumitateWarning
from kumitate.kinematics import link_poses, place_pose
from kumitate.model import Body, Joint, Mechanism
from kumitate.model.samples import SAMPLES
from kumitate.model.write import mechanism_text

from ..mechanisms import Case, random_mechanism, random_state
from ..robots import ROBOT_FILES

mujoco = pytest.importorskip("mujoco")

ROWS = ("fixed", "revolute", "prismatic", "planar", "cylindrical", "universal", "spherical_euler", "floating_euler")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes a log into the working folder where an inertia matrix is nearly singular, as of point masses."""
    monkeypatch.chdir(tmp_path)


def written(mechanism: km.Mechanism, path="robot.xml") -> tuple[object, list[str]]:
    """MuJoCo's model of the written text without contact, and what was said of the writing."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        text = mechanism_text(mechanism, path)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model, [str(warning.message) for warning in said]


def state_of(model, case: Case):
    """Their data in the state of a case; rows of joints may be in another order there."""
    names = case.mechanism.v_names
    dofs = [int(model.joint(name).dofadr[0]) for name in names]
    data = mujoco.MjData(model)
    data.qpos[[int(model.joint(name).qposadr[0]) for name in names]] = case.q
    data.qvel[dofs], data.qacc[dofs] = case.v, case.a
    mujoco.mj_inverse(model, data)
    return data, dofs


def agree(case: Case, model) -> None:
    mechanism = case.mechanism
    assert model.nv == mechanism.nv
    data, dofs = state_of(model, case)
    links = link_poses(mechanism.tree, case.q)
    for item, theirs in [(b, data.body(b.name)) for b in mechanism.bodies] + [(f, data.site(f.name)) for f in mechanism.frames]:
        X = np.array(place_pose(mechanism.tree, links, mechanism.tree.places[item.name]).matrix(), dtype=float)
        np.testing.assert_allclose(theirs.xpos, X[:3, 3], atol=1e-12)
        np.testing.assert_allclose(theirs.xmat.reshape(3, 3), X[:3, :3], atol=1e-12)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    ours = np.array(crba(mechanism.tree, case.q), dtype=float).reshape(model.nv, model.nv)
    np.testing.assert_allclose(M[np.ix_(dofs, dofs)], ours, atol=1e-9 * np.abs(ours).max())
    expected = np.array(rnea(mechanism.tree, case.q, case.v, case.a, gravity=mechanism.gravity), dtype=float)
    np.testing.assert_allclose(data.qfrc_inverse[dofs], expected, atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(20))
def test_mujoco_finds_the_same_inertias_and_forces(seed):
    rng = np.random.default_rng(seed)
    kinds = [*rng.choice(ROWS, 6).tolist(), "revolute"]
    drawn = random_mechanism(rng, kinds, chain=seed % 2 == 1)
    still = [replace(joint, friction=0.0) for joint in drawn.joints]  # MuJoCo's dry friction is a constraint, and soft
    mechanism = replace(drawn, joints=tuple(still))
    model, said = written(mechanism)
    assert said == []
    agree(random_state(mechanism, rng), model)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_read_back(seed, tmp_path):
    """Joints of several degrees of freedom come back as rows; principal axes are found again, hence the tolerance."""
    rng = np.random.default_rng(100 + seed)
    kinds = [*rng.choice(("fixed", "revolute", "prismatic", "universal"), 5).tolist(), "revolute", "prismatic"]
    mechanism = replace(random_mechanism(rng, kinds), no_contact=(("b0", "b1"),))
    mechanism = replace(
        mechanism, joints=tuple(replace(j, drive=km.PositionDrive(kp=3.0)) if j.kind.nv == 1 else j for j in mechanism.joints)
    )
    back = km.load(km.Robot(mechanism).save(tmp_path / "robot.xml")).mechanism
    assert (back.v_names, back.no_contact) == (mechanism.v_names, (("b0", "b1"),))
    assert [joint.drive for joint in back.joints if joint.drive] == [joint.drive for joint in mechanism.joints if joint.drive]
    case = random_state(mechanism, rng)
    ours, theirs = (np.array(rnea(m.tree, case.q, case.v, case.a, gravity=m.gravity), dtype=float) for m in (mechanism, back))
    np.testing.assert_allclose(theirs, ours, atol=1e-12 * np.abs(ours).max())


#: Those whose coordinates are the same one by one; the others, and all forty four-bars, stand in oracles/test_written_samples.
SINGLE = [name for name, item in SAMPLES.items() if len(item.q) == len(item.v) and name != "four_bars_40"]


@pytest.mark.parametrize("name", SINGLE)
def test_samples_are_the_same_in_mujoco(name):
    """Thin rods and point masses, too: what they are given is below the tolerance. The forces are those of the tree: loops,
    limits, and tendons, which are loops with springs here, are switched off in MuJoCo."""
    mechanism = SAMPLES[name]()
    model, _ = written(mechanism)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.tendon_stiffness[:] = model.tendon_damping[:] = 0.0
    agree(random_state(mechanism, np.random.default_rng(1)), model)


@pytest.mark.parametrize("name", ["pendulum", "planar_7r"])
def test_what_mujoco_refuses_is_given_and_said(name):
    _, (said,) = written(SAMPLES[name]())
    assert "principal moment of zero, given 1e-14 kg and kg·m²" in said


@pytest.mark.parametrize("name", ["four_bars_2", "planar_4r_leaning", "bricard", "hoap2_legs"])
def test_loops_constrain_the_same_velocities(name):
    """At a closed state their constraints are met, and hold for the velocities that ours allow."""
    robot = km.load(name)
    model, said = written(robot.mechanism)
    assert any("soft and open under load" in message for message in said)
    q = robot.assemble(robot.start[0])
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    assert data.ne >= 5
    np.testing.assert_allclose(data.efc_pos[: data.ne], 0.0, atol=1e-9)
    J = data.efc_J.reshape(-1, model.nv)[: data.ne]
    rank = np.linalg.matrix_rank(J, tol=1e-9)
    assert model.nv - rank == robot.constraint_report(q).mobility


def test_springs_between_points_are_tendons():
    robot = km.load("governor")
    model, said = written(robot.mechanism)
    assert said == []
    q, v = (np.array(part) + 0.2 for part in robot.start)  # where the springs are stretched and the dampers move
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    data.qacc[:] = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    mujoco.mj_inverse(model, data)
    size = np.abs(data.qfrc_passive).max()
    assert size > 1e4
    np.testing.assert_allclose(data.qfrc_inverse, 0.0, atol=1e-9 * size)


def test_drives_are_actuators_that_give_the_same_efforts():
    rng = np.random.default_rng(6)
    mechanism = random_mechanism(rng, ["revolute", "prismatic", "revolute"], chain=True, passive=False)
    drives = (
        km.PositionDrive(kp=80.0, kd=3.0, armature=0.2), km.VelocityDrive(kd=5.0), km.EffortDrive(limit=2.0),
    )  # fmt: skip
    joints = [replace(joint, drive=drive) for joint, drive in zip(mechanism.joints, drives, strict=True)]
    mechanism = replace(mechanism, joints=tuple(joints))
    model, said = written(mechanism)
    assert said == []
    q, v, targets = rng.normal(size=(3, 3))
    targets[2] = 7.0
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, targets
    mujoco.mj_forward(model, data)
    expected = [80.0 * (targets[0] - q[0]) - 3.0 * v[0], 5.0 * (targets[1] - v[1]), 2.0]
    np.testing.assert_allclose(data.qfrc_actuator, expected, rtol=1e-12)
    agree(random_state(mechanism, rng), model)


def test_quaternion_joints_have_their_kinds():
    bodies = tuple(km.Body(name, 1.0, (0.1, 0.0, 0.2), inertia=(0.1, 0.2, 0.25)) for name in ("trunk", "ball"))
    joints = (km.Joint("free", "floating", "world", "trunk"), km.Joint("shoulder", "spherical", "trunk", "ball", damping=0.2))
    robot = km.Robot(km.Mechanism("thrown", bodies, joints))
    model, said = written(robot.mechanism)
    assert said == []
    rng = np.random.default_rng(4)
    q, v, a = robot.neutral(), rng.normal(size=9), rng.normal(size=9)
    q = robot.integrate(q, rng.normal(size=9))
    data = mujoco.MjData(model)
    data.qpos[:] = [*q[4:7], q[3], *q[:3], q[10], *q[7:10]]
    R = robot.pose(q, "trunk")[:3, :3]
    data.qvel[:] = [*(R @ v[3:6]), *v[:3], *v[6:]]  # theirs: linear in the world, then angular in the body
    data.qacc[:] = [*(R @ (a[3:6] + np.cross(v[:3], v[3:6]))), *a[:3], *a[6:]]
    mujoco.mj_inverse(model, data)
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(data.qfrc_inverse, [*(R @ tau[3:6]), *tau[:3], *tau[6:]], atol=1e-11)


def test_a_robots_file_with_meshes_loads(tmp_path):
    (file,) = ROBOT_FILES.rglob("z1.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = km.load(file)
        model = mujoco.MjModel.from_xml_path(str(robot.save(tmp_path / "z1.xml")))
    assert model.nv == robot.nv
    assert model.ngeom > 0
    limits = {joint.name: joint.limits[0] for joint in robot.mechanism.joints if joint.kind.nv}
    for name, limit in limits.items():
        assert tuple(model.joint(name).range) == (limit.lower, limit.upper)


def test_what_mjcf_has_nothing_for_is_said():
    base = km.Joint("base", "fixed", "world", "trunk")
    trunk = km.Body("trunk", 1.0, inertia=(1.0, 1.0, 1.0), visuals=(km.Geometry(km.Plane()),))
    arm = km.Body("arm", 1.0, inertia=(1.0, 1.0, 1.0))
    joint = km.Joint("elbow", "revolute", "trunk", "arm", limits=(km.Limits(velocity=2.0),))
    loop = km.Loop("rod", km.Distance(1.0), "arm", "world")
    mechanism = km.Mechanism("all", (trunk, arm), (base, joint), (loop,))
    _, said = written(mechanism)
    words = ["kind plane, left out", "limits of velocities", "kind distance, left out: the mechanism moves otherwise"]
    assert len(said) == len(words)
    assert all(any(word in message for message in said) for word in words), said
    screw = replace(joint, kind=km.Helical(0.01))
    with pytest.raises(InputError, match="joint 'elbow' is helical, which MJCF has nothing for"):
        mechanism_text(replace(mechanism, joints=(base, screw)), "screw.xml")
    afloat = km.Joint("elbow", "floating", "trunk", "arm")
    with pytest.raises(InputError, match="floating on 'trunk'; MJCF has free joints on the world only"):
        mechanism_text(replace(mechanism, joints=(base, afloat)), "afloat.xml")


def test_an_inertia_that_no_body_has_is_balanced_where_it_does_not_matter(tmp_path):
    """Some files give base links three equal rows: with a heavy body fixed to them they are read, and MuJoCo refuses them."""
    base = Body("base", 1e-6, inertia=((1e-6, 1e-6, 1e-6),) * 3)
    block = Body("block", 2.0, inertia=(0.1, 0.2, 0.15))
    joints = (Joint("hinge", "revolute", "world", "base", axis=(0.0, 1.0, 0.0)), Joint("bond", "fixed", "base", "block"))
    path = tmp_path / "base.xml"
    with pytest.warns(KumitateWarning, match="no body can have, made equal about all axes"):
        km.Robot(Mechanism("based", (base, block), joints)).save(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    np.testing.assert_allclose(model.body("base").inertia, 1e-6, rtol=1e-9)


def test_rotors_behind_gears_are_written_as_what_the_joint_feels_of_them(tmp_path):
    drive = km.PositionDrive(kp=10.0, kd=1.0, armature=0.1, gear_ratio=20.0, rotor_inertia=1e-4)
    text = mechanism_text(km.load("pendulum").mechanism.with_drives({"hinge": drive}), tmp_path / "pendulum.xml")
    assert 'armature="0.14"' in text
