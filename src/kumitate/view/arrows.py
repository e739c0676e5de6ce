"""Contact forces as arrows at their points of application, at the times shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..contact.scene import GROUND
from ..model import WORLD, Mechanism, Mesh
from ..records.record import Record

#: The length of a typical force, and of the longest arrow, as a part of the size of what touches.
_LONG, _LONGEST = 0.35, 0.5
#: In a picture of a scene, what touches counts as no smaller than this part of it: arrows of single balls could not be seen.
_SEEN = 0.2
#: Where more forces act at once, arrows are shorter: those of many bodies would hide them.
_FEW = 8
#: Forces below this part of those that carry most of the impulse are ignored when the typical force is determined.
_LIGHT = 0.05
#: Forces are means over this time at most [s].
_MEAN = 0.02


@dataclass(frozen=True, eq=False)
class Arrows:
    """Forces at m points and k moments, in the axes of the world."""

    points: np.ndarray  # where they act (k, m, 3) [m]
    forces: np.ndarray  # on the body A of each point (k, m, 3) [N], the mean from each moment on; zero where nothing touches
    grounded: np.ndarray  # whether body B of each point is the ground (m)
    reach: float = math.inf  # about how large the largest robot or body is that touches [m]

    def scale(self, size: float) -> float:
        """The force per arrow length [N/m], a round number; `size`: of the mechanism [m].

        The typical force is the median over all points and times, without very small forces.
        """
        lengths = np.sort(np.linalg.norm(self.forces, axis=2), axis=None)
        if not lengths.any():
            return 1.0
        sums = np.cumsum(lengths)
        main = lengths[np.searchsorted(sums, 0.5 * sums[-1])]  # larger ones give half of the whole impulse
        heavy = lengths[lengths > _LIGHT * main]
        wanted = float(heavy[len(heavy) // 2]) / (_LONG * self._shortened(size))
        power = 10.0 ** np.floor(np.log10(wanted))
        return float(next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= wanted * (1.0 - 1e-9)))

    def longest(self, size: float) -> float:
        """The length at which arrows are cut [m]: forces of impacts would leave the picture."""
        return _LONGEST * self._shortened(size)

    def _shortened(self, size: float) -> float:
        """The size that arrows are measured by [m]: of a part with a few forces, or of what touches if that is less."""
        most = int(self.forces.any(axis=2).sum(axis=1).max(initial=0))
        return min(size / float(np.sqrt(max(1.0, most / _FEW))), max(self.reach, _SEEN * size))

    def shafts(self, moment: int, size: float) -> tuple[np.ndarray, np.ndarray]:
        """The points that touch at a moment (t, 3), and where the arrows from them end (t, 3) [m]."""
        forces = self.forces[moment]
        chosen = forces.any(axis=1)
        steps = forces[chosen] / self.scale(size)
        lengths = np.linalg.norm(steps, axis=1, keepdims=True)
        steps *= np.minimum(1.0, self.longest(size) / np.maximum(lengths, 1e-300))
        return self.points[moment, chosen], self.points[moment, chosen] + steps

    def at(self, moments: np.ndarray) -> Arrows:
        """The arrows at some moments only."""
        return replace(self, points=self.points[moments], forces=self.forces[moments])


def arrows_of(result: Record, samples: np.ndarray) -> Arrows | None:
    """The contact forces of a run at some of its times, by increasing indices (k,); None if nothing touched.

    Means to the next of these times, or over 20 ms if that is sooner: single steps of an impact would not be seen, or be
    all that is seen.
    """
    record = result.contact
    if record is None or not record.bodies or len(samples) == 0:
        return None
    step = float(np.diff(result.time).mean()) if len(result) > 1 else 1.0
    ends = np.minimum(np.append(samples[1:], len(result)), samples + max(1, round(_MEAN / step)))
    bounds = np.column_stack([samples, ends]).ravel()

    def summed(values: np.ndarray) -> np.ndarray:
        padded = np.concatenate([values, np.zeros_like(values[:1])])  # so that the end index of the last interval exists
        return np.add.reduceat(padded, bounds, axis=0)[::2]

    forces = summed(record.force) / (ends - samples).reshape(-1, 1, 1)
    weights = np.linalg.norm(record.force, axis=2)[..., None]
    total, moved = summed(weights), summed(weights * record.position)
    points = np.where(total > 0.0, moved / np.where(total > 0.0, total, 1.0), record.position[samples])
    forces[np.linalg.norm(forces, axis=2) < 1e-9 * np.abs(record.force).max(initial=0.0)] = 0.0
    grounded = np.array([other == GROUND for _, other in record.bodies])
    return Arrows(points, forces, grounded, _reach(result.mechanism, {name for pair in record.bodies for name in pair}))


def _reach(mechanism: Mechanism, touching: set[str]) -> float:
    """How far the bodies that touch are from where their tree begins, along its joints, with their shapes [m], at most."""
    along = {WORLD: 0.0}
    for joint in mechanism.joints:  # outward order: parents come first
        steps = 0.0 if joint.parent == WORLD else math.hypot(*joint.pose.translation)
        along[joint.child] = along[joint.parent] + steps
    sizes = [
        along[body.name] + math.hypot(*item.pose.translation) + 2.0 * item.shape.bounding_radius
        for body in mechanism.bodies if body.name in touching
        for item in body.collisions if not isinstance(item.shape, Mesh)
    ]  # fmt: skip
    return max(sizes, default=math.inf)


def arrows_at(result: Record, times: np.ndarray) -> Arrows | None:
    """The contact forces of a run from some times (k,) [s] on, as `arrows_of`; None also where the times are not the run's."""
    samples = np.searchsorted(result.time, times - 1e-9 * (1.0 + np.abs(times)))
    if len(result) == 0 or samples.max(initial=0) >= len(result) or (np.diff(samples) <= 0).any():
        return None
    return arrows_of(result, samples)
