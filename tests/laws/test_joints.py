"""Every kind of joint keeps the contract: its motion, its forces and its manifold fit together (thesis eq. 2.5-2.10)."""

import math

import numpy as np
import pytest

from kumitate.model import KINDS, Helical
from kumitate.model.joints import EulerAngles, JointKind
from kumitate.spatial import Motion

from ..mechanisms import agree, near, seeds, slope

EVERY = {
    **KINDS, "helical": Helical(0.7), "helical-left": Helical(-0.04), "euler-zxy": EulerAngles("zxy"),
    "euler-oblique": EulerAngles(((1.0, 2.0, 0.5), (0.3, -1.0, 2.0), (0.2, 0.4, -1.0))),
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY)
moving = {name: kind for name, kind in EVERY.items() if kind.nv}
moving_kind = pytest.mark.parametrize("kind", moving.values(), ids=moving)


def coordinates(kind: JointKind, rng) -> list[float]:
    """Any that are not near a singularity of the angles."""
    q = kind.random(rng)
    while kind.singularity(q) < 0.2:
        q = kind.random(rng)
    return q


def along(kind: JointKind, q, v, t: float) -> list[float]:
    """The coordinates after moving with constant v for the time t."""
    return kind.integrate(q, [rate * t for rate in v])


def twist(X: np.ndarray, rate: np.ndarray) -> list[float]:
    """V in the axes of M and at its origin, of a pose and its rate: ω̂ = Rᵀ Ṙ, v = Rᵀ ṗ."""
    W = X[:3, :3].T @ rate[:3, :3]
    near(W + W.T, np.zeros((3, 3)))
    return [W[2, 1], W[0, 2], W[1, 0], *(X[:3, :3].T @ rate[:3, 3])]


def matrix_of(vectors) -> np.ndarray:
    """Six rows, one column a vector."""
    return np.array([list(vector) for vector in vectors], dtype=float).reshape(-1, 6).T


@pytest.mark.row("T-2.1")
@every_kind
@pytest.mark.parametrize(**seeds(5))
def test_the_motion_subspace_is_how_the_pose_moves(kind, seed):
    rng = np.random.default_rng(seed)
    q, v = coordinates(kind, rng), rng.normal(size=kind.nv)
    X = np.array(kind.transform(q).matrix(), dtype=float)
    rate = slope(lambda t: kind.transform(along(kind, q, v, t)).matrix())
    near(twist(X, rate), matrix_of(kind.subspace(q)) @ v)


@pytest.mark.row("T-2.1")
@every_kind
@pytest.mark.parametrize(**seeds(5))
def test_the_rate_of_the_motion_subspace(kind, seed):
    rng = np.random.default_rng(seed)
    q, v = coordinates(kind, rng), rng.normal(size=kind.nv)
    rate = slope(lambda t: matrix_of(kind.subspace(along(kind, q, v, t))))
    near(rate, matrix_of(kind.subspace_rate(q, v)))


@pytest.mark.row("T-2.1")
@every_kind
@pytest.mark.parametrize(**seeds(5))
def test_active_and_constraint_forces_are_dual_to_motions(kind, seed):
    q = coordinates(kind, np.random.default_rng(seed))
    S, T_a, T = matrix_of(kind.subspace(q)), matrix_of(kind.active(q)), matrix_of(kind.constraint(q))
    assert S.shape == T_a.shape == (6, kind.nv)
    assert T.shape == (6, 6 - kind.nv)
    condition = 1.0 / kind.singularity(q)
    agree(T_a.T @ S, np.eye(kind.nv), 1, condition=condition)  # (2.8)
    agree(T.T @ S, np.zeros((6 - kind.nv, kind.nv)), 1)  # (2.8)
    assert np.linalg.matrix_rank(np.hstack([T_a, T])) == 6  # they are independent, and together every force a joint can bear


@every_kind
def test_names_and_sizes(kind):
    assert kind.nq == len(kind.coordinates)
    assert kind.nv == len(kind.velocities)
    assert len(kind.neutral()) == kind.nq
    assert len(set(kind.coordinates)) == kind.nq
    assert all(isinstance(column, Motion) for column in kind.subspace(kind.neutral()))
    agree(kind.transform(kind.neutral()).matrix(), np.eye(4), 1)


# --- the configuration manifold ---------------------------------------------------------------------------------------
@every_kind
@pytest.mark.parametrize(**seeds(10))
def test_integrate_and_difference_are_inverse(kind, seed):
    rng = np.random.default_rng(seed)
    q0, q1, dv = kind.random(rng), kind.random(rng), rng.uniform(-1.0, 1.0, kind.nv).tolist()
    moved = kind.integrate(q0, dv)
    agree(kind.difference(q0, moved), dv, 2)
    reached = kind.integrate(q0, kind.difference(q0, q1))
    agree(kind.transform(reached).matrix(), kind.transform(q1).matrix(), 2, scale=10.0)
    agree(kind.difference(q0, q0), [0.0] * kind.nv, 1)
    agree(kind.integrate(q0, [0.0] * kind.nv), q0, 1)
    assert kind.off_manifold(moved) < 1e-15


@every_kind
@pytest.mark.parametrize(**seeds(5))
def test_rate_is_how_integrate_begins(kind, seed):
    rng = np.random.default_rng(seed)
    q, v = coordinates(kind, rng), rng.normal(size=kind.nv).tolist()
    near(slope(lambda t: along(kind, q, v, t)), kind.rate(q, v))


@every_kind
@pytest.mark.parametrize(**seeds(3))
def test_normalized_brings_back_to_the_manifold(kind, seed):
    rng = np.random.default_rng(seed)
    q = kind.random(rng)
    agree(kind.normalized(q), q, 1)
    if kind.nq != kind.nv:
        beside = [1.1 * part for part in q[:4]] + q[4:]
        assert kind.off_manifold(beside) == pytest.approx(0.1)
        agree(kind.normalized(beside), q, 1)


@moving_kind
def test_random_coordinates_are_repeatable(kind):
    draw = [kind.random(np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert draw[0] == draw[1] != draw[2]


@pytest.mark.row("T-fb")
@pytest.mark.parametrize(
    ("name", "index", "angle"),
    [
        ("floating_euler", 1, math.pi / 2), ("floating_euler", 1, -math.pi / 2), ("spherical_euler", 1, 0.0),
        ("spherical_euler", 1, math.pi),
    ],
)  # fmt: skip
def test_angles_lose_a_direction_at_their_singularity(name, index, angle):
    kind = KINDS[name]
    q = [0.3] * kind.nq
    full = np.linalg.matrix_rank(matrix_of(kind.subspace(q)))
    q[index] = angle
    assert kind.singularity(q) < 1e-15
    assert np.linalg.matrix_rank(matrix_of(kind.subspace(q)), tol=1e-12) == full - 1
