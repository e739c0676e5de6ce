"""Figures of scenes: the number of panels does not grow with the bodies, what is left out is said, and can be asked for."""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.model import Body, Joint, Mechanism
from kumitate.records.record import Energy, Record
from kumitate.spatial import pose

pytest.importorskip("matplotlib")

from kumitate.view.figures import figure
from kumitate.view.page import playback
from kumitate.view.panels import panels_of, turned

TIME = np.linspace(0.0, 1.0, 51)


def scene(count: int, *, kind: str = "floating", robot: bool = False) -> Record:
    """Free balls, and a floating robot with a hinge among them, with a motion that a seed prescribes."""
    balls = tuple(Body(f"ball{k}", 1.0, inertia=(0.1, 0.1, 0.1)) for k in range(count))
    joints = tuple(Joint(f"free{k}", kind, "world", f"ball{k}") for k in range(count))
    if robot:
        balls = (*balls, Body("trunk", 5.0, inertia=(1, 1, 1)), Body("arm", 1.0, inertia=(1, 1, 1)))
        joints = (
            *joints,
            Joint("legs", "floating", "world", "trunk"),
            Joint("elbow", "revolute", "trunk", "arm", axis=(0, 1, 0)),
        )
    mechanism = Mechanism("scene", balls, joints)
    random = np.random.default_rng(31)
    q, v, a = (random.normal(size=(len(TIME), k)) for k in (mechanism.nq, mechanism.nv, mechanism.nv))
    n = len(TIME)
    return Record(
        mechanism, TIME, q=q, v=v, a=a, tau=np.zeros((n, mechanism.nv)), center_of_mass=np.zeros((n, 3)),
        momentum=np.ones((n, 6)), energy=Energy(np.ones(n), np.ones(n), np.ones(n)),
    )  # fmt: skip


def words(drawn) -> str:
    return " ".join(" ".join(text.get_text() for text in drawn.texts).split())


@pytest.mark.parametrize("count", [12, 60])
def test_the_number_of_panels_does_not_grow_with_the_bodies(count):
    drawn = figure(scene(count))
    assert [place.get_title(loc="left")[4:] for place in drawn.axes] == [
        f"Angle turned since the start of {count} bodies", *(f"Position {x} of {count} bodies" for x in "xyz"),
        f"Angular speed of {count} bodies", f"Speed of {count} bodies", f"Size of angular acceleration of {count} bodies",
        f"Size of acceleration of {count} bodies", *(f"Size of {what} of {count} bodies" for what in ("torque", "force")),
        "Center of mass", "Velocity of center of mass", "Energy",
    ]  # fmt: skip
    curves = [line for line in drawn.axes[3].lines if len(line.get_xdata())]
    assert len(curves) == count
    named = sum(len(legend.get_texts()) for legend in drawn.legends)
    assert named == (count if count <= 12 else 0)  # more curves than this are not told apart by colours and dashes
    assert all(place.get_legend() is None for place in drawn.axes[:8])


def test_a_note_says_what_is_left_out_and_how_to_draw_it():
    run = scene(60)
    assert "60 free bodies share panels, with a curve each, without its name" in words(figure(run))
    asked = literal_eval(re.search(r"panels=(\(.*\))\)\.", words(figure(run)))[1])
    panels = panels_of(run, asked, degrees=False)
    assert [panel.quantity for panel in panels[:4]] == [
        "Free0: quaternion", "Free0: position", "Free0: angular velocity", "Free0: velocity"
    ]  # fmt: skip
    drawn = np.hstack([panel.values for panel in panels])
    assert np.array_equal(drawn, np.hstack([run.q[:, :7], run.v[:, :6], run.a[:, :6], run.tau[:, :6]]))
    assert not words(figure(run, asked))


def test_curves_are_coordinates_and_sizes_of_vectors():
    run = scene(7)
    x, speed, turning = (
        next(panel for panel in panels_of(run, name, degrees=False) if panel.quantity.startswith(what))
        for name, what in (("q", "Position x"), ("v", "Speed"), ("a", "Size of angular acceleration"))
    )
    assert x.names == speed.names == tuple(f"free{k}" for k in range(7))
    assert np.array_equal(x.values, run.q[:, 4::7])  # all joints stand at the world's origin
    assert np.allclose(speed.values**2, sum(run.v[:, k::6] ** 2 for k in (3, 4, 5)))
    assert np.allclose(turning.values**2, sum(run.a[:, k::6] ** 2 for k in (0, 1, 2)))


