"""`Runs`: many simulated motions with their page; loaded with the first batch."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InputError
from .robot import Robot
from .simulate.run import Records

#: Runs whose curves are drawn: more cannot be told apart.
_DRAWN = 12


class Runs(Records):
    """N runs in a batch, with their page."""

    @cached_property
    def robot(self) -> Robot:
        """The mechanism that moved, with its functions."""
        return Robot(self.mechanism)

    def __repr__(self) -> str:
        lost = int(np.isfinite(self.lost).sum())
        ends = f", {lost} lost" if lost else ""
        return f"Runs({self.mechanism.name!r}, {len(self)} runs of {len(self.time)} times, to {self.time[-1]:g} s{ends})"

    def page(self, path: str | Path, *, shown: int = 0, fps: int = 50, title: str = "") -> Path:
        """Writes one self-contained HTML page: 3D playback of one run, with the coordinates of up to 12 runs beside it.

        Args:
            shown: the run that moves, from 0; a run that was lost ends there.
            fps: poses per second.

        Raises:
            InputError: if there is no such run.
        """
        from .view import write_page

        return write_page(path, self._scene(shown, fps, title))

    def _repr_html_(self) -> str:
        """What notebooks display: the page in a frame, which plays in notebooks that are opened again; 3 MB at most."""
        from .share.notebook import run_html
        from .view.page import page_text

        ends = [f"run {k} was lost at {self.lost[k]:g} s" for k in np.flatnonzero(np.isfinite(self.lost))[:20]]
        drawn = f"Run 0 moves; curves are of the first {min(len(self), _DRAWN)} of {len(self)} runs; those of lost runs stay."
        return run_html(repr(self), [drawn, *ends, *self.notes], lambda fps: page_text(self._scene(0, fps, "")))

    def _scene(self, shown: int, fps: float, title: str) -> dict[str, Any]:
        from .share.run_files import units
        from .view.scene import build_scene

        if not 0 <= shown < len(self):
            raise InputError(f"{self.mechanism.name}: there is no run {shown}; there are 0 to {len(self) - 1}")
        whole = int(np.isfinite(self.q[shown]).all(axis=1).sum())  # NaN after it was lost
        wanted = np.linspace(0, whole - 1, min(whole, max(150, round(self.time[whole - 1] * fps) + 1)))
        samples = np.unique(wanted.round().astype(int))
        poses = self.robot.compile("poses")(self.q[shown, samples])
        runs = range(min(len(self), _DRAWN))
        channels = [
            {
                "title": name, "unit": unit, "x": self.time,
                "series": [{"name": f"run {k}", "values": _held(self.q[k, :, column])} for k in runs],
            }
            for column, (name, unit) in enumerate(zip(self.mechanism.q_names[:_DRAWN], units(self.mechanism, 0), strict=False))
        ]  # fmt: skip
        return build_scene(self.mechanism, self.time[samples], poses, channels, title=title)


def _held(values: np.ndarray) -> np.ndarray:
    """A curve (n) that stays at its last value where the run was lost."""
    known = np.flatnonzero(np.isfinite(values))
    return values[np.minimum(np.arange(len(values)), known[-1])]


def as_runs(results: Records) -> Runs:
    """Results as runs."""
    return Runs(**{field.name: getattr(results, field.name) for field in fields(Records)})
