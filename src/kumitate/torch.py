"""Dynamics and simulations as functions of PyTorch tensors, with gradients: `import kumitate.torch`.

Tensors are of double precision and on the processor; their memory is read in place, and results are not copied. Gradients come
from the derivatives of `Robot.derivatives` and `Simulation.rollout`; differentiating them again raises an `InputError`, and so
do `torch.vmap` and the transforms of `torch.func`. Needs the extra `learn`; PyTorch is imported by the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from . import pullbacks
from .errors import InputError, needed
from .robot import Robot
from .simulation import Simulation

if TYPE_CHECKING:
    from torch import Tensor


def forward_dynamics(robot: Robot, q: Tensor, v: Tensor, tau: Tensor) -> Tensor:
    """The accelerations (..., nv) of states (..., nq) and (..., nv) with efforts at the joints (..., nv)."""
    return _called(partial(pullbacks.forward_dynamics, robot), {"q": q, "v": v, "tau": tau})[0]


def inverse_dynamics(robot: Robot, q: Tensor, v: Tensor, a: Tensor) -> Tensor:
    """The efforts at the joints (..., nv) that give accelerations (..., nv) at states (..., nq) and (..., nv)."""
    return _called(partial(pullbacks.inverse_dynamics, robot), {"q": q, "v": v, "a": a})[0]


def step(simulation: Simulation, q: Tensor, v: Tensor, **efforts: Tensor) -> tuple[Tensor, Tensor]:
    """q (N, nq) and v (N, nv) after a step from states (N, nq) and (N, nv).

    Args:
        efforts: (N, size) by name, such as `tau`; of others, those of the simulation.
    """
    found = rollout(simulation, q, v, {name: values[:, None] for name, values in efforts.items()}, steps=1)
    return found[0][:, 1], found[1][:, 1]


def rollout(
    simulation: Simulation, q: Tensor, v: Tensor, efforts: Mapping[str, Tensor], *, steps: int, every: int = 1
) -> tuple[Tensor, Tensor]:
    """The recorded states (N, R, nq) and (N, R, nv) of many steps from states (N, nq) and (N, nv), the start first.

    Args:
        efforts: by name, (N, steps, size) or (steps, size), as of `Simulation.rollout`.
        every: steps from one recorded state to the next; those between are made again for the gradient, and take no memory.
    """
    names = list(efforts)

    def pulled(q: Any, v: Any, *given: Any) -> pullbacks.Pulled:
        return pullbacks.rollout(simulation, q, v, dict(zip(names, given, strict=True)), steps=steps, every=every)

    recorded_q, recorded_v = _called(pulled, {"q": q, "v": v, **efforts})
    return recorded_q, recorded_v


def _called(page: Callable[..., pullbacks.Pulled], tensors: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """A function of arrays on tensors, by name."""
    torch, bridge = _bridge()
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise InputError(f"{name!r} is {type(tensor).__name__}; it must be a torch.Tensor. Give torch.as_tensor({name})")
        if tensor.dtype != torch.float64 or tensor.device.type != "cpu":
            raise InputError(
                f"{name!r} is of {tensor.dtype} on {tensor.device}; it must be of torch.float64 on the processor. Give "
                f"{name}.double().cpu(), whose gradients go back to {name}"
            )
    try:
        results: tuple[Tensor, ...] = bridge.apply(page, *tensors.values())
    except RuntimeError as error:
        if "setup_context" not in str(error):  # which functions need that PyTorch transforms
            raise
        raise InputError(
            "functions of kumitate.torch cannot be transformed by torch.vmap or torch.func. Give many states as one tensor, "
            "with leading axes; for Jacobians take robot.derivatives, simulation.slopes, or torch.autograd.functional.jacobian"
        ) from error
    return results


@cache
def _bridge() -> tuple[Any, Any]:
    """PyTorch, and the function of tensors that runs functions of arrays."""
    needed("torch", "kumitate.torch needs PyTorch", "learn")
    import torch

    class Bridge(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, page: Callable[..., pullbacks.Pulled], *tensors: Any) -> tuple[Any, ...]:
            results, ctx.back = page(*(tensor.detach().numpy() for tensor in tensors))
            ctx.save_for_backward(*tensors)
            return tuple(torch.from_numpy(result) for result in results)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            return None, *Gradient.apply(ctx.back, len(gradients), *gradients, *ctx.saved_tensors)

    class Gradient(torch.autograd.Function):
        """The gradients, as a function of all that they depend on: where that needs a gradient in its turn, it says no.

        `once_differentiable` says so of the gradients that come in only, and leaves out the dependence on the arguments.
        """

        @staticmethod
        def forward(_ctx: Any, back: Callable[..., tuple[Any, ...]], count: int, *tensors: Any) -> tuple[Any, ...]:
            pulled = back(*(gradient.detach().numpy() for gradient in tensors[:count]))
            return tuple(torch.from_numpy(gradient) for gradient in pulled)

        @staticmethod
        def backward(_ctx: Any, *_gradients: Any) -> tuple[Any, ...]:
            raise InputError(
                "a gradient of kumitate.torch is differentiated again, as by a gradient penalty or a Hessian; there are "
                "first derivatives only. Take .detach() of the gradient, leave out create_graph=True, or take differences "
                "of gradients"
            )

    return torch, Bridge
