"""Controllers made of others pass on the inputs that these read, such as targets.

A controller reads an input of a simulation by a parameter of its name after (t, q, v). A combined one therefore has the further
parameters of all its parts, and gives each part its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

#: How many parameters come first: (t, q, v).
_FIRST = 3
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def signature_of(*parts: Any) -> inspect.Signature:
    """(t, q, v, *, ...) with the inputs that any of the functions among the parts reads; required where one requires it.

    Where two have another number by default, such as a gain, the whole has none: None.
    """
    first = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("t", "q", "v")]
    further: dict[str, inspect.Parameter] = {}
    for parameter in (one for part in parts if callable(part) for one in _further(part)):
        known = further.get(parameter.name)
        if known is None or parameter.default is parameter.empty:
            further[parameter.name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        elif known.default is not known.empty and not np.array_equal(known.default, parameter.default):
            further[parameter.name] = known.replace(default=None)
    return inspect.Signature([*first, *further.values()])


def evaluated(part: Callable[..., Any], t: Any, q: Any, v: Any, inputs: Mapping[str, Any]) -> Any:
    """The value of a controller at (t, q, v), with those of the inputs that it reads."""
    own = {one.name: inputs[one.name] for one in _further(part) if one.name in inputs} if inputs else {}
    return part(t, q, v, **own)


def _further(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that name inputs: those after the third."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[_FIRST:]
    except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        return []
    return [parameter for parameter in parameters if parameter.kind in _NAMED]
