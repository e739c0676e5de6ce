"""What is seen of contact: its curves, its arrows in pictures and on the page, and the ground."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.model import Box, Geometry, Plane, Polygon
from kumitate.spatial import pose

pytest.importorskip("matplotlib")

from kumitate.view.arrows import Arrows, _reach, arrows_at, arrows_of
from kumitate.view.drawing_window import Stage
from kumitate.view.figures import figure
from kumitate.view.outlines import View
from kumitate.view.page import playback
from kumitate.view.panels import Panel, force_panels, panels_of, without_impacts
from kumitate.view.scene import packed
from kumitate.view.snapshots import animate, snapshots_figure
from kumitate.view.surfaces import surroundings

from .unpacking import unpacked

MASS, G = 2.0, 9.81


def frames(run: km.Run, count: int = 31) -> tuple[np.ndarray, np.ndarray]:
    samples = np.unique(np.linspace(0, len(run) - 1, count).astype(int))
    return samples, run.poses(samples)


# --- curves -----------------------------------------------------------------------------------------------------------
def test_contact_has_its_panels(bounced):
    usual = {panel.quantity: panel for panel in panels_of(bounced)}
    normal, tangential = usual["Normal contact force"], usual["Tangential contact force"]
    assert (normal.names, normal.unit) == (("ball",), "N")
    assert normal.values[-1, 0] == pytest.approx(MASS * G, rel=1e-6)
    np.testing.assert_allclose(tangential.values[:, 0], np.linalg.norm(bounced.contact.on("ball")[:, :2], axis=1), atol=1e-9)
    center = usual["Center of pressure"]
    rolling = normal.values[:, 0] > 0.0
    np.testing.assert_allclose(center.values[rolling], bounced.q[rolling, 4:6], atol=0.02)
    assert np.isnan(center.values[~rolling]).all()
    assert usual["Deepest penetration"].log
    assert usual["Residual of contact laws"].unit == "m/s"
    (gap,) = panels_of(bounced, "contact_gaps")
    np.testing.assert_allclose(gap.values[:, 0], bounced.q[:, 6] - 0.1, atol=1e-9)
    assert not any("contact" in panel.quantity for panel in panels_of(replace(bounced, contact=None)))


def test_impacts_do_not_press_flat_what_lasts(bounced):
    panel = next(panel for panel in panels_of(bounced) if panel.quantity == "Normal contact force")
    assert panel.values.max() > 20.0 * MASS * G
    low, high = panel.reach
    assert low < 0.0 < MASS * G < high < 4.0 * MASS * G
    axes = next(axes for axes in figure(bounced, "contact_forces").axes if "Normal" in axes.get_title(loc="left"))
    assert axes.get_ylim() == pytest.approx(panel.reach)
    assert any("single steps to" in text.get_text() for text in axes.texts)
    calm = Panel("Force", "N", ("a",), np.array([[0.0], [1.0], [-2.0], [np.nan]]))
    assert without_impacts(calm) is calm
    signed = without_impacts(calm._replace(values=np.append(np.full(99, -1.0), 50.0)[:, None]))
    assert signed.reach[0] == -signed.reach[1]


def test_the_panel_of_joint_forces_knows_of_contact(bounced):
    """Nothing but contact holds the ball: at its free joint there is no force to draw."""
    assert force_panels(bounced) == []


# --- arrows -----------------------------------------------------------------------------------------------------------
def test_arrows_are_means_that_keep_the_impulse(bounced):
    record, h = bounced.contact, 1e-3
    every = np.arange(0, len(bounced), 20)
    arrows = arrows_of(bounced, every)
    counts = np.diff([*every, len(bounced)])
    impulse = (arrows.forces * counts[:, None, None]).sum(axis=(0, 1)) * h
    np.testing.assert_allclose(impulse, record.force.sum(axis=(0, 1)) * h, rtol=1e-9, atol=1e-12)
    first = int(np.argmax(record.force.any(axis=(1, 2)))) // 20
    np.testing.assert_allclose(arrows.points[first, :, 2].min(), 0.0, atol=0.01)
    single = arrows_of(bounced, np.arange(len(bounced)))
    np.testing.assert_array_equal(single.forces[-1], record.force[-1])
    sparse = arrows_of(bounced, np.array([0, 590]))  # not over 0.59 s
    assert not sparse.forces[0].any()
    assert np.linalg.norm(arrows_at(bounced, bounced.time[[0, 590]]).forces[1].sum(axis=0)) == pytest.approx(MASS * G, rel=1e-3)
    assert arrows_at(bounced, np.array([5.0])) is None
    assert arrows_of(replace(bounced, contact=None), every) is None


def test_the_scale_of_arrows_is_round_and_they_are_cut():
    forces = np.zeros((30, 2, 3))
    forces[:, 0, 2] = 30.0  # what lasts gives 900 of 1303
    forces[:, 1, 0] = 0.1  # a light touch
    forces[7, 1] = [240.0, 0.0, 320.0]  # an impact
    arrows = Arrows(np.zeros((30, 2, 3)), forces, np.ones(2, dtype=bool))
    assert arrows.scale(0.5) == 200.0  # 30 N are 0.15 m, as 0.35 × 0.5 m and a round number
    starts, ends = arrows.shafts(0, 0.5)
    np.testing.assert_allclose(ends - starts, [[0.0, 0.0, 0.15], [5e-4, 0.0, 0.0]])
    starts, ends = arrows.shafts(7, 0.5)
    np.testing.assert_allclose(ends[1] - starts[1], [0.6 * 0.25, 0.0, 0.8 * 0.25])  # cut at 0.5 × 0.5 m
    empty = Arrows(arrows.points, 0.0 * forces, arrows.grounded)
    assert empty.shafts(0, 0.5)[0].shape == (0, 3)
    assert empty.scale(0.5) > 0.0


def test_arrows_of_many_forces_are_as_short_as_those_of_a_part_with_a_few():
    """Four times as many bodies on a floor have twice the size: the arrow of each stays as long."""
    one = Arrows(np.zeros((2, 8, 3)), np.full((2, 8, 3), [0.0, 0.0, 10.0]), np.ones(8, dtype=bool))
    many = Arrows(np.zeros((2, 32, 3)), np.full((2, 32, 3), [0.0, 0.0, 10.0]), np.ones(32, dtype=bool))
    assert many.scale(2.0) == one.scale(1.0)
    assert many.longest(2.0) == one.longest(1.0)
    few = Arrows(one.points[:, :2], one.forces[:, :2], one.grounded[:2])
    assert few.scale(1.0) == one.scale(1.0)


def test_arrows_are_bounded_by_the_robot_that_touches_not_by_the_scene_around_it():
    """A brick that lies two metres beside a robot makes the picture large, and not the arrows."""
    legged = km.Body("foot", 1.0, inertia=(1, 1, 1), collisions=(km.Geometry(km.Sphere(0.05)),))
    trunk = km.Body("trunk", 1.0, inertia=(1, 1, 1))
    hip = km.pose((0.0, 0.0, -0.4))
    joints = (km.Joint("free", "floating", "world", "trunk"), km.Joint("leg", "prismatic", "trunk", "foot", hip))
    robot = km.Mechanism("robot", (trunk, legged), joints)
    assert _reach(robot, {"foot", "ground"}) == pytest.approx(0.5)
    forces = np.full((2, 4, 3), [0.0, 0.0, 10.0])
    alone = Arrows(np.zeros((2, 4, 3)), forces, np.ones(4, dtype=bool), 0.5)
    for size in (0.6, 1.0, 2.4):
        start, end = alone.shafts(0, size)
        assert (np.linalg.norm(end - start, axis=1) <= 0.25 + 1e-12).all()
    assert np.linalg.norm(np.subtract(*alone.shafts(0, 20.0)), axis=1).max() > 0.25, "still seen in a large scene"


# --- the ground -------------------------------------------------------------------------------------------------------
def test_floors_have_a_height_and_slopes_become_slabs():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([2.0, 0.0, 1.0])
    box, tile = Geometry(Box((1.0, 1.0, 0.1))), Geometry(Polygon(((0, 0), (1, 0), (0, 1))), color=(1.0, 0.0, 0.0, 1.0))
    slope = Geometry(Plane(), pose((0.0, 0.0, 0.5), (0.0, 0.3, 0.0)))
    shapes, floor = surroundings([box, tile, slope, Geometry(Plane(), pose((0, 0, -2.0))), Geometry(Plane())], low, high)
    assert floor == 0.0
    assert [type(item.shape) for item in shapes] == [Box, Polygon, Box]
    assert shapes[1].color == tile.color
    X = np.array(shapes[2].pose.matrix(), dtype=float)
    top = X[:3, 3] + 0.5 * shapes[2].shape.size[2] * X[:3, 2]
    assert (top - [0.0, 0.0, 0.5]) @ X[:3, 2] == pytest.approx(0.0, abs=1e-12)  # its upper face lies in the plane
    np.testing.assert_allclose(np.cross(top - [1.0, 0.0, 0.5], X[:3, 2]), 0.0, atol=1e-12)  # below the middle of the motion
    assert surroundings([slope], low, high)[1] is None


def test_pictures_show_the_ground_and_the_arrows(bounced, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    samples, poses = frames(bounced)
    made = snapshots_figure(bounced, poses, bounced.time[samples], count=3)
    said = [text.get_text() for axes in made.axes for text in axes.texts]
    assert any(re.search(r"force arrows: [\d.]+ N\)", text) for text in said)
    arrows = [[p for p in axes.patches if type(p).__name__ == "FancyArrowPatch"] for axes in made.axes]
    assert [len(found) for found in arrows] == [0, 0, 1] or len(arrows[-1]) == 1
    picture = Image.open(animate(bounced, poses, bounced.time[samples], tmp_path / "ball.gif", fps=10))
    picture.seek(picture.n_frames - 1)
    pixels = np.asarray(picture.convert("RGB")).astype(int)
    crimson = np.abs(pixels - [0xC2, 0x17, 0x4B]).max(axis=2) < 40
    assert crimson.sum() > 30


def test_seen_edge_on_the_floor_is_a_line(bounced):
    from matplotlib.figure import Figure

    _, poses = frames(bounced)
    stage = Stage(bounced.mechanism, poses, View.along(1), ground=(Geometry(Plane(), pose((0, 0, 0.03))),))
    axes = Figure().add_subplot()
    stage.frame(axes, poses[0])
    assert (stage.floor, stage.force_scale) == (0.03, "")
    assert [line.get_ydata()[0] for line in axes.lines] == [0.03]
    above = Stage(bounced.mechanism, poses, View.along(2), ground=(Geometry(Plane()),))
    axes = Figure().add_subplot()
    above.frame(axes, poses[0])
    assert not axes.lines


# --- the page ---------------------------------------------------------------------------------------------------------
def test_the_page_holds_contact_and_ground(bounced):
    samples, poses = frames(bounced)
    scene = unpacked(packed(playback(bounced, samples, poses)))
    contact, arrows = scene["contact"], arrows_of(bounced, samples)
    assert contact["count"] == arrows.points.shape[1]
    touches = arrows.forces.any(axis=2)
    for part, near in (("forces", 2e-5 * np.abs(arrows.forces).max()), ("points", 2e-5)):
        rows = contact[part].reshape(-1, 3, len(samples)).transpose(2, 0, 1)
        np.testing.assert_array_equal(np.isnan(rows).all(axis=2), ~touches)
        np.testing.assert_allclose(rows[touches], getattr(arrows, part)[touches], rtol=0.0, atol=near)
    assert contact["ground"] == list(range(contact["count"]))
    assert contact["scale"] == arrows.scale(scene["size"])
    (step,) = (shape for shape in scene["world"] if shape["type"] == "box")
    assert (step["size"], step["position"]) == ([0.4, 0.4, 0.1], [-0.6, 0.0, 0.05])
    assert scene["ground"] == 0.0
    channel = next(channel for channel in scene["channels"] if channel["title"] == "Normal contact force")
    assert channel["reach"][0] < 0.0 < channel["reach"][1]
    assert any("penetration" in note for note in scene["notes"])
    plain = playback(replace(bounced, contact=None, settings={}), samples, poses)
    assert plain["contact"] is None
    assert not plain["world"]


def test_a_run_from_a_file_is_drawn_alike(bounced, tmp_path):
    again = km.open(bounced.save(tmp_path / "ball.npz"))
    samples, poses = frames(bounced)
    assert packed(playback(again, samples, poses)) == packed(playback(bounced, samples, poses))
    assert 'id="scene"' in bounced.page(tmp_path / "ball.html").read_text(encoding="utf-8")
