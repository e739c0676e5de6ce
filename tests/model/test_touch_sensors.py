"""Touch sensors: the normal forces on what is in their volume: MuJoCo's at rest, shares of the weight, and the record's."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, KumitateWarning

WEIGHT = 9.81 * 2.0
BOX = """<body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="2"/>
    <site name="all" type="box" size="0.3 0.3 0.02" pos="0 0 -0.1"/>
    <site name="right" type="box" size="0.15 0.3 0.02" pos="0.17 0 -0.1"/>
    <site name="corner" type="sphere" size="0.05" pos="0.2 0.1 -0.1"/>
    <site name="below" type="capsule" size="0.02 0.01" pos="0.2 0.1 -0.3"/>
    <site name="above" type="capsule" size="0.02 0.01" pos="0.2 0.1 0.2"/></body>"""
#: A rod on two balls, its center of mass nearer to the left one.
ROD = """<body name="rod" pos="0 3 0.05"><freejoint/><inertial pos="-0.2 0 0" mass="2" diaginertia="0.01 0.1 0.1"/>
    <geom size="0.05" pos="-0.4 0 0"/><geom size="0.05" pos="0.4 0 0"/>
    <site name="left" type="cylinder" size="0.06 0.06" pos="-0.4 0 0"/>
    <site name="far" type="ellipsoid" size="0.06 0.07 0.08" pos="0.4 0 0"/></body>"""
ON_BOX = {"all": WEIGHT, "right": WEIGHT / 2, "corner": WEIGHT / 4, "below": WEIGHT / 4, "above": 0.0}
ON_ROD = {"left": 0.75 * WEIGHT, "far": 0.25 * WEIGHT}


def loaded(body: str, sites: Iterable[str], folder: Path) -> tuple[km.Robot, dict[str, km.Sensor], mujoco.MjModel]:
    touch = "".join(f'<touch name="{site}" site="{site}"/>' for site in sites)
    floor = '<geom type="plane" size="0 0 1"/>'
    text = f"<mujoco><worldbody>{floor}{body}</worldbody><sensor>{touch}</sensor></mujoco>"
    (file := folder / "touched.xml").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)
        return km.load(file), km.read_sensors(file), mujoco.MjModel.from_xml_path(str(file))


@pytest.mark.parametrize(("model", "body", "expected"), [("penalty", BOX, ON_BOX), ("rigid", ROD, ON_ROD)])
def test_forces_at_rest_are_shares_of_the_weight_and_mujocos(model, body, expected, tmp_path):
    """A point below the volume does not count, one above it does: the ray out of the body meets it, as in MuJoCo."""
    robot, sensors, theirs = loaded(body, expected, tmp_path)
    run = km.Simulation(robot, outputs=sensors, contact=km.Contact(model, ground=())).run(duration=1.0)
    data = mujoco.MjData(theirs)
    for _ in range(3000):
        mujoco.mj_step(theirs, data)
    for name, force in expected.items():
        assert float(run.outputs[name][-1, 0]) == pytest.approx(force, abs=1e-6), name
        assert float(data.sensor(name).data[0]) == pytest.approx(force, abs=1e-6), name


def test_the_sum_over_a_body_is_the_record_of_contact(tmp_path):
    """A ball thrown on a floor, at every time: where it is in the air, nothing is felt."""
    ball = '<body pos="0 0 0.2"><freejoint/><geom size="0.1"/><site name="skin" size="0.2"/></body>'
    robot, sensors, _ = loaded(ball, ["skin"], tmp_path)
    q, v = robot.state(v={robot.mechanism.joints[-1].name: [0, 0, 0, 1.0, 0.3, 0]})
    run = km.Simulation(robot, start=(q, v), outputs=sensors, contact=km.Contact("rigid", ground=())).run(duration=0.4)
    felt = run.outputs["skin"][:, 0]
    assert felt[0] == 0.0
    assert felt.max() > 5.0
    np.testing.assert_allclose(felt, run.contact.normal_force.sum(axis=1), atol=1e-12)


def test_without_contact_nothing_is_felt_and_sensors_need_a_volume(tmp_path):
    robot, sensors, _ = loaded(ROD, ON_ROD, tmp_path)
    assert km.Simulation(robot, outputs=sensors).start().outputs["left"].tolist() == [0.0]
    with pytest.raises(InputError, match="the touch sensor at 'rod' has no volume; it measures what pushes on one of box, "):
        km.Simulation(robot, outputs={"skin": km.Sensor("touch", "rod")})
    with pytest.raises(InputError, match="the touch sensor at 'rod' has a plane;"):
        km.Simulation(robot, outputs={"skin": km.Sensor("touch", "rod", volume=km.Plane())})
