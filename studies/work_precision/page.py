"""The page docs/work-precision.md: a figure and a table a case, and who was fastest at which error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .contract import Case, Peer, Point
from .drake_runs import Drake
from .exudyn_runs import Exudyn
from .mujoco_runs import MuJoCo
from .ours import Kumitate
from .pinocchio_runs import Pinocchio

__all__ = ["LEVELS", "PEERS", "Found", "best", "draw", "measured", "page", "summary"]

PEERS: tuple[type[Peer], ...] = (Kumitate, MuJoCo, Pinocchio, Exudyn, Drake)
#: Errors at which programs are compared [rad or m].
LEVELS = (1e-3, 1e-6, 1e-9)
#: The method of `Kumitate` in batches is shown beside, not compared.
_BATCH = ", batch"


@dataclass(frozen=True)
class Found:
    """The runs of a case, and why programs have none, by name."""

    case: Case
    points: Sequence[Point]
    missing: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """The runs as plain data."""
        return {
            "case": self.case.name, "reference": self.case.reference, "missing": dict(self.missing),
            "runs": [asdict(point) for point in self.points],
        }  # fmt: skip


def measured(case: Case, peers: Iterable[Peer]) -> Found:
    """All programs on a case; runs that went astray are left out."""
    points: list[Point] = []
    missing = {}
    for peer in peers:
        reason = peer.why_not(case) if peer.installed() else "is not installed"
        runs = [] if reason else [point for point in peer.runs(case) if point.error < 1.0]
        if reason or not runs:
            missing[peer.name] = reason or "no run ended within 1 rad or 1 m"
        points += runs
    return Found(case, points, missing)


def best(found: Found, program: str, level: float, *, batch: bool = False) -> Point | None:
    """The fastest run of a program whose error is at most `level`."""
    runs = [
        point for point in found.points
        if point.program == program and point.error <= level and point.method.endswith(_BATCH) == batch
    ]  # fmt: skip
    return min(runs, key=lambda point: point.seconds, default=None)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def summary(found: Found, level: float) -> tuple[str, ...]:
    """A row: the case, then for each program the time for this error, and how many times ours it is."""
    ours = best(found, Kumitate.name, level)
    cells = []
    for peer in PEERS:
        point = best(found, peer.name, level)
        if point is None:
            ends = [one.error for one in found.points if one.program == peer.name]
            cells.append(found.missing.get(peer.name) or f"reaches {min(ends):.0e}")
        elif peer is Kumitate or ours is None:
            cells.append(_time(point.seconds))
        else:
            cells.append(
                f"{_time(point.seconds)} (× {point.seconds / ours.seconds:.{0 if point.seconds > 9.5 * ours.seconds else 1}f})"
            )
    batch = best(found, Kumitate.name, level, batch=True)
    return (found.case.title, *cells, "" if batch is None else _time(batch.seconds))


def winner(found: Found, level: float) -> str | None:
    """Who is fastest at this error, one state at a time; None if nobody reaches it."""
    points = [point for peer in PEERS if (point := best(found, peer.name, level)) is not None]
    return min(points, key=lambda point: point.seconds).program if points else None


_HEAD = """\
# Work and precision

Printed by `scripts/study work-precision --markdown docs/work-precision.md`, which runs each problem with every integrator and
many steps, and draws the error at the end against the processor time. The error is the largest of the problem's joint
coordinates, in rad or m, against an end that is known otherwise. The time is the least of some repeats, of one thread, without
making models and compiling. The scripts are `studies/work_precision`, a file a program; who knows better settings, change them
there.

{settings}

Versions: {versions}. Machine: {machine}; other programs ran beside, so times are good to a factor of 1.5.

## Time for an error of {level:.0e}

| problem | {names} | kumitate, a row of a batch |
|---|{rules}---|
"""


def page(found: Sequence[Found], folder: str, machine: str, versions: str) -> str:
    """The page in Markdown, with figures in a folder beside it."""
    names = [peer.name for peer in PEERS]
    settings = "\n".join(f"- **{peer.name}**: {peer.settings}." for peer in PEERS)
    head = _HEAD.format(
        settings=settings,
        versions=versions,
        machine=machine,
        level=LEVELS[1],
        names=" | ".join(names),
        rules="---|" * len(names),
    )
    parts = [head.rstrip("\n"), *("| " + " | ".join(summary(one, LEVELS[1])) + " |" for one in found), ""]
    for level in LEVELS:
        won = {one.case.title: winner(one, level) for one in found}
        others = [f"{title} ({who})" for title, who in won.items() if who not in (None, Kumitate.name)]
        ours = sum(who == Kumitate.name for who in won.values())
        lost = f"; another is faster on {', '.join(others)}" if others else ""
        none = [title for title, who in won.items() if who is None]
        out = f"; nobody reaches it on {', '.join(none)}" if none else ""
        parts.append(f"At {level:.0e} kumitate is the fastest on {ours} of {len(won)}{lost}{out}.")
    for one in found:
        parts += [
            f"\n## {one.case.title}\n", f"The end is known by: {one.case.reference}.\n",
            f"![{one.case.title}: error against processor time]({folder}/{one.case.name}.svg)\n",
            "| error at most | " + " | ".join(names) + " |", "|---|" + "---|" * len(names),
        ]  # fmt: skip
        for level in LEVELS:
            cells = []
            for name in names:
                point = best(one, name, level)
                cells.append("–" if point is None else f"{_time(point.seconds)}, {point.method} {point.step:.0e}")
            parts.append(f"| {level:.0e} | " + " | ".join(cells) + " |")
        parts += [f"\n{name}: {reason}." for name, reason in one.missing.items()]
    return "\n".join(parts) + "\n"


def draw(found: Found, path: Path) -> Path:
    """The figure of a case: a curve a program and method, of its runs that no other of its own beats."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    colors = dict(zip((peer.name for peer in PEERS), ("#0b62a4", "#c2410c", "#15803d", "#7e22ce", "#b58900"), strict=True))
    marks = "osD^vP*Xdph<>"
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kumitate", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
        for name, color in colors.items():
            methods = dict.fromkeys(point.method for point in found.points if point.program == name)
            for k, method in enumerate(methods):
                runs = sorted(
                    (1e3 * p.seconds, max(p.error, 1e-16)) for p in found.points if (p.program, p.method) == (name, method)
                )
                axes.plot(
                    *zip(*runs, strict=True), marker=marks[k % len(marks)], markersize=3.5, linewidth=1.0, color=color,
                    linestyle=":" if method.endswith(_BATCH) else "-", label=f"{name}, {method}",
                )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="Processor time [ms]", ylabel="Error at the end [rad or m]")
        axes.grid(True, linewidth=0.3)
        axes.legend(fontsize=6.5, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
    return path
