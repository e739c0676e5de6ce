"""The self-contained page: what the scene says, how the file is written, and that a browser plays it."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumitate.errors import InputError, KumitateWarning
from kumitate.model import KINDS, Body, Box, Cylinder, EulerAngles, Geometry, Helical, Hull, Joint, Mechanism, Mesh, Sphere
from kumitate.model.meshes import Facets
from kumitate.spatial import pose
from kumitate.view.page import write_page
from kumitate.view.scene import MAX_FRAMES, MAX_POINTS, Steps, build_scene, packed, thinned
from kumitate.view.stick_shapes import _marker, body_tip, drawn_shapes
from kumitate.view.surfaces import GROUND_COLOR, load_surfaces, pack_surface, surroundings

from .unpacking import unpacked

LENGTH = 1.0


def rod(name: str, **more) -> Body:
    return Body(name, 1.0, (0.0, 0.0, -0.5 * LENGTH), (LENGTH**2 / 12.0, LENGTH**2 / 12.0, 0.0), **more)


def double_pendulum(**upper) -> Mechanism:
    joints = (
        Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        Joint("elbow", "revolute", "upper", "lower", pose((0.0, 0.0, -LENGTH)), axis=(0, 1, 0)),
    )
    return Mechanism("double pendulum", (rod("upper", **upper), rod("lower")), joints)


def turn(angle: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) turned about y by the angles (n,)."""
    out = np.tile(np.eye(4), (len(angle), 1, 1))
    out[:, 0, 0] = out[:, 2, 2] = np.cos(angle)
    out[:, 0, 2], out[:, 2, 0] = np.sin(angle), -np.sin(angle)
    return out


def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of two equal thin rods in absolute angles, from the textbook's equations (m = l = 1)."""
    c, s = np.cos(q[0] - q[1]), np.sin(q[0] - q[1])
    mass = np.array([[4.0 / 3.0, 0.5 * c], [0.5 * c, 1.0 / 3.0]])
    force = np.array([-0.5 * s * v[1] ** 2 - 1.5 * 9.81 * np.sin(q[0]), 0.5 * s * v[0] ** 2 - 0.5 * 9.81 * np.sin(q[1])])
    return np.linalg.solve(mass, force)


def swing(duration: float = 6.0, step: float = 0.01) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (n,), absolute angles (n, 2) and their rates, by Runge-Kutta's fourth order."""
    times = np.arange(round(duration / step) + 1) * step
    state, states = np.array([1.9, 2.4, 0.0, 0.0]), []
    for _ in times:
        states.append(state)
        rate = lambda y: np.concatenate([y[2:], acceleration(y[:2], y[2:])])  # noqa: E731
        k1 = rate(state)
        k2 = rate(state + 0.5 * step * k1)
        k3 = rate(state + 0.5 * step * k2)
        k4 = rate(state + step * k3)
        state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    states = np.array(states)
    return times, states[:, :2], states[:, 2:]


def pendulum_scene(mechanism: Mechanism | None = None, **more) -> dict:
    times, q, v = swing()
    # a positive turn about +y takes a hanging rod to −x; the equations above do not care which
    poses = np.stack([turn(q[:, 0]), turn(q[:, 1])], axis=1)
    poses[:, 1, :3, 3] = poses[:, 0, :3, :3] @ [0.0, 0.0, -LENGTH]
    kinetic = 4 / 6 * v[:, 0] ** 2 + v[:, 1] ** 2 / 6 + 0.5 * np.cos(q[:, 0] - q[:, 1]) * v[:, 0] * v[:, 1]
    potential = -9.81 * (1.5 * np.cos(q[:, 0]) + 0.5 * np.cos(q[:, 1]))
    a = np.array([acceleration(*state) for state in zip(q, v, strict=True)])

    def joints(title: str, unit: str, values: np.ndarray) -> dict:
        curves = [("shoulder", values[:, 0]), ("elbow", values[:, 1] - values[:, 0])]
        return {"title": title, "unit": unit, "x": times, "series": [{"name": n, "values": y} for n, y in curves]}

    energies = [("kinetic", kinetic), ("potential", potential), ("total", kinetic + potential)]
    channels = [
        joints("Joint angle", "rad", q),
        joints("Joint velocity", "rad/s", v),
        joints("Joint acceleration", "rad/s²", a),
        {"title": "Energy", "unit": "J", "x": times, "series": [{"name": n, "values": y} for n, y in energies]},
    ]
    return build_scene(mechanism or double_pendulum(), times, poses, channels, **more)


