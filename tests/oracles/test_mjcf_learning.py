"""The robots of Gymnasium's MuJoCo environments: friction, floor and controls of their files are MuJoCo's."""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError

ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"


@pytest.fixture(autouse=True)
def log_of_mujoco(tmp_path, monkeypatch):
    """MuJoCo writes warnings of its compiler to a file in the folder where it runs."""
    monkeypatch.chdir(tmp_path)


def both(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return km.load(ASSETS / f"{name}.xml"), mujoco.MjModel.from_xml_path(str(ASSETS / f"{name}.xml"))


@pytest.mark.parametrize("name", ["hopper", "ant", "half_cheetah"])
def test_friction_and_floor_are_those_of_the_file(name):
    """Of each geom that can touch the floor, MuJoCo's contact with it has the friction that is planned here; one floor."""
    robot, model = both(name)
    plan = km.Simulation(robot, contact="rigid").explain_contact()
    data, floor = mujoco.MjData(model), model.geom("floor").id
    data.qpos[2 if model.jnt_type[0] == 0 else 1] = -3.0  # all of the robot is in the floor
    mujoco.mj_forward(model, data)
    touching = [one for one in data.contact[: data.ncon] if floor in one.geom]
    measured = {int(sum(one.geom)) - floor: float(one.friction[0]) for one in touching}
    assert len(measured) > 3
    bodies = {geom: int(model.geom_bodyid[geom]) for geom in measured}
    expected = sorted(
        (model.body(bodies[geom]).name or f"body_{bodies[geom]}", friction) for geom, friction in measured.items()
    )
    found = sorted((pair.bodies[0], pair.surface.friction) for pair in plan.pairs)
    assert {pair.bodies[1] for pair in plan.pairs} == {"world_link"}
    assert [name for name, _ in found] == [name for name, _ in expected]
    np.testing.assert_allclose([mu for _, mu in found], [mu for _, mu in expected], rtol=1e-12)


@pytest.mark.parametrize("name", ["hopper", "ant", "half_cheetah"])
def test_controls_make_the_forces_of_mujoco(name):
    """In the order of the file, with gears, clipped to their ranges: the effort of a drive is MuJoCo's force at its joint."""
    robot, model = both(name)
    order, data, rng = km.convert.mujoco(robot, model), mujoco.MjData(model), np.random.default_rng(6)
    controls = rng.uniform(-1.6, 1.6, (5, model.nu))
    columns = [joint.v for joint in robot.mechanism.driven]
    assert [one.joint for one in order.actuators] == [model.joint(int(k)).name for k in model.actuator_trnid[:, 0]]
    for ctrl, targets in zip(controls, order.control(controls), strict=True):
        data.ctrl[:] = ctrl
        mujoco.mj_forward(model, data)
        effort = order.forces_back(data.qpos, data.qfrc_actuator)
        np.testing.assert_allclose(targets, effort[columns], rtol=1e-12)
        assert np.abs(effort).sum() == pytest.approx(np.abs(targets).sum())


SERVOS = """<mujoco><compiler angle="radian"/><worldbody>
<body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
<body pos=".4 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
<body pos=".4 0 0"><joint name="c" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body></body></worldbody>
<actuator><velocity name="speed" joint="c" kv="3" gear="2" ctrlrange="-1 2"/>
<general name="any" joint="a" gear="-3" gainprm="5" biastype="affine" biasprm="0.7 -4 -0.5"/>
<position name="servo" joint="b" kp="20" kv="1" gear="0.5"/></actuator></mujoco>"""


def servos(tmp_path):
    file = tmp_path / "servos.xml"
    file.write_text(SERVOS, encoding="utf-8")
    return km.load(file), mujoco.MjModel.from_xml_path(str(file))


def test_controls_of_servos_are_their_targets(tmp_path):
    robot, model = servos(tmp_path)
    order, data, rng = km.convert.mujoco(robot, model), mujoco.MjData(model), np.random.default_rng(7)
    sim = km.Simulation(
        robot, step=1e-3, integrator="rk4", inputs={"ctrl": 3, "target": lambda t, q, v, ctrl: order.control(ctrl)},
        outputs=["a"],
    )  # fmt: skip
    for _ in range(4):
        q, v, ctrl = rng.normal(size=(3, 3))
        data.qpos[:], data.qvel[:], data.ctrl[:] = *order.to(q, v), 2.0 * ctrl
        mujoco.mj_forward(model, data)
        batch = sim.batch(q[None], v[None])
        batch.inputs["ctrl"] = 2.0 * ctrl
        batch.look()
        _, _, a = order.to(q, v, batch.outputs["a"][0])
        np.testing.assert_allclose(a, data.qacc, rtol=1e-9, atol=1e-9)


def test_controls_that_no_drive_takes_are_refused(tmp_path):
    robot, model = servos(tmp_path)
    with pytest.raises(InputError, match=r"ctrl has shape \(2,\); it must be \(..., 3\): speed, any, servo"):
        km.convert.mujoco(robot, model).control([0.0, 1.0])
    bare = robot.mechanism.with_drives({"b": None})
    with pytest.raises(InputError, match="'servo': it drives no joint that has a drive here"):
        km.convert.mujoco(bare, model).control(np.zeros(3))
    other = robot.mechanism.with_drives({"b": km.EffortDrive()})
    with pytest.raises(InputError, match="'servo': it is a position drive there, and its joint has a drive of kind 'effort'"):
        km.convert.mujoco(other, model).control(np.zeros(3))
    with pytest.raises(InputError, match="MuJoCo has named no actuators"):
        km.convert.mujoco(robot, ["a", "b", "c"]).control(np.zeros(3))
