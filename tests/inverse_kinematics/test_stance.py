"""Stances of legged robots: laws of standing, of a small quadruped and of the robots of example-robot-data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import support_polygon
from kumitate.contact import ground_gap
from kumitate.contact.placement import ground_touches
from kumitate.errors import InputError
from kumitate.inverse_kinematics.stance import _level_of, has_legs
from kumitate.kinematics import center_of_mass
from kumitate.model.elements import NamedState
from tests.quadruped import quadruped


def check_stance(robot: km.Robot, stance) -> None:
    """Feet on the floor and level, the center of mass over them, within limits."""
    m = robot.mechanism
    touches = ground_touches(m, stance.q, None)
    gaps = [touches[foot][:, 3].min() for foot in stance.feet]
    assert np.abs(gaps).max() < 1e-6
    assert abs(ground_gap(m, stance.q)) < 1e-6
    polygon = support_polygon(stance.points)
    assert polygon.margin(center_of_mass(m.tree, stance.q.tolist())) > 0.01
    for joint, link in ((m.joint(link.name), link) for link in m.tree.links if link.kind.nv == 1):
        for limit in joint.limits:
            low, high = (-np.inf if limit.lower is None else limit.lower), (np.inf if limit.upper is None else limit.upper)
            assert low - 1e-9 <= stance.q[link.q_start] <= high + 1e-9


def test_a_stance_found_has_feet_level_under_the_hips_knees_bent_and_the_mass_over_the_feet():
    robot = km.load(quadruped())
    stance = robot.stance()
    check_stance(robot, stance)
    assert "found by inverse kinematics" in stance.told
    assert set(stance.feet) == {f"{side} shank" for side in ("fl", "fr", "hl", "hr")}
    for side in ("fl", "fr", "hl", "hr"):
        foot, hip = (robot.pose(stance.q, f"{side} {part}")[:3, 3] for part in ("shank", "thigh"))
        knee = stance.q[robot.mechanism.q_names.index(f"{side} knee")]
        assert 0.3 < abs(knee) < 1.5
        assert abs(foot[1] - hip[1]) < 1e-6
    ahead = [point[0] for point in stance.points]
    np.testing.assert_allclose(sorted(ahead)[::2], np.unique(np.round(ahead, 9)), atol=1e-6)
    center = center_of_mass(robot.mechanism.tree, stance.q.tolist())
    np.testing.assert_allclose(center[:2], support_polygon(stance.points).center, atol=1e-3)


def standing_state(offset: float = 0.0) -> dict[str, float]:
    angles = {"hip": 0.05, "thigh joint": 0.7, "knee": -1.4}
    return {
        f"{side} {name}": angle + (offset if side == "fl" else 0.0)
        for side in ("fl", "fr", "hl", "hr")
        for name, angle in angles.items()
    }


def test_a_state_of_the_file_is_the_stance_and_is_put_level():
    for offset in (0.0, 0.01):
        state = standing_state(offset)
        keyframe = NamedState("home", tuple((name, (angle,)) for name, angle in state.items()))
        m = quadruped()
        robot = km.load(km.Mechanism(m.name, m.bodies, m.joints, starts=(keyframe,)))
        stance = robot.stance()
        check_stance(robot, stance)
        assert stance.told == "its state 'home'"
        names = robot.mechanism.q_names
        off = [abs(stance.q[names.index(name)] - angle) for name, angle in state.items()]
        assert max(off) <= 1e-12 + 2.0 * offset


def test_an_srdf_beside_a_urdf_says_the_stance(tmp_path):
    file = km.load(quadruped()).save(tmp_path / "dog.urdf")
    joints = "".join(f'<joint name="{name}" value="{angle}"/>' for name, angle in standing_state().items())
    (tmp_path / "dog.srdf").write_text(
        f'<robot name="dog"><group name="all"><joint name="fl hip"/></group><group_state name="arms" group="all">'
        f'<joint name="fl hip" value="1"/></group_state><group_state name="standing" group="all">{joints}</group_state></robot>'
    )
    robot = km.load(file)
    stance = robot.stance()
    check_stance(robot, stance)
    assert stance.told == "its state 'standing' of dog.srdf"
    assert stance.q[robot.mechanism.q_names.index("hr knee")] == pytest.approx(-1.4, abs=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kumitate.KumitateWarning")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("go2", "its state 'standing' of go2.srdf"),
        ("anymal_c", "its state 'standing' of anymal.srdf"),
        ("g1", "a posture found by inverse kinematics"),
        ("talos", "its state 'half_sitting' of talos.srdf"),
    ],
)
def test_robots_have_stances(name, told):
    robot = km.load(name, floating_base=True)
    stance = robot.stance()
    check_stance(robot, stance)
    assert stance.told.startswith(told)
    assert len(stance.points) >= 4
    if name in ("g1", "talos"):  # on soles; that of Talos is not level in its body's axes
        touches = ground_touches(robot.mechanism, stance.q, None)
        assert all(np.sort(touches[foot][:, 3])[2] < 1e-9 for foot in stance.feet)


def test_legs_are_two_chains_of_single_joints_from_one_free_base():
    dog = quadruped()
    ball = km.Body("ball", 1.0, inertia=(0.1,) * 3)
    free = km.Joint("free", "floating", "world", "ball")

    def changed(ending: str | tuple[str, ...], kind: str) -> km.Mechanism:
        joints = [km.Joint(j.name, kind, j.parent, j.child, j.pose) if j.name.endswith(ending) else j for j in dog.joints]
        return replace(dog, joints=tuple(joints))

    assert has_legs(dog)
    assert has_legs(quadruped(sides=("fl", "hr")))
    assert not has_legs(quadruped(sides=("fl",)))
    assert not has_legs(replace(dog, bodies=(*dog.bodies, ball), joints=(*dog.joints, free)))
    for ending, kind in (("base", "fixed"), ("hip", "spherical"), ("thigh joint", "fixed")):
        assert has_legs(changed(ending, kind)) == (ending == "thigh joint")
    assert not has_legs(changed(("thigh joint", "knee"), "fixed"))


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_sole_is_level_on_the_side_that_bears_its_middle(slope):
    rng = np.random.default_rng(4)
    for _ in range(20):
        sole = np.column_stack([rng.uniform(-0.1, 0.1, (12, 2)), rng.uniform(0.0, 3e-4, 12)])
        sole[:, 2] += sole[:, :2] @ (slope * rng.uniform(-1.0, 1.0, 2))
        middle = sole[:, :2].mean(axis=0)
        R = np.array([list(row) for row in _level_of(sole, middle).matrix()], dtype=float)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert R[0, 0] > 0.9
        assert abs(R[1, 0]) < 0.1  # x nearly that of the world
        heights = sole @ R[:, 2] - (sole @ R[:, 2]).min()
        bearing = np.argsort(heights)[:3]
        assert heights[bearing].max() < 1e-15 < np.sort(heights)[3]
        shares = np.linalg.solve(np.column_stack([sole[bearing, :2], np.ones(3)]).T, [*middle, 1.0])
        assert (shares >= -1e-12).all()  # the middle is between them


def test_robots_without_legs_or_without_a_free_base_have_no_stance():
    with pytest.raises(InputError, match=r"its base is not free; load its file with floating_base=True"):
        km.load("pa10").stance()
    ball = km.Body("ball", 1.0, inertia=(0.1,) * 3, collisions=(km.Geometry(km.Sphere(0.5)),))
    free = km.Mechanism("a ball", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    with pytest.raises(InputError, match=r"no two legs: .*; give coordinates \(--q\), or begin at its zero state"):
        km.load(free).stance()
    with pytest.raises(InputError, match=r"no posture was found in which its center of mass is over"):
        km.load(quadruped(sides=("fl", "fr"))).stance()
