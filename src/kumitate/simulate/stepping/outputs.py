"""Outputs: named quantities that are computed from every recorded state, in the code of the step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError
from ...model import Mechanism
from ...scalar import Program, call, trace
from ...scalar.purity import TAKEN, judged
from ..driving.forcing import by_position, read_by

#: What a step carries and always records.
STATE = ("q", "v", "work", "error")


class Output(NamedTuple):
    """A named quantity, recorded in an array of its name; a program of several outputs records each as "name.output".

    Attributes:
        key: what says, with the mechanism, which program it is.
        make: gives the program, whose inputs are some of `forcing.SIGNALS`, inputs, and outputs before this one.
        shape: that its one output, given flat, is put into.
        feels: in scenes, the body or robot whose pushes of contact it is a sum over: its program is then of one push on it.
        by: what pushes it, or "" for all.
    """

    name: str
    key: Hashable
    make: Callable[[], Program]
    shape: tuple[int, ...] | None = None
    feels: str = ""
    by: str = ""


def signal_output(mechanism: Mechanism, signal: str, name: str) -> Output:
    """One of the `forcing.SIGNALS` itself."""
    size: Any = {"t": (), "q": mechanism.nq}.get(signal, mechanism.nv)

    def copied(x: Any) -> Any:
        return x if size == () else list(x)

    return Output(name, ("signal", signal), lambda: trace(copied, {signal: size}, signal))


def trial(
    mechanism: Mechanism, t: float, q: np.ndarray, v: np.ndarray, inputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray | float]:
    """Values of all signals that functions are tried at: a state, and what could belong to it."""
    rng = np.random.default_rng(20123)
    a, tau = rng.normal(size=mechanism.nv), rng.normal(size=mechanism.nv)
    return {"t": t, "q": q, "v": v, "a": a, "tau": tau, **inputs}


def function_output(
    mechanism: Mechanism, name: str, function: Callable[..., Any], trials: Sequence[Mapping[str, Any]], before: Sequence[Output]
) -> Output:
    """A function of (t, q, v), and of what its further parameters name: signals, inputs, outputs `before` it.

    `trials`: values of signals and inputs to try it at. What cannot be compiled, or reads what there is not, is refused.
    """
    label = f"{mechanism.name}: the output {name!r}"
    known = dict.fromkeys([*(signal for signal in trials[0] if signal not in TAKEN), *(output.name for output in before)])
    reads = read_by(function, known, label, "input, a signal or an output before it")
    needed = any(output.name in reads for output in before)
    seen = [{**values, **(evaluated(before, values.__getitem__) if needed else {})} for values in trials]
    for read in reads:
        if read not in seen[0]:
            raise InputError(f"{label} reads {read!r}, which has several parts; give a function that reads one array")
    shapes = [np.shape(seen[0][read]) for read in reads]
    by_place = by_position(function, reads)

    def whole(t: Any, q: Any, v: Any, *flat: Any) -> Any:
        parts = [part.reshape(shape) if shape else part[0] for part, shape in zip(flat, shapes, strict=True)]
        return by_place(t, q, v, *parts)

    def flat(*values: Any) -> Any:
        return np.asarray(whole(*values)).reshape(-1)

    states = [(values["t"], *(np.array(values[key], dtype=float).reshape(-1) for key in ("q", "v", *reads))) for values in seen]
    shape = np.shape(whole(*(np.copy(part) if np.ndim(part) else part for part in states[0])))
    verdict = judged(flat, states, int(np.prod(shape)), (*TAKEN, *reads))
    if verdict.program is None:
        raise InputError(f"{label} cannot be compiled: {verdict.reason}")
    program = verdict.program
    return Output(name, (str(program), shape), lambda: program, shape)


def evaluated(outputs: Sequence[Output], signal: Callable[[str], Any]) -> dict[str, Any]:
    """The values of outputs by the names that they are recorded in, given the values of signals and inputs."""
    found: dict[str, Any] = {}
    for output in outputs:
        program = output.make()
        values = call(program, *(found[key] if (key := array.name) in found else signal(key) for array in program.inputs))
        if len(program.outputs) > 1:
            found |= {f"{output.name}.{name}": value for name, value in values.items()}
            continue
        one = next(iter(values.values())) if isinstance(values, dict) else values
        flat = None if output.shape is None else np.array(list(one), dtype=object)
        found[output.name] = one if flat is None else flat.reshape(output.shape).tolist()
    return found
