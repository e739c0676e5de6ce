"""Signs that something is wrong with a log: each check is a function, which says what it saw and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..robot import Robot
from .differentiate import States
from .log import MotionLog
from .robust import BEYOND

if TYPE_CHECKING:
    from .identified import Identified

#: Samples that are looked at, of each log.
_SAMPLES = 2000
#: Residuals below this part of the efforts are rounding.
_ROUNDING = 1e-6
#: The most samples by which efforts may be late or early.
_LATE = 20
#: Efforts are late if their residuals become smaller than this part of their squares.
_BETTER = 0.5
#: Few residuals are this part of all; of normal ones they hold a fifth of the sum of squares.
_FEW = 0.03
#: Efforts are opposite to the model's if their correlation is below this.
_OPPOSITE = -0.3
#: Half of the samples are explained worse than before if their residuals are longer by this factor.
_WORSE = 1.2


def doubts_of(found: Identified) -> tuple[str, ...]:
    """What is doubtful about an identification, a sentence each."""
    checks = [_beyond_limits]
    if not found.model.mechanism.tree.closed:  # with loops, their forces are among the efforts
        checks += [_opposite, _few] if found.unknowns.drives else [_opposite, _worse, _late, _few]
    return tuple(doubt for check in checks for doubt in check(found))


def _beyond_limits(found: Identified) -> Iterator[str]:
    """Coordinates further outside of their limits than half of the range, in one sample of ten."""
    q = np.concatenate([states.q for _, states in found.parts])
    mechanism = found.model.mechanism
    for link in mechanism.tree.links:
        joint = mechanism.joint(link.name)
        low, high = (joint.limits[0].lower, joint.limits[0].upper) if link.kind.nq == 1 else (None, None)
        if low is None or high is None or not np.isfinite([low, high]).all():
            continue
        values, away = q[:, link.q_start], 0.5 * (high - low)
        outside = float(np.mean((values < low - away) | (values > high + away)))
        if outside > 0.1:
            units = "degrees for radians" if link.kind.name != "prismatic" else "millimetres for metres"
            yield (
                f"joint {joint.name!r} is far beyond its limits, {low:.3g} to {high:.3g}, in {outside:.0%} of the samples: "
                f"between {values.min():.4g} and {values.max():.4g}. Are these {units}?"
            )


def _opposite(found: Identified) -> Iterator[str]:
    """Efforts of a degree of freedom that have the other sign than the model's."""
    tau = np.concatenate([log.tau for log, _ in found.parts])
    expected = np.concatenate([_efforts(found.model, *part) for part in found.parts])
    for i, name in enumerate(found.model.mechanism.v_names):
        own = np.isfinite(tau[:, i])
        x, y = tau[own, i], expected[own, i]
        size = float(np.sqrt((x @ x) * (y @ y)))
        if size > 0.0 and x @ y < _OPPOSITE * size:
            yield (
                f"efforts of {name!r} are opposite to what the model needs (correlation {x @ y / size:.2f}). Look at the "
                "sign of its effort and of its coordinate"
            )


def _worse(found: Identified) -> Iterator[str]:
    """Degrees of freedom half of whose samples are explained worse than by the model before."""
    tau = np.concatenate([log.tau for log, _ in found.parts])
    before, after = (
        np.abs(tau - np.concatenate([_efforts(robot, *part) for part in found.parts])) for robot in (found.model, found.robot)
    )
    for i, name in enumerate(found.model.mechanism.v_names):
        own = np.isfinite(tau[:, i])
        old, new = (float(np.median(part[own, i])) if own.any() else 0.0 for part in (before, after))
        if new > _WORSE * old and new > _ROUNDING * found.equations.efforts[i]:
            yield (
                f"half of the efforts of {name!r} are explained worse than by the model before: to {new:.3g}, and {old:.3g} "
                "before. The log contradicts itself, or has outliers: look at `found.plot`, and try loss='huber'"
            )


def _late(found: Identified) -> Iterator[str]:
    """Efforts that fit better some samples later or earlier."""
    part = int(np.argmax([len(log) for log, _ in found.parts]))
    log, _ = found.parts[part]
    rows, known, efforts, _ = found.rows(part, _SAMPLES)
    own = np.isfinite(efforts).all(axis=0)
    n, most = len(efforts), min(_LATE, len(efforts) // 10)
    if not own.any() or _rounding(found) or most < 1 or (n - 2 * most) * own.sum() <= 2 * rows.shape[2]:
        return
    middle, noise = slice(most, n - most), found.noise[own]
    U, s, _ = np.linalg.svd((rows[middle][:, own] / noise[:, None]).reshape(-1, rows.shape[2]), full_matrices=False)
    U = U[:, s > 1e-9 * s[0]]
    squares = []
    for k in range(-most, most + 1):  # whatever the parameters: what is left of efforts k samples later
        b = ((efforts[most + k : n - most + k, own] - known[middle][:, own]) / noise).ravel()
        squares.append(float(b @ b - (U.T @ b) @ (U.T @ b)))
    k = int(np.argmin(squares)) - most
    if k and squares[k + most] < _BETTER * squares[most]:
        time, shorter = abs(k) * float(np.median(np.diff(log.time))), np.sqrt(squares[k + most] / squares[most])
        yield (
            f"efforts are {'late' if k > 0 else 'early'} by {abs(k)} samples ({time:.4g} s), as it seems: residuals are "
            f"{shorter:.2g} times as long when they are shifted by that. Shift them, or the clock"
        )


def _few(found: Identified) -> Iterator[str]:
    """Residuals of a degree of freedom that hold most of the sum of their squares."""
    if found.loss != "squares" or _rounding(found):
        return
    residuals = np.concatenate([found.measured(k) - found.predicted(k) for k in range(len(found.parts))])
    times = np.concatenate([log.time for log, _ in found.parts])
    for i, name in enumerate(found.model.mechanism.v_names):
        known = np.flatnonzero(np.isfinite(residuals[:, i]))
        order = known[np.argsort(-np.abs(residuals[known, i]))]
        squares, few = residuals[order, i] ** 2, max(1, int(_FEW * len(order)))
        share = float(squares[:few].sum() / max(float(squares.sum()), 1e-300))
        if share > 0.5:
            yield (
                f"{few} of {len(order)} residuals of {name!r} hold {share:.0%} of the sum of their squares; "
                f"the largest is {residuals[order[0], i]:.4g} at t = {times[order[0]]:.6g} s. Take out such efforts (NaN), or "
                f"take loss='huber', which counts residuals beyond {BEYOND:g} deviations less"
            )


def _efforts(robot: Robot, log: MotionLog, states: States) -> np.ndarray:
    """The efforts (n, nv) that a robot needs for a log's motion."""
    return robot.inverse_dynamics(*states, wrenches=dict(log.wrenches) or None)


def _rounding(found: Identified) -> bool:
    """Whether residuals are of rounding alone."""
    return bool(np.all(found.noise <= _ROUNDING * max(float(found.equations.efforts.max(initial=0.0)), 1e-100)))
