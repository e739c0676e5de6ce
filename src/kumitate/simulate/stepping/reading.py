"""The inputs that functions read in addition to (t, q, v): each further parameter takes the value of its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ...analysis.loop_motion import loop_coordinates
from ...compile import Kernel
from ...errors import InputError, did_you_mean
from ...model import Mechanism
from ...model.values import checked_array
from ...scalar import call
from ...scalar.arrays import SymbolArray

#: What is known of every state: time [s], coordinates, velocities, accelerations (nv), and the efforts at the joints (nv).
SIGNALS = ("t", "q", "v", "a", "tau")
#: What functions may read of loop joints and lines: their coordinates and rates (`Mechanism.loop_q_names`, `loop_v_names`).
LOOPS = ("loop_q", "loop_v")
#: What sensors read of contact: the pushes at all points, and of how many numbers each is: in the world the force on A [N],
#: the position [m] and the normal from B to A.
PUSHES, PUSH = "contact_pushes", 9
#: How many parameters come first: (t, q, v).
_FIRST = 3
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def checked_inputs(owner: str, inputs: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """StepInputs by name, each with the values that it has unless others are given.

    Args:
        inputs: by name the number of components, which are zero then, or their values.

    Raises:
        InputError: for a name that a parameter of a function cannot have, or values that are not one array of real numbers.
    """
    found = {}
    for name, given in (inputs or {}).items():
        if not (isinstance(name, str) and name.isidentifier()) or name in (*SIGNALS, *LOOPS, PUSHES):
            raise InputError(
                f"{owner}: an input is called {name!r}; functions read it as a parameter of its name, which must be a name in "
                f"Python and none of {', '.join((*SIGNALS, *LOOPS, PUSHES))}. Take another"
            )
        values = np.zeros(given) if isinstance(given, int) and given > 0 else np.asarray(given)
        if values.ndim != 1 or not values.size:
            raise InputError(
                f"{owner}: the input {name!r} is of shape {np.shape(given)}; give the number of its components, "
                "or an array of their values"
            )
        found[name] = checked_array(owner, f"the input {name!r}", values, values.shape).copy()
    return found


def loops_at(mechanism: Mechanism, q: Any, v: Any) -> dict[str, Any]:
    """`LOOPS` at a state: arrays of numbers, or of symbols while tracing."""
    program = loop_coordinates(mechanism)
    if isinstance(q, SymbolArray):
        return {name: SymbolArray(values) for name, values in call(program, list(q), list(v)).items()}
    return dict(zip(LOOPS, _kernel_of(mechanism)(q, v), strict=True))


@lru_cache(64)
def _kernel_of(mechanism: Mechanism) -> Kernel:
    return Kernel(loop_coordinates(mechanism))


def read_by(function: Callable[..., Any], known: Collection[str], label: str, what: str) -> tuple[str, ...]:
    """The names that a function reads in addition to (t, q, v): its parameters after the third.

    Args:
        known: the names that there are. Other parameters are left alone where they have defaults.
        label: of the function, and `what` it can read, for messages.

    Raises:
        InputError: if a parameter is not known.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())[_FIRST:]
    except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        return ()
    for parameter in parameters:
        needed = parameter.kind in _NAMED and parameter.default is parameter.empty
        if needed and parameter.name not in known:
            raise InputError(
                f"{label} has the parameter {parameter.name!r}, which is not an {what}"
                f"{did_you_mean(parameter.name, known, lead=', ')}. After t, q, v it may have {', '.join(known) or 'none'}"
            )
    return tuple(parameter.name for parameter in parameters if parameter.kind in _NAMED and parameter.name in known)


def by_position(function: Callable[..., Any], reads: tuple[str, ...], plain: Collection[str] = ()) -> Callable[..., Any]:
    """A function that takes what it reads by position after (t, q, v), each an array; `plain` names it takes as numbers."""
    if not reads:
        return function

    def positional(t: Any, q: Any, v: Any, *values: Any) -> Any:
        given = {name: value[0] if name in plain else value for name, value in zip(reads, values, strict=True)}
        return function(t, q, v, **given)

    return positional
