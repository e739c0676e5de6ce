"""Edits of mechanisms: what they make, and what they refuse."""

import warnings
from dataclasses import replace

import pytest

from kumitate import Robot
from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import Body, Coupling, Frame, Joint, Limits, Loop, Mechanism, attach, cut, lock, merge, reroot, weld
from kumitate.spatial import Transform, pose


def arm(**changes) -> Mechanism:
    """Two links on a base, a frame on the last."""
    bodies = tuple(Body(name, 1.0, inertia=(1.0, 1.0, 1.0)) for name in ("base", "upper", "lower"))
    joints = (
        Joint("mount", "fixed", "world", "base", pose((0, 0, 1))),
        Joint("shoulder", "revolute", "base", "upper", pose((1, 0, 0)), (0, 1, 0), limits=(Limits(-1.0, 2.0),)),
        Joint("elbow", "revolute", "upper", "lower", pose((0, 2, 0)), damping=0.5),
    )
    given = {"bodies": bodies, "joints": joints, "frames": (Frame("tip", "lower", pose((0, 0, 3))),)}
    return Mechanism("arm", **{**given, **changes})


def tool() -> Mechanism:
    return Mechanism(
        "tool", (Body("hand", 1.0, inertia=(1.0, 1.0, 1.0)),),
        (Joint("mount", "fixed", "world", "hand", pose((0, 0, 0.5))),),
        loops=(Loop("brace", "spherical", "world", "hand", pose((0, 1, 0))),), frames=(Frame("origin", "world"),),
    )  # fmt: skip


def free(mechanism: Mechanism) -> Mechanism:
    joints = tuple(Joint(j.name, "floating", j.parent, j.child, j.pose) if j.parent == "world" else j for j in mechanism.joints)
    return replace(mechanism, joints=joints)


def test_a_tool_hangs_on_a_body():
    both = attach(arm(), tool(), "lower", pose((0, 0, 3)), prefix="tool_")
    mount = both.joint("tool_mount")
    assert (mount.parent, mount.child) == ("lower", "tool_hand")
    assert mount.pose.almost_equal(pose((0, 0, 3.5)))
    (loop,) = both.loops
    assert (loop.name, loop.body_a, loop.body_b) == ("tool_brace", "lower", "tool_hand")
    assert loop.pose_a.almost_equal(pose((0, 1, 3)))
    assert {frame.name: frame.body for frame in both.frames} == {"tip": "lower", "tool_origin": "lower"}


def test_names_of_both_are_told_apart():
    with pytest.raises(ModelError, match=r"arm and tool both have the joint names mount; give a prefix"):
        merge(arm(), tool())
    with pytest.raises(ModelError, match="there is no body 'wrist'"):
        attach(arm(), tool(), "wrist", prefix="tool_")
    assert {body.name for body in merge(arm(), tool(), prefix="b/").bodies} == {"base", "upper", "lower", "b/hand"}


def test_a_weld_between_neighbours_is_a_fixed_joint():
    for ends in (("base", "upper"), ("upper", "base")):
        joint = weld(arm(), *ends).joint("shoulder")
        assert joint.kind.name == "fixed"
        assert joint.pose.almost_equal(pose((1, 0, 0)))
    assert weld(arm(), "base", "upper", pose=pose((5, 0, 0))).joint("shoulder").pose.almost_equal(pose((5, 0, 0)))


def test_a_weld_between_others_is_a_loop():
    (loop,) = weld(arm(), "base", "lower").loops
    assert (loop.name, loop.kind.name, loop.body_a, loop.body_b) == ("weld_base_lower", "fixed", "base", "lower")
    assert loop.pose_a.almost_equal(pose((1, 2, 0)))
    (loop,) = weld(free(arm()), "lower", "world").loops  # holding the root by the lower link would make it its own child
    assert loop.body_b == "world"


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (("base", "base"), "cannot be welded to itself"),
        (("world", "base"), "fixed to each other already, by 'mount'"),
        (("base", "wrist"), "there is no body 'wrist'"),
    ],
)
def test_welds_that_make_no_sense(ends, words):
    with pytest.raises(ModelError, match=words):
        weld(arm(), *ends)


def test_a_part_is_held_where_it_stood_or_is_free():
    part = cut(arm(), "elbow")
    assert part.name == "arm_lower"
    assert [joint.name for joint in part.joints] == ["fixed_base"]
    assert part.joints[0].pose.almost_equal(pose((1, 2, 1)))
    assert [frame.name for frame in part.frames] == ["tip"]
    loose = cut(arm(), "shoulder", floating_base=True)
    assert [joint.name for joint in loose.joints] == ["floating_base", "elbow"]
    assert loose.joints[0].pose.almost_equal(Transform())


