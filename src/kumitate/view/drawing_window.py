"""The common window of a mechanism's drawings: ground, scale, colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model import WORLD, Geometry, Mechanism
from .arrows import Arrows
from .outlines import Outline, Silhouettes, View
from .style import INK, QUIET, tint
from .surfaces import surroundings

#: Colours for bodies without their own, taken in turn: muted and distinguishable.
BODY_COLORS = ("#7aa6d8", "#e8a46a", "#7fbfa3", "#c79ac9", "#d9c36a", "#8fc7dd", "#d98a86", "#a7a7c9")
WORLD_COLOR = "#9a9a9a"
#: The colours of contact force arrows, and of shadows.
FORCE_COLOR, _SHADOW = "#c2174b", "#dcdcdc"
#: With surroundings, the window follows the motion only if it extends this many times the mechanism's size.
_LANDSCAPE = 25.0
#: Arrows shorter than this have no head [points].
_HEADED = 7.0
#: Where in a corner it is asked whether bodies are in the way, as parts of half of it.
_GRID = np.linspace(-0.95, 0.95, 13)


class Stage:
    """A view of a motion, with a window of the same scale for all its postures.

    Args:
        poses: of the whole motion, (m, bodies, 4, 4); they decide the view, unless it is given, and the window.
        ground: shapes fixed in the world, by their poses there; arrows: contact forces.

    Attributes:
        size: of the window (2,) [m]. If the motion is much longer than the mechanism, the window follows it.
    """

    def __init__(
        self, mechanism: Mechanism, poses: np.ndarray, view: View | None = None, *,
        ground: Sequence[Geometry] = (), arrows: Arrows | None = None,
    ):  # fmt: skip
        self.view = view or View.of_motion(poses)
        self.silhouettes = Silhouettes(mechanism, self.view)
        self._colors, self.arrows = _body_colors(mechanism), arrows
        self._above = Silhouettes(mechanism, View.along(2))
        origins = poses[..., :3, 3].reshape(-1, 3)
        self._still, self._level = surroundings(ground, origins.min(axis=0), origins.max(axis=0))
        self.grounded = bool(np.any(mechanism.gravity)) and not self.view.plane and (not ground or self._level is not None)
        some = poses[np.unique(np.linspace(0, len(poses) - 1, 120).astype(int))]
        low, high = np.array([self.silhouettes.box(X) for X in some]).swapaxes(0, 1)
        self.extent = float((high - low).max()) or 1.0
        lowest = float(poses[..., 2, 3].min())  # the ground is at 0 if nothing goes below, otherwise below everything
        below = 0.0 if lowest > -0.02 * self.extent else lowest - 0.06 * self.extent
        self.floor = below if self._level is None else self._level
        if self.grounded:  # the shadow must be in the window
            low, high = np.array([self._box(X) for X in some]).swapaxes(0, 1)
        whole, own = high.max(axis=0) - low.min(axis=0), (high - low).max(axis=0)
        self.follows = bool(whole.max() > (_LANDSCAPE if self._still else 2.5) * own.max())
        self._center = 0.5 * (high.max(axis=0) + low.min(axis=0))
        self.size = np.maximum(1.1 * (own if self.follows else whole), 0.5 * self.extent)

    def _box(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The corners of the bounding box of one posture in the view, with its shadow."""
        low, high = self.silhouettes.box(poses)
        if not self.grounded:
            return low, high
        points = np.concatenate([low[None], high[None], *self._shadow(poses)])
        return points.min(axis=0), points.max(axis=0)

    def window(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The corners (2,), (2,) [m] of the window in one posture."""
        center = 0.5 * sum(self._box(poses)) if self.follows else self._center
        return center - 0.5 * self.size, center + 0.5 * self.size

    def frame(self, axes: Any, poses: np.ndarray) -> None:
        """Set the window, without axes about it; with gravity and depth, a grid on the ground."""
        low, high = self.window(poses)
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        axes.set_aspect("equal")
        axes.axis("off")
        if self.grounded:
            self._draw_ground(axes, poses)
        elif self._level is not None:
            self._draw_floor_line(axes)
        self._draw_outlines(axes, self.silhouettes.still(self._still), 1.5)

    def draw(self, axes: Any, poses: np.ndarray, *, moment: int | None = None) -> None:
        """Draw one posture; `moment`: the index of its force arrows."""
        from matplotlib.collections import PolyCollection

        if self.grounded:
            style: dict[str, Any] = {"facecolors": _SHADOW, "edgecolors": _SHADOW, "linewidths": 0.3, "zorder": 2}
            axes.add_collection(PolyCollection(self._shadow(poses), **style))
        self._draw_outlines(axes, self.silhouettes.outlines(poses), 3.0)
        if self.arrows is not None and moment is not None:
            self._draw_arrows(axes, self.arrows, moment)

    def _draw_outlines(self, axes: Any, outlines: Sequence[Outline], zorder: float) -> None:
        from matplotlib.collections import PolyCollection

        colors = [one.color or (WORLD_COLOR if one.body < 0 else self._colors[one.body]) for one in outlines]
        faces, edges = (
            [tint(color, tone) for color, tone in zip(colors, tones, strict=True)]
            for tones in ([one.tone for one in outlines], [-0.55] * len(outlines))
        )
        style: dict[str, Any] = {"linewidths": 0.45, "joinstyle": "round", "zorder": zorder}
        axes.add_collection(PolyCollection([one.points for one in outlines], facecolors=faces, edgecolors=edges, **style))

    def _draw_arrows(self, axes: Any, arrows: Arrows, moment: int) -> None:
        from matplotlib.patches import FancyArrowPatch

        starts, ends = (points @ self.view.axes[:2].T for points in arrows.shafts(moment, self.extent))
        axes.scatter(*starts.T, s=3.5, color=FORCE_COLOR, linewidths=0.0, zorder=6)
        style: dict[str, Any] = {"color": FORCE_COLOR, "linewidth": 1.1, "shrinkA": 0.0, "shrinkB": 0.0, "mutation_scale": 5.0}
        _, unit = self._corner(axes, (0, 0))
        for start, end in zip(starts, ends, strict=True):
            long = np.linalg.norm(end - start) > _HEADED * unit
            axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>" if long else "-", zorder=6, **style))

    @property
    def force_scale(self) -> str:
        """The scale of force arrows, in words; empty without forces."""
        return "" if self.arrows is None else f"force arrows: {self.arrows.scale(self.extent):g} N per m"

    def scale_bar(self, axes: Any) -> None:
        """A scale bar of a round length in the lower left corner, with the force of an arrow of that length."""
        low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
        length = _round_length(max(0.25 * (high[0] - low[0]), min(0.15 * (high[1] - low[1]), 0.8 * (high[0] - low[0]))))
        start = low + 0.02 * (high - low)
        axes.plot([start[0], start[0] + length], [start[1]] * 2, color=INK, linewidth=1.2, solid_capstyle="butt", zorder=5)
        label = f"{length:g} m" if length >= 0.1 else f"{1000 * length:g} mm"
        if self.arrows is not None:
            label += f" (force arrows: {length * self.arrows.scale(self.extent):.3g} N)"
        words = {"xytext": (0, 2.5), "textcoords": "offset points", "fontsize": 7, "annotation_clip": False}
        axes.annotate(label, start, ha="left", va="bottom", zorder=5, **words)

    def triad(self, axes: Any, corner: tuple[int, int]) -> None:
        """The world's axes, 18 points long, in a corner (0 or 1 from the left, 0 or 1 from below)."""
        from matplotlib.patheffects import withStroke

        center, unit = self._corner(axes, corner)
        length, light = 18.0, [withStroke(linewidth=2.0, foreground="white")]  # for pictures that bodies fill to the corners
        tips = length * unit * self.view.axes[:2].T
        base = center - 0.5 * (tips.min(axis=0) + tips.max(axis=0))
        for name, tip in zip("xyz", tips, strict=True):
            far = float(np.linalg.norm(tip))
            if far > 0.1 * length * unit:
                axes.plot(*np.column_stack([base, base + tip]), color=QUIET, linewidth=0.8, zorder=5, path_effects=light)
                at, words = base + tip * (1.0 + 6.0 * unit / far), {"fontsize": 7, "fontstyle": "italic", "color": QUIET}
                axes.text(*at, name, ha="center", va="center", zorder=5, path_effects=light, **words)

    def free_corner(self, axes: Any, poses: Sequence[np.ndarray]) -> tuple[int, int]:
        """The corner with the most free space in these postures; not the lower left, where the scale is."""
        from matplotlib.path import Path

        bodies = [Path(outline.points, closed=False) for X in poses for outline in self.silhouettes.outlines(X)]
        grid, taken = np.array([(x, y) for x in _GRID for y in _GRID]), {}
        for corner in ((0, 1), (1, 1), (1, 0)):
            center, unit = self._corner(axes, corner)
            covered = [body.contains_points(center + 20.0 * unit * grid) for body in bodies]
            taken[corner] = int(np.any(covered, axis=0).sum()) if covered else 0
        return min(taken, key=lambda corner: taken[corner])

    def _corner(self, axes: Any, corner: tuple[int, int]) -> tuple[np.ndarray, float]:
        """The middle of a corner of the axes [m] and the size of a typographic point [m]."""
        low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
        place = axes.get_position()
        points = 72.0 * np.array([place.width, place.height]) * axes.figure.get_size_inches()
        unit = float(((high - low) / points).max())
        return low + 20.0 * unit + np.array(corner) * (high - low - 40.0 * unit), unit

    def _shadow(self, poses: np.ndarray) -> list[np.ndarray]:
        """The polygons (k, 2) in the view of the vertical projection onto the ground, a cue to heights and distances."""
        seen = (outline.points for outline in self._above.outlines(poses))
        return [np.column_stack([points, np.full(len(points), self.floor)]) @ self.view.axes[:2].T for points in seen]

    def _draw_floor_line(self, axes: Any) -> None:
        """The floor seen edge-on: a line, and the area below it."""
        if abs(self.view.axes[1, 2]) < 1.0:  # looked at from above
            return
        low = axes.get_ylim()[0]
        axes.axhspan(min(low, self.floor) - self.extent, self.floor, color=tint(QUIET, 0.8), linewidth=0.0, zorder=1)
        axes.axhline(self.floor, color=QUIET, linewidth=0.8, zorder=1.2)

    def _draw_ground(self, axes: Any, poses: np.ndarray) -> None:
        from matplotlib.collections import LineCollection

        step = _round_length(0.4 * self.extent)
        middle = np.round(poses[:, :2, 3].mean(axis=0) / step) * step
        reach = step * np.ceil(0.9 * float(self.size.max()) / step)
        marks = np.arange(-reach, reach + 0.5 * step, step)
        lines = [[(x, -reach), (x, reach)] for x in marks] + [[(-reach, y), (reach, y)] for y in marks]
        flat = [[(*(np.array(point) + middle), self.floor) @ self.view.axes[:2].T for point in line] for line in lines]
        axes.add_collection(LineCollection(flat, colors=tint(QUIET, 0.68), linewidths=0.5, zorder=1))


def _body_colors(mechanism: Mechanism) -> list[tuple[float, float, float]]:
    """One colour per branch, varied along its links; branches of few links, such as fingers, keep their parent's."""
    children = Counter(joint.parent for joint in mechanism.joints)
    below: dict[str, int] = {}
    for joint in reversed(mechanism.joints):
        below[joint.child] = below.get(joint.child, 0) + 1
        below[joint.parent] = below.get(joint.parent, 0) + below[joint.child]
    branch: dict[str, int] = {WORLD: 0}
    depth: dict[str, int] = {WORLD: 0}
    for joint in mechanism.joints:
        forks = children[joint.parent] > 1 and below[joint.child] > 3
        branch[joint.child] = max(branch.values()) + 1 if forks else branch[joint.parent]
        depth[joint.child] = depth[joint.parent] + (joint.kind.nv > 0)
    names = [joint.child for joint in mechanism.joints]
    return [tint(BODY_COLORS[branch[name] % len(BODY_COLORS)], 0.12 if depth[name] % 2 else -0.06) for name in names]


def _round_length(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten up to a length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(next(factor * power for factor in (5.0, 2.0, 1.0) if factor * power <= length * (1.0 + 1e-12)))
