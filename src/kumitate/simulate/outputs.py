"""Outputs of a simulation: named programs of the state and its signals, evaluated in the step's code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..model import Mechanism
from ..scalar import Program, call, trace
from ..scalar.purity import judged

__all__ = ["SIGNALS", "STATE", "Output", "evaluated", "function_output", "signal_output"]

#: Quantities that a step carries and always records.
STATE = ("q", "v", "work", "error")
#: Signals that outputs can be computed from: time [s], state, accelerations (nv), and the efforts at the joints (nv).
SIGNALS = ("t", "q", "v", "a", "tau")


class Output(NamedTuple):
    """A named quantity.

    Attributes:
        name: of the recorded array; a program with several outputs records each as "name.output".
        key: identifies the program, together with the mechanism.
        make: returns the program, whose inputs are some of `SIGNALS`.
        shape: of its one output, which the program gives flat.
    """

    name: str
    key: Hashable
    make: Callable[[], Program]
    shape: tuple[int, ...] | None = None


def signal_output(mechanism: Mechanism, signal: str, name: str) -> Output:
    """One of the `SIGNALS`, unchanged."""
    size: Any = {"t": (), "q": mechanism.nq}.get(signal, mechanism.nv)

    def copied(x: Any) -> Any:
        return x if size == () else list(x)

    return Output(name, ("signal", signal), lambda: trace(copied, {signal: size}, signal))


def function_output(
    mechanism: Mechanism, name: str, function: Callable[..., Any], states: Sequence[tuple[float, np.ndarray, np.ndarray]]
) -> Output:
    """An output computed by a function of (t, q, v).

    Args:
        states: at which the function is tried.

    Raises:
        InputError: if it cannot be compiled, with the reason.
    """
    t, q, v = states[0]
    shape = np.shape(function(t, q.copy(), v.copy()))

    def flat(t: Any, q: Any, v: Any) -> Any:
        return np.asarray(function(t, q, v)).reshape(-1)

    verdict = judged(flat, states, int(np.prod(shape)))
    if verdict.program is None:
        raise InputError(f"{mechanism.name}: the output {name!r} cannot be compiled: {verdict.reason}")
    program = verdict.program
    return Output(name, (str(program), shape), lambda: program, shape)


def evaluated(outputs: Sequence[Output], signal: Callable[[str], Any]) -> dict[str, Any]:
    """The values of outputs by the names that they are recorded in, given the values of signals while tracing."""
    found: dict[str, Any] = {}
    for output in outputs:
        program = output.make()
        values = call(program, *(signal(array.name) for array in program.inputs))
        if len(program.outputs) > 1:
            found |= {f"{output.name}.{name}": value for name, value in values.items()}
        elif output.shape is None:
            found[output.name] = values if not isinstance(values, dict) else next(iter(values.values()))
        else:
            flat = values if not isinstance(values, dict) else next(iter(values.values()))
            found[output.name] = np.array(list(flat), dtype=object).reshape(output.shape).tolist()
    return found