def shown(scene: dict) -> dict:
    """The scene as the page unpacks it."""
    return unpacked(packed(scene))


def posed(scene: dict) -> np.ndarray:
    """The poses in the world (n, bodies, 4, 4) of an unpacked scene."""
    motion = scene["motion"].reshape(len(scene["bodies"]), 7, -1).transpose(2, 0, 1)
    poses = np.tile(np.eye(4), (*motion.shape[:2], 1, 1))
    for k, body in enumerate(scene["bodies"]):
        x, y, z, w = (motion[:, k, 3:] / np.linalg.norm(motion[:, k, 3:], axis=1, keepdims=True)).T
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        poses[:, k, :3, :3] = np.array(rows).transpose(2, 0, 1)
        poses[:, k, :3, 3] = motion[:, k, :3]
        if body["parent"] >= 0:
            poses[:, k] = poses[:, body["parent"]] @ poses[:, k]
    return poses


# --- the scene --------------------------------------------------------------------------------------------------------
def test_frames_with_made_up_inertia_are_not_drawn_as_blocks():
    joints = (
        Joint("hip", "revolute", "world", "leg", axis=(0, 1, 0)),
        Joint("weld", "fixed", "leg", "sole", pose((0.0, 0.0, -LENGTH))),
    )
    sole = Body("sole", 0.01, inertia=(1e-4, 1e-4, 1e-4))  # a cube of a quarter of a metre, if one believed it
    assert drawn_shapes(Mechanism("leg", (rod("leg"), sole), joints))["sole"] == ()


def test_the_camera_is_told_what_the_motion_reaches():
    scene = pendulum_scene()
    rim = np.array(scene["rim"])
    assert 10 < len(rim) <= 64
    low, high = np.array(scene["extent"])
    assert (rim > low - 1e-12).all()
    assert (rim < high + 1e-12).all()
    assert (rim.max(axis=0) - rim.min(axis=0) > 0.85 * (high - low))[[0, 2]].all()


def test_scene_holds_the_motion():
    scene = shown(pendulum_scene(title="A swing", notes=["drift 1e-9 J"]))
    times, q, _ = swing()
    assert (scene["title"], scene["notes"]) == ("A swing", ["drift 1e-9 J"])
    assert [body["name"] for body in scene["bodies"]] == ["upper", "lower"]
    assert [body["parent"] for body in scene["bodies"]] == [-1, 0]
    np.testing.assert_array_equal(scene["time"], times)
    poses = posed(scene)
    elbow = np.stack([-LENGTH * np.sin(q[:, 0]), 0.0 * times, -LENGTH * np.cos(q[:, 0])], axis=1)
    np.testing.assert_allclose(poses[:, 1, :3, 3], elbow, atol=1e-4)  # steps of the page are 1/65534 of each row's range
    np.testing.assert_allclose(poses[:, 1, :3, :3], turn(q[:, 1])[:, :3, :3], atol=2e-4)
    assert scene["ground"] < -1.9  # it hangs below the world's zero


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_rows_come_back_to_a_step_of_their_range(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(4, 50)).cumsum(axis=1) * 10.0 ** rng.uniform(-6.0, 6.0, (4, 1)) + 10.0 ** rng.uniform(
        -6.0, 6.0, (4, 1)
    )
    rows[1] = rows[1, 0]  # a constant comes back in every bit
    rows[2, rng.integers(0, 50, 9)] = np.nan
    rows[3] = np.nan
    back = unpacked(packed({"rows": Steps(rows), "whole": rows}))
    np.testing.assert_array_equal(back["whole"], rows)
    np.testing.assert_array_equal(back["rows"][[1, 3]], rows[[1, 3]])
    np.testing.assert_array_equal(np.isnan(back["rows"]), np.isnan(rows))
    steps = (np.nanmax(rows[:3], axis=1) - np.nanmin(rows[:3], axis=1)) / 65534.0
    assert np.all(
        np.nanmax(np.abs(back["rows"] - rows)[:3], axis=1) <= 0.500001 * steps + 1e-15 * np.nanmax(np.abs(rows[:3]), axis=1)
    )


def test_what_stays_in_place_takes_no_room():
    """A revolute joint leaves five of the seven numbers of its body as they are."""
    few, many = (len(packed(hinge_chain(count))) for count in (1, 40))
    plain = 800 * 7 * 2 * 4 / 3  # frames, numbers, bytes of each, in base64
    assert (many - few) / 39 < 0.25 * plain


