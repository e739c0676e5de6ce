"""Animated scenes have the poses of the run, read again by other libraries: glTF by trimesh and by hand, USD by usd-core."""

from __future__ import annotations

import base64
import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from pxr import Gf, Usd, UsdGeom, UsdPhysics

import kumitate as km
from kumitate.errors import InputError

from ..view.browser import played


@pytest.fixture(scope="module")
def run() -> km.Run:
    """An arm with a red box in its hand, that turns more than once."""
    robot = km.load("planar_3r")
    return km.simulate(robot, [0.3, 0.2, 0.1], [9.0, -4.0, 2.0], duration=1.0)


def contents(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON and the numbers of a .glb file."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size = struct.unpack_from("<I4s", data, 12)[0]
    rest, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert (kind, 28 + size + rest) == (b"BIN\0", len(data))
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def accessor(told: dict[str, Any], numbers: bytes, index: int) -> np.ndarray:
    one = told["accessors"][index]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[one["type"]]
    kind = {5126: "<f4", 5125: "<u4"}[one["componentType"]]
    start = told["bufferViews"][one["bufferView"]]["byteOffset"]
    return np.frombuffer(numbers, kind, one["count"] * width, start).reshape(-1, width)


def matrix(q: np.ndarray) -> np.ndarray:
    return np.array(Gf.Matrix3d(Gf.Quatd(float(q[3]), Gf.Vec3d(*map(float, q[:3]))))).T


def test_a_gltf_animation_has_the_poses(run, tmp_path):
    told, numbers = contents(run.export(tmp_path / "run.glb", rate=None))
    animation, nodes = told["animations"][0], told["nodes"]
    assert sorted(node["name"] for node in nodes) == sorted(["planar_3r", "world", *(b.name for b in run.mechanism.bodies)])
    poses = run.poses()
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        times, values = (accessor(told, numbers, sampler[key]) for key in ("input", "output"))
        body = [b.name for b in run.mechanism.bodies].index(nodes[channel["target"]["node"]]["name"])
        np.testing.assert_allclose(times[:, 0], run.time, atol=1e-6)
        if channel["target"]["path"] == "translation":
            np.testing.assert_allclose(values, poses[:, body, :3, 3], atol=1e-6)
        else:
            np.testing.assert_allclose([matrix(q) for q in values], poses[:, body, :3, :3], atol=1e-6)
            assert (np.sum(values[1:] * values[:-1], axis=1) > 0.9).all()  # no jump to the other sign
    assert len(animation["channels"]) == 2 * len(run.mechanism.bodies)


def test_another_library_reads_its_surfaces(run, tmp_path):
    """Upright: what is along z of the world is along y of the file."""
    scene = trimesh.load(run.export(tmp_path / "run.glb"))
    world = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])
    name = run.mechanism.bodies[-1].name
    place = scene.graph.get(name)[0]
    np.testing.assert_allclose(place[:3, 3], world @ run.poses([0])[0, -1, :3, 3], atol=1e-6)
    assert np.ptp(scene.bounds, axis=0).max() > 0.5


#: Plays the animation of a scene in three.js, and leaves the matrices of all bodies at some times in the page.
PLAYER = """
const text = atob("DATA"), bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
new THREE.GLTFLoader().parse(bytes.buffer, "", (gltf) => {
  const mixer = new THREE.AnimationMixer(gltf.scene), names = NAMES;
  mixer.clipAction(gltf.animations[0]).play();
  const found = TIMES.map((time) => {
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    return names.map((name) => gltf.scene.getObjectByName(name).matrixWorld.toArray());
  });
  const drawn = new THREE.WebGLRenderer({ canvas: document.createElement("canvas") });
  drawn.render(gltf.scene, new THREE.PerspectiveCamera());
  document.body.innerHTML = `<p id="found">${JSON.stringify([found, drawn.info.render.triangles])}</p>`;
  document.documentElement.dataset.state = "ready";
});
</script></body></html>
"""


