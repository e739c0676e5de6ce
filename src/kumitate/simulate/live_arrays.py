"""Arrays that are written in place: assignment to a live array copies into it, and no other attribute can be assigned.

`batch.tau = values` would otherwise make an attribute of Python that no program reads.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..model.values import real_array, shown


class SettledAttributes:
    """An object whose public attributes are settled by its constructor, which calls `_settle` last.

    Attributes that are live arrays, alone or by name, take the values that are assigned to them.
    """

    def _settle(self) -> None:
        self.__dict__["_settled"] = True

    def __setattr__(self, name: str, value: Any) -> None:
        live = self.__dict__.get(name)
        if name.startswith("_") or "_settled" not in self.__dict__:
            super().__setattr__(name, value)
        elif value is live and live is not None:
            return  # `batch.tau += 1.0` has written already
        elif isinstance(live, np.ndarray):
            fill_array(f"{type(self).__name__}.{name}", live, value)
        elif isinstance(live, LiveArrays):
            if not isinstance(value, Mapping):
                raise InputError(f"{live.what} is {shown(value)}; it must be a dictionary by name: {', '.join(live) or 'none'}")
            live.update(value)
        else:
            raise self._refusal(name)

    def _refusal(self, name: str) -> InputError:
        owner, public = type(self).__name__, [key for key in dir(self) if not key.startswith("_")]
        if name in public:
            return InputError(f"{owner}.{name} cannot be assigned: it is settled when a {owner} is made. Make another one")
        near = did_you_mean(name, public, lead=", ")
        return InputError(f"{owner} has no attribute {name!r}{near}. Begin the name of an attribute of your own with _")


class LiveArrays(UserDict[str, np.ndarray]):
    """Live arrays by name: `arrays[name] = values` copies into the array of that name; names do not change.

    Attributes:
        what: these are, for messages.
    """

    def __init__(self, what: str, arrays: Mapping[str, np.ndarray]):
        self.what = what
        self.data = dict(arrays)

    def __setitem__(self, name: str, values: Any) -> None:
        if name not in self.data:
            near = did_you_mean(name, self.data, lead=", ")
            raise InputError(f"{self.what} has no {name!r}{near}; there are {', '.join(self.data) or 'none'}")
        fill_array(f"{self.what}[{name!r}]", self.data[name], values)

    def __delitem__(self, name: str) -> None:
        raise InputError(f"{self.what}[{name!r}] cannot be taken out; write zeros to it")


def fill_array(what: str, live: np.ndarray, values: Any) -> None:
    """Copies values into an array, as NumPy's assignment `live[:] = values` does.

    Raises:
        InputError: for values that are not finite real numbers, or of a shape that does not fit.
    """
    if values is live:
        return
    array = real_array(values)
    if array is None or not np.isfinite(array).all():
        raise InputError(f"{what} is {shown(values)}; it must be finite real numbers")
    try:
        live[...] = array
    except ValueError:
        raise InputError(f"{what} has shape {array.shape}; it must have the shape {live.shape}, or fit it") from None
