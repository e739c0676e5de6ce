"""Spatial algebra against 6×6 matrices written out from the definitions (thesis, appendix A). Angular part first."""

import numpy as np
import pytest

from kumitate.spatial import (
    ArticulatedBody,
    ArticulatedInertia,
    Dense,
    Force,
    Inertia,
    Matrix3,
    Motion,
    RangeInverse,
    Symmetric3,
    Transform,
    Vector3,
    centripetal,
)

from ..mechanisms import agree, matrix, random_body, random_pose, seeds, skew

pytestmark = pytest.mark.row("T-A")


def motion(rng) -> Motion:
    return Motion.of(rng.normal(size=6).tolist())


def force(rng) -> Force:
    return Force.of(rng.normal(size=6).tolist())


def motion_matrix(X_AB: Transform) -> np.ndarray:
    """What takes a motion in B to A: [R 0; p̂R R] (A.14)."""
    R = matrix(X_AB.rotation.matrix())
    return np.block([[R, np.zeros((3, 3))], [skew(X_AB.translation) @ R, R]])


def force_matrix(X_AB: Transform) -> np.ndarray:
    """What takes a force in B to A: [R p̂R; 0 R] (A.15)."""
    R = matrix(X_AB.rotation.matrix())
    return np.block([[R, skew(X_AB.translation) @ R], [np.zeros((3, 3)), R]])


def cross_matrix(V: Motion) -> np.ndarray:
    """[ω̂ 0; v̂ ω̂]."""
    w, v = skew(V.angular), skew(V.linear)
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def inertia_matrix(inertia: Inertia) -> np.ndarray:
    """[I ĥ; −ĥ m] with h = m c (A.25)."""
    h, m = skew(inertia.first_moment), inertia.mass
    return np.block([[matrix(inertia.rotational), h], [-h, m * np.eye(3)]])


def articulated_matrix(body: ArticulatedInertia) -> np.ndarray:
    H = matrix(body.H)
    return np.block([[matrix(body.I), H], [H.T, matrix(body.M)]])


def articulated(rng) -> ArticulatedInertia:
    """Any symmetric positive definite 6×6 matrix."""
    A = rng.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    rows = A.tolist()
    return ArticulatedInertia(
        Symmetric3.of([row[:3] for row in rows[:3]]),
        Matrix3.of([row[3:] for row in rows[:3]]),
        Symmetric3.of([row[3:] for row in rows[3:]]),
    )


# --- motions and forces -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(**seeds(20))
def test_motions_and_forces_move_by_their_matrices_and_back(seed):
    rng = np.random.default_rng(seed)
    X, V, F = random_pose(rng), motion(rng), force(rng)
    agree(list(V.to_parent(X)), motion_matrix(X) @ list(V), 1)
    agree(list(F.to_parent(X)), force_matrix(X) @ list(F), 1)
    agree(list(V.to_parent(X).to_child(X)), list(V), 1)
    agree(list(F.to_parent(X).to_child(X)), list(F), 1)
    agree(list(V.to_child(X)), list(V.to_parent(X.inverse())), 1)
    agree(list(F.to_child(X)), list(F.to_parent(X.inverse())), 1)


@pytest.mark.parametrize(**seeds(20))
def test_power_does_not_depend_on_the_frame(seed):
    rng = np.random.default_rng(seed)
    X, V, F = random_pose(rng), motion(rng), force(rng)
    agree(V.to_parent(X).dot(F.to_parent(X)), V.dot(F), 1, scale=10.0)
    agree(force_matrix(X), np.linalg.inv(motion_matrix(X)).T, 1)  # X* = X⁻ᵀ


@pytest.mark.parametrize(**seeds(20))
def test_cross_products_are_dual(seed):
    rng = np.random.default_rng(seed)
    V, M, F = motion(rng), motion(rng), force(rng)
    agree(list(V.cross(M)), cross_matrix(V) @ list(M), 1)
    agree(list(V.cross_force(F)), -cross_matrix(V).T @ list(F), 1)
    agree(V.cross(M).dot(F) + M.dot(V.cross_force(F)), 0.0, 1, scale=10.0)  # the rate of M·F, which is a scalar
    agree(list(V.cross(V)), np.zeros(6), 1)
    N = motion(rng)  # Jacobi's identity
    agree(list(V.cross(M.cross(N)) + M.cross(N.cross(V)) + N.cross(V.cross(M))), np.zeros(6), 1, scale=10.0)


