"""Forward and inverse dynamics and the inertia matrix, each by all of its methods, over random mechanisms on plain floats."""

import numpy as np
import pytest

from kumitate.analysis import kinetic_energy, potential_energy
from kumitate.dynamics import Acting, Wrenches, aba, crba, passive_force, rnea
from kumitate.kinematics import integrate
from kumitate.model.tree.subchains import parts_by_cuts
from kumitate.papers import jacobian_inertia, unit_vector
from kumitate.programs import FORWARD_DYNAMICS, MASS_MATRIX

from ..mechanisms import agree, body_poses, cases, near, random_case, random_mechanism, random_state, seeds, slope

over_cases = pytest.mark.parametrize(**cases(24, every=4))


def wrenches(case, seed: int = 0) -> Wrenches:
    """A wrench on every second body and on every frame."""
    rng = np.random.default_rng(seed)
    names = [*(body.name for body in case.mechanism.bodies[::2]), *(frame.name for frame in case.mechanism.frames)]
    return Wrenches(case.mechanism.tree, {name: rng.normal(size=6).tolist() for name in names})


def bias(case, **options) -> np.ndarray:
    """h(q, v): what the drives do at zero acceleration."""
    tree, g = case.mechanism.tree, case.mechanism.gravity
    return np.array(rnea(tree, case.q, case.v, [0.0] * tree.nv, gravity=g, **options))