def hinge_chain(count: int) -> dict:
    rods = tuple(rod(f"rod{k}") for k in range(count))
    names = ["world", *(body.name for body in rods)]
    joints = tuple(
        Joint(f"hinge{k}", "revolute", names[k], names[k + 1], pose((0.0, 0.0, -LENGTH * (k > 0))), axis=(0, 1, 0))
        for k in range(count)
    )
    times = np.linspace(0.0, 1.0, 800)
    angles = np.cumsum([np.sin((3 + k) * times) for k in range(count)], axis=0)
    poses = np.stack([turn(angle) for angle in angles], axis=1)
    for k in range(1, count):
        poses[:, k, :3, 3] = poses[:, k - 1, :3, 3] + poses[:, k - 1, :3, :3] @ [0.0, 0.0, -LENGTH]
    return build_scene(Mechanism("chain", rods, joints), times, poses)


def test_curves_of_a_joint_take_its_links_colour():
    scene = pendulum_scene()
    angle, energy = scene["channels"][0], scene["channels"][-1]
    assert [series["group"] for series in angle["series"]] == [body["group"] for body in scene["bodies"]] == [0, 1]
    assert all("group" not in series for series in energy["series"])
    assert (energy["title"], energy["unit"]) == ("Energy", "J")


def test_bodies_fixed_together_share_a_colour():
    mechanism = Mechanism(
        "m", (Body("stand"), rod("arm"), Body("tool", 0.1)),
        (
            Joint("mount", "fixed", "world", "stand"), Joint("hinge", "revolute", "stand", "arm"),
            Joint("grip", "fixed", "arm", "tool"),
        ),
    )  # fmt: skip
    scene = build_scene(mechanism, [0.0], np.tile(np.eye(4), (1, 3, 1, 1)))
    assert [body["group"] for body in scene["bodies"]] == [-1, 0, 0]


@pytest.mark.filterwarnings("ignore:.*drawn without a mesh")
def test_a_models_own_shapes_are_drawn_and_a_skeleton_stands_in_for_meshes():
    box = Geometry(Box((0.1, 0.1, LENGTH)), pose((0.0, 0.0, -0.5)), (1.0, 0.0, 0.0, 0.5))
    (shape,) = pendulum_scene(double_pendulum(visuals=(box,)))["bodies"][0]["shapes"]
    assert shape == {
        "type": "box", "size": [0.1, 0.1, 1.0], "position": [0.0, 0.0, -0.5], "quaternion": [0.0, 0.0, 0.0, 1.0],
        "color": [1.0, 0.0, 0.0, 0.5],
    }  # fmt: skip
    mesh = Geometry(Mesh("arm.stl"))
    link, hinge = drawn_shapes(double_pendulum(visuals=(mesh,)))["upper"]
    assert link.shape.length == pytest.approx(LENGTH)
    assert [float(x) for x in link.pose.translation] == pytest.approx([0.0, 0.0, -0.5])
    assert hinge.shape.radius > link.shape.radius
    assert drawn_shapes(double_pendulum(visuals=(mesh,), collisions=(box,)))["upper"] == (box,)


@pytest.mark.parametrize(
    ("inertia", "end"),
    [((1 / 12, 1 / 12, 0.0), -1.0), ((0.0, 0.0, 0.0), -0.5), ((0.4 * 0.01, 0.4 * 0.01, 0.4 * 0.01), -0.5 - np.sqrt(0.012))],
    ids=["rod", "point", "ball"],
)
def test_the_end_of_a_branch_is_where_a_rod_of_its_inertia_ends(inertia, end):
    body = Body("b", 2.0, (0.0, 0.0, -0.5), tuple(2.0 * x for x in inertia))
    assert body_tip(body) == pytest.approx([0.0, 0.0, end])


def test_a_free_body_without_shapes_is_drawn_as_the_box_of_its_inertia():
    a, b, c, m = 0.3, 0.2, 0.1, 5.0
    body = Body("brick", m, inertia=(m / 12 * (b * b + c * c), m / 12 * (a * a + c * c), m / 12 * (a * a + b * b)))
    mechanism = Mechanism("free", (body,), (Joint("base", "floating", "world", "brick"),))
    (block,) = drawn_shapes(mechanism)["brick"]
    assert sorted(block.shape.size) == pytest.approx([c, b, a])


