"""Rotations, poses and quaternions: every form does what its matrix does."""

import math

import numpy as np
import pytest

from kumitate.spatial import (
    AxisTurn,
    DenseRotation,
    Matrix3,
    RotationChain,
    Symmetric3,
    Transform,
    Vector3,
    identity_rotation,
    pose,
    quaternion_exp,
    quaternion_log,
    quaternion_normalized,
    quaternion_of,
    quaternion_product,
    quaternion_rate,
    quaternion_rotation,
    zxz_rotation,
)

from ..mechanisms import agree, matrix, near, random_pose, random_rotation, seeds, skew, slope

pytestmark = pytest.mark.row("T-A")

TURNS = (
    lambda c, s: np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
    lambda c, s: np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
    lambda c, s: np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
)


def turn_matrix(axis: int, angle: float) -> np.ndarray:
    return TURNS[axis](math.cos(angle), math.sin(angle))


def check_form(rotation, R: np.ndarray, rng) -> None:
    """All that a rotation can do, against its matrix."""
    v, A = rng.normal(size=3), rng.normal(size=(3, 3))
    agree(matrix(rotation.matrix()), R, 1)
    agree(list(rotation.rotate(Vector3.of(v.tolist()))), R @ v, 1)
    agree(list(rotation.unrotate(Vector3.of(v.tolist()))), R.T @ v, 1)
    agree(matrix(rotation.inverse().matrix()), R.T, 1)
    agree(matrix(rotation.rotate_matrix(Matrix3.of(A.tolist()))), R @ A @ R.T, 1, scale=10.0)
    agree(matrix(rotation.rotate_symmetric(Symmetric3.of((A + A.T).tolist()))), R @ (A + A.T) @ R.T, 1, scale=10.0)


@pytest.mark.parametrize(**seeds(10))
def test_every_form_of_a_rotation_does_what_its_matrix_does(seed):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-4.0, 4.0, 3)
    for axis in range(3):
        check_form(AxisTurn.by(axis, float(angles[axis])), turn_matrix(axis, angles[axis]), rng)
    R = random_rotation(rng)
    dense = DenseRotation(Matrix3.of(R.tolist()))
    check_form(dense, R, rng)
    chain = AxisTurn.by(2, float(angles[0])) @ dense @ (AxisTurn.by(0, float(angles[1])) @ AxisTurn.by(1, float(angles[2])))
    assert isinstance(chain, RotationChain)
    check_form(chain, turn_matrix(2, angles[0]) @ R @ turn_matrix(0, angles[1]) @ turn_matrix(1, angles[2]), rng)
    check_form(identity_rotation(), np.eye(3), rng)


@pytest.mark.parametrize("quarter", range(-4, 5))
def test_right_angles_are_exact(quarter):
    for axis in range(3):
        turn = AxisTurn.by(axis, quarter * math.pi / 2.0)
        assert set(np.abs(matrix(turn.matrix())).ravel()) <= {0.0, 1.0}
        if abs(quarter) == 1:  # two parts of the quaternion are as large: it stays the one of the short way round
            agree(quaternion_of(turn), [*(quarter * np.eye(3)[axis]), 1.0] / np.sqrt(2.0), 1)


@pytest.mark.parametrize(**seeds(20))
def test_zxz_angles_give_the_rotation_back(seed):
    rng = np.random.default_rng(seed)
    flipped = np.diag([1.0, -1.0, -1.0])
    special = [np.eye(3), flipped, np.diag([-1.0, -1.0, 1.0]), turn_matrix(2, 0.3) @ flipped]
    R = special[seed] if seed < len(special) else random_rotation(rng)
    alpha, beta, gamma = zxz_rotation(R)
    agree(turn_matrix(2, alpha) @ turn_matrix(0, beta) @ turn_matrix(2, gamma), R, 1)


@pytest.mark.parametrize(**seeds(10))
def test_poses_multiply_as_homogeneous_matrices(seed):
    rng = np.random.default_rng(seed)
    X, Y, p = random_pose(rng), random_pose(rng), rng.normal(size=3)
    A, B = np.array(X.matrix()), np.array(Y.matrix())
    agree((X @ Y).matrix(), A @ B, 1)
    agree(X.inverse().matrix(), np.linalg.inv(A), 1)
    agree(X.dense().matrix(), A, 1)
    agree(list(X.point(Vector3.of(p.tolist()))), (A @ [*p, 1.0])[:3], 1)
    assert X.almost_equal((X @ Y) @ Y.inverse())
    assert not X.almost_equal(Y)
    assert Transform().almost_equal(pose())


