"""Results of balance on feet that may lift: tables of pushes and of drives, and the figure of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from kumitate.examples.catalogue import Curves, Plate
from kumitate.records.record import Record

from .on_feet import LAWS, Drives, fate, footing, run
from .standing import Strategy, correlation, read
from .standing import run as run_held

__all__ = ["DRIVES", "PUSHES", "drives_table", "plate", "push_table", "said"]

#: The tried pushes [N], by the law's name.
PUSHES: dict[str, tuple[float, ...]] = {
    "rotation": (-7.0, -9.0, -11.0, -12.0, -13.0),
    "rotation, gains as printed": (-7.0, -9.0, -11.0),
    "rotation, eq. 6.6 of the reaction alone": (-2.0, -4.0, -7.0),
    "combined": (5.0, 10.0, 11.0, 12.0, 13.0),
    "combined, gains as printed": (5.0, 10.0),
    "combined, eq. 6.6 alone": (2.0, 4.0, 10.0),
}
#: The tried drives, by their description.
DRIVES: dict[str, Drives] = {
    "every 1 ms": Drives(),
    "every 2 ms": Drives(period=2e-3),
    "every 2 ms, 2 ms late": Drives(period=2e-3, delay=2e-3),
    "every 2 ms, 2 ms late, noise of 1e-4 rad and 0.01 rad/s": Drives(period=2e-3, delay=2e-3, noise=(1e-4, 0.01)),
    "the same, dampers in the drives": Drives(period=2e-3, delay=2e-3, noise=(1e-4, 0.01), local=True),
    "every 5 ms, 5 ms late, such noise, dampers in the drives": Drives(period=5e-3, delay=5e-3, noise=(1e-4, 0.01), local=True),
    "every 10 ms, 10 ms late, such noise, dampers in the drives": Drives(
        period=10e-3, delay=10e-3, noise=(1e-4, 0.01), local=True
    ),
    "every 2 ms, 2 ms late, noise of 1e-3 rad and 0.1 rad/s, dampers in the drives": Drives(
        period=2e-3, delay=2e-3, noise=(1e-3, 0.1), local=True
    ),
    "every 1 ms, at most 3 N·m": Drives(torque=3.0),
    "every 1 ms, at most 1 N·m": Drives(torque=1.0),
}


def push_table(pushes: Mapping[str, Iterable[float]] = PUSHES) -> str:
    """Pushes and their outcomes, as a table in Markdown."""
    lines = [
        "| law | push | after 6 s it | left, right sole lift by [mm] | center of mass moves [mm] | most torque [N·m] |",
        "|---|---|---|---|---|---|",
    ]
    for name, forces in pushes.items():
        for force in forces:
            strategy = _pushed(LAWS[name], force)
            result = run(strategy)
            found = footing(result)
            ends = fate(result, found)
            cells = [strategy.title, f"{force:g} N".replace("-", "−"), ends, "", "", ""]
            if ends != "falls":
                lifts = ", ".join(f"{lift:.1f}" for lift in 1e3 * found.lift.max(axis=0))
                cells[3:] = lifts, f"{1e3 * read(strategy, result).moved.max():.1f}", f"{_most_torque(result):.1f}"
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def drives_table(names: Iterable[str] = ("combined", "rotation"), drives: Mapping[str, Drives] = DRIVES) -> str:
    """Drives and the outcomes without and with a push, as a table in Markdown."""
    names = list(names)
    head = [
        f"{LAWS[name].title}, {what}" for name in names for what in ("no push", f"{LAWS[name].force[0]:g} N".replace("-", "−"))
    ]
    lines = [f"| the law runs | {' | '.join(head)} |", "|---|" + "---|" * len(head)]
    for words, drive in drives.items():
        cells = []
        for name in names:
            for force in (0.0, LAWS[name].force[0]):
                result = run(_pushed(LAWS[name], force), drive)
                last = result.time > result.time[-1] - 0.5
                ends = fate(result)
                cells.append(ends if ends in ("falls", "breaks down") else f"{ends}, {np.abs(result.v[last]).max():.3f}")
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def said(strategy: Strategy, result: Record) -> tuple[str, ...]:
    """The main numbers of a run on its feet: lines for its audit."""
    found, readings = footing(result), read(strategy, result)
    left, right = 1e3 * found.lift.max(axis=0)
    apart = np.linalg.norm((readings.zmp - _pressure(result))[:, :2], axis=1)
    return (
        f"after {result.time[-1]:g} s it {fate(result, found)}; the head is {1e3 * abs(found.head[-1] - found.head[0]):.1f} mm "
        "off its height",
        f"a corner of the left sole lifts by up to {left:.1f} mm, of the right one by {right:.1f} mm; they slip by up to "
        f"{1e3 * found.slip.max():.2f} mm",
        f"angular momenta about y and z, 1.0 to 1.6 s: correlation {correlation(readings):+.2f}",
        f"the center of mass moves by up to {1e3 * readings.moved.max():.1f} mm",
        f"zero-moment point and center of pressure agree to {1e3 * np.nanmax(apart):.1g} mm",
        f"the drives give up to {_most_torque(result):.1f} N·m; recorded torques hold what the law gives back too",
    )


def plate(strategy: Strategy, result: Record, others: Mapping[str, Record]) -> Plate:
    """As figures 6.6 and 6.8, with the loads on the feet: push, momenta, trunk, center of mass, pressure, feet, head.

    Args:
        others: runs over the same times with something else in the law's place, by name: their heads are drawn.
    """
    readings, found = read(strategy, result), footing(result)
    held = read(strategy, run_held(strategy, duration=float(result.time[-1]), step=float(result.time[1])))
    edges = [1e3 * float(f(readings.polygon.vertices[:, 0])) * np.ones(len(result)) for f in (np.min, np.max)]
    points = 1e3 * np.column_stack([held.zmp[:, 0], readings.zmp[:, 0], _pressure(result)[:, 0]])
    heads = {"law": found, **{name: footing(other) for name, other in others.items()}}
    fates = [f"{name[0].upper()}{name[1:]}: {fate(other)}." for name, other in others.items()]
    panels = (
        Curves("Push", "N", ("$f_x$",), readings.push[:, :1]),
        Curves("Angular momenta about the center of mass", "N·m·s", ("$l_y$", "$l_z$"), readings.momentum[:, 1:]),
        Curves("Turns of the trunk", "deg", ("about y", "about z"), np.degrees(readings.trunk[:, 1:])),
        Curves("Displacement of the center of mass", "mm", ("x", "y", "z"), 1e3 * (readings.center - readings.center[0])),
        Curves(
            "Zero-moment point and center of pressure, x", "mm", ("heel", "toe", "feet held", "zero-moment point", "pressure"),
            np.column_stack([*edges, points]),
        ),
        Curves(
            "Center of pressure of each foot, x", "mm", ("heel", "toe", "left", "right"),
            np.column_stack([*edges, 1e3 * found.pressure[:, :, 0]]),
        ),
        Curves("Load of each foot", "N", ("left", "right"), found.load),
        Curves("Lift of each sole", "mm", ("left", "right"), np.round(1e3 * found.lift, 3)),
        Curves("Height of the head", "m", tuple(heads), np.column_stack([one.head for one in heads.values()])),
    )  # fmt: skip
    title = f"{strategy.title[0].upper()}{strategy.title[1:]}"
    return Plate(panels, f"{title}: {'; '.join(said(strategy, result)[:2])}. {' '.join(fates)}")


def _pushed(strategy: Strategy, force: float) -> Strategy:
    return replace(strategy, force=(force, 0.0, 0.0))


def _pressure(result: Record) -> np.ndarray:
    """The center of pressure of both feet together (n, 3) [m]."""
    assert result.contact is not None
    return result.contact.center_of_pressure()


def _most_torque(result: Record) -> float:
    """The torques of the drives, without their dampers [N·m]."""
    dampers = np.ravel([joint.damping for joint in result.mechanism.joints if joint.kind.nv == 1])
    return float(np.abs(result.tau[:, 6:] - dampers * result.v[:, 6:]).max())
