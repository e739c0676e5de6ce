"""Support polygons and their margins; static equilibrium by its conditions."""

import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import kumitate as km
from kumitate.analysis import LoopEquations
from kumitate.analysis.balance import static_equilibrium, support_polygon
from kumitate.errors import InputError
from kumitate.model import KINDS, Body, Joint, Mechanism
from kumitate.spatial import pose

from ..mechanisms import random_case, seeds


@pytest.mark.row("T-5.3")
@pytest.mark.parametrize(**seeds(8))
def test_the_polygon_is_the_convex_hull(seed):
    """Every point inside or on it, every vertex one of them, convex; the area by Qhull."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(3, 40)), 3))
    polygon = support_polygon(points)
    assert (polygon.margin(points) >= -1e-12).all()
    assert all((np.abs(points[:, :2] - vertex).max(axis=1) == 0.0).any() for vertex in polygon.vertices)
    for angle in np.linspace(0.0, 2.0 * math.pi, 50):
        d = np.array([math.cos(angle), math.sin(angle)])
        assert (polygon.vertices @ d).max() == pytest.approx((points[:, :2] @ d).max(), abs=1e-12)
    assert polygon.area == pytest.approx(ConvexHull(points[:, :2]).volume, rel=1e-12)  # of a plane set, its area


def test_margin_is_a_signed_distance():
    square = support_polygon([(0, 0), (2, 0), (2, 2), (0, 2), (1, 1), (1, 0)])
    assert len(square.vertices) == 4
    found = square.margin([(1.0, 1.0), (1.9, 1.0), (2.0, 1.0), (3.0, 1.0), (3.0, 3.0), (-0.3, -0.4)])
    np.testing.assert_allclose(found, [1.0, 0.1, 0.0, -1.0, -math.sqrt(2.0), -0.5], atol=1e-15)
    assert square.contains((0.5, 0.5))
    line = support_polygon([(0, 0), (1, 0), (0.3, 0.0)])
    np.testing.assert_allclose(line.margin([(0.5, 0.2), (2.0, 0.0), (0.5, 0.0)]), [-0.2, -1.0, 0.0], atol=1e-15)
    assert float(support_polygon([(1.0, 1.0)]).margin((1.0, 3.0))) == -2.0


@pytest.mark.parametrize("points", [[], [(0.0, np.nan)], [0.0, 1.0]])
def test_points_that_are_none_are_refused(points):
    with pytest.raises(InputError, match="contact point"):
        support_polygon(points)


@pytest.mark.parametrize(**seeds(6))
def test_holding_forces_of_a_tree_hold_it(seed):
    case = random_case(seed, passive=False)
    found = static_equilibrium(LoopEquations(case.mechanism), case.q)
    a = km.Robot(case.mechanism).forward_dynamics(case.q, np.zeros(case.mechanism.nv), found.tau)
    idle = any(link.parent == -1 and link.kind.nv == 6 for link in case.mechanism.tree.links)
    assert found.balanced != idle
    if not idle:
        np.testing.assert_allclose(a, 0.0, atol=1e-6 * (1.0 + np.abs(found.tau).max()))


def test_a_linkage_is_held_with_least_drives():
    """The parallelogram: every split of the torque that holds it is as good for the motion; this one is the least."""
    robot = km.load("planar_4r")
    loops = LoopEquations(robot.mechanism)
    q = robot.assemble(robot.start[0])
    still = np.zeros(robot.nv)
    found = static_equilibrium(loops, q)
    assert found.balanced
    np.testing.assert_allclose(robot.forward_dynamics(q, still, found.tau), 0.0, atol=1e-8)
    J = loops.state(q, still).J
    for wobble in np.random.default_rng(0).normal(size=(5, len(J))):
        other = found.tau + J.T @ wobble
        np.testing.assert_allclose(robot.forward_dynamics(q, still, other), 0.0, atol=1e-8)
        assert np.linalg.norm(other) >= np.linalg.norm(found.tau)
    one = static_equilibrium(loops, q, passive=["joint2", "joint3"])
    assert one.balanced
    assert list(one.tau[1:]) == [0.0, 0.0]
    np.testing.assert_allclose(robot.forward_dynamics(q, still, one.tau), 0.0, atol=1e-8)
    none = static_equilibrium(loops, q, passive=["joint1", "joint2", "joint3"])
    assert not none.balanced
    assert not none.stands


def walker() -> Mechanism:
    """A floating trunk with two legs."""
    trunk = Body("trunk", 5.0, (0.0, 0.0, 0.2), (0.1, 0.1, 0.05))
    legs = [Body(f"leg{k}", 1.0, (0.0, 0.0, -0.2), (0.01, 0.01, 0.001)) for k in (0, 1)]
    joints = [Joint("base", KINDS["floating"], "world", "trunk")]
    for k in (0, 1):
        hip = pose((0.0, 0.2 * k - 0.1, 0.0))
        joints.append(Joint(f"hip{k}", KINDS["universal"], "trunk", f"leg{k}", hip, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    return Mechanism("walker", (trunk, *legs), tuple(joints))


@pytest.mark.parametrize(("shift", "stands"), [(0.0, True), (0.04, True), (0.3, False)])
def test_a_walker_stands_where_its_mass_center_is_over_its_feet(shift, stands):
    mechanism = walker()
    q = km.Robot(mechanism).neutral()
    q[4:7] = 1.0, 2.0, 0.4
    feet = [(1.0 + shift + x, 2.0 + y, 0.0) for x in (-0.05, 0.05) for y in (-0.1, 0.1)]
    found = static_equilibrium(LoopEquations(mechanism), q, held=["leg0", "leg1"], contacts=feet)
    assert found.balanced
    assert found.stands == stands
    assert found.margin == pytest.approx(0.05 - shift, abs=1e-12)
    # the feet's wrenches carry the weight, about any point
    poses = km.Robot(mechanism).poses(q)
    total = np.zeros(6)
    for name, wrench in found.holds.items():
        total += [*(wrench[:3] + np.cross(poses[name][:3, 3], wrench[3:])), *wrench[3:]]
    np.testing.assert_allclose(total, found.ground, atol=1e-9)
    a = km.Robot(mechanism).forward_dynamics(q, np.zeros(mechanism.nv), found.tau, wrenches=found.holds)
    np.testing.assert_allclose(a, 0.0, atol=1e-9)
    afloat = static_equilibrium(LoopEquations(mechanism), q)
    assert not afloat.balanced


def test_names_that_are_none_are_refused():
    loops = LoopEquations(walker())
    q = km.Robot(walker()).neutral()
    with pytest.raises(InputError, match="hip7"):
        static_equilibrium(loops, q, passive=["hip7"])
    with pytest.raises(InputError, match="sole"):
        static_equilibrium(loops, q, held=["sole"])
