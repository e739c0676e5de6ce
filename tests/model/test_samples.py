"""The sample mechanisms have the numbers of the thesis, and start where it starts."""

import math

import numpy as np
import pytest

from kumitate.analysis import LoopEquations
from kumitate.errors import InputError
from kumitate.model import Mechanism, Mesh
from kumitate.model.samples import SAMPLES, four_bars, free_rod, sample
from kumitate.spatial import DenseRotation, Matrix3, Transform


def body_poses(mechanism: Mechanism, q: tuple[float, ...]) -> dict[str, Transform]:
    """Every body's frame in the world, straight from the definition of a joint about z."""
    poses = {"world": Transform()}
    start = 0
    for joint in mechanism.joints:
        turn = joint.kind.transform(q[start : start + joint.kind.nq])
        start += joint.kind.nq
        if joint.kind.nv == 1:  # bring the kind's z to the axis
            z = np.asarray(joint.axis)
            x = np.cross([0.0, 1.0, 0.0], z) if abs(z[1]) < 0.5 else np.cross(z, [0.0, 0.0, 1.0])
            frame = Transform(DenseRotation(Matrix3.of(np.column_stack([x, np.cross(z, x), z]).tolist())))
            turn = frame @ turn @ frame.inverse()
        poses[joint.child] = poses[joint.parent] @ joint.pose @ turn
    return poses


def tip(mechanism: Mechanism, q: tuple[float, ...], body: str, height: float = 1.0) -> np.ndarray:
    return np.array(body_poses(mechanism, q)[body].matrix()) @ [0.0, 0.0, height, 1.0]


@pytest.mark.parametrize("item", SAMPLES.values(), ids=SAMPLES)
def test_every_sample_builds_and_its_state_fits(item):
    mechanism = item()
    assert mechanism.name == item.name
    assert (len(item.q), len(item.v)) == (mechanism.nq, mechanism.nv)
    assert item.duration > 0.0
    assert item.title
    assert mechanism.tree.nv == mechanism.nv
    shapes = [visual.shape for body in mechanism.bodies for visual in body.visuals]
    assert shapes
    assert not any(isinstance(shape, Mesh) for shape in shapes)
    assert all(joint.kind.off_manifold(item.q) < 1e-15 for joint in mechanism.joints if joint.kind.name == "floating")


@pytest.mark.parametrize("name", ["planar_3r", "planar_tree", "planar_tree_5"])
def test_rods_are_thin_uniform_and_turn_about_y(name):
    mechanism = SAMPLES[name]()
    for body in mechanism.bodies:
        assert body.mass == 1.0
        assert body.center_of_mass == (0.0, 0.0, 0.5)
        np.testing.assert_array_equal(body.inertia, np.diag([1.0 / 12.0, 1.0 / 12.0, 0.0]))
    assert all(joint.axis == (0.0, 1.0, 0.0) and joint.kind.name == "revolute" for joint in mechanism.joints)
    assert mechanism.gravity == (0.0, 0.0, -9.81)
    assert SAMPLES[name].v == (0.0,) * mechanism.nv
    assert SAMPLES[name].duration == 3.0


def test_the_serial_chain_points_its_links_at_135_90_315_deg():
    item = sample("planar_3r")
    mechanism = item()
    ends = [tip(mechanism, item.q, f"link{i}")[:3] for i in (1, 2, 3)]
    directions = np.diff([np.zeros(3), *ends], axis=0)
    expected = [[math.sin(a), 0.0, math.cos(a)] for a in np.radians([135.0, 90.0, 315.0])]
    np.testing.assert_allclose(directions, expected, atol=1e-14)
    assert item.rows == ("T-3.1",)


def test_the_tree_is_an_f():
    item = sample("planar_tree_5")
    mechanism = item()
    assert [joint.name for joint in mechanism.joints] == ["joint1", "joint2", "joint3", "joint4", "joint5"]
    ends = {i: tip(mechanism, item.q, f"link{i}")[:3] for i in range(1, 6)}
    np.testing.assert_allclose([ends[1], ends[2]], [[0, 0, 1], [0, 0, 2]], atol=1e-14)
    np.testing.assert_allclose([ends[3], ends[4], ends[5]], [[1, 0, 2], [1, 0, 1], [2, 0, 1]], atol=1e-14)
    assert sample("planar_tree").q == item.q[:4]
    assert [joint.parent for joint in sample("planar_tree")().joints] == ["world", "link1", "link2", "link1"]


@pytest.mark.parametrize("item", [item for item in SAMPLES.values() if item().loops], ids=lambda item: item.name)
def test_samples_with_loops_start_closed(item):
    loops = LoopEquations(item())
    for gap in loops.gaps(np.array(item.q), np.array(item.v)):
        assert gap.distance < 1e-14, gap
        assert gap.angle < 1e-14, gap
        assert gap.speed < 1e-14, gap


