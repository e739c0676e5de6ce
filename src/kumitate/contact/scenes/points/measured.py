"""What is measured at a point before its laws, as a traced program, of which machine code evaluates several at a time."""

from __future__ import annotations

from typing import Any

from ....scalar import maximum, trace
from ....spatial import Matrix3, Symmetric3, Vector3
from ...impulse.mobility import SMALLEST
from ...laws import tangents

__all__ = ["MEASURED", "SEEN"]

#: The numbers of a row of `MovingBodies.seen`.
SEEN = 24


class _Body:
    """A body as a point sees it, from a row of `MovingBodies.seen`."""

    def __init__(self, row: Any):
        numbers = [row[k] for k in range(SEEN)]
        parts = [Vector3.of(numbers[k : k + 3]) for k in range(0, 15, 3)]
        self.place, (self._turn, self._move), (self._free_turn, self._free_move) = parts[0], parts[1:3], parts[3:5]
        self._mobility, self._each, self.fixed = Symmetric3(*numbers[15:21]), numbers[21], numbers[22]

    def before(self, lever: Vector3) -> Vector3:
        """The velocity at a lever before the step."""
        return self._move + self._turn.cross(lever)

    def free(self, lever: Vector3) -> Vector3:
        """The same after it without contact."""
        return self._free_move + self._free_turn.cross(lever)

    def yields(self, lever: Vector3, axis: Vector3) -> Any:
        """The velocity at a lever along an axis per unit impulse along it: 1/m + wᵀ I⁻¹ w, w = lever × axis."""
        moment = lever.cross(axis)
        return self._each + moment.dot(self._mobility @ moment)


def measured(position: Any, gap: Any, normal: Any, one: Any, other: Any) -> dict[str, Any]:
    """Place, axes, levers, velocities and effective mass of a point of the bodies A and B, for `ScenePoints`.

    Args:
        position, gap, normal: of the point as it was found, midway between both surfaces; the normal is from A to B.
        one, other: the rows of A and B in `MovingBodies.seen`.
    """
    a, b, n = _Body(one), _Body(other), -Vector3.of(normal)
    # on the world's surface, not midway: else points of a sole at different heights could not all stick as it tilts
    place = Vector3.of(position) - (0.5 * gap * b.fixed) * n
    frame = Matrix3((n, *tangents(n)))
    lever_a, lever_b = place - a.place, place - b.place
    along = [a.yields(lever_a, axis) + b.yields(lever_b, axis) for axis in frame]
    size = maximum(maximum(along[0], along[1]), maximum(along[2], SMALLEST))
    return {
        "place": list(place), "frame": [list(axis) for axis in frame], "lever_a": list(lever_a), "lever_b": list(lever_b),
        "before": list(frame @ (a.before(lever_a) - b.before(lever_b))),
        "free": list(frame @ (a.free(lever_a) - b.free(lever_b))), "size": size, "mass": 1.0 / size,
    }  # fmt: skip


MEASURED = trace(measured, {"position": 3, "gap": (), "normal": 3, "one": SEEN, "other": SEEN}, "point_measured")