@pytest.mark.parametrize(**seeds(10))
def test_cross_products_move_with_the_frame(seed):
    rng = np.random.default_rng(seed)
    X, V, M, F = random_pose(rng), motion(rng), motion(rng), force(rng)
    agree(list(V.cross(M).to_parent(X)), list(V.to_parent(X).cross(M.to_parent(X))), 1, scale=10.0)
    agree(list(V.cross_force(F).to_parent(X)), list(V.to_parent(X).cross_force(F.to_parent(X))), 1, scale=10.0)


def test_motions_and_forces_do_not_mix():
    V, F = Motion.of([1.0] * 6), Force.of([1.0] * 6)
    for mixed in (lambda: V + F, lambda: F + V, lambda: V - F, lambda: F - V, lambda: V.dot(V)):
        with pytest.raises(TypeError):
            mixed()


def test_components_stand_in_order():
    V, F = Motion.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Force.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert list(V.angular) == list(F.moment) == [1.0, 2.0, 3.0]
    assert [V[axis] for axis in range(6)] == [F[axis] for axis in range(6)] == list(V) == list(F)
    assert len(V) == len(F) == 6
    assert list(2.0 * V - V * 0.5) == [1.5 * part for part in V]
    assert list(2.0 * F - F * 0.5) == [1.5 * part for part in F]


# --- inertias ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(**seeds(20))
def test_rigid_inertia_is_its_matrix(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, "b")
    inertia, V, X = body.spatial_inertia(), motion(rng), random_pose(rng)
    A = inertia_matrix(inertia)
    c = skew(body.center_of_mass)  # A.29 from the mass centre
    agree(matrix(inertia.rotational), np.array(body.inertia) - body.mass * c @ c, 1)
    agree(list(inertia.times(V)), A @ list(V), 1)
    agree(articulated_matrix(ArticulatedInertia.rigid(inertia)), A, 1)
    moved = inertia.to_parent(X)
    agree(inertia_matrix(moved), force_matrix(X) @ A @ np.linalg.inv(motion_matrix(X)), 1)
    agree(inertia_matrix(moved.to_parent(X.inverse())), A, 2)
    agree(inertia_matrix(inertia + moved), A + inertia_matrix(moved), 1)
    assert (np.linalg.eigvalsh(A) > 0.0).all()


@pytest.mark.parametrize(**seeds(10))
def test_the_inverse_of_an_inertia_gives_the_motion_back(seed):
    """Φ = I⁻¹ in closed form (A.26): [J, −J ĉᵀ…] with J the inverse central inertia; Φ (I V) = V."""
    rng = np.random.default_rng(seed)
    body, V = random_body(rng, "b"), motion(rng)
    J, c = np.linalg.inv(np.array(body.inertia)), skew(body.center_of_mass)
    inverse = np.block([[J, -J @ c], [c @ J, np.eye(3) / body.mass - c @ J @ c]])
    condition = float(np.linalg.cond(inertia_matrix(body.spatial_inertia())))
    agree(inverse @ list(body.spatial_inertia().times(V)), list(V), 1, condition=condition)


@pytest.mark.parametrize(**seeds(10))
def test_kinetic_energy_does_not_depend_on_the_frame(seed):
    rng = np.random.default_rng(seed)
    inertia, X, V = random_body(rng, "b").spatial_inertia(), random_pose(rng), motion(rng)
    agree(V.to_parent(X).dot(inertia.to_parent(X).times(V.to_parent(X))), V.dot(inertia.times(V)), 1, scale=30.0)


