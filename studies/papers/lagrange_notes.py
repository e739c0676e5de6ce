"""Notes of an example on its equations from energies: the equations, and how well the motions agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kumitate.lagrange import System, Trajectory
from kumitate.records.record import Record

__all__ = ["agreement"]


def agreement(
    result: Record, motion: Trajectory, other: Any, system: System, *, columns: Sequence[int] | None = None
) -> tuple[str, ...]:
    """Notes for the audit of a run.

    Args:
        result: of the mechanism.
        motion: of the same by Lagrange's equations, at some of the times of the result.
        other: q of the same motion by equations in other coordinates (m, n), transformed into those of `motion`; None for none.
        system: whose equations are shown.
        columns: of the result's q, which those of `motion` are; all in their order by default.
    """
    samples = np.searchsorted(result.time, motion.time - 1e-9)
    apart = np.abs(result.q[samples][:, slice(None) if columns is None else list(columns)] - motion.q).max()
    notes = [f"equations of motion from the energies: {system.latex()}"]
    if other is not None:
        notes.append(f"the same motion from both choices of coordinates to {np.abs(other - motion.q).max():.2g} (rad or m)")
    notes.append(f"the mechanism moves as they say to {apart:.2g} (rad or m)")
    return tuple(notes)
