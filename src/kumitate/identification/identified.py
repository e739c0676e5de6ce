"""`Identified`: the result of an identification."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, did_you_mean, first_of
from ..model import Mechanism
from ..model.files import replacing
from ..model.joints.contract import sort_of
from ..model.tree.base_parameters import SIZE
from ..robot import Robot
from ..view.figures import panels_figure
from ..view.panels import Panel
from ..view.style import INK, PALETTE, drawing, print_style, write_figure
from .base_parameters import BaseParameters, Unknowns
from .equations import BEYOND, Fit, LogEquations, LogRows, rows_of
from .log import MotionLog, States
from .physical import Physical, logarithms

#: A standard deviation above this part of what is usual for a robot of this size says that the motion did not show it.
_UNKNOWN = 1.0


class BaseEstimate(NamedTuple):
    """What is known of one base parameter.

    Attributes:
        name: of the parameter that represents it; `combination`: of which it consists.
        value: [kg, kg·m, kg·m²; N·m·s/rad, N·m and the like]; `model`: before the identification.
        deviation: the standard deviation of the value; infinite where the motion does not excite it.
        digits: how many digits of the value are known, −log10 of the relative deviation; 0 for none.
        excited: whether the deviation is smaller than what is usual for a robot of this size.
    """

    name: str
    combination: str
    value: float
    model: float
    deviation: float
    digits: float
    excited: bool


@dataclass(frozen=True, eq=False)
class Identified:
    """Identified parameters, with what is known of them.

    `found["hand.mass"]` is the value of a parameter, and `deviations` has their standard deviations given the model; `base`
    lists what the log shows without regard to the model.

    Attributes:
        model: the robot before the identification.
        window: how many samples differentiation took; 0 if the log has accelerations.
        loss: "squares" or "huber".
    """

    model: Robot
    unknowns: Unknowns = field(repr=False)
    parameters: BaseParameters = field(repr=False)
    equations: LogEquations = field(repr=False)
    fit: Fit = field(repr=False)
    physical: Physical = field(repr=False)
    parts: tuple[tuple[MotionLog, States], ...] = field(repr=False)
    window: int = 0
    loss: str = "squares"

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism with the identified parameters; its bodies can exist."""
        return self.unknowns.mechanism_with(self.physical.values)

    @cached_property
    def robot(self) -> Robot:
        """The robot with the identified parameters."""
        return Robot(self.mechanism, start=self.model.start)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters that were to be found."""
        return self.unknowns.names

    @cached_property
    def values(self) -> dict[str, float]:
        """The possible values by name: ten numbers of each body about its origin, and properties of joints."""
        return dict(zip(self.names, self.physical.values.tolist(), strict=True))

    @cached_property
    def deviations(self) -> dict[str, float]:
        """The standard deviations of `values`, if the model is right within its `spread`."""
        return dict(zip(self.names, np.sqrt(np.diag(self.physical.covariance)).tolist(), strict=True))

    @cached_property
    def drives(self) -> dict[str, tuple[float, float]]:
        """The drive constants K that were to be found, by degree of freedom, with their standard deviations."""
        count, found = len(self.parameters), {}
        for k, i in enumerate(self.unknowns.drives):
            K = 1.0 / float(self.fit.reciprocals[i])
            found[self.model.mechanism.v_names[i]] = K, K * K * float(np.sqrt(self.fit.covariance[count + k, count + k]))
        return found

    @cached_property
    def noise(self) -> np.ndarray:
        """The standard deviation (nv) of the log's efforts about the prediction [N·m, N]."""
        return self.fit.noise

    @cached_property
    def base(self) -> list[BaseEstimate]:
        """What the log shows of every base parameter, without regard to what is possible."""
        model, count = self.parameters.G @ self.unknowns.values, len(self.parameters)
        hidden = np.abs(self.fit.unseen[:, :count]).max(axis=0, initial=0.0) > 1e-6
        deviations = np.where(hidden, np.inf, np.sqrt(np.diag(self.fit.covariance)[:count]))
        usual = np.abs(self.parameters.G) @ self.usual
        known, columns = deviations < _UNKNOWN * usual, (self.fit.beta, model, deviations)
        return [
            BaseEstimate(name, self.parameters.combination(k), x, before, sigma, _digits(x, sigma), bool(known[k]))
            for k, (name, x, before, sigma) in enumerate(
                zip(self.parameters.names, *map(np.ndarray.tolist, columns), strict=True)
            )
        ]

    @cached_property
    def not_excited(self) -> list[str]:
        """The base parameters that the motion does not show, so that the model's values stay."""
        return [estimate.name for estimate in self.base if not estimate.excited]

    @cached_property
    def usual(self) -> np.ndarray:
        """What is usual for each parameter of a robot of this size."""
        sizes = np.abs(self.physical.values) + 1e-300
        for k in range(0, self.unknowns.inertial, SIZE):
            theta = logarithms(self.physical.values[k : k + SIZE])
            mass, radius = np.exp(2.0 * theta[0]), np.sqrt(np.sum(np.exp(2.0 * theta[1:4])) + np.sum(theta[7:] ** 2))
            sizes[k : k + SIZE] = mass * radius ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        joints = slice(self.unknowns.inertial, None)
        sizes[joints] = np.maximum(sizes[joints], np.sqrt(np.diag(self.physical.covariance))[joints])
        return sizes

    def __getitem__(self, name: str) -> float:
        if name not in self.values:
            hint = did_you_mean(name, self.names, f"there are {first_of(self.names)}")
            raise InputError(f"identified: {name!r} was not to be found; {hint}")
        return self.values[name]

    def predicted(self, part: int = 0) -> np.ndarray:
        """The efforts (n, nv) of a log by the identified base parameters, in the log's units; `part`: of several logs."""
        found = self.rows(part)
        return np.asarray((found.rows @ self.fit.beta + found.known) * self.fit.reciprocals)

    def measured(self, part: int = 0) -> np.ndarray:
        """The efforts (n, nv) of a log; with closed loops, the part of them that the loops do not balance."""
        return self.rows(part).efforts

    def rows(self, part: int = 0, most: int | None = None) -> LogRows:
        """The equations of a log, or of the first `most` of its samples."""
        log, states = self.parts[part]
        return rows_of(self.model, self.unknowns, self.parameters, log.rows(slice(most)), States(*(x[:most] for x in states)))

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Signs that something is wrong with the log, a sentence each: `identify` warns of them."""
        checks = [_beyond_limits]
        if not self.model.mechanism.tree.closed:  # with loops, their forces are among the efforts
            checks += [_opposite, _few] if self.unknowns.drives else [_opposite, _worse, _late, _few]
        return tuple(doubt for check in checks for doubt in check(self))

    def lines(self) -> Iterator[str]:
        """The result as readable text."""
        mechanism, total = self.model.mechanism, round(float(self.equations.samples.sum()))
        yield f"{mechanism.name}: {len(self.parameters)} base parameters of {len(self.names)} parameters, from {total} efforts"
        if self.window:
            yield f"accelerations by differentiation over {self.window} samples"
        for name, noise, effort in zip(mechanism.v_names, self.noise, self.equations.efforts, strict=True):
            yield f"  {name}: efforts of {effort:.4g} (root mean square), explained to {noise:.3g}"
        for name, (K, deviation) in self.drives.items():
            yield f"  drive {name}: {K:.6g} ± {deviation:.2g}"
        yield "base parameters: value ± standard deviation (digits known; the model's value)"
        for own in self.base:
            known = f"{own.value:.6g} ± {own.deviation:.2g} ({own.digits:.1f}; {own.model:.6g})"
            yield f"  {own.combination}: {known if own.excited else 'not excited'}"
        if self.not_excited:
            yield f"not excited by this motion, so that the model's values stay: {', '.join(self.not_excited)}"
        yield from (f"doubtful: {doubt}" for doubt in self.doubts)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draws measured and predicted efforts into a PDF, EPS, PNG or SVG."""
        return write_figure(efforts_figure(self), path)

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Writes a report into a folder, which is made: `report.md`, `efforts.svg` (per log) and `base.svg`."""
        into, count = Path(folder), len(self.parts)
        into.mkdir(parents=True, exist_ok=True)
        pictures = ["efforts.svg"] if count == 1 else [f"efforts-{k + 1}.svg" for k in range(count)]
        for k, name in enumerate(pictures):
            write_figure(efforts_figure(self, k), into / name)
        write_figure(base_figure(self), into / "base.svg")
        with replacing(into / "report.md") as temporary:
            temporary.write_text("\n".join(_page(self, pictures)) + "\n", encoding="utf-8")
        return into / "report.md"


def _digits(value: float, deviation: float) -> float:
    if deviation <= 0.0 or not np.isfinite(deviation):
        return 0.0 if deviation else 16.0
    return float(np.clip(np.log10(max(abs(value), 1e-300) / deviation), 0.0, 16.0))


# --- signs that something is wrong with a log -----------------------------------------------------------------------------
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


def _beyond_limits(found: Identified) -> Iterator[str]:
    """Coordinates further outside of their limits than half of the range, in one sample of ten."""
    q = np.concatenate([states.q for _, states in found.parts])
    mechanism = found.model.mechanism
    for link in mechanism.tree.links:
        joint = mechanism.joint(link.name)
        low, high = joint.limits[0].range if link.kind.nq == 1 else (-np.inf, np.inf)
        if not np.isfinite([low, high]).all():
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


# --- the report: a page with figures --------------------------------------------------------------------------------------
_UNITS = {"length": "N", "angle": "N·m"}


def _page(found: Identified, pictures: list[str]) -> Iterator[str]:
    mechanism = found.model.mechanism
    yield f"# Identification of {mechanism.name}\n"
    yield f"{len(found.parameters)} base parameters, from {round(float(found.equations.samples.sum()))} efforts.\n"
    yield from (f"**Doubtful**: {doubt}.\n" for doubt in found.doubts)
    yield "## Efforts\n\n| degree of freedom | root mean square | left unexplained | |\n|---|---|---|---|"
    for name, noise, effort in zip(mechanism.v_names, found.noise, found.equations.efforts, strict=True):
        yield f"| {name} | {effort:.4g} | {noise:.3g} | {100.0 * noise / max(effort, 1e-300):.2g} % |"
    yield ""
    yield from (f"![measured and predicted efforts]({name})" for name in pictures)
    if found.drives:
        yield "\n## Drives\n\n| degree of freedom | constant | standard deviation |\n|---|---|---|"
        yield from (f"| {name} | {K:.6g} | {deviation:.2g} |" for name, (K, deviation) in found.drives.items())
    yield "\n## Base parameters\n\nWhat the log shows, without regard to the model.\n"
    yield "| combination | value | standard deviation | digits | model |\n|---|---|---|---|---|"
    for own in found.base:
        known = f"{own.value:.6g} | {own.deviation:.2g} | {own.digits:.1f}" if own.excited else "not excited | |"
        yield f"| {own.combination} | {known} | {own.model:.6g} |"
    yield "\n![base parameters](base.svg)\n"
    yield "## Parameters\n\nBodies that can exist, nearest to the model, that move like the base parameters.\n"
    yield "| parameter | value | standard deviation | model |\n|---|---|---|---|"
    for (name, value), before in zip(found.values.items(), found.unknowns.values.tolist(), strict=True):
        yield f"| {name} | {value:.6g} | {found.deviations[name]:.2g} | {before:.6g} |"


def efforts_figure(found: Identified, part: int = 0) -> Any:
    """The efforts of a log, measured and predicted, as a `matplotlib.figure.Figure`: a panel per degree of freedom."""
    mechanism = found.model.mechanism
    log, measured, predicted = found.parts[part][0], found.measured(part), found.predicted(part)
    sorts = [sort_of(name) for joint in mechanism.joints for name in joint.kind.velocities]  # type: ignore[union-attr]
    panels = [
        Panel(name, _UNITS[sort], ("measured", "predicted"), np.stack([measured[:, i], predicted[:, i]], 1))
        for i, (name, sort) in enumerate(zip(mechanism.v_names, sorts, strict=True))
        if np.isfinite(measured[:, i]).any()
    ]
    left = ", ".join(f"{x:.2g}" for x in found.noise)
    return panels_figure(log.time, panels, caption=f"Standard deviations of measured from predicted efforts: {left}")


def base_figure(found: Identified) -> Any:
    """The base parameters as a `matplotlib.figure.Figure`: by how much they differ from the model, with two deviations.

    In units of what is usual for a robot of this size; those that were not excited are left out.
    """
    Figure = drawing("matplotlib.figure").Figure
    usual = np.abs(found.parameters.G) @ found.usual
    shown = [(own, size) for own, size in zip(found.base, usual.tolist(), strict=True) if own.excited]
    with print_style():
        height = 0.9 + 0.16 * len(shown)
        made = Figure(figsize=(5.2, height))
        axes = made.add_axes((0.3, 0.5 / height, 0.66, (height - 0.8) / height))
        places = np.arange(len(shown))[::-1]
        away = [(own.value - own.model) / size for own, size in shown]
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.errorbar(
            away, places, xerr=[2.0 * own.deviation / size for own, size in shown],
            fmt="o", markersize=3, capsize=2, color=PALETTE[0],
        )  # fmt: skip
        axes.set_yticks(places, [own.name for own, _ in shown])
        axes.set_ylim(-0.8, len(shown) - 0.2)
        axes.set_xlabel("Difference from the model, relative to the usual size")
        axes.set_title("Base parameters", loc="left")
    return made