def test_it_moves_in_three_js(run, tmp_path):
    """As browsers show it: three.js, as trimesh has it, in headless Chromium."""
    template = Path(trimesh.__file__).parent / "resources" / "templates" / "viewer.zip"
    library = zipfile.ZipFile(template).read("viewer.html.template").decode().split("var camera,controls")[0]
    data = base64.b64encode(run.export(tmp_path / "run.glb", rate=None).read_bytes()).decode()
    samples, names = [0, 370, 999], [body.name for body in run.mechanism.bodies]
    put = {"DATA": data, "NAMES": json.dumps(names), "TIMES": json.dumps([float(run.time[k]) for k in samples])}
    page = tmp_path / "page.html"
    page.write_text(library + re.sub("DATA|NAMES|TIMES", lambda found: put[found[0]], PLAYER), encoding="utf-8")
    matrices, triangles = json.loads(re.search(r'<p id="found">(.*?)</p>', played(page, tmp_path))[1])
    upright = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0], [0, -1.0, 0, 0], [0, 0, 0, 1.0]])
    found = np.array(matrices).reshape(len(samples), len(names), 4, 4).swapaxes(2, 3)
    np.testing.assert_allclose(found, upright @ run.poses(samples), atol=2e-6)
    assert triangles > 100


def test_a_usd_stage_has_poses_masses_and_joints(run, tmp_path):
    stage = Usd.Stage.Open(str(run.export(tmp_path / "run.usda", rate=100.0)))
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    root = stage.GetDefaultPrim()
    assert root.HasAPI(UsdPhysics.ArticulationRootAPI)
    for sample in (0, 370, 1000):
        cache = UsdGeom.XformCache(1000.0 * run.time[sample])
        for k, body in enumerate(run.mechanism.bodies):
            prim = stage.GetPrimAtPath(f"{root.GetPath()}/{body.name}")
            found = np.array(cache.GetLocalToWorldTransform(prim)).T
            np.testing.assert_allclose(found, run.poses([sample])[0, k], atol=1e-9)
            assert UsdPhysics.MassAPI(prim).GetMassAttr().Get() == pytest.approx(body.mass)
            moments = UsdPhysics.MassAPI(prim).GetDiagonalInertiaAttr().Get()
            assert sum(moments) == pytest.approx(np.trace(np.array(body.inertia)), rel=1e-6)
        for joint in run.mechanism.joints:
            check_joint(stage, root, joint, cache)


def check_joint(stage: Any, root: Any, joint: km.Joint, cache: Any) -> None:
    """The two frames of a hinge have one origin and one axis, at every time."""
    prim = UsdPhysics.Joint(stage.GetPrimAtPath(f"{root.GetPath()}/joints/{joint.name}"))
    frames = []
    for number, relation in enumerate((prim.GetBody0Rel(), prim.GetBody1Rel())):
        bodies = relation.GetTargets()
        whole = np.array(cache.GetLocalToWorldTransform(stage.GetPrimAtPath(bodies[0]))).T if bodies else np.eye(4)
        q = getattr(prim, f"GetLocalRot{number}Attr")().Get()
        own = np.eye(4)
        own[:3, :3] = matrix(np.array([*q.GetImaginary(), q.GetReal()]))
        own[:3, 3] = getattr(prim, f"GetLocalPos{number}Attr")().Get()
        frames.append(whole @ own)
    np.testing.assert_allclose(frames[0][:3, 3], frames[1][:3, 3], atol=1e-6)
    np.testing.assert_allclose(frames[0][:3, 0], frames[1][:3, 0], atol=1e-6)


def test_names_that_usd_lacks_are_changed(tmp_path):
    ball = km.Body("left-ball", 1.0, inertia=(0.1, 0.1, 0.1))
    other = km.Body("left_ball", 1.0, inertia=(0.1, 0.1, 0.1))
    joints = (km.Joint("a-b", "revolute", "world", "left-ball"), km.Joint("a_b", "prismatic", "left-ball", "left_ball"))
    run = km.simulate(km.Mechanism("two", (ball, other), joints), duration=0.01)
    stage = Usd.Stage.Open(str(run.export(tmp_path / "run.usda")))
    paths = {str(prim.GetPath()) for prim in stage.Traverse()}
    assert {"/two/left_ball", "/two/left_ball_", "/two/joints/a_b", "/two/joints/a_b_"} <= paths


@pytest.mark.parametrize("suffix", [".glb", ".usda"])
def test_a_rate_that_is_none_is_refused(run, tmp_path, suffix):
    with pytest.raises(InputError, match="the rate"):
        run.export(tmp_path / f"run{suffix}", rate=-1.0)
    assert not (tmp_path / f"run{suffix}").exists()
