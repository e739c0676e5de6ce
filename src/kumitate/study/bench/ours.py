"""Our side: the programs that are timed, and their machine code called without Python between the states."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compile import Kernel
from ...compile.llvm import ENTRY
from ...dynamics import Acting, aba_with_loops, rnea
from ...kinematics import random_coordinates
from ...model import Mechanism, Tree
from ...scalar import Program, Scalar, call, loop, trace

__all__ = ["forward_dynamics", "inverse_dynamics", "random_states", "raw", "rollout"]


def forward_dynamics(mechanism: Mechanism) -> Program:
    """(q, v, tau) → v̇ by the articulated-body algorithm, loops closed, as `Robot.forward_dynamics` compiles it."""
    return _program(mechanism, aba_with_loops, "tau")


def inverse_dynamics(mechanism: Mechanism) -> Program:
    """(q, v, a) → tau by the recursive Newton-Euler algorithm, as `Robot.inverse_dynamics` compiles it."""
    return _program(mechanism, _inverse, "a")


def rollout(mechanism: Mechanism, step: Program, size: float, count: int) -> Program:
    """(q, v) → q, v after `count` steps of a size [s], by the step that `simulate` compiles, in a loop."""
    held = [0.0] * mechanism.nv

    def rolled(q: Any, v: Any) -> dict[str, Any]:
        def body(i: Any, state: Any) -> tuple[Any, None]:
            after = call(step, 0.0, size, state[0], state[1], state[2], held)
            return (after["q"], after["v"], after["work"]), None

        (q_end, v_end, _), _ = loop(count, body, (list(q), list(v), 0.0))
        return {"q": q_end, "v": v_end}

    return trace(rolled, {"q": mechanism.nq, "v": mechanism.nv}, f"rollout_{mechanism.name}")


def _inverse(tree: Tree, q: Any, v: Any, a: Any, acting: Acting) -> list[Scalar]:
    return rnea(tree, q, v, a, gravity=acting.gravity)


def _program(mechanism: Mechanism, page: Callable, given: str) -> Program:
    tree, gravity = mechanism.base_parameter_tree, mechanism.gravity
    inputs: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, given: mechanism.nv}
    return trace(lambda q, v, x: page(tree, q, v, x, Acting(gravity)), inputs, f"{page.__name__}_{mechanism.name}")


def raw(kernel: Kernel, lanes: int, arrays: Sequence[np.ndarray], out: Sequence[np.ndarray]) -> Callable[[], None]:
    """A call of the kernel's machine code over a batch: `arrays` and `out` with one contiguous float64 row a state."""
    code, states = kernel.code(lanes), len(out[0])
    if states < lanes:
        raise ValueError(f"{kernel.name}: {states} states do not fill {lanes} lanes")
    pointers = [array.ctypes.data for array in (*arrays, *out)]
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *([ctypes.c_void_p] * len(pointers)))(code.addresses[ENTRY])
    kept = (code, arrays, out)  # the code and the arrays must live as long as the call

    def run(_kept: object = kept) -> None:
        function(states, *pointers)

    return run


def random_states(mechanism: Mechanism, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (count, nq) over the whole manifold, v and a third array (count, nv) from the standard normal distribution."""
    rng = np.random.default_rng(1)
    q = np.array([random_coordinates(mechanism.tree, rng) for _ in range(count)])
    return q, rng.normal(size=(count, mechanism.nv)), rng.normal(size=(count, mechanism.nv))
