"""Dynamics and simulations as functions of PyTorch tensors, with gradients: `import kumitate.torch`.

Tensors are of double precision and on the processor; their memory is read in place, and results are not copied. Gradients come
from the derivatives of `Robot.derivatives` and `Simulation.rollout`; they can be computed once, not differentiated again.
Needs the extra `learn`; PyTorch is imported by the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from . import pullbacks
from .errors import InputError
from .robot import Robot
from .simulation import Simulation

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["forward_dynamics", "inverse_dynamics", "rollout", "step"]


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
    """A function of arrays on tensors, by name.

    Raises:
        InputError: for what is not a tensor of double precision on the processor; without PyTorch.
    """
    torch, bridge = _bridge()
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise InputError(f"{name!r} is {type(tensor).__name__}; it must be a torch.Tensor. Give torch.as_tensor({name})")
        if tensor.dtype != torch.float64 or tensor.device.type != "cpu":
            raise InputError(
                f"{name!r} is of {tensor.dtype} on {tensor.device}; it must be of torch.float64 on the processor. Give "
                f"{name}.double().cpu(), whose gradients go back to {name}"
            )
    results: tuple[Tensor, ...] = bridge.apply(page, *tensors.values())
    return results


@cache
def _bridge() -> tuple[Any, Any]:
    """PyTorch, and the function of tensors that runs functions of arrays.

    Raises:
        InputError: if PyTorch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise InputError("kumitate.torch needs PyTorch, which is not installed. Run pip install 'kumitate[learn]'") from error

    class Bridge(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, page: Callable[..., pullbacks.Pulled], *tensors: Any) -> tuple[Any, ...]:
            results, ctx.back = page(*(tensor.detach().numpy() for tensor in tensors))
            return tuple(torch.from_numpy(result) for result in results)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            pulled = ctx.back(*(gradient.detach().numpy() for gradient in gradients))
            return None, *(torch.from_numpy(gradient) for gradient in pulled)

    return torch, Bridge
