"""A free body by a unit quaternion and by Euler angles: the same motion in other words (thesis 3.4)."""

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.model import KINDS, Body, Joint, Mechanism

from ..mechanisms import agree, body_poses, quaternion_of, random_mechanism, random_state, seeds, with_joint  # fmt: skip

pytestmark = pytest.mark.row("T-fb")

PAIRS = {"floating_euler": "floating", "spherical_euler": "spherical"}


def subspaces(kind, q, v) -> tuple[np.ndarray, np.ndarray]:
    """S (nv, nv) and its rate: the rows that the joint moves along."""
    rows = 3 if kind.nv == 3 else 6
    columns = [np.array([list(part) for part in parts]).T[:rows] for parts in (kind.subspace(q), kind.subspace_rate(q, v))]
    return columns[0], columns[1]


@pytest.mark.parametrize("angles", PAIRS)
@pytest.mark.parametrize(**seeds(8))
def test_angles_and_quaternion_accelerate_alike(angles, seed):
    """With V = S(q) q̇ the accelerations are V̇ = S q̈ + Ṡ q̇ and the forces Sᵀ F (eq. 3.24-3.34)."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, ["revolute", "universal", "spherical", "prismatic"], root=angles)
    other = with_joint(m, "base", kind=PAIRS[angles], armature=0.0, damping=0.0, friction=0.0, limits=())
    case, kind = random_state(m, rng), KINDS[angles]
    n = kind.nv
    q, v = case.q[:n], case.v[:n]
    S, S_rate = subspaces(kind, q, v)
    X = np.array(kind.transform(q).matrix())
    turned = [*quaternion_of(X[:3, :3]), *q[3:], *case.q[n:]]
    for name, mine in body_poses(m, case.q).items():
        agree(body_poses(other, turned)[name], mine, case.n, scale=10.0)

    twist, force = S @ v, rng.normal(size=n)
    a = np.array(aba(m.tree, case.q, case.v, [*(S.T @ force), *case.tau[n:]], Acting(m.gravity)))
    b = aba(other.tree, turned, [*twist, *case.v[n:]], [*force, *case.tau[n:]], Acting(m.gravity))
    condition = np.linalg.cond(np.array(crba(m.tree, case.q))) * np.linalg.cond(S)
    agree(b, [*(S @ a[:n] + S_rate @ v), *a[n:]], case.n, scale=10.0, condition=condition)
    # M and the forces, likewise
    T = np.eye(m.nv)
    T[:n, :n] = S
    agree(crba(m.tree, case.q), T.T @ np.array(crba(other.tree, turned)) @ T, case.n)
    tau = rnea(other.tree, turned, [*twist, *case.v[n:]], b, gravity=m.gravity)
    agree(rnea(m.tree, case.q, case.v, a.tolist(), gravity=m.gravity), T.T @ tau, case.n, scale=100.0, condition=condition)


def tumbling(kind: str) -> Mechanism:
    body = Body("brick", 2.0, (0.05, -0.02, 0.1), (0.02, 0.05, 0.04))
    return Mechanism("tumbling", (body,), (Joint("free", kind, "world", "brick"),))


def test_a_tumbling_body_moves_the_same_by_angles_and_by_quaternion():
    """Over 0.3 s, pitch within ±60 deg; both are integrated with an error far below 1e-9."""
    kind = KINDS["floating_euler"]
    q, v = [0.2, -0.3, 0.5, 0.1, 0.2, 0.3], [1.0, -1.5, 2.0, 0.5, -0.4, 3.0]
    S, _ = subspaces(kind, q, v)
    X = np.array(kind.transform(q).matrix())
    runs = [
        km.simulate(tumbling("floating_euler"), q, v, duration=0.3),
        km.simulate(tumbling("floating"), [*quaternion_of(X[:3, :3]), *q[3:]], S @ v, duration=0.3),
    ]
    first, second = (run.poses()[:, 0] for run in runs)
    assert np.abs(runs[0].q[:, 1]).max() < math.radians(60.0)
    assert np.abs(first - second).max() < 1e-10
    assert not any("singularity" in note for run in runs for note in run.audit.notes)


@pytest.mark.parametrize(("kind", "noted"), [("floating_euler", True), ("floating", False)])
def test_a_run_near_the_singular_angle_says_so(kind, noted):
    robot = km.load(tumbling(kind))
    q = robot.neutral()
    if noted:
        q[1] = math.pi / 2 - 0.01
    run = km.simulate(robot, q, np.zeros(6), duration=0.01)
    assert any("'free'" in note and "singularity" in note for note in run.audit.notes) == noted


def test_limits_and_drives_go_with_the_velocities_not_the_coordinates():
    """A quaternion has four numbers and three velocities; armature and damping count the three."""
    m = tumbling("floating")
    driven = replace(m, joints=(replace(m.joints[0], armature=[0.1] * 6, damping=0.2),))
    assert (driven.nq, driven.nv) == (7, 6)
    added = np.array(crba(driven.tree, km.load(driven).neutral())) - np.array(crba(m.tree, km.load(m).neutral()))
    agree(added, 0.1 * np.eye(6), 1)