def test_the_loop_is_the_chain_with_its_end_pinned():
    item, chain = sample("planar_4r"), sample("planar_3r")()
    mechanism = item()
    assert item.q == sample("planar_3r").q
    assert mechanism.joints == chain.joints
    (joint4,) = mechanism.loops
    assert (joint4.body_a, joint4.body_b, joint4.axis) == ("world", "link3", (0.0, 1.0, 0.0))
    np.testing.assert_allclose(tip(mechanism, item.q, "link3")[:3], [1.0, 0.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(np.degrees(sample("planar_4r_singular").q), [60.0, 30.0, 150.0])


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_row_of_four_bars_has_its_legs_and_tops(count):
    mechanism = four_bars(count)
    assert len(mechanism.bodies) == 2 * count + 1
    assert len(mechanism.loops) == count
    upright = [math.pi / 2 if "corner" in name else 0.0 for name in mechanism.q_names]
    for k in range(count + 1):
        np.testing.assert_allclose(tip(mechanism, tuple(upright), f"leg{k}")[:3], [k, 0.0, 1.0], atol=1e-14)
    for k in range(count):
        np.testing.assert_allclose(tip(mechanism, tuple(upright), f"top{k}")[:3], [k + 1, 0.0, 1.0], atol=1e-14)


def test_bricards_bars_are_square_and_meet():
    mechanism = sample("bricard")()
    for body in mechanism.bodies:
        principal = sorted(np.diag(np.asarray(body.inertia)))
        np.testing.assert_allclose(principal, [0.02 / 12, 1.01 / 12, 1.01 / 12], rtol=1e-14)
    assert ["xyz"[int(np.argmax(np.abs(item.axis)))] for item in (*mechanism.joints, *mechanism.loops)] == list("zyxzyx")


def test_the_pendulums_hang():
    mechanism = SAMPLES["pendulum"]()
    assert mechanism.bodies[0].mass == 1.0
    assert np.all(np.asarray(mechanism.bodies[0].inertia) == 0.0)
    np.testing.assert_allclose(tip(mechanism, (0.0,), "bob", -1.0)[:3], [0.0, 0.0, -1.0])
    double = SAMPLES["double_pendulum"]()
    np.testing.assert_allclose(tip(double, (0.0, 0.0), "lower", -1.0)[:3], [0.0, 0.0, -2.0])


def test_the_mass_centre_of_the_free_rod_rests():
    item = sample("free_rod")
    mechanism = item()
    assert mechanism.gravity == (0.0, 0.0, 0.0)
    assert item.duration == 10.0
    omega, v = np.array(item.v[:3]), np.array(item.v[3:])
    np.testing.assert_allclose(v + np.cross(omega, mechanism.bodies[0].center_of_mass), 0.0, atol=1e-15)
    assert mechanism.bodies[0].inertia[2][2] == 1e-6
    assert free_rod(axial_inertia=1e-8).bodies[0].inertia[2][2] == 1e-8


def test_pa10_has_its_offsets_masses_and_inertias():
    item = sample("pa10")
    mechanism = item()
    np.testing.assert_allclose(np.degrees(item.q), [0.0, 45.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    arm = [joint for joint in mechanism.joints if joint.kind.nv]
    assert "".join("xyz"[np.argmax(joint.axis)] for joint in arm) == "zyzyzyz"
    heights = np.cumsum([joint.pose.translation.z for joint in arm])
    # base to shoulder 0.315, to elbow 0.45, to wrist 0.5, to flange 0.08
    np.testing.assert_allclose(heights, [0.2, 0.315, 0.595, 0.765, 1.015, 1.265, 1.345], atol=1e-15)
    links = mechanism.bodies[1:]
    assert [link.mass for link in links] == [9.78, 8.41, 3.52, 4.31, 3.45, 1.46, 0.24]
    assert [link.center_of_mass[2] for link in links] == [-0.0518, 0.0618, 0.0771, 0.0446, 0.0838, -0.0315, -0.0305]
    for link in links:
        np.testing.assert_array_equal(link.inertia, np.eye(3))
    flange = tip(mechanism, item.q, "link7", 0.0)[:3]
    np.testing.assert_allclose(flange, [1.03 * math.sin(math.pi / 4), 0.0, 0.315 + 1.03 * math.cos(math.pi / 4)], atol=1e-14)


def test_an_unknown_sample_names_the_right_ones():
    with pytest.raises(InputError, match=r"'pa1'.*did you mean 'pa10'.*planar_3r"):
        sample("pa1")
