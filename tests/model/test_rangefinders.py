"""Rangefinders: their distances are MuJoCo's, and those of the robot's own ray queries; what they do not see is said."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, KumitateWarning
from kumitate.model import convert
from kumitate.programs.of_sensors import sensor_program
from kumitate.scalar import evaluate

GEOMS = {
    "sphere": 'type="sphere" size="0.3"', "box": 'type="box" size="0.3 0.2 0.4"', "capsule": 'type="capsule" size="0.2 0.3"',
    "cylinder": 'type="cylinder" size="0.2 0.3"', "ellipsoid": 'type="ellipsoid" size="0.2 0.3 0.4"',
}  # fmt: skip
BEAMS = 40


def scene(rng: np.random.Generator, shapes: list[str]) -> str:
    """Bodies anywhere, one shape each, and rays from a head among them; a plane below, which the world has."""
    bodies = "".join(
        f'<body pos="{" ".join(map(str, rng.uniform(-1, 1, 3)))}" euler="{" ".join(map(str, rng.uniform(-90, 90, 3)))}">'
        f"<freejoint/><geom {GEOMS[shape]}/></body>"
        for shape in shapes
    )
    sites = "".join(
        f'<site name="beam{k}" pos="{" ".join(map(str, rng.uniform(-1, 1, 3)))}" '
        f'zaxis="{" ".join(map(str, rng.normal(size=3)))}"/>'
        for k in range(BEAMS)
    )
    sensors = "".join(f'<rangefinder name="beam{k}" site="beam{k}"/>' for k in range(BEAMS))
    return f"""<mujoco><worldbody><geom type="plane" size="0 0 1" pos="0 0 -1.5" euler="5 10 0"/>
      <geom type="box" size="9 9 9" rgba="0 0 0 0"/><body name="head"><freejoint/><geom size="0.4"/>{sites}</body>{bodies}
      </worldbody><sensor>{sensors}</sensor></mujoco>"""


def loaded(text: str, folder: Path) -> tuple[km.Robot, dict[str, km.Sensor]]:
    (file := folder / "beams.xml").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)
        return km.load(file), km.read_sensors(file)


@pytest.mark.parametrize("shapes", [[name] for name in GEOMS] + [[*GEOMS]], ids=[*GEOMS, "all"])
def test_distances_are_mujocos_and_those_of_ray_queries(shapes, tmp_path):
    """Forty rays a scene, from inside of shapes too, where a query says zero and a sensor how far it is out."""
    rng = np.random.default_rng(7)
    text = scene(rng, shapes)
    robot, sensors = loaded(text, tmp_path)
    assert len(sensors) == BEAMS
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    order = convert.mujoco(robot.mechanism, [joint.name for joint in robot.mechanism.joints if joint.kind.nv])
    q = robot.random_state(rng)[0]
    data.qpos[:] = order.to(q)
    mujoco.mj_forward(model, data)
    expected = {name: float(data.sensor(name).data[0]) for name in sensors}
    assert any(distance > 0.0 for distance in expected.values())
    for name, distance in expected.items():
        (found,) = evaluate(sensor_program(robot.mechanism, sensors[name]), q.tolist())
        assert found == pytest.approx(distance, rel=1e-10, abs=1e-10), name
        at = robot.pose(q, name)
        hit = robot.ray(q, at[:3, 3], at[:3, 2])
        if hit is not None and hit.distance and hit.body != "head":
            assert hit.distance == pytest.approx(distance, rel=1e-9, abs=1e-9), name


def test_a_ray_along_an_axis_and_beside_what_it_passes(tmp_path):
    """Parallel to the sides of a box, a cylinder and a capsule: through the middle, and just outside."""
    geoms = "".join(
        f'<body pos="{3 * k} 0 5"><geom {GEOMS[shape]}/></body>' for k, shape in enumerate(("box", "cylinder", "capsule"))
    )
    places = {f"{side}{k}": 3 * k + away for k in range(3) for side, away in (("in", 0.1), ("out", 0.5))}
    sites = "".join(f'<site name="{name}" pos="{x} 0 0"/>' for name, x in places.items())
    sensors = "".join(f'<rangefinder name="{name}" site="{name}"/>' for name in places)
    text = f"<mujoco><worldbody>{sites}{geoms}</worldbody><sensor>{sensors}</sensor></mujoco>"
    robot, sensors = loaded(
        text.replace("<worldbody>", '<worldbody><body><joint/><geom size="1e-3" pos="-9 0 0"/></body>'), tmp_path
    )
    found = km.Simulation(robot, outputs=sensors).start().outputs
    top = {0: 5.0 - 0.4, 1: 5.0 - 0.3, 2: 5.0 - 0.3 - math.sqrt(0.2**2 - 0.1**2)}
    for k in range(3):
        assert float(found[f"in{k}"][0]) == pytest.approx(top[k], abs=1e-12)
        assert float(found[f"out{k}"][0]) == -1.0


def test_rays_among_other_shapes_are_reported_and_refused(tmp_path):
    """Height fields, geoms that are only drawn, and planes with ends, beside which MuJoCo's rays pass."""
    text = scene(np.random.default_rng(1), ["box"])
    field = (
        '<asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody><geom type="hfield" hfield="hills"/>'
    )
    drawn = '<worldbody><geom size="0.1" contype="0" conaffinity="0"/>'
    said = r"sensors of the kind rangefinder, among meshes, height fields or geoms that are only drawn: not simulated \(×40"
    for other in (field, drawn):
        with pytest.warns(KumitateWarning) as told:
            assert not km.read_sensors(text.replace("<worldbody>", other))
        assert re.search(said, "\n".join(str(one.message) for one in told))
    with pytest.warns(KumitateWarning, match=r"planes with ends: endless for rangefinders \(×40"):
        assert len(km.read_sensors(text.replace('size="0 0 1"', 'size="5 5 1"'))) == BEAMS
    hull = km.Geometry(km.Hull(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))))
    bodies = (km.Body("arm", 1.0, inertia=(1, 1, 1)), km.Body("stone", 1.0, inertia=(1, 1, 1), collisions=(hull,)))
    joints = (km.Joint("a", "revolute", "world", "arm"), km.Joint("b", "revolute", "world", "stone"))
    with pytest.raises(InputError, match="'arm' cannot measure how far 'stone' is, which has a hull to touch; rays meet box, "):
        km.Simulation(km.Mechanism("pair", bodies, joints), outputs={"beam": km.Sensor("rangefinder", "arm")}).start()
