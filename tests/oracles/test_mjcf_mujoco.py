"""MJCF files have MuJoCo's dynamics, poses and constraints, with its solver switched off."""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

import kumitate as km
from kumitate.model import Mechanism
from kumitate.model.convert import mujoco as mujoco_order
from kumitate.model.drives import Command
from kumitate.model.read import read_mjcf
from studies.formats import agreement
from tests.model.mjcf_models import DRIVEN, TIED, ZOO

ASSETS = sorted((Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets").glob("*.xml"))
OWN = {"zoo": ZOO, "tied": TIED, "driven": DRIVEN}


def read(source: str | Path) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_mjcf(source)


def test_the_models_of_gymnasium_are_there():
    assert len(ASSETS) >= 14


@pytest.mark.parametrize("source", [*OWN.values(), *ASSETS], ids=[*OWN, *(path.stem for path in ASSETS)])
def test_inertia_bias_and_accelerations_are_mujocos(source):
    assert agreement(source, read(source)).worst < 1e-9


@pytest.mark.parametrize("name", OWN)
def test_bodies_sites_and_constraints_are_where_mujoco_has_them(name):
    mechanism, model = read(OWN[name]), mujoco.MjModel.from_xml_string(OWN[name])
    robot, data = km.Robot(mechanism), mujoco.MjData(model)
    order = mujoco_order(mechanism, [joint.name for joint in mechanism.joints if joint.kind.nv])
    q = np.array([x for joint in mechanism.joints for x in joint.kind.random(np.random.default_rng(1))])
    data.qpos[:] = order.to(q)
    mujoco.mj_forward(model, data)
    poses = robot.poses(q)
    for body in range(1, model.nbody):
        X = poses[model.body(body).name]
        np.testing.assert_allclose(X[:3, 3], data.xpos[body], atol=1e-13)
        np.testing.assert_allclose(X[:3, :3].ravel(), data.xmat[body], atol=1e-13)
    for site in range(model.nsite):
        np.testing.assert_allclose(robot.pose(q, model.site(site).name)[:3, 3], data.site_xpos[site], atol=1e-13)
    gaps = {gap.name: gap for gap in robot.constraint_residual(q)}
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    for equality in range(model.neq):
        own = data.efc_pos[rows & (data.efc_id == equality)]
        if (gap := gaps.get(model.equality(equality).name)) is None or not len(own):
            continue
        if len(own) >= 3:
            assert gap.distance == pytest.approx(np.linalg.norm(own[:3]), rel=1e-12)
        elif gap.name == "held":  # a gap of an angle is 2 tan(θ/2)
            assert gap.angle == pytest.approx(abs(2.0 * np.tan(0.5 * own[0])), rel=1e-9)
        elif gap.name == "gear":  # along a coupling it is |q − ratio·q(of) − offset|
            assert max(gap.angle, gap.distance) == pytest.approx(abs(own[0]), rel=1e-12)


#: The command of a drive that is the same as one of MuJoCo: an effort gear·g·ctrl, or (g·ctrl + b₀)/(k·gear) for servos.
COMMANDS = {
    "motor": lambda ctrl: 5.0 * ctrl,
    "position": lambda ctrl: ctrl / 3.0,
    "velocity": lambda ctrl: ctrl / -2.0,
    "general": lambda ctrl: (4.0 * ctrl + 1.0) / 3.0,
}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_drives_give_the_efforts_of_actuators(seed):
    robot, model = km.Robot(read(DRIVEN)), mujoco.MjModel.from_xml_string(DRIVEN)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    data.qpos[:], data.qvel[:], ctrl = rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=4)
    data.ctrl[:4] = ctrl
    mujoco.mj_forward(model, data)
    for at, (name, command) in enumerate(COMMANDS.items()):
        drive, dof = robot.joints[name].drive, model.joint(name).dofadr[0]
        effort = drive.law(data.qpos[dof], data.qvel[dof], Command(command(ctrl[at]))).effort
        if name == "position":
            effort = np.clip(effort, -drive.limit, drive.limit)
        assert effort == pytest.approx(data.qfrc_actuator[dof], rel=1e-12)


def test_the_surface_of_a_height_field_is_where_rays_of_mujoco_meet_it():
    rng = np.random.default_rng(3)
    heights = " ".join(f"{part:.6f}" for part in rng.random(20))
    text = (
        f'<mujoco><asset><hfield name="hills" nrow="4" ncol="5" size="1.5 0.8 0.7 0.1" elevation="{heights}"/></asset>'
        '<worldbody><geom name="ground" type="hfield" hfield="hills" pos="0.3 -0.2 0.1"/></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    (ground,) = km.Robot(read(text)).mechanism.bodies[0].collisions
    at, facets = np.array(ground.pose.matrix())[:3, 3], ground.shape.facets()
    corners = facets.vertices[facets.faces] + at
    for point in at[:2] + rng.uniform(-1.0, 1.0, (50, 2)) * (1.5, 0.8):
        met = np.zeros(1, dtype=np.int32)
        ray = mujoco.mj_ray(model, data, np.array([*point, 5.0]), np.array([0.0, 0.0, -1.0]), None, 1, -1, met)
        above = []
        for triangle in corners:
            shares = np.linalg.solve(np.vstack([triangle[:, :2].T, np.ones(3)]), [*point, 1.0])
            above += [shares @ triangle[:, 2]] if shares.min() >= -1e-12 else []
        np.testing.assert_allclose(above, 5.0 - ray, rtol=0.0, atol=1e-7)  # MuJoCo keeps heights in single precision