def partitions(tree) -> list[dict]:
    """Sub-chains of hybrid modelling: two, three, every link by itself; "auto", which counts up to 24, for small trees."""
    n = len(tree.links)
    given = [parts_by_cuts(tree, cuts) for cuts in ({n // 2}, {n // 3, 2 * n // 3}, set(range(n)))]
    return [{"partition": parts} for parts in (*given, *(["auto"] if n <= 6 else []))]


# --- forward against inverse --------------------------------------------------------------------------------------------
@pytest.mark.row("T-aba", "N-inv")
@over_cases
def test_inverse_dynamics_of_forward_dynamics_gives_the_forces_back(make):
    case = make()
    tree, external = case.mechanism.tree, wrenches(case)
    for options in ({}, {"wrenches": external}):
        a = aba(tree, case.q, case.v, case.tau, Acting(case.mechanism.gravity, **options))
        tau = rnea(tree, case.q, case.v, a, gravity=case.mechanism.gravity, **options)
        condition = np.linalg.cond(np.array(crba(tree, case.q)))
        agree(tau, case.tau, case.n, scale=float(np.abs(bias(case, **options)).max()), condition=condition)


@pytest.mark.row("T-aba")
@over_cases
def test_forward_dynamics_of_inverse_dynamics_gives_the_accelerations_back(make):
    case = make()
    tree, g = case.mechanism.tree, case.mechanism.gravity
    tau = rnea(tree, case.q, case.v, case.a, gravity=g)
    condition = np.linalg.cond(np.array(crba(tree, case.q)))
    agree(aba(tree, case.q, case.v, tau, Acting(g)), case.a, case.n, scale=10.0, condition=condition)


@pytest.mark.row("T-aba", "C-crb", "C-uv")
@over_cases
@pytest.mark.parametrize("method", FORWARD_DYNAMICS)
def test_forward_dynamics_solves_the_equation_of_motion(make, method):
    """M v̇ = tau − h, the right side and the matrix computed apart, solved by NumPy."""
    case = make()
    tree, external = case.mechanism.tree, wrenches(case)
    M = np.array(crba(tree, case.q))
    expected = np.linalg.solve(M, np.array(case.tau) - bias(case, wrenches=external))
    page = FORWARD_DYNAMICS[method]
    for options in partitions(tree) if method == "hybrid" else [{}]:
        a = page(tree, case.q, case.v, case.tau, Acting(case.mechanism.gravity, wrenches=external), **options)
        agree(a, expected, case.n, condition=np.linalg.cond(M))


@pytest.mark.row("N-inv")
@over_cases
def test_inverse_dynamics_is_linear_in_the_accelerations(make):
    case = make()
    tree = case.mechanism.tree
    tau = rnea(tree, case.q, case.v, case.a, gravity=case.mechanism.gravity)
    agree(tau, np.array(crba(tree, case.q)) @ case.a + bias(case), case.n, scale=100.0)


# --- the inertia matrix -------------------------------------------------------------------------------------------------
@pytest.mark.row("C-crb", "C-uv", "C-mj", "C-j")
@over_cases
@pytest.mark.parametrize("method", MASS_MATRIX)
def test_the_inertia_matrix_is_the_second_derivative_of_the_kinetic_energy(make, method):
    """T is quadratic in v, so that differences of it are exact: M_ij = T(e_i + e_j) − T(e_i) − T(e_j), M_ii = 2 T(e_i)."""
    case = make()
    tree, unit = case.mechanism.tree, np.eye(case.mechanism.nv)
    single = [kinetic_energy(tree, case.q, e.tolist()) for e in unit]
    M = np.array(MASS_MATRIX[method](tree, case.q), dtype=float)
    rng = np.random.default_rng(0)
    pairs = [rng.integers(tree.nv, size=2) for _ in range(12)] + [(i, i) for i in range(tree.nv)]
    for i, j in pairs:  # all pairs would take long and show no more
        mixed = kinetic_energy(tree, case.q, (unit[i] + unit[j]).tolist())
        agree(mixed - single[i] - single[j], M[i, j], case.n, scale=float(np.abs(M).max()))
    agree(0.5 * np.array(case.v) @ M @ case.v, kinetic_energy(tree, case.q, case.v), case.n, scale=float(np.abs(M).max()))


@pytest.mark.row("C-crb", "C-uv", "C-mj")
@over_cases
def test_the_inertia_matrix_is_symmetric_positive_definite_and_the_same_by_all_methods(make):
    case = make()
    matrices = [np.array(page(case.mechanism.tree, case.q), dtype=float) for page in MASS_MATRIX.values()]
    for M in matrices:
        assert (M == M.T).all()
        assert (np.linalg.eigvalsh(M) > 0.0).all()
        agree(M, matrices[0], case.n)


@pytest.mark.row("C-mj", "C-crb")
@pytest.mark.parametrize(**seeds(12))
def test_the_inertia_matrix_from_the_bodies_as_written(seed):
    """Σ Jᵀ I J with Jacobians by differences of poses that know no tree: of all the pages, it uses the joints' alone."""
    case = random_case(seed)
    mechanism, tree = case.mechanism, case.mechanism.tree
    M = np.diag([armature for link in tree.links for armature in link.armature])
    names = [body.name for body in mechanism.bodies]
    X = {name: body_poses(mechanism, case.q)[name] for name in names}
    columns: dict[str, list] = {name: [] for name in names}
    for unit in np.eye(tree.nv):

        def posed(t: float, unit=unit) -> np.ndarray:
            poses = body_poses(mechanism, integrate(tree, case.q, (t * unit).tolist()))
            return np.array([poses[name] for name in names])

        for name, rate in zip(names, slope(posed), strict=True):
            W = X[name][:3, :3].T @ rate[:3, :3]
            columns[name].append([W[2, 1], W[0, 2], W[1, 0], *(X[name][:3, :3].T @ rate[:3, 3])])
    for body in mechanism.bodies:
        J = np.array(columns[body.name]).T
        center = np.array(body.center_of_mass)
        J_center = J[3:] + np.cross(J[:3], center, axis=0)
        M = M + body.mass * J_center.T @ J_center + J[:3].T @ np.array(body.inertia) @ J[:3]
    near(jacobian_inertia(tree, case.q), M)


# --- Coriolis forces and gravity ------------------------------------------------------------------------------------------
def passive(case) -> np.ndarray:
    return np.array([f for link in case.mechanism.tree.links for f in passive_force(link, link.velocities(case.v))])


def coriolis(case) -> np.ndarray:
    """C(q, v) v."""
    tree = case.mechanism.tree
    return np.array(rnea(tree, case.q, case.v, [0.0] * tree.nv, gravity=(0.0, 0.0, 0.0))) - passive(case)


@over_cases
def test_the_rate_of_the_inertia_matrix_less_twice_coriolis_does_no_work(make):
    """vᵀ(Ṁ − 2C)v = 0, with Ṁ by finite differences along the motion."""
    case = make()
    tree, v = case.mechanism.tree, np.array(case.v)
    rate = slope(lambda t: crba(tree, integrate(tree, case.q, (t * v).tolist())))
    near(v @ rate @ v, 2.0 * v @ coriolis(case))


@pytest.mark.row("N-inv")
@pytest.mark.parametrize(**seeds(10))
def test_coriolis_forces_are_the_christoffel_symbols_of_the_inertia_matrix(seed):
    """C v = Σ (∂M_ij/∂q_k − ½ ∂M_jk/∂q_i) v_j v_k (Lagrange), where v = q̇; M is another page's than the forces."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["revolute", "prismatic", "cylindrical", "universal", "spherical_euler", "planar", "fixed"], 5).tolist()
    case = random_state(random_mechanism(rng, [*kinds, "revolute"], chain=seed % 2 == 0), rng)
    tree, v, unit = case.mechanism.tree, np.array(case.v), np.eye(case.mechanism.nq)
    dM = np.array([slope(lambda t, e=e: crba(tree, (np.array(case.q) + t * e).tolist())) for e in unit])  # [k, i, j]
    near(np.einsum("kij,j,k->i", dM, v, v) - 0.5 * np.einsum("ijk,j,k->i", dM, v, v), coriolis(case))


@pytest.mark.row("N-inv")
@over_cases
def test_gravity_forces_are_the_gradient_of_the_potential_energy(make):
    case = make()
    tree, g = case.mechanism.tree, case.mechanism.gravity
    still = [0.0] * tree.nv
    forces = rnea(tree, case.q, still, still, gravity=g)
    gradient = [
        slope(lambda t, e=e: potential_energy(tree, integrate(tree, case.q, (t * e).tolist()), g)) for e in np.eye(tree.nv)
    ]
    near(forces, gradient)


@pytest.mark.row("C-uv")
@over_cases
def test_the_unit_vector_method_is_inverse_dynamics_column_by_column(make):
    case = make()
    tree, zero = case.mechanism.tree, [0.0] * case.mechanism.nv
    M = np.array(unit_vector(tree, case.q))
    g = case.mechanism.gravity
    still = np.array(rnea(tree, case.q, zero, zero, gravity=g))
    i = len(zero) // 2
    column = np.array(rnea(tree, case.q, zero, np.eye(tree.nv)[i].tolist(), gravity=g)) - still
    agree(M[:, i], column, case.n, scale=float(np.abs(still).max()))
