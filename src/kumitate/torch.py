"""Dynamics and simulations as functions of PyTorch tensors, with gradients: `import kumitate.torch`.

Tensors are of double precision and on the processor; their memory is read in place, and results are not copied. Gradients come
from the derivatives of `Robot.derivatives` and `Simulation.rollout`; differentiating them again raises an `InputError`, and so
does forward mode. All functions take states with any leading axes, which are broadcast, so that `torch.vmap` makes one call.
Needs the extra `learn`; PyTorch is imported by the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


def step(
    simulation: Simulation, q: Tensor, v: Tensor, parameters: Mapping[str, Tensor] | None = None, **efforts: Tensor
) -> tuple[Tensor, Tensor]:
    """q (..., nq) and v (..., nv) after a step from states (..., nq) and (..., nv).

    Args:
        parameters: as of `rollout`.
        efforts: (..., size) by name, such as `tau`; of others, those of the simulation.
    """
    held = {name: values[..., None, :] for name, values in efforts.items()}
    found = rollout(simulation, q, v, held, parameters, steps=1)
    return found[0][..., 1, :], found[1][..., 1, :]


def rollout(
    simulation: Simulation, q: Tensor, v: Tensor, efforts: Mapping[str, Tensor], parameters: Mapping[str, Tensor] | None = None,
    *, steps: int, every: int = 1,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The recorded states (..., R, nq) and (..., R, nv) of many steps from states (..., nq) and (..., nv), the start first.

    Args:
        efforts: by name, (..., steps, size).
        parameters: of the simulation, by name, (...), or (..., targets) for a name with several targets: masses, inertias,
            friction, damping, gains.
        every: steps from one recorded state to the next; those between are made again for the gradient, and take no memory.
    """
    names, own = list(efforts), dict(parameters or {})

    def pulled(q: Any, v: Any, *given: Any) -> pullbacks.Pulled:
        held, varied = (dict(zip(*pair, strict=True)) for pair in ((names, given[: len(names)]), (own, given[len(names) :])))
        return pullbacks.rollout(simulation, q, v, held, varied, steps=steps, every=every)

    recorded_q, recorded_v = _called(pulled, {"q": q, "v": v, **efforts, **own}, pullbacks.axes_of(simulation, efforts, own))
    return recorded_q, recorded_v


class _Page:
    """A function of arrays that was called, and how gradients go back through the call."""

    def __init__(self, function: Callable[..., pullbacks.Pulled], cores: Sequence[int]):
        """A call; `cores`: how many axes of each array are not leading ones."""
        self.function, self.cores = function, cores
        self.back: Callable[..., tuple[Any, ...]] = lambda *_: ()

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        results, self.back = self.function(*arrays)
        return results


def _called(
    function: Callable[..., pullbacks.Pulled], tensors: Mapping[str, Any], cores: Sequence[int] = (1, 1, 1)
) -> tuple[Tensor, ...]:
    """A function of arrays on tensors, by name; `cores`: how many axes of each are not leading ones."""
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
        results: tuple[Tensor, ...] = bridge.apply(_Page(function, cores), *tensors.values())
    except RuntimeError as error:
        if "jvp" not in str(error):
            raise
        raise InputError(
            "functions of kumitate.torch have no forward mode, as of torch.func.jacfwd and jvp; take torch.func.jacrev or vjp"
        ) from error
    return results


@cache
def _bridge() -> tuple[Any, Any]:
    """PyTorch, and the function of tensors that runs functions of arrays; raises `InputError` if PyTorch is not installed."""
    needed("torch", "kumitate.torch needs PyTorch", "learn")
    import torch

    def in_front(size: int, dims: Sequence[int | None], tensors: Sequence[Any]) -> list[Any]:
        """Tensors with the axis of `torch.vmap`, of this size, in front."""
        return [x.expand(size, *x.shape) if d is None else x.movedim(d, 0) for x, d in zip(tensors, dims, strict=True)]

    class Bridge(torch.autograd.Function):
        @staticmethod
        def forward(page: _Page, *tensors: Any) -> tuple[Any, ...]:
            return tuple(torch.from_numpy(result) for result in page(*(tensor.detach().numpy() for tensor in tensors)))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], _output: tuple[Any, ...]) -> None:
            ctx.page = inputs[0]
            ctx.save_for_backward(*inputs[1:])

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            return None, *Gradient.apply(ctx.page, len(gradients), *gradients, *ctx.saved_tensors)

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], page: _Page, *tensors: Any) -> tuple[Any, ...]:
            moved = in_front(info.batch_size, in_dims[1:], tensors)
            axes = [x.ndim - 1 - core for x, core in zip(moved, page.cores, strict=True)]  # to be broadcast behind the new one
            wide = [x.reshape(x.shape[:1] + (1,) * (max(axes) - n) + x.shape[1:]) for x, n in zip(moved, axes, strict=True)]
            results = Bridge.apply(page, *wide)
            return results, (0,) * len(results)

    class Gradient(torch.autograd.Function):
        """The gradients, as a function of all that they depend on: where that needs a gradient in its turn, it says no.

        `once_differentiable` says so of the gradients that come in only, and leaves out the dependence on the arguments.
        """

        @staticmethod
        def forward(page: _Page, count: int, *tensors: Any) -> tuple[Any, ...]:
            pulled = page.back(*(gradient.detach().numpy() for gradient in tensors[:count]))
            return tuple(torch.from_numpy(gradient) for gradient in pulled)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            """Keeps nothing: there is no second derivative."""

        @staticmethod
        def backward(_ctx: Any, *_gradients: Any) -> tuple[Any, ...]:
            raise InputError(
                "a gradient of kumitate.torch is differentiated again, as by a gradient penalty or a Hessian; there are "
                "first derivatives only. Take .detach() of the gradient, leave out create_graph=True, or take differences "
                "of gradients"
            )

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], page: _Page, count: int, *tensors: Any) -> tuple[Any, ...]:
            """Of states side by side, as they were called; or of several gradients of one call, one after another."""
            moved, several = in_front(info.batch_size, in_dims[2:], tensors), in_dims[2 + count :]
            if any(d is not None for d in several):
                found = Gradient.apply(page, count, *moved)
                results = [x.reshape(like.shape) for x, like in zip(found, moved[count:], strict=True)]
            else:
                rows = [Gradient.apply(page, count, *(x[k] for x in moved)) for k in range(info.batch_size)]
                results = [torch.stack(parts) for parts in zip(*rows, strict=True)]
            return tuple(results), (0,) * len(results)

    return torch, Bridge
