"""The sensors of MJCF as outputs: their values are MuJoCo's."""

from __future__ import annotations

import re
import warnings

import mujoco
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, KumitateWarning
from kumitate.model import convert

FRAMES = "".join(
    f'<{kind} name="{kind}_{o}_{r}" objtype="{o}" objname="{n}"{seen}/>'
    for kind in ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
    for o, n in (("body", "hand"), ("xbody", "hand"), ("site", "tool"), ("geom", "palm"))
    for r, seen in (("world", ""), ("arm", ' reftype="site" refname="arm_site"'))
)
MODEL = f"""<mujoco model="sensed"><compiler angle="radian"/><option gravity="0.3 -0.2 -9.7"/><worldbody>
  <site name="fixed" pos="1 2 3"/>
  <body name="trunk" pos="0.1 0.2 1"><freejoint name="base"/><geom size="0.1 0.2 0.1" type="box" mass="3"/>
    <body name="arm" pos="0.2 0 0.1"><joint name="hinge" axis="0.2 1 0.1" damping="0.3" armature="0.02"/>
      <geom type="capsule" fromto="0 0 0 0.4 0.1 0" size="0.03"/><site name="arm_site" pos="0.1 0 0.02" euler="0.3 0.2 0.1"/>
      <body name="forearm" pos="0.4 0.1 0"><joint name="slide" type="slide" axis="1 0.3 0"/>
        <geom type="box" size="0.1 0.02 0.03" pos="0.1 0 0"/>
        <body name="hand" pos="0.2 0 0" euler="0.4 0 0.2"><geom name="palm" type="box" size="0.05 0.03 0.01" pos="0.02 0.01 0"
          euler="0 0.3 0"/><site name="tool" pos="0.05 0.01 -0.02" euler="0.5 0.1 0.7"/></body></body>
      <body name="ball" pos="0 0.1 0"><joint name="socket" type="ball"/><geom size="0.06" pos="0.1 0 0"/></body></body></body>
</worldbody><actuator><motor name="motor" joint="hinge" gear="5"/></actuator><sensor>
  <accelerometer name="acc" site="tool"/><gyro name="gyro" site="tool"/><velocimeter name="velo" site="tool"/>
  <force name="force" site="arm_site"/><torque name="torque" site="arm_site"/><force name="wrist" site="tool"/>
  <torque name="wrist torque" site="tool"/><accelerometer name="still" site="fixed"/>
  <jointpos name="angle" joint="hinge"/><jointvel name="rate" joint="slide"/><ballquat name="quat" joint="socket"/>
  <ballangvel name="turning" joint="socket"/><actuatorpos name="length" actuator="motor"/>
  <actuatorvel name="speed" actuator="motor"/><actuatorfrc name="pull" actuator="motor"/>
  <jointactuatorfrc name="effort" joint="hinge"/><subtreecom name="center" body="arm"/>
  <subtreelinvel name="drift" body="arm"/><subtreeangmom name="spin" body="arm"/>
  <framelinacc name="linacc" objtype="site" objname="tool"/><frameangacc name="angacc" objtype="xbody" objname="hand"/>
  {FRAMES}</sensor></mujoco>"""


@pytest.mark.parametrize("seed", range(3))
def test_outputs_are_what_mujoco_measures(seed, tmp_path):
    rng = np.random.default_rng(seed)
    model = mujoco.MjModel.from_xml_string(MODEL)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)
        (file := tmp_path / "sensed.xml").write_text(MODEL)
        robot, sensors = km.load(file), km.read_sensors(file)
    assert set(sensors) == {model.sensor(k).name for k in range(model.nsensor)}
    order = convert.mujoco(robot.mechanism, [joint.name for joint in robot.mechanism.joints if joint.kind.nv])
    q, v = robot.random_state(rng)
    effort = float(rng.normal())
    data.qpos[:], data.qvel[:] = order.to(q, v)
    data.ctrl[:] = effort / 5.0
    mujoco.mj_forward(model, data)
    state = km.Simulation(robot, start=(q, v), outputs=sensors, inputs={"target": [effort]}).start()
    for name in sensors:
        expected = data.sensor(name).data.copy()
        found = np.ravel(state.outputs[name])
        if len(expected) == 4:  # MuJoCo's quaternions have w first, and either sign
            expected = np.roll(expected, -1)
            expected *= np.sign(expected @ found)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * (1.0 + np.abs(expected).max()), err_msg=name)


def test_sensors_that_no_output_takes_the_place_of_are_named_with_their_lines(tmp_path):
    text = MODEL.replace(
        "<sensor>",
        """<sensor>
      <magnetometer name="north" site="tool"/><gyro name="cut" site="tool" cutoff="3"/>""",
    )
    (file := tmp_path / "sensed.xml").write_text(text)
    with pytest.warns(KumitateWarning) as told:
        sensors = km.read_sensors(file)
    assert "north" not in sensors
    messages = "\n".join(str(one.message) for one in told)
    assert re.search(r"sensors of the kind magnetometer: not simulated \(north in line \d+\)", messages)
    assert re.search(r"cutoff of sensors: not applied \(cut in line \d+\)", messages)
    with pytest.warns(KumitateWarning) as told:
        km.load(file)
    assert any(re.search(r"outputs=kumitate\.read_sensors\(file\) \(×\d+: ", str(one.message)) for one in told)


def test_sensors_at_what_does_not_exist_and_forces_among_others_are_refused():
    robot = km.load("pendulum")
    with pytest.raises(InputError, match="there is no sensor of kind 'thermometer'; there are gyro"):
        km.Sensor("thermometer", "bob")
    with pytest.raises(InputError, match="a sensor is at 'bbo', which is not a body or frame; did you mean 'bob'"):
        km.Simulation(robot, outputs={"imu": km.Sensor("gyro", "bbo")})
    with pytest.raises(InputError, match="which is not a joint"):
        km.Simulation(robot, outputs={"angle": km.Sensor("joint_position", "elbow")})
    with pytest.raises(InputError, match=r"'pull' is of a force between bodies.* and wrenches acts too"):
        km.Simulation(robot, outputs={"pull": km.Sensor("force", "bob")}, wrenches={"bob": None})
    with pytest.raises(InputError, match="forces of loops act on bodies"):
        km.Simulation(four := km.load("four_bar"), outputs={"pull": km.Sensor("force", four.mechanism.bodies[0].name)})


def test_an_accelerometer_on_a_swinging_bob_reads_the_tension_of_the_rod():
    """Along the rod g cos q + l q̇², across it g sin q + l q̈ = 0: a point mass feels only the rod."""
    bob = km.Body("bob", 1.0, (0.0, 0.0, -0.7), (1e-12,) * 3)
    swing = km.Mechanism("swing", (bob,), (km.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0)),))
    sensor = km.Sensor("accelerometer", "bob", km.pose((0.0, 0.0, -0.7)))
    run = km.Simulation(swing, start=([0.8], [0.0]), outputs={"imu": sensor}).run(duration=0.5)
    q, v = run.q[:, 0], run.v[:, 0]
    tension = -swing.gravity[2] * np.cos(q) + 0.7 * v**2
    np.testing.assert_allclose(run.outputs["imu"], np.stack([0 * q, 0 * q, tension], axis=1), atol=1e-9)