def test_roll_pitch_yaw_turn_about_fixed_axes():
    roll, pitch, yaw = 0.3, -0.8, 2.1
    R = turn_matrix(2, yaw) @ turn_matrix(1, pitch) @ turn_matrix(0, roll)
    agree(matrix(pose(rpy=(roll, pitch, yaw)).rotation.matrix()), R, 1)


# --- quaternions (thesis eq. 3.31-3.34) ---------------------------------------------------------------------------------
def unit_quaternion(rng) -> list[float]:
    return quaternion_normalized(rng.normal(size=4).tolist())


def rotation_of(q) -> np.ndarray:
    return matrix(quaternion_rotation(q).matrix())


@pytest.mark.row("T-fb")
@pytest.mark.parametrize(**seeds(20))
def test_quaternions_are_rotations(seed):
    rng = np.random.default_rng(seed)
    a, b, angle = unit_quaternion(rng), unit_quaternion(rng), rng.normal(size=3)
    R = rotation_of(a)
    agree(R @ R.T, np.eye(3), 1)
    agree(np.linalg.det(R), 1.0, 1)
    agree(rotation_of([-part for part in a]), R, 1)
    agree(rotation_of(quaternion_product(a, b)), R @ rotation_of(b), 1)
    # Rodrigues' formula for the exponential; the logarithm is its inverse, the short way round
    length = np.linalg.norm(angle)
    turn = quaternion_exp(Vector3.of(angle.tolist()))
    K = skew(angle / length)
    agree(rotation_of(turn), np.eye(3) + math.sin(length) * K + (1.0 - math.cos(length)) * K @ K, 1)
    if length < math.pi:
        agree(list(quaternion_log(turn)), angle, 1)
        agree(list(quaternion_log([-part for part in turn])), angle, 1)
    agree(quaternion_exp(quaternion_log(a)), a if a[3] > 0.0 else [-part for part in a], 1)


@pytest.mark.parametrize("angle", [0.0, 0.5, 0.5 * math.pi, 3.0, math.pi, -math.pi, -3.0, -0.5 * math.pi, -0.5])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (3, 2, -1), (-1, 3, 2), (2, -1, 3)], ids=str)
def test_a_rotation_gives_its_quaternion_back_the_short_way_round(axis, angle):
    """Each of a quaternion's parts is the largest once."""
    along = np.array(axis) / np.linalg.norm(axis)
    q = [*(math.sin(0.5 * angle) * along), math.cos(0.5 * angle)]
    found = quaternion_of(DenseRotation(Matrix3.of(rotation_of(q).tolist())))
    agree(np.linalg.norm(found), 1.0, 1)
    agree(found, q if abs(angle) < 2.0 else np.sign(np.dot(found, q)) * np.array(q), 1)


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-8, 0.99e-6, 1.01e-6, 1e-3, 1.0, 3.1])
def test_exponential_and_logarithm_are_exact_for_every_size(size):
    angle = Vector3.of((np.array([2.0, -3.0, 6.0]) / 7.0 * size).tolist())
    turn = quaternion_exp(angle)
    agree(np.linalg.norm(turn), 1.0, 1)
    assert np.allclose(list(quaternion_log(turn)), list(angle), rtol=1e-14, atol=0.0)


@pytest.mark.row("T-fb")
@pytest.mark.parametrize(**seeds(10))
def test_quaternion_rate_turns_at_the_velocity_of_the_body(seed):
    rng = np.random.default_rng(seed)
    q, omega = unit_quaternion(rng), Vector3.of(rng.normal(size=3).tolist())
    rate = quaternion_rate(q, omega)
    agree(np.dot(q, rate), 0.0, 1)  # the norm stays
    near(slope(lambda t: quaternion_product(q, quaternion_exp(omega * t))), rate)
    # Ṙ = R ω̂ (3.34 is this)
    R_rate = slope(lambda t: rotation_of([a + t * b for a, b in zip(q, rate, strict=True)]))
    near(R_rate, rotation_of(q) @ skew(omega))
