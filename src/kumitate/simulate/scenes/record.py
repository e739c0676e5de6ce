"""The contact of a scene along a run, from what its steps have logged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...contact.pairs import FAR
from ..results.contact_record import ContactRecord, Touched
from .model import SceneModel
from .pages import ScenePage


class Logged(NamedTuple):
    """What was logged of some records.

    Attributes:
        begins: the number of the step that each begins with.
        sums, touches: as of `SceneLog`.
        reached: the velocities (records, nv) after the first step of each record, in the axes before it.
    """

    begins: np.ndarray
    sums: np.ndarray
    reached: np.ndarray
    touches: np.ndarray


#: Touches are logged with the number of their record; this row moves them on by one record.
UNIT = np.array([1.0] + [0.0] * 19)


def joined(logged: Sequence[Logged]) -> Logged:
    """The log of all these records."""
    starts = np.cumsum([0, *(len(part.begins) for part in logged)])
    touches = [part.touches + start * UNIT for part, start in zip(logged, starts, strict=False)]
    return Logged(*(np.concatenate(parts) for parts in (*list(zip(*logged, strict=True))[:3], touches)))


def record_of(model: SceneModel, page: ScenePage, logged: Logged, h: float, v: np.ndarray) -> Touched:
    """The record of the steps of length h that begin with the velocities (n, nv), from all that was logged."""
    rows, begins, touches = len(v), logged.begins, logged.touches
    first = np.searchsorted(begins, begins[-1] * np.arange(rows) // max(rows - 1, 1))
    sums, added = np.maximum.reduceat(logged.sums, first), np.add.reduceat(logged.sums[:, 3:], first)
    row_of = np.full(len(begins), -1)
    row_of[first] = np.arange(rows)
    touches[:, 0] = row_of[touches[:, 0].astype(int)]
    record = _record(model, touches[touches[:, 0] >= 0.0], rows, sums, added)
    stiffness = np.array([model.contact.where(*pair).stiffness or 0.0 for pair in record.bodies], dtype=float)
    closes = np.where(stiffness > 0.0, np.inf, page.closes(h))
    acceleration = acceleration_of(model, logged.reached[first], h, v)
    return Touched(record, acceleration, sums[:, 1], closes, page.thrown(model.names))


def acceleration_of(model: SceneModel, reached: np.ndarray, h: float, v: np.ndarray) -> np.ndarray:
    """The mean accelerations (n, nv) of steps that lead from velocities v to those `reached`."""
    return (reached - v) / h + model.turning(v)


def _record(model: SceneModel, touches: np.ndarray, rows: int, sums: np.ndarray, added: np.ndarray) -> ContactRecord:
    """One point per pair of solids that ever pushed each other, at the center of its normal forces."""
    at, solids = touches[:, 0].astype(int), touches[:, 1:3].astype(int)
    pairs, column = np.unique(solids, axis=0, return_inverse=True)
    column = column.reshape(-1)
    shape = (rows, len(pairs))
    load = np.einsum("nk,nk->n", touches[:, 3:6], touches[:, 9:12])
    total = np.zeros(shape)
    np.add.at(total, (at, column), load)
    share = load / np.where(total[at, column] > 0.0, total[at, column], 1.0)

    def mean(columns: slice, weight: np.ndarray) -> np.ndarray:
        out = np.zeros((*shape, columns.stop - columns.start))
        np.add.at(out, (at, column), touches[:, columns] * weight[:, None])
        return out

    normal = mean(slice(9, 12), share)
    length = np.linalg.norm(normal, axis=2, keepdims=True)
    gap, friction = np.full(shape, np.inf), np.zeros(shape)
    np.minimum.at(gap, (at, column), touches[:, 12])
    np.maximum.at(friction, (at, column), touches[:, 16])
    return ContactRecord(
        bodies=tuple((model.names[a], model.names[b]) for a, b in pairs),
        force=mean(slice(3, 6), np.ones(len(touches))), position=mean(slice(6, 9), share),
        normal=normal / np.where(length > 0.0, length, 1.0), gap=np.where(np.isfinite(gap), gap, FAR),
        velocity=mean(slice(13, 16), share), friction=friction, residual=sums[:, 0], penetration=sums[:, 2],
        work=added[:, 1], gained=added[:, 0],
        moment=mean(slice(17, 20), np.ones(len(touches))) if model.contact.turns else None,
    )  # fmt: skip