def test_a_link_without_shape_among_others_is_no_block():
    lower = Body("lower", 1.0, inertia=(0.1, 0.1, 0.1))
    joints = (Joint("a", "revolute", "world", "upper"), Joint("b", "revolute", "upper", "lower", pose((0.0, 0.0, -1.0))))
    for visuals, kinds in (((), [Box, Cylinder]), ((Geometry(Sphere(0.1)),), [Cylinder])):
        drawn = drawn_shapes(Mechanism("m", (rod("upper", visuals=visuals), lower), joints))["lower"]
        assert [type(item.shape) for item in drawn] == kinds


def test_collision_shapes_are_told_where_they_differ():
    box, ball = Geometry(Box((0.1, 0.1, LENGTH))), Geometry(Sphere(0.2))
    same = pendulum_scene(double_pendulum(visuals=(box,), collisions=(box,)))
    assert all(not body["collisions"] for body in same["bodies"])
    first, second = pendulum_scene(double_pendulum(visuals=(box,), collisions=(ball,)))["bodies"]
    assert [shape["type"] for shape in first["collisions"]] == ["sphere"]
    assert (first["shapes"][0]["type"], second["collisions"]) == ("box", [])


@pytest.mark.parametrize("points", [((0.0, 0.0, -LENGTH),), ((0.0, 0.0, 0.0), (0.0, 0.0, -LENGTH))], ids=["point", "line"])
def test_points_and_lines_that_touch_are_not_drawn(points):
    """Neither on the page nor in figures; the skeleton stands in where a body has no other shape, or another shape remains."""
    hull, box = Geometry(Hull(points)), Geometry(Box((0.1, 0.1, LENGTH)))
    plain, touching = double_pendulum(), double_pendulum(collisions=(hull,))
    assert drawn_shapes(touching) == drawn_shapes(plain)
    assert drawn_shapes(double_pendulum(collisions=(hull, box)))["upper"] == (box,)
    assert not any(body["collisions"] for body in pendulum_scene(touching)["bodies"])
    (told,) = pendulum_scene(double_pendulum(visuals=(Geometry(Sphere(0.1)),), collisions=(hull, box)))["bodies"][0][
        "collisions"
    ]
    assert told["type"] == "box"
    assert surroundings([hull, box], np.zeros(3), np.ones(3))[0] == (replace(box, color=GROUND_COLOR),)


def test_bodies_carry_their_numbers():
    upper, lower = pendulum_scene()["bodies"]
    assert (upper["mass"], upper["center"], upper["joint"]) == (1.0, [0.0, 0.0, -0.5], {"name": "shoulder", "kind": "revolute"})
    assert sorted(lower["box"]["size"]) == pytest.approx([0.0, 0.0, LENGTH])  # the rod's own edges


def test_long_curves_are_thinned_without_losing_a_peak():
    x = np.linspace(0.0, 10.0, 100_000)
    y = np.sin(3.0 * x)
    y[54_321] = 7.0
    few_x, few_y = thinned(x, y)
    assert len(few_x) == len(few_y) <= MAX_POINTS
    assert (few_x[0], few_x[-1]) == (0.0, 10.0)
    assert np.all(np.diff(few_x) > 0.0)
    assert 7.0 in few_y
    np.testing.assert_allclose(np.interp(few_x, x, y), few_y, atol=1e-12)
    assert len(thinned(x[:50], y[:50])[0]) == 50


def test_many_frames_are_thinned():
    times = np.linspace(0.0, 1.0, 3 * MAX_FRAMES)
    mechanism = Mechanism("one", (rod("arm"),), (Joint("hinge", "revolute", "world", "arm"),))
    scene = build_scene(mechanism, times, turn(times)[:, None])
    kept = scene["time"]
    assert (len(kept), kept[0], kept[-1]) == (MAX_FRAMES, 0.0, 1.0)
    assert shown(scene)["motion"].shape == (7, MAX_FRAMES)


@pytest.mark.parametrize(
    ("time", "poses", "words"),
    [
        ([0.0, 1.0], np.tile(np.eye(4), (2, 1, 1, 1)), r"2 bodies.*\(2, 1, 4, 4\).*\(n, 2, 4, 4\)"),
        ([0.0, 0.0], np.tile(np.eye(4), (2, 2, 1, 1)), "increase from frame"),
        ([0.0], np.full((1, 2, 4, 4), np.nan), "body 0 in frame 0 is not finite"),
    ],
)
def test_wrong_input_is_named(time, poses, words):
    with pytest.raises(InputError, match=f"double pendulum: .*{words}"):
        build_scene(double_pendulum(), time, poses)