def test_positions_are_in_the_world_wherever_the_bodies_start():
    """Against the poses that the kinematics gives."""
    run = scene(5)
    turned_joints = tuple(
        replace(joint, pose=pose(xyz=(k, 2.0, -k), rpy=(0.3 * k, 0.7, -0.2 * k)))
        for k, joint in enumerate(run.mechanism.joints)
    )
    run = replace(run, mechanism=replace(run.mechanism, joints=turned_joints))
    x, y, z = (panel.values for panel in panels_of(run, "q") if panel.quantity.startswith("Position"))
    (place,) = panels_of(run, "position:ball3")
    assert np.allclose(np.column_stack([x[:, 3], y[:, 3], z[:, 3]]), place.values)


def test_the_angle_turned_is_that_of_a_constant_rate():
    """A turn by φ about a fixed axis from any start: q = q0 (sin(φ/2) n, cos(φ/2)), and beyond π the shorter way back."""
    angle = np.concatenate([[0.0, 1e-9], np.linspace(0.1, 6.0, 60)])
    axis = np.array([0.48, -0.6, 0.64])
    q = np.column_stack([np.outer(np.sin(angle / 2), axis), np.cos(angle / 2)])
    x, y, z, w = 0.1, 0.7, -0.5, 0.5  # of the start, from the left; |q0| = 1
    left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    expected = np.minimum(angle, 2 * np.pi - angle)
    signs = np.where(np.arange(len(angle)) % 3, 1.0, -1.0)[:, None]
    for part in (q, q @ left.T, signs * q):
        assert np.allclose(turned(part), expected, rtol=1e-6, atol=1e-15)


def test_few_bodies_and_robots_among_many_keep_panels_of_their_own():
    own = [panel for panel in panels_of(scene(4)) if panel.quantity.startswith("Free")]
    assert len(own) == 4 * 8
    assert not any(panel.note for panel in own)
    assert not words(figure(scene(4), ["q"]))
    crowd = {panel.quantity: panel for panel in panels_of(scene(60, robot=True), ["q", "v"])}
    assert [name for name in crowd if name.startswith("Legs")] == [
        "Legs: quaternion", "Legs: position", "Legs: angular velocity", "Legs: velocity"
    ]  # fmt: skip
    assert crowd["Joint angle"].names == ("elbow",)
    assert "Speed of 60 bodies" in crowd


@pytest.mark.parametrize("kind", ["planar", "spherical"])
def test_bodies_with_other_coordinates_share_panels_too(kind):
    quantities = [panel.quantity.partition(" of ")[0] for panel in panels_of(scene(9, kind=kind), ["q", "v"])]
    assert quantities == {
        "planar": ["Angle", "Joint position x", "Joint position y", "Angular speed", "Speed"],
        "spherical": ["Angle turned since the start", "Angular speed"],
    }[kind]  # fmt: skip


def test_a_joint_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"panel 'v:knee': 'knee' is not a joint that moves; there are .*legs, elbow"):
        panels_of(scene(2, robot=True), ["v:knee"])


def test_the_page_has_as_few_plots_and_the_note():
    run = scene(60)
    shown = playback(run, np.arange(2), np.tile(np.eye(4), (2, 60, 1, 1)))
    assert len(shown["channels"]) <= 13
    assert any("60 free bodies share panels" in note for note in shown["notes"])


def test_bodies_without_curves_of_contact_are_counted(tmp_path):
    bodies = "".join(
        f'<body name="ball{k}" pos="{k} 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>' for k in range(9)
    )
    (tmp_path / "balls.xml").write_text(f'<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{bodies}</worldbody></mujoco>')
    run = km.simulate(km.load(tmp_path / "balls.xml"), duration=0.01, contact="rigid")
    drawn = run.figure(["contact_forces", "penetration"])
    assert "Of the 9 bodies that touched, the 8 with the largest impulses have curves of contact" in words(drawn)
    assert len(run.contact.bodies) >= 9
    assert not words(run.figure(["penetration"]))
