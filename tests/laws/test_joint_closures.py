"""What closes a loop says the truth: where it would stand, how far it is from there, and how velocities accelerate it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kumitate.model import KINDS, Closure, Distance, JointKind, Line
from kumitate.model.joints import EulerAngles
from kumitate.spatial import Force, Motion, Transform, pose, quaternion_of, quaternion_rotation

from ..mechanisms import EPS, agree, matrix, near, random_pose, random_rotation, seeds, slope

EVERY = (*KINDS.values(), EulerAngles("zxy"))
every_kind = pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
every_closure = pytest.mark.parametrize("kind", [*EVERY, Distance(0.7), Line()], ids=lambda kind: kind.name)
rigid_kind = pytest.mark.parametrize("kind", [kind for kind in EVERY if kind.rows], ids=lambda kind: kind.name)


def regular(kind: JointKind, rng) -> list[float]:
    q = kind.random(rng)
    while kind.singularity(q) < 0.3:
        q = kind.random(rng)
    return q


def array(X: Transform) -> np.ndarray:
    return np.array(X.matrix(), dtype=float)


def exponential(e, s: float = 1.0) -> Transform:
    """The pose after the constant motion e (6) for the time s: by the series of the 4×4 matrix."""
    (x, y, z), v = e[:3], e[3:]
    step = s * np.array([[0.0, -z, y, v[0]], [z, 0.0, -x, v[1]], [-y, x, 0.0, v[2]], [0.0] * 4])
    term, total = np.eye(4), np.eye(4)
    for k in range(1, 25):
        term = term @ step / k
        total = total + term
    return pose(total[:3, 3], matrix=total[:3, :3].tolist())


def velocity(X_of, t: float) -> np.ndarray:
    """V_FM of a moving pose, in M: ω̂ = Rᵀ Ṙ, v = Rᵀ ṗ."""
    X, rate = array(X_of(t)), slope(lambda s: X_of(t + s).matrix())
    W = X[:3, :3].T @ rate[:3, :3]
    return 0.5 * np.array([*(W - W.T)[[2, 0, 1], [1, 2, 0]], *(2.0 * X[:3, :3].T @ rate[:3, 3])])


def dots(motion, forces) -> np.ndarray:
    return np.array([float(np.dot(list(motion), list(force))) for force in forces])


# --- where --------------------------------------------------------------------------------------------------------------
@every_kind
@pytest.mark.parametrize(**seeds(10))
def test_locating_a_pose_that_the_joint_has_gives_its_coordinates_back(kind, seed):
    q = regular(kind, np.random.default_rng(seed))
    X = kind.transform(q)
    found = kind.locate(X.dense())
    condition = 1.0 / kind.singularity(q)
    agree(kind.transform(found).matrix(), X.matrix(), 1, condition=condition)
    if kind.name == "spherical_euler" and math.sin(q[1]) < 0.0:
        q = [q[0] + math.pi, -q[1], q[2] + math.pi]  # the other triple of the same orientation
    if isinstance(kind, EulerAngles):
        found = kind.nearest(X.dense(), q)
    away = np.array(kind.difference(q, found), dtype=float).reshape(-1)  # q and −q of a quaternion are the same
    for k, name in enumerate(kind.velocities):
        if name.endswith(("angle", "yaw", "pitch", "roll")):
            away[k] = math.remainder(away[k], 2.0 * math.pi)
    agree(away, np.zeros(kind.nv), 1, scale=4.0, condition=condition)


@pytest.mark.parametrize(
    "q",
    [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0.6, 0.8, 0, 0), (0.6, 0, -0.8, 0), (0, 0.6, 0.8, 0),
     (1, 1, 1, 0), (-1, 2, -3, 0), (1, 0, 0, 1e-9), (0, 1, 1e-9, -1e-9), (1e-9, 0, 1, 1e-9), (1e-9, 1e-9, 0, 1), (1, 1, 1, 1)],
    ids=str,
)  # fmt: skip
def test_the_quaternion_of_a_rotation(q):
    # half turns, where the way by the trace divides by zero, and what is a little beside them
    q = np.array(q, dtype=float) / np.linalg.norm(q)
    found = np.array(quaternion_of(quaternion_rotation(q.tolist())))
    assert min(np.abs(found - q).max(), np.abs(found + q).max()) < 8.0 * EPS
    assert abs(np.linalg.norm(found) - 1.0) < 4.0 * EPS


@pytest.mark.parametrize(**seeds(50))
def test_the_quaternion_of_a_random_rotation(seed):
    R = random_rotation(np.random.default_rng(seed))
    agree(matrix(quaternion_rotation(quaternion_of(pose(matrix=R.tolist()).rotation)).matrix()), R, 1)


# --- how far ------------------------------------------------------------------------------------------------------------
@every_kind
@pytest.mark.parametrize(**seeds(5))
def test_a_pose_that_the_joint_has_does_not_deviate(kind, seed):
    q = regular(kind, np.random.default_rng(seed))
    agree(list(kind.deviation(kind.transform(q).dense())), np.zeros(6), 1, scale=2.0, condition=1.0 / kind.singularity(q))


@rigid_kind
@pytest.mark.parametrize(**seeds(5))
def test_a_small_motion_against_the_joint_is_its_deviation(kind, seed):
    rng = np.random.default_rng(seed)
    q = regular(kind, rng)
    X, T = kind.transform(q), kind.constraint(q)
    e = rng.normal(size=len(T)) @ np.array([list(force) for force in T], dtype=float)
    e /= np.linalg.norm(e)
    near(slope(lambda s: list(kind.deviation((X @ exponential(e, s)).dense()))), e)


@every_kind
@pytest.mark.parametrize(**seeds(5))
def test_only_what_the_constraint_forces_work_on_deviates(kind, seed):
    # any small motion: along S nothing, otherwise what Tᵀe says
    rng = np.random.default_rng(seed)
    q, e = regular(kind, rng), rng.normal(size=6)
    X, T = kind.transform(q), kind.constraint(q)
    rate = slope(lambda s: list(kind.deviation((X @ exponential(e, s)).dense())), h=1e-3)
    near(dots(rate, T), dots(e, T))
    for S in kind.subspace(q):
        along = slope(lambda s, S=S: list(kind.deviation((X @ exponential(list(S), s)).dense())), h=1e-3)
        near(along, np.zeros(6))


@pytest.mark.parametrize(**seeds(5))
def test_a_rod_deviates_by_its_length(seed):
    rng = np.random.default_rng(seed)
    rod, X = Distance(0.7), random_pose(rng)
    closing = rod.closing(X, Motion())
    far = float(np.linalg.norm(list(X.translation)))
    assert np.linalg.norm(list(closing.error)) == pytest.approx(abs(far - 0.7), rel=1e-12)
    e = rng.normal(size=6)
    stretch = slope(lambda s: np.linalg.norm(list((X @ exponential(e, s)).translation)), h=1e-3)
    near(dots(e, closing.constraint), [stretch])
    near(slope(lambda s: dots(rod.closing((X @ exponential(e, s)).dense(), Motion()).error, closing.constraint)[0]), stretch)


# --- how fast -----------------------------------------------------------------------------------------------------------
def motion_of(kind: Closure, rng):
    """A random motion of M in F that the closure allows: X_FM(t)."""
    if isinstance(kind, JointKind):
        q, v, a = regular(kind, rng), rng.normal(size=kind.nv), rng.normal(size=kind.nv)
        return lambda t: kind.transform(kind.integrate(q, (t * v + 0.5 * t * t * a).tolist())).dense()
    start, w, a, b = random_rotation(rng), *rng.normal(size=(3, 3))
    away, bend = 0.9 * random_rotation(rng)[0], 0.3 * rng.normal(size=3)  # never near zero, where lengths have no direction

    def moving(t: float) -> Transform:
        p = away + 0.5 * t * a + t * t * bend
        far = 0.7 * p / np.linalg.norm(p) if isinstance(kind, Distance) else p
        turned = matrix(exponential([*(t * w + t * t * b), 0, 0, 0]).rotation.matrix())
        return pose(far, matrix=(start @ turned).tolist())

    return moving


@every_closure
@pytest.mark.parametrize(**seeds(8))
def test_the_bias_is_the_acceleration_that_velocities_make(kind, seed):
    X_of = motion_of(kind, np.random.default_rng(seed))
    V = velocity(X_of, 0.0)
    closing = kind.closing(X_of(0.0), Motion.of(V.tolist()))
    A = slope(lambda t: velocity(X_of, t), h=8e-3)
    rest = A - np.array(list(closing.bias), dtype=float)
    near(dots(rest, closing.constraint), np.zeros(kind.rows), 1e-7)  # T·(A − bias) = 0
    near(dots(V, closing.constraint), np.zeros(kind.rows), 1e-8)
    rates = slope(lambda t: kind.closing(X_of(t), Motion.of(velocity(X_of, t).tolist())).rates, h=8e-3)
    near(dots(rest, closing.active), rates.reshape(-1), 1e-7)  # along the freedoms what is left is v̇


@pytest.mark.parametrize("kind", [*(k for k in KINDS.values() if k.nq == k.nv), Line()], ids=lambda kind: kind.name)
@pytest.mark.parametrize(**seeds(5))
def test_coordinates_move_at_their_rates(kind, seed):
    X_of = motion_of(kind, np.random.default_rng(seed))
    closing = kind.closing(X_of(0.0), Motion.of(velocity(X_of, 0.0).tolist()))

    def coordinates(t: float) -> list[float]:  # without the jump at half turns
        now = kind.closing(X_of(t), Motion()).coordinates
        return [x - 2.0 * math.pi * round((x - y) / (2.0 * math.pi)) for x, y in zip(now, closing.coordinates, strict=True)]

    near(slope(coordinates, h=1e-3), closing.rates)


@every_closure
def test_as_many_forces_as_are_said(kind):
    closing = kind.closing(random_pose(np.random.default_rng(1)), Motion())
    assert len(closing.constraint) == kind.rows
    assert len(closing.active) == len(closing.rates) == kind.nv
    assert all(isinstance(T, Force) for T in (*closing.constraint, *closing.active))
