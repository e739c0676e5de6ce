"""The five Cassie files of example-robot-data: every loop kept, every number where a plain reading of the XML has it."""

import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from kumitate.errors import ModelError
from kumitate.model import Mechanism
from kumitate.model.read import read_sdf, to_json

from ..robots import ROBOT_FILES

pytest.importorskip("pinocchio")
Rotation = pytest.importorskip("scipy.spatial.transform").Rotation


FILES = sorted(ROBOT_FILES.rglob("*.sdf"))

#: Bodies, joints of the tree, loops, gearboxes: one loop a joint more than links (and world) can hang on.
COUNTS = {
    "cassie": (35, 34, 6, 10),
    "cassie_reduced": (23, 23, 4, 0),
    "cassie_simple": (23, 23, 4, 0),
    "cassie_v2": (23, 22, 4, 0),
    "cassie_wo_gearbox_spring": (23, 23, 4, 0),
}


def read(file: Path) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_sdf(file)


def matrix(text: str | None) -> np.ndarray:
    """An SDF pose as a matrix."""
    numbers = [float(word) for word in (text or "0 0 0 0 0 0").split()]
    X = np.eye(4)
    X[:3, :3] = Rotation.from_euler("xyz", numbers[3:]).as_matrix()
    X[:3, 3] = numbers[:3]
    return X


def dense(X) -> np.ndarray:
    return np.array(X.matrix(), dtype=float)


def places(mechanism: Mechanism) -> dict[str, np.ndarray]:
    found = {"world": np.eye(4)}
    for joint in mechanism.joints:
        found[joint.child] = found[joint.parent] @ dense(joint.pose)
    return found


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem)
def pair(request):
    """A mechanism, and the <model> that it comes from."""
    model = ElementTree.parse(request.param).getroot().find("model")
    return request.param.stem, read(request.param), model


def test_all_files_are_there():
    assert {file.stem for file in FILES} == set(COUNTS)


def test_every_joint_is_in_the_tree_or_closes_a_loop(pair):
    name, mechanism, model = pair
    joints = {joint.get("name"): joint.get("type") for joint in model.findall("joint")}
    gearboxes = {key for key, kind in joints.items() if kind == "gearbox"}
    tree = {joint.name for joint in mechanism.joints} & set(joints)
    loops = {loop.name for loop in mechanism.loops}
    assert (len(model.findall("link")), len(tree), len(loops), len(gearboxes)) == COUNTS[name]
    assert tree | loops | gearboxes == set(joints)
    held_by_world = any(joint.findtext("parent") == "world" for joint in model.findall("joint"))
    assert len(tree) == len(model.findall("link")) - (not held_by_world)
    assert len(loops) == len(joints) - len(gearboxes) - len(tree)


def test_links_stand_and_weigh_as_the_file_says(pair):
    _, mechanism, model = pair
    found = places(mechanism)
    for link in model.findall("link"):
        name, body, X = link.get("name"), mechanism.body(link.get("name")), matrix(link.findtext("pose"))
        np.testing.assert_allclose(found[name], X, atol=1e-12, err_msg=name)
        inertial = link.find("inertial")
        assert body.mass == float(inertial.findtext("mass"))
        own = matrix(inertial.findtext("pose"))
        np.testing.assert_allclose(body.center_of_mass, own[:3, 3], atol=1e-15, err_msg=name)
        xx, yy, zz, xy, xz, yz = (float(inertial.findtext(f"inertia/i{key}")) for key in ("xx", "yy", "zz", "xy", "xz", "yz"))
        rows = own[:3, :3] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ own[:3, :3].T
        np.testing.assert_allclose(body.inertia, rows, atol=1e-15, err_msg=name)
        assert len(body.visuals) == len(link.findall("visual"))
        assert len(body.collisions) == len(link.findall("collision"))
    total = sum(float(mass.text) for mass in model.iterfind("link/inertial/mass"))
    assert sum(body.mass for body in mechanism.bodies) == pytest.approx(total, rel=1e-14)


def test_joints_and_loops_stand_and_point_as_the_file_says(pair):
    _, mechanism, model = pair
    found = places(mechanism)
    links = {link.get("name"): matrix(link.findtext("pose")) for link in model.findall("link")}
    tree = {joint.name: joint for joint in mechanism.joints}
    loops = {loop.name: loop for loop in mechanism.loops}
    for element in model.findall("joint"):
        name, child = element.get("name"), element.findtext("child").strip()
        if element.get("type") == "gearbox":
            continue
        X = links[child] @ matrix(element.findtext("pose"))
        axis = np.array([float(word) for word in element.findtext("axis/xyz").split()])
        if element.findtext("axis/use_parent_model_frame") != "1":
            axis = X[:3, :3] @ axis
        axis /= np.linalg.norm(axis)
        if name in loops:
            loop = loops[name]
            assert (loop.body_a, loop.body_b) == (element.findtext("parent").strip(), child)
            on_a, on_b = found[loop.body_a] @ dense(loop.pose_a), found[loop.body_b] @ dense(loop.pose_b)
            np.testing.assert_allclose(on_a, X, atol=1e-12, err_msg=name)
            np.testing.assert_allclose(on_b, X, atol=1e-12, err_msg=name)
            if loop.kind.nv == 1:
                np.testing.assert_allclose(on_a[:3, :3] @ loop.axis, axis, atol=1e-12, err_msg=name)
            continue
        joint = tree[name]
        frame = found[joint.parent] @ dense(joint.pose)
        assert joint.parent == element.findtext("parent").strip()
        if joint.kind.nv == 1:
            np.testing.assert_allclose(frame[:3, :3] @ joint.axis, axis, atol=1e-12, err_msg=name)
            away = np.cross(axis, frame[:3, 3] - X[:3, 3])
            if joint.kind.name == "revolute":
                np.testing.assert_allclose(away, 0.0, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_allclose(frame[:3, 3], X[:3, 3], atol=1e-12, err_msg=name)


def paths(element, above="") -> dict[str, list]:
    """All parents and children of each path of tags."""
    found: dict[str, list] = {}
    for child in element:
        path = f"{above}/{child.tag}"
        found.setdefault(path, []).append((element, child))
        for key, pairs in paths(child, path).items():
            found.setdefault(key, []).extend(pairs)
    return found


def reading(root) -> tuple[str, str]:
    """What comes of a file, as text, and all that is said about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = to_json(read_sdf(ElementTree.tostring(root, encoding="unicode")))
        except ModelError as error:
            result = str(error)
    return result, "\n".join(str(item.message) for item in caught)


@pytest.mark.parametrize("file", [file for file in FILES if file.stem in ("cassie", "cassie_v2")], ids=lambda file: file.stem)
def test_nothing_is_dropped_in_silence(file):
    """Without any one kind of element the file reads differently, unless a warning names it, or what it is in."""
    result, said = reading(ElementTree.parse(file).getroot())
    silent = []
    for path in paths(ElementTree.parse(file).getroot()):
        if any(f"<{tag}>" in said for tag in path.split("/")[1:]):
            continue
        root = ElementTree.parse(file).getroot()
        pairs = paths(root)[path]
        if all(set((child.text or "x").split()) <= {"0", "-0"} for _, child in pairs):
            continue  # zeros, which stand for nothing
        for parent, child in pairs:
            parent.remove(child)
        if reading(root) == (result, said):
            silent.append(path)
    assert silent == []
