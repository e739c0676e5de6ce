"""The screw against what it is made of: a hinge and a slide on one axis, tied to each other by a coupling."""

import math
from dataclasses import replace

import numpy as np
import pytest

from kumitate.analysis import kinetic_energy, potential_energy
from kumitate.dynamics import Acting, aba, aba_with_loops, crba, factored_with_loops, rnea
from kumitate.errors import ModelError
from kumitate.model import Body, Coupling, Helical, Joint, Loop, Mechanism, lock, reroot
from kumitate.model.samples import ABOUT_Y
from kumitate.spatial import Motion, Transform, pose

from ..mechanisms import agree, near, random_body, random_joint, random_pose, seeds, slope

PITCHES = (0.3, -0.05, 2.0)


def screw(rng, pitch: float) -> Mechanism:
    """A hinge, a screw on it, a hinge on that, all with drives of some inertia and friction."""
    joints = [random_joint(rng, f"j{i}", "revolute", parent, f"b{i}") for i, parent in enumerate(("world", "b0", "b1"))]
    joints[1] = replace(joints[1], kind=Helical(pitch), stiffness=2.0, rest=0.3, limits=())
    bodies = tuple(random_body(rng, f"b{i}") for i in range(3))
    return Mechanism("screw", bodies, tuple(joints), gravity=(1.3, -0.7, -9.81))


def taken_apart(mechanism: Mechanism) -> Mechanism:
    """The same with a hinge and a slide in place of the screw, and a body of next to no mass between them."""
    j0, j1, j2 = mechanism.joints
    hinge = replace(j1, kind="revolute", child="nut")
    slide = Joint("slide", "prismatic", "nut", j1.child, axis=j1.axis)
    thread = Coupling("thread", "slide", j1.name, j1.kind.pitch / math.tau)
    nut = Body("nut", 1e-13, inertia=(1e-13,) * 3)
    return replace(mechanism, bodies=(*mechanism.bodies, nut), joints=(j0, hinge, slide, j2), couplings=(thread,))


