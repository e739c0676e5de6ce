"""Loops cut elsewhere: the same mechanism by other coordinates; and what a tree leaves without mass moves all the same."""

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import ModelError
from kumitate.model import Body, Coupling, Distance, Joint, Loop, Mechanism, check_resistance, recut
from kumitate.model.edits import recuts

ABOUT_Y = (0.0, 1.0, 0.0)


def crank_rocker(rocker_mass=0.0, *, backward=False):
    """A four-bar of unequal bars in a plane: the crank carries the coupler, and a loop pins the rocker to it."""

    def bar(name, length, mass):
        return Body(name, mass, (length / 2, 0, 0), np.array([1e-3, mass * length**2 / 12, mass * length**2 / 12]) * (mass > 0))

    joints = (
        Joint("motor", "revolute", "world", "crank", axis=ABOUT_Y),
        Joint("elbow", "revolute", "crank", "coupler", km.pose((0.3, 0, 0)), axis=ABOUT_Y),
        Joint("pivot", "revolute", "world", "rocker", km.pose((0.9, 0, 0)), axis=ABOUT_Y, damping=0.02),
    )
    ends = (("coupler", km.pose((0.8, 0, 0))), ("rocker", km.pose((0.6, 0, 0))))
    (a, pose_a), (b, pose_b) = reversed(ends) if backward else ends
    pin = Loop("pin", "revolute", a, b, pose_a, pose_b, axis=ABOUT_Y, damping=0.01)
    bodies = (bar("crank", 0.3, 1.0), bar("coupler", 0.8, 2.0), bar("rocker", 0.6, rocker_mass))
    return Mechanism("crank rocker", bodies, joints, (pin,))


def acceleration(robot, q, v, a, name):
    """J a + J̇ v of a body."""
    return robot.jacobian(q, name) @ a + robot.jacobian_rate(q, v, name) @ v


def same_state(robot, q, v, other):
    """(q, v) of another cut at which all bodies stand and move as they do here: from poses of the bodies that joints join."""
    found_q, found_v = [], []
    for joint in other.mechanism.joints:
        if joint.kind.nv:
            X_P, X_C = (
                np.eye(4) if name == "world" else other_pose(robot, q, name, other) for name in (joint.parent, joint.child)
            )
            F = X_P @ np.array(joint.pose.matrix(), dtype=float)
            R = F[:3, :3].T @ X_C[:3, :3]
            axis = np.array(joint.axis)
            sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) @ axis
            found_q.append(np.arctan2(sine, 0.5 * (np.trace(R) - 1.0)))
            rates = [other_rate(robot, q, v, name, other) for name in (joint.parent, joint.child)]
            found_v.append((rates[1] - rates[0]) @ (F[:3, :3] @ axis))
    return np.array(found_q), np.array(found_v)


def original(name, other, robot):
    """The body of the first cut that a body of the other is, or is fixed on, and its pose there."""
    X = np.eye(4)
    while name not in robot.bodies:
        joint = next(item for item in other.mechanism.joints if item.parent == name and not item.kind.nv)
        X = X @ np.linalg.inv(np.array(joint.pose.matrix(), dtype=float))
        name = joint.child
    return name, X


def other_pose(robot, q, name, other):
    own, X = original(name, other, robot)
    return robot.pose(q, own) @ X


def other_rate(robot, q, v, name, other):
    return np.zeros(3) if name == "world" else robot.velocity(q, v, original(name, other, robot)[0])[:3]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("joint", ["motor", "elbow", "pivot"])
def test_cut_elsewhere_it_moves_the_same(joint, backward):
    """Accelerations of all bodies agree between the two cuts, at states of the same poses and velocities."""
    robot = km.load(crank_rocker(0.7, backward=backward))
    other = km.load(recut(robot.mechanism, "pin", joint))
    assert {item.name for item in other.mechanism.loops} == {joint}
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, v = robot.assemble(np.array([0.4, 0.3, 1.8]) + 0.1 * rng.normal(size=3), rng.normal(size=3))
        p, u = same_state(robot, q, v, other)
        assert max(gap.distance for gap in other.constraint_residual(p, u)) < 1e-12
        tau = np.zeros(3)
        a, b = robot.forward_dynamics(q, v, tau), other.forward_dynamics(p, u, tau)
        for name in robot.bodies:
            mine, theirs = acceleration(robot, q, v, a, name), acceleration(other, p, u, b, name)
            assert np.abs(mine - theirs).max() < 1e-10 * (1.0 + np.abs(mine).max()), name
        assert robot.energy(q, v).kinetic == pytest.approx(other.energy(p, u).kinetic, rel=1e-12)