def test_a_curve_of_the_wrong_length_is_named():
    channel = {"title": "Energy", "unit": "J", "x": [0.0, 1.0], "series": [{"name": "total", "values": [1.0]}]}
    with pytest.raises(InputError, match="'Energy', series 'total'"):
        build_scene(double_pendulum(), [0.0], np.tile(np.eye(4), (1, 2, 1, 1)), [channel])


# --- meshes -----------------------------------------------------------------------------------------------------------
TETRA = np.array([[0.0, 0.0, -1.0], [0.1, 0.0, -1.0], [0.0, 0.2, -1.0], [0.0, 0.0, 0.0]])
TETRA_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def tetra_file(folder: Path, paints: int = 0) -> Path:
    """An OBJ file of a tetrahedron in so many colours."""
    pytest.importorskip("trimesh")
    colors = "".join(f"newmtl m{k}\nKd {k} 0.2 0.4\n" for k in range(paints))
    (folder / f"paint{paints}.mtl").write_text(colors)
    lines = [f"mtllib paint{paints}.mtl"] if paints else []
    lines += ["v {} {} {}".format(*p) for p in TETRA]
    for k, face in enumerate(TETRA_FACES + 1):
        lines += [f"usemtl m{k % paints}"] if paints else []
        lines.append("f {} {} {}".format(*face))
    path = folder / f"tetra{paints}.obj"
    path.write_text("\n".join(lines))
    return path


def meshed(path: Path, *scales: tuple[float, float, float], color=None) -> Mechanism:
    items = tuple(Geometry(Mesh(path.name, scale, str(path)), color=color) for scale in scales or [(1.0, 1.0, 1.0)])
    return double_pendulum(visuals=items)


@pytest.fixture
def kept(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("kept")
def test_a_mesh_is_on_the_page_once_however_often_it_is_drawn(tmp_path):
    scene = pendulum_scene(meshed(tetra_file(tmp_path), (1.0, 1.0, 1.0), (1.0, -1.0, 0.5)))
    (surface,) = shown(scene)["meshes"]
    first, second = scene["bodies"][0]["shapes"]
    assert (first["type"], first["mesh"], first["scale"]) == ("mesh", 0, [1.0, 1.0, 1.0])
    assert (second["mesh"], second["scale"]) == (0, [1.0, -1.0, 0.5])
    steps = surface["vertices"].reshape(-1, 3)
    points = np.array(surface["low"]) + np.array(surface["step"]) * steps
    faces = surface["faces"].reshape(-1, 3)
    expected = np.sort(TETRA[TETRA_FACES].reshape(4, 9), axis=0)
    np.testing.assert_allclose(np.sort(points[faces].reshape(4, 9), axis=0), expected, atol=1e-5)
    assert scene["bodies"][1]["shapes"][0]["type"] == "capsule"  # a body with none of its own has its skeleton


@pytest.mark.usefixtures("kept")
def test_the_camera_knows_how_far_meshes_reach(tmp_path):
    small, large = (pendulum_scene(meshed(tetra_file(tmp_path), (s, s, s)))["extent"] for s in (1.0, 4.0))
    assert np.ptp(large, axis=0)[0] > 1.5 * np.ptp(small, axis=0)[0]


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("paints", "model", "drawn"), [(0, True, "model"), (1, True, "model"), (2, True, "file"), (1, False, "file")]
)
def test_the_file_that_says_more_of_colours_is_believed(tmp_path, paints, model, drawn):
    color = (0.0, 1.0, 0.0, 0.5) if model else None
    scene = pendulum_scene(meshed(tetra_file(tmp_path, paints), color=color))
    (shape,), (surface,) = scene["bodies"][0]["shapes"], scene["meshes"]
    assert (shape.get("color") == [0.0, 1.0, 0.0, 0.5]) == (drawn == "model")
    assert len(surface.get("palette", [])) == paints
    if paints == 2:
        palette = [surface["palette"][k] for k in surface["paint"]]
        assert sorted(palette) == [[0, 51, 102]] * 2 + [[255, 51, 102]] * 2