@pytest.mark.parametrize(**seeds(10))
def test_velocity_force_is_the_rate_of_momentum(seed):
    """V ×* (I V) for a body that turns about its frame's origin: the classical accelerations leave just this part."""
    rng = np.random.default_rng(seed)
    inertia, omega = random_body(rng, "b").spatial_inertia(), Vector3.of(rng.normal(size=3).tolist())
    V = Motion(omega)
    agree(list(inertia.velocity_force(omega)), list(V.cross_force(inertia.times(V))), 1, scale=10.0)
    p = rng.normal(size=3)
    agree(list(centripetal(omega, Vector3.of(p.tolist()))), np.cross(list(omega), np.cross(list(omega), p)), 1, scale=10.0)


@pytest.mark.parametrize(**seeds(20))
def test_articulated_inertia_is_its_matrix(seed):
    rng = np.random.default_rng(seed)
    body, X, V = articulated(rng), random_pose(rng), motion(rng)
    A = articulated_matrix(body)
    scale = float(np.abs(A).max())
    agree(list(body.times(V)), A @ list(V), 1, scale=10.0 * scale)
    agree(np.column_stack([list(body.column(axis)) for axis in range(6)]), A, 1)
    agree(articulated_matrix(body.to_parent(X)), force_matrix(X) @ A @ force_matrix(X).T, 1, scale=10.0 * scale)
    agree(articulated_matrix(body + body), 2.0 * A, 1)
    F = force(rng)
    agree(articulated_matrix(body.minus_outer(F, F * 0.3)), A - 0.3 * np.outer(list(F), list(F)), 1)


@pytest.mark.parametrize(**seeds(20))
@pytest.mark.parametrize("axis", [None, 0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("armature", [0.0, 0.7])
def test_release_solves_for_the_freed_direction(seed, axis, armature):
    """With q̈ freed along S: the force felt and q̈ satisfy F = I(A + S q̈) + p and S·F + armature q̈ = tau (2.26-2.30)."""
    rng = np.random.default_rng(seed)
    S = motion(rng) if axis is None else Motion.of([1.0 if i == axis else 0.0 for i in range(6)])
    body, tau, A = ArticulatedBody(articulated(rng), force(rng)), float(rng.normal()), motion(rng)
    felt, release = body.release(S, tau, armature)
    rate = release.acceleration(A)
    F = body.inertia.times(A + S * rate) + body.bias
    scale = float(np.abs(articulated_matrix(body.inertia)).max()) * (1.0 + abs(rate)) * 10.0
    agree(S.dot(F) + armature * rate, tau, 1, scale=scale)
    agree(list(felt.inertia.times(A) + felt.bias), list(F), 1, scale=scale)


# --- matrices of any size ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(**seeds(5))
def test_dense_matrices_do_what_numpys_do(seed):
    rng = np.random.default_rng(seed)
    G, H, damping = rng.normal(size=(2, 4)), rng.normal(size=(3, 4)), rng.uniform(0.1, 0.2, 4)
    A = rng.normal(size=(4, 4))
    A = A @ A.T + np.eye(4)
    left, right, factors = Dense.of(G.tolist()), Dense.of(H.tolist()), Dense.of(A.tolist()).factored()
    agree(Dense.diagonal(damping.tolist()).rows, np.diag(damping), 4)
    agree(factors.inverse().rows, np.linalg.inv(A), 4, condition=np.linalg.cond(A))
    # W = B + BEB + BEBEB + BEBEBEB is what is left of A⁻¹ once (BE)⁴ of it is gone
    rest = np.linalg.matrix_power(np.linalg.solve(A + np.diag(damping), np.diag(damping)), 4)
    W = (np.eye(4) - rest) @ np.linalg.inv(A)
    ranged = RangeInverse.of(Dense.of(A.tolist()), damping.tolist())
    agree(ranged.solve(G[0].tolist()), W @ G[0], 4, condition=np.linalg.cond(A))
    for grip, inverse in ((factors, np.linalg.inv(A)), (ranged, W)):
        agree(grip.between(left, right).rows, G @ inverse @ H.T, 4, scale=10.0, condition=np.linalg.cond(A))
        agree(grip.between(left, left).rows, G @ inverse @ G.T, 4, scale=10.0, condition=np.linalg.cond(A))