def test_cut_back_it_is_what_it_was():
    """But for the bodies without mass that hold frames apart."""
    first = crank_rocker(0.7)
    there = recut(first, "pin", "elbow")
    back = recut(there, "elbow", "pin")
    assert {item.name for item in back.loops} == {"pin"}
    assert sum(body.mass for body in back.bodies) == sum(body.mass for body in first.bodies)


# --- what the tree leaves without mass ---------------------------------------------------------------------------------------
def test_a_link_that_only_a_loop_ties_to_mass_is_refused_with_the_cut_that_moves_it():
    light = crank_rocker()
    with pytest.raises(ModelError) as caught:
        km.load(light).forward_dynamics(*np.zeros((3, 3)))
    assert str(caught.value) == (
        "crank rocker: joint 'pivot' moves only bodies without mass, or without inertia about its axis, so that its "
        "acceleration is not determined by the tree alone. Only loop 'pin' ties them to mass: carry 'coupler' by it, and cut "
        "the loop at joint 'elbow', as kumitate.model.recut(mechanism, 'pin', 'elbow') does. Or else give them some, give the "
        "joint an armature, or make it fixed (`lock`, --lock on the command line)"
    )
    check_resistance(recut(light, "pin", "elbow"))


def test_and_then_it_moves_as_the_limit_of_light_links_does():
    """Against the same linkage with a rocker of 1e-4 and 1e-5 kg, whose accelerations tend to it in proportion."""
    light, errors = km.load(recut(crank_rocker(), "pin", "elbow")), []
    for mass in (1e-4, 1e-5):
        robot = km.load(crank_rocker(mass))
        q, v = robot.assemble([0.4, 0.3, 1.8], [1.0, -0.5, 0.3])
        p, u = same_state(robot, q, v, light)
        a, b = robot.forward_dynamics(q, v, np.zeros(3)), light.forward_dynamics(p, u, np.zeros(3))
        mine, theirs = acceleration(robot, q, v, a, "coupler"), acceleration(light, p, u, b, "coupler")
        errors.append(np.abs(mine - theirs).max() / np.abs(theirs).max())
    print("relative errors", errors)
    assert errors[0] < 1e-2
    assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.05)
    assert km.simulate(light, p, u, duration=0.5).audit.energy_drift < 1e-6


def test_a_link_that_nothing_ties_to_mass_is_refused_as_ever():
    dangling = Mechanism("m", (Body("a"),), (Joint("j", "revolute", "world", "a"),))
    with pytest.raises(ModelError, match="its acceleration is not determined; give them some, give the joint an armature"):
        check_resistance(dangling)


# --- refusals ----------------------------------------------------------------------------------------------------------------
def test_the_ways_round_are_known():
    assert recuts(crank_rocker()) == [("pin", "pivot"), ("pin", "elbow"), ("pin", "motor")]


def test_what_cannot_be_cut_is_refused():
    first = crank_rocker(1.0)
    with pytest.raises(ModelError, match="there is no loop 'pim'; did you mean 'pin'"):
        recut(first, "pim", "elbow")
    with pytest.raises(ModelError, match="there is no joint 'elbo'; did you mean 'elbow'"):
        recut(first, "pin", "elbo")
    rod = Loop("rod", Distance(1.0), "coupler", "rocker")
    with pytest.raises(ModelError, match="loop 'rod' cannot be cut at joint 'elbow'; it can at these joints: none"):
        recut(Mechanism("m", first.bodies, first.joints, (rod,)), "rod", "elbow")
    geared = Mechanism("m", first.bodies, first.joints, first.loops, couplings=(Coupling("gear", "elbow", "motor"),))
    with pytest.raises(ModelError, match="joint 'elbow' is tied by the coupling 'gear'; cut the loop elsewhere"):
        recut(geared, "pin", "elbow")