@pytest.mark.usefixtures("kept")
def test_meshes_that_are_missing_or_broken_are_named_and_the_rest_is_drawn(tmp_path):
    (tmp_path / "broken.stl").write_bytes(b"solid")
    good = tetra_file(tmp_path)
    lost = Geometry(Mesh("package://robot/lost.stl"))
    broken = Geometry(Mesh("broken.stl", resolved=str(tmp_path / "broken.stl")))
    mechanism = double_pendulum(visuals=(lost, broken, Geometry(Mesh(good.name, resolved=str(good)))))
    with pytest.warns(KumitateWarning) as told:
        scene = pendulum_scene(mechanism)
    first, second = (str(warning.message) for warning in told)
    assert "'upper' drawn without a mesh: mesh 'package://robot/lost.stl' was not found (sought in" in first
    assert "ROS_PACKAGE_PATH" in first
    assert re.search(r"'upper' drawn without a mesh: mesh 'broken\.stl': .*broken\.stl: ", second)
    assert [shape["type"] for shape in scene["bodies"][0]["shapes"]] == ["mesh"]


@pytest.mark.usefixtures("kept")
def test_frames_without_mass_are_not_drawn_next_to_meshes(tmp_path):
    joints = (
        Joint("hip", "revolute", "world", "leg", axis=(0, 1, 0)),
        Joint("weld", "fixed", "leg", "sole", pose((0.0, 0.0, -LENGTH))),
        Joint("toe", "fixed", "sole", "tip", pose((0.3, 0.0, 0.0))),
    )
    path = tetra_file(tmp_path)
    for visuals, count in (((), 1), ((Geometry(Mesh(path.name, resolved=str(path))),), 0)):
        bodies = (rod("leg", visuals=visuals), Body("sole"), Body("tip"))
        mechanism = Mechanism("leg", bodies, joints)
        assert len(drawn_shapes(mechanism, load_surfaces(mechanism))["sole"]) == count


def test_many_colours_become_few_that_are_near():
    rng = np.random.default_rng(5)
    surface = Facets(rng.normal(size=(3000, 3)), np.arange(3000).reshape(-1, 3), rng.integers(0, 256, (1000, 3)))
    found = pack_surface(surface)
    assert len(found["palette"]) <= 256
    assert np.abs(np.array(found["palette"])[found["paint"]].astype(int) - surface.colors).max() < 64


# --- the file ---------------------------------------------------------------------------------------------------------
def test_the_page_is_one_file_and_loads_nothing(tmp_path):
    path = write_page(tmp_path / "swing.html", pendulum_scene())
    text = path.read_text(encoding="utf-8")
    assert [item.name for item in tmp_path.iterdir()] == ["swing.html"]
    assert "default-src 'none'" in text  # the browser itself refuses every load
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search("https?:", markup)
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!data:)", markup)
    namespaces = set(re.findall(r"https?://[^\s\"'`)<]+", text))
    assert namespaces <= {"http://www.w3.org/1999/xhtml"}
    assert "three.js authors" in text
    assert "Permission is hereby granted" in text  # the licence travels with the page


def test_data_cannot_break_out_of_the_page(tmp_path):
    evil = "</script><script>alert(1)</script><!-- {{player}} & \u2028"
    scene = pendulum_scene(title=evil, notes=[evil])
    text = write_page(tmp_path / "evil.html", scene).read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert text.count("</script>") == 2
    (data,) = re.findall(r'<script type="application/octet-stream" id="scene">([A-Za-z0-9+/=]*)</script>', text)
    assert (unpacked(data)["title"], unpacked(data)["notes"]) == (evil, [evil])


def test_a_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"page\.html: cannot be written \(disk full\); the old file is unchanged"):
        write_page(path, pendulum_scene())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_and_foreign_data_are_named(tmp_path):
    with pytest.raises(InputError, match="does not exist; make it first"):
        write_page(tmp_path / "no" / "page.html", pendulum_scene())
    with pytest.raises(InputError, match=r"page\.html: the scene is not plain data"):
        write_page(tmp_path / "page.html", {"title": "x", "time": np.zeros(3, dtype=complex)})


@pytest.mark.parametrize("kind", [*KINDS.values(), Helical(0.01), EulerAngles("zxy")], ids=lambda kind: kind.name)
def test_every_kind_of_joint_has_its_mark(kind):
    joint = Joint("joint", kind, "world", "rod")
    expected = {"": [], "hinge": [Cylinder], "slider": [Box], "ball": [Sphere]}[kind.drawn_as]
    assert [type(mark.shape) for mark in _marker(joint, 0.1)] == expected
    assert (kind.drawn_as == "") == (kind.nv in (0, 6))
