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


def test_transforms_of_functions_are_refused():
    robot = km.load("planar_3r")
    q, v, tau = (drawn(4, 3).detach() for _ in range(3))
    with pytest.raises(InputError, match=r"cannot be transformed by torch.vmap or torch.func. Give many states as one tensor"):
        torch.vmap(lambda q, v, tau: kt.forward_dynamics(robot, q, v, tau))(q, v, tau)
    for transform in (torch.func.jacrev, torch.func.jacfwd, torch.func.grad):
        with pytest.raises(InputError, match="cannot be transformed by torch"):
            transform(lambda q: kt.forward_dynamics(robot, q, v, tau).sum())(q)


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
