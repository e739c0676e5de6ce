"""External wrenches act by the Jacobian's transpose; damping and friction oppose the motion."""

import math
from dataclasses import replace

import numpy as np
import pytest

from kumitate.dynamics import (
    FRICTION_VELOCITY,
    Acting,
    Wrenches,
    aba,
    aba_with_loops,
    crba,
    passive_force,
    passive_secant,
    passive_slope,
    rnea,
    solve_symmetric,
)
from kumitate.kinematics import jacobian
from kumitate.model import Body, Joint, Mechanism
from kumitate.programs import FORWARD_DYNAMICS

from ..mechanisms import agree, every_kind, near, random_case, random_mechanism, random_state, seeds, slope


@pytest.mark.row("N-inv")
@pytest.mark.parametrize(**seeds(16))
def test_a_wrench_acts_by_the_transpose_of_the_jacobian(seed):
    """On a body or a frame: the drives do −Jᵀ w besides (virtual work)."""
    case = random_case(seed) if seed < 12 else every_kind(seed)
    tree, g = case.mechanism.tree, case.mechanism.gravity
    without = np.array(rnea(tree, case.q, case.v, case.a, gravity=g))
    wrench = np.random.default_rng(seed).normal(size=6)
    for name in [case.mechanism.bodies[-1].name, case.mechanism.frames[0].name, case.mechanism.frames[-1].name]:
        tau = rnea(tree, case.q, case.v, case.a, gravity=g, wrenches=Wrenches(tree, {name: wrench.tolist()}))
        J = np.array(jacobian(tree, case.q, tree.places[name]), dtype=float)
        agree(tau - without, -J.T @ wrench, case.n, scale=float(np.abs(without).max()))


@pytest.mark.parametrize(**seeds(6))
def test_wrenches_add_up(seed):
    case = random_case(seed)
    tree, g = case.mechanism.tree, case.mechanism.gravity
    rng = np.random.default_rng(seed)
    names = [case.mechanism.bodies[0].name, case.mechanism.frames[-1].name]
    values = {name: rng.normal(size=6).tolist() for name in names}

    def tau(given) -> np.ndarray:
        return np.array(rnea(tree, case.q, case.v, case.a, gravity=g, wrenches=Wrenches(tree, given)))

    parts = [tau({name: value}) for name, value in values.items()]
    agree(tau(values), sum(parts) - tau({}), case.n, scale=100.0)


def test_a_wrench_on_the_world_or_on_what_is_fixed_to_it_moves_nothing():
    bodies = (Body("stand", 1.0), Body("arm", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1)))
    joints = (Joint("bolts", "fixed", "world", "stand"), Joint("hinge", "revolute", "stand", "arm", axis=(0, 1, 0)))
    m = Mechanism("held", bodies, joints)
    given = Wrenches(m.tree, {"stand": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "world": [1.0] * 6})
    pushed, free = (rnea(m.tree, [0.3], [0.2], [0.1], gravity=m.gravity, wrenches=w) for w in (given, None))
    assert pushed == free


def slider(**options) -> Mechanism:
    return Mechanism("slider", (Body("mass", 2.0),), (Joint("rail", "prismatic", "world", "mass", axis=(1, 0, 0), **options),))


@pytest.mark.row("N-inv")
@pytest.mark.parametrize("v", [-1.0, -0.02, 0.0, 1e-4, 0.3, 5.0])
def test_damping_and_friction_of_one_slider(v):
    """m a = tau − d v − f v/√(v² + ε²) (N eq. 10), and the armature adds to m."""
    m = slider(damping=0.5, friction=0.8, armature=0.25)
    force = 0.5 * v + 0.8 * v / math.hypot(v, FRICTION_VELOCITY)
    link = m.tree.links[0]
    assert passive_force(link, [v])[0] == pytest.approx(force, rel=1e-15)
    assert aba(m.tree, [0.2], [v], [3.0], Acting(m.gravity))[0] == pytest.approx((3.0 - force) / 2.25, rel=1e-14)
    near(slope(lambda t: passive_force(link, [v + t]), h=1e-4), passive_slope(link, [v]), tolerance=1e-6)
    assert passive_slope(link, [v])[0] >= 0.5


