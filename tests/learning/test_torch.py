"""Dynamics and simulations as functions of tensors: PyTorch's own check of gradients, and the example."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import kumitate as km
import kumitate.torch as kt
from kumitate.errors import InputError

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "learning" / "throw.py"


def drawn(*shape):
    return torch.from_numpy(np.random.default_rng(sum(shape)).normal(size=shape)).requires_grad_()


def test_gradients_are_those_of_differences():
    robot = km.load("planar_3r")
    sim = km.Simulation(robot, step=0.01, integrator="rk4")
    state = drawn(2, 3), drawn(2, 3), drawn(2, 3)
    assert torch.autograd.gradcheck(lambda *given: kt.forward_dynamics(robot, *given), state)
    assert torch.autograd.gradcheck(lambda *given: kt.inverse_dynamics(robot, *given), state)
    assert torch.autograd.gradcheck(lambda q, v, tau: kt.step(sim, q, v, tau=tau), state)
    shared = drawn(2, 3), drawn(2, 3), drawn(4, 3)
    assert torch.autograd.gradcheck(lambda q, v, tau: kt.rollout(sim, q, v, {"tau": tau}, steps=4, every=2), shared)


def test_closed_loops_and_quaternions_have_gradients():
    """Along directions that the mechanism has: gradcheck would leave the loops and the length of quaternions."""
    robot = km.load("floating_arm")
    q = torch.from_numpy(np.tile(robot.start[0], (2, 1))).requires_grad_()
    kt.forward_dynamics(robot, q, drawn(2, robot.nv), drawn(2, robot.nv)).sum().backward()
    assert torch.isfinite(q.grad).all()
    assert q.grad.abs().max() > 0.0
    assert torch.allclose((q.grad[:, :4] * q.detach()[:, :4]).sum(dim=1), torch.zeros(2, dtype=torch.float64), atol=1e-9)


def test_gradients_are_not_differentiated_again():
    """Not silently: a gradient penalty would have no effect."""
    robot = km.load("planar_3r")
    sim = km.Simulation(robot, step=0.01, integrator="rk4")
    for page in (lambda q, v, tau: kt.forward_dynamics(robot, q, v, tau), lambda q, v, tau: kt.step(sim, q, v, tau=tau)[1]):
        q, v, tau = drawn(2, 3), drawn(2, 3), drawn(2, 3)
        result = page(q, v, tau)
        (gradient,) = torch.autograd.grad(result.sum(), q, create_graph=True)
        assert gradient.requires_grad
        with pytest.raises(InputError, match=r"first derivatives only. Take .detach\(\)"):
            ((gradient**2).sum() + result.sum()).backward()
        (gradient,) = torch.autograd.grad(page(q, v, tau).sum(), q)
        page(q, v, tau).sum().backward()
        assert torch.equal(q.grad, gradient)  # once, as ever
        torch.autograd.grad((page(q, v, tau) * gradient.detach()).sum(), q)
        with pytest.raises(InputError, match="first derivatives only"):
            torch.autograd.functional.hessian(lambda q, v=v, tau=tau, page=page: page(q, v, tau).sum(), q)
        jacobian = torch.autograd.functional.jacobian(lambda q, v=v, tau=tau, page=page: page(q, v, tau)[0], q)
        assert jacobian.shape == (3, 2, 3)


def test_transforms_of_functions_are_loops_over_calls():
    """vmap, jacrev, both in either order, and gradients of each row by what all rows share."""
    robot = km.load("planar_3r")
    q, v, tau = (torch.from_numpy(np.random.default_rng(k).normal(size=(3, 3))) for k in range(3))  # as many rows as freedoms

    def one(q, v, tau):
        return kt.forward_dynamics(robot, q, v, tau)

    np.testing.assert_array_equal(torch.vmap(one)(q, v, tau), one(q, v, tau))
    np.testing.assert_array_equal(torch.vmap(one, (1, None, 0))(q.T, v[0], tau), one(q, v[0], tau))
    wanted = robot.derivatives(*(x.numpy() for x in (q, v, tau))).by_q
    rows = torch.vmap(torch.func.jacrev(one))(q, v, tau)
    np.testing.assert_allclose(rows, wanted, atol=1e-12)
    every = torch.func.jacrev(torch.vmap(one))(q, v, tau)
    np.testing.assert_allclose(torch.einsum("iaib->iab", every), wanted, atol=1e-12)
    shared = torch.vmap(torch.func.grad(lambda q, v, tau: one(q, v, tau).sum()), (None, 0, 0))(q[0], v, tau)
    by_hand = robot.derivatives(*(x.numpy() for x in (q[0].expand(3, 3), v, tau))).by_q.sum(axis=1)
    np.testing.assert_allclose(shared, by_hand, atol=1e-12)
    with pytest.raises(InputError, match=r"have no forward mode, as of torch.func.jacfwd and jvp; take torch.func.jacrev"):
        torch.func.jacfwd(lambda q: one(q, v, tau))(q)


def test_steps_take_any_leading_axes_alike():
    sim = km.Simulation(km.load("planar_3r"), step=0.01, integrator="rk4", parameters=["mass:link2"])
    q, v, tau, mass = drawn(2, 4, 3), drawn(4, 3), drawn(5, 3), torch.tensor([[1.0], [2.0]], dtype=torch.float64)
    many = kt.rollout(sim, q, v, {"tau": tau}, {"mass:link2": mass}, steps=5)
    assert many[0].shape == (2, 4, 6, 3)
    single = kt.rollout(sim, q[1, 2], v[2], {"tau": tau}, {"mass:link2": mass[1, 0]}, steps=5)
    np.testing.assert_allclose(single[0].detach(), many[0][1, 2].detach(), atol=1e-13)
    folded = torch.vmap(lambda q, mass: kt.rollout(sim, q, v, {"tau": tau}, {"mass:link2": mass}, steps=5)[0])(q, mass[:, 0])
    np.testing.assert_allclose(folded.detach(), many[0].detach(), atol=1e-13)
    assert kt.step(sim, q[0, 0], v[0], tau=tau[0])[0].shape == (3,)


def test_parameters_have_gradients():
    """Of masses, joints and gains, shared by all rows or one for each; and of friction through sliding contact."""
    sim = km.Simulation(
        km.load("planar_3r"), step=0.01, integrator="rk4", controller=lambda t, q, v, kp=20.0: kp * (0.3 - q) - 2.0 * v,
        parameters=["mass:link2", "center_of_mass:link1.x", "damping:*", "friction:*", "gain:kp", "gravity"],
    )  # fmt: skip
    names, q, v = [one.name for one in sim.parameters.asked], drawn(2, 3), drawn(2, 3)
    values = [
        torch.tensor(x, dtype=torch.float64).requires_grad_() for x in (1.3, [0.2, 0.3], [[0.4, 0.1, 0.2]], 0.1, 22.0, 9.0)
    ]

    def end(*values):
        several = [
            x if name not in ("damping:*", "friction:*") else x.expand(1, 3) for name, x in zip(names, values, strict=True)
        ]
        return kt.rollout(sim, q, v, {}, dict(zip(names, several, strict=True)), steps=4, every=2)

    assert torch.autograd.gradcheck(end, values, atol=1e-6)
    block = km.Body("block", 2.0, inertia=(0.02, 0.03, 0.04), collisions=(km.Geometry(km.Box((0.2, 0.3, 0.1))),))
    thrown = km.Mechanism("thrown", (block,), (km.Joint("free", "floating", "world", "block"),))
    start = [0, 0, 0, 1, 0, 0, 0.05], [0, 0, 0, 1.0, 0, 0]
    sliding = km.Simulation(
        thrown, contact="rigid", integrator="semi_implicit_euler", step=0.002, start=start, parameters=["friction:floor"]
    )
    friction = torch.tensor(0.3, dtype=torch.float64).requires_grad_()
    state = [torch.tensor([part], dtype=torch.float64) for part in start]
    speed = kt.rollout(sliding, *state, {}, {"friction:floor": friction}, steps=20)[1][0, -1, 3]
    speed.backward()
    assert friction.grad.item() == pytest.approx(-9.81 * 20 * 0.002, rel=1e-6)  # v = v0 − μ g t


def test_what_is_not_double_precision_is_refused():
    robot = km.load("planar_3r")
    with pytest.raises(InputError, match=r"'v' is of torch.float32 .* v.double\(\)"):
        kt.forward_dynamics(robot, drawn(3), drawn(3).float(), drawn(3))
    with pytest.raises(InputError, match="'tau' is ndarray"):
        kt.forward_dynamics(robot, drawn(3), drawn(3), np.zeros(3))


def test_a_throw_through_a_bounce_finds_its_target():
    said = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True).stdout
    print(said)
    assert len(SCRIPT.read_text().splitlines()) <= 40
    heights = [float(x) for x in re.search(r"heights \[m\] \[(.*)\]", said)[1].split(", ")]
    assert min(heights) < 0.3 < heights[-1]  # it has been down, and is up again
    assert float(re.search(r"m, (\S+) m from", said)[1]) < 1e-4