@pytest.mark.parametrize("pitch", PITCHES)
@pytest.mark.parametrize(**seeds(4))
def test_a_screw_is_a_hinge_and_a_slide_that_are_coupled(pitch, seed):
    rng = np.random.default_rng(seed)
    one = screw(rng, pitch)
    two = taken_apart(one)
    rise = pitch / math.tau
    q, v, tau = (rng.uniform(-3.0, 3.0, 3).tolist() for _ in range(3))
    apart_q, apart_v = ([x[0], x[1], rise * x[1], x[2]] for x in (q, v))
    found = aba(one.base_parameter_tree, q, v, tau, Acting(one.gravity))
    for page in (aba_with_loops, lambda *state, **options: factored_with_loops(crba, *state, **options)):
        theirs = page(two.tree, apart_q, apart_v, [tau[0], tau[1], 0.0, tau[2]], Acting(two.gravity))
        # the nut's tiny mass is felt, and takes ten digits from the equations
        np.testing.assert_allclose(theirs, [found[0], found[1], rise * found[1], found[2]], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(rnea(one.base_parameter_tree, q, v, found, gravity=one.gravity), tau, rtol=1e-10, atol=1e-10)
    for energy in (lambda m, x, y: kinetic_energy(m.tree, x, y), lambda m, x, y: potential_energy(m.tree, x, m.gravity)):
        np.testing.assert_allclose(energy(one, q, v), energy(two, apart_q, apart_v), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("pitch", PITCHES)
@pytest.mark.parametrize(**seeds(3))
def test_power_is_the_rate_of_energy(pitch, seed):
    rng = np.random.default_rng(seed)
    m = screw(rng, pitch)
    m = replace(m, joints=tuple(replace(joint, damping=0.0, friction=0.0, armature=0.0) for joint in m.joints))
    q, v, tau = (rng.uniform(-1.0, 1.0, 3) for _ in range(3))
    a = np.array(aba(m.tree, q.tolist(), v.tolist(), tau.tolist(), Acting(m.gravity)))

    def energy(t: float) -> float:
        x, y = (q + v * t + a * t * t / 2.0).tolist(), (v + a * t).tolist()
        return kinetic_energy(m.tree, x, y) + potential_energy(m.tree, x, m.gravity)

    near(slope(energy), tau @ v, 1e-7)


@pytest.mark.parametrize("pitch", PITCHES)
@pytest.mark.parametrize(**seeds(5))
def test_where_a_screw_stands_says_how_often_it_has_turned(pitch, seed):
    rng = np.random.default_rng(seed)
    kind, turns = Helical(pitch), rng.uniform(-40.0, 40.0)
    X = kind.transform([turns])
    agree(kind.locate(X), [turns], 4, scale=40.0)
    agree(list(kind.deviation(X)), [0.0] * 6, 4, scale=40.0 * max(1.0, abs(pitch)))
    # moved off by e, the error says so in all that the screw holds, to first order
    e = rng.normal(size=6) * 1e-7
    moved = X @ Transform(pose((0, 0, 0), e[:3].tolist()).rotation, pose(e[3:].tolist()).translation)
    found = kind.deviation(moved)
    for force in kind.constraint([turns]):
        assert abs(found.dot(force) - Motion.of(e.tolist()).dot(force)) < 1e-11


def test_a_screw_jack_holds_by_its_pitch():
    """By virtual work: a load m g rises by pitch/2π a radian."""
    jack = Mechanism("jack", (Body("load", 10.0, inertia=(1, 1, 1)),), (Joint("spindle", Helical(0.01), "world", "load"),))
    (torque,) = rnea(jack.tree, [0.4], [0.0], [0.0], gravity=jack.gravity)
    assert torque == pytest.approx(10.0 * 9.81 * 0.01 / math.tau, rel=1e-14)


def test_a_screw_as_a_loop_is_the_screw_of_the_tree():
    """A press: a slider on the ground, driven by a nut that a hinge holds; the loop is the thread."""
    kind = Helical(0.02)
    inertia = (0.1, 0.2, 0.3)
    slider = Joint("slide", "prismatic", "world", "ram", axis=(0, 0, 1))
    nut = Joint("nut", "revolute", "world", "wheel", axis=(0, 0, 1), damping=0.01)
    press = Mechanism("press", (Body("ram", 3.0, inertia=inertia), Body("wheel", 1.0, inertia=inertia)), (slider, nut),
                      loops=(Loop("thread", kind, "wheel", "ram"),))  # fmt: skip
    angle, speed = 5.0, 2.0
    rise = kind.pitch / math.tau
    # the ram does not turn, so that in the wheel it turns back by the angle, and sinks
    ram, wheel = aba_with_loops(press.tree, [-rise * angle, angle], [-rise * speed, speed], [0.0, 0.7], Acting(press.gravity))
    torque = 0.7 - 0.01 * speed + 3.0 * 9.81 * rise
    assert wheel == pytest.approx(torque / (0.3 + 3.0 * rise**2), rel=1e-10)
    assert ram == pytest.approx(-rise * wheel, rel=1e-10)


def test_a_screw_turned_round_is_the_same_screw():
    rng = np.random.default_rng(3)
    bodies = tuple(random_body(rng, name) for name in ("a", "b"))
    joints = (Joint("free", "floating", "world", "a"), Joint("thread", Helical(0.4), "a", "b", random_pose(rng), ABOUT_Y))
    m = Mechanism("bolt", bodies, joints, gravity=(0, 0, 0))
    other = reroot(m, "b")
    at_a = lock(m, {"thread": [0.8]}), lock(other, {"thread": [0.8]})
    poses = []
    for mechanism in at_a:
        X = {"world": Transform()}
        for joint in mechanism.joints:
            X[joint.child] = X[joint.parent] @ joint.pose
        poses.append((X["a"].inverse() @ X["b"]).dense())
    agree(poses[0].matrix(), poses[1].matrix(), 4)


@pytest.mark.parametrize("pitch", [0.0, math.nan, math.inf])
def test_a_pitch_that_is_none_is_refused(pitch):
    with pytest.raises(ModelError, match="A screw without a pitch is a revolute joint"):
        Helical(pitch)