@pytest.mark.parametrize("h", [1e-3, 0.05, 2.0])
def test_an_implicit_step_of_a_spring_and_damper_is_implicit_eulers(h):
    """m (v' − v)/h = f − k (x + h v' − rest) − d v', the force f being constant, whatever the step."""
    k, d, rest, f = 300.0, 7.0, 0.4, 2.5
    m = slider(stiffness=(k,), damping=(d,), rest=(rest,))
    for x, v in ((0.1, 3.0), (-2.0, -0.5), (rest, 1.0)):
        after = (2.0 * v + h * (f - k * (x - rest))) / (2.0 + h * d + h * h * k)
        for page in (aba, aba_with_loops):
            (a,) = page(m.tree, [x], [v], [f], Acting(m.gravity, implicit_step=h))
            assert v + h * a == pytest.approx(after, rel=1e-13, abs=1e-13)


def test_friction_is_the_dry_value_at_speed_and_71_percent_at_the_regularised_one():
    link = slider(friction=0.8).tree.links[0]
    assert passive_force(link, [10.0])[0] == pytest.approx(0.8, rel=1e-6)
    assert passive_force(link, [-FRICTION_VELOCITY])[0] == pytest.approx(-0.8 / math.sqrt(2.0))


@pytest.mark.parametrize(**seeds(6))
def test_an_implicit_step_adds_the_secant_slope_of_the_damping_to_the_diagonal(seed):
    """M + h f(v)/v is what an integration step that is implicit in the joints' own forces f(v) solves with."""
    case = random_case(seed)
    tree, g, step = case.mechanism.tree, case.mechanism.gravity, 0.01
    slopes = [slope for link in tree.links for slope in passive_secant(link, link.velocities(list(case.v)))]
    M = np.array(crba(tree, case.q)) + step * np.diag(slopes)
    h = np.array(rnea(tree, case.q, case.v, [0.0] * tree.nv, gravity=g))
    a = aba(tree, case.q, case.v, case.tau, Acting(g, implicit_step=step))
    agree(a, np.linalg.solve(M, case.tau - h), case.n, condition=np.linalg.cond(M))


@pytest.mark.parametrize(**seeds(10))
def test_solving_symmetric_systems(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    A = rng.normal(size=(n, n))
    M, right = A @ A.T + np.eye(n), rng.normal(size=n)
    before = M.copy()
    agree(solve_symmetric(M.tolist(), right.tolist()), np.linalg.solve(M, right), n, condition=np.linalg.cond(M))
    assert (before == M).all()


@pytest.mark.parametrize(**seeds(3))
def test_mechanisms_side_by_side_do_not_feel_each_other(seed):
    """What hangs on the world apart stays apart, to the bit: zeros of the inertia matrix are never filled in."""
    rng = np.random.default_rng(seed)
    left, right = (random_mechanism(rng, ["revolute", "universal", "spherical"], chain=True) for _ in range(2))
    names = {name: f"{name}_right" for name in ("b0", "b1", "b2")} | {"world": "world"}
    joints = [replace(j, name=f"{j.name}_right", parent=names[j.parent], child=names[j.child]) for j in right.joints]
    both = replace(
        left, joints=(*left.joints, *joints), bodies=(*left.bodies, *(replace(b, name=names[b.name]) for b in right.bodies))
    )
    case = random_state(both, rng)
    other = [*case.tau[: left.nv], *rng.normal(size=right.nv)]
    for page in FORWARD_DYNAMICS.values():
        a, b = (page(both.tree, case.q, case.v, tau, Acting(both.gravity)) for tau in (case.tau, other))
        assert a[: left.nv] == b[: left.nv]
        assert a[left.nv :] != b[left.nv :]
