"""`State`: a simulation at one time, with everything needed to continue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class State:
    """A simulation at one time. Steps do not change it: continuing from it twice gives the same motion twice.

    Attributes:
        time: [s], since the start.
        q, v: (nq) and (nv).
        work: [J], done on the mechanism by drives, damping, wrenches and contact since the start.
        outputs: the additional outputs of the simulation, by name.
        carried: the arrays from which the next step begins, by name.
        parameters: their values, by name; NaN where a name stands for numbers of the mechanism that differ and none was given.
    """

    time: float
    q: np.ndarray
    v: np.ndarray
    work: float
    outputs: Mapping[str, np.ndarray]
    carried: Mapping[str, np.ndarray] = field(repr=False)
    parameters: Mapping[str, np.ndarray] = field(default_factory=dict)