def test_loops_that_are_cut_through_are_told_of():
    loops = (Loop("inside", "revolute", "upper", "lower"), Loop("across", "revolute", "base", "lower"))
    with pytest.warns(KumitateWarning, match="'shoulder' goes through the loops across, which are left out"):
        part = cut(arm(loops=loops), "shoulder")
    assert [loop.name for loop in part.loops] == ["inside"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut(arm(loops=loops[:1]), "shoulder")


def coupled() -> Mechanism:
    return arm(couplings=(Coupling("gear", "elbow", "shoulder", -2.0, 0.5),))


def test_couplings_go_along_and_are_told_apart():
    both = merge(arm(couplings=(Coupling("gear", "elbow", "shoulder"),)), coupled(), prefix="b/")
    assert both.couplings[1] == Coupling("b/gear", "b/elbow", "b/shoulder", -2.0, 0.5)
    joints = tuple(replace(joint, name=f"{joint.name}_2") for joint in arm().joints)
    bodies = tuple(replace(body, name=f"{body.name}_2") for body in arm().bodies)
    joints = tuple(
        replace(j, child=f"{j.child}_2", parent=j.parent if j.parent == "world" else f"{j.parent}_2") for j in joints
    )
    other = Mechanism("other", bodies, joints, couplings=(Coupling("gear", "elbow_2", "shoulder_2"),))
    with pytest.raises(ModelError, match="both have the coupling names gear"):
        merge(coupled(), other)


def test_couplings_that_are_cut_through_are_told_of():
    with pytest.warns(KumitateWarning, match="'shoulder' goes through the couplings gear, which are left out"):
        assert cut(replace(arm(), couplings=(Coupling("gear", "elbow", "shoulder"),)), "shoulder").couplings == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut(coupled(), "elbow")  # both ends are left behind


def test_coupled_joints_are_locked_together():
    for name, value in (("shoulder", 0.2), ("elbow", 0.1)):
        held = lock(coupled(), {name: value})
        assert held.couplings == ()
        expected = lock(arm(), {"shoulder": [0.2], "elbow": [0.1]})
        for joint, other in zip(held.joints, expected.joints, strict=True):
            assert (joint.kind.name, joint.pose.almost_equal(other.pose, 1e-12)) == ("fixed", True)
    lock(coupled(), {"shoulder": 0.2, "elbow": 0.1})
    with pytest.raises(ModelError, match=r"'elbow' is locked at 0.3, but coupling 'gear' holds it at 0.1 with 'shoulder'"):
        lock(coupled(), {"shoulder": 0.2, "elbow": 0.3})
    with pytest.raises(ModelError, match=r"'elbow' is locked at 2 coordinates; it has 1 \(angle\)"):
        lock(arm(), {"elbow": (1.0, 2.0)})
    held = lock(arm(couplings=(Coupling("gear", "elbow", "shoulder", 0.0, 0.5),)), {"elbow": 0.5})
    assert (held.nv, held.couplings) == (1, ())  # a ratio of zero says nothing of the other


def test_a_robot_locks_coupled_joints_where_it_starts():
    robot = Robot(coupled(), start=([0.2, 0.1], [0.0, 0.0])).locked(["elbow"])
    assert (robot.nv, robot.start[0].shape, robot.start[1].shape) == (0, (0,), (0,))


def test_reroot_turns_the_joints_between_round():
    other = reroot(free(arm()), "lower")
    assert [(joint.name, joint.parent, joint.child) for joint in other.joints] == [
        ("mount", "world", "lower"),
        ("elbow", "lower", "upper_at_elbow"),
        ("upper_at_elbow_fixed", "upper_at_elbow", "upper"),
        ("shoulder", "upper", "base_at_shoulder"),
        ("base_at_shoulder_fixed", "base_at_shoulder", "base"),
    ]
    assert other.joint("shoulder").axis == (0.0, -1.0, 0.0)
    assert other.joint("shoulder").limits == (Limits(-1.0, 2.0),)  # its coordinate is the same
    assert other.joint("elbow").damping == (0.5,)
    assert other.body("upper_at_elbow").mass == 0.0
    assert reroot(free(arm()), "base") == free(arm())


def test_what_cannot_be_rooted_elsewhere():
    with pytest.raises(ModelError, match=r"'base' is held to the world by the fixed joint 'mount'; .* floating_base"):
        reroot(arm(), "lower")
    ball = Joint("elbow", "spherical", "upper", "lower", damping=0.5)
    joints = (*free(arm()).joints[:2], ball)
    with pytest.raises(ModelError, match="spherical joint 'elbow' cannot be turned round; its limits, damping"):
        reroot(arm(joints=joints), "lower")
    reroot(arm(joints=(*joints[:2], replace(ball, damping=0.0))), "lower")
    with pytest.raises(ModelError, match="there is no body 'wrist'"):
        reroot(free(arm()), "wrist")
