"""`Identified`: the result of an identification."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import InputError, did_you_mean, first_of
from ..model import Mechanism
from ..model.tree.base_parameters import SIZE
from ..robot import Robot
from .base_parameters import BaseParameters
from .differentiate import States
from .doubts import doubts_of
from .equations import LogEquations, LogRows, rows_of
from .fit import Fit
from .log import MotionLog
from .log_cholesky import logarithms, pseudo_inertia
from .physical import Physical
from .unknowns import Unknowns

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
        return [
            BaseEstimate(name, self.parameters.combination(k), value, before, deviation, _digits(value, deviation), known)
            for k, (name, value, before, deviation, known) in enumerate(
                zip(
                    self.parameters.names, self.fit.beta.tolist(), model.tolist(), deviations.tolist(),
                    (deviations < _UNKNOWN * usual).tolist(), strict=True,
                )
            )
        ]  # fmt: skip

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
        return doubts_of(self)

    @property
    def thinnest(self) -> float:
        """The smallest eigenvalue of a body's pseudo-inertia relative to its largest; above 0 for bodies that can exist."""
        values = self.physical.values
        eigenvalues = [np.linalg.eigvalsh(pseudo_inertia(values[k : k + SIZE])) for k in range(0, self.unknowns.inertial, SIZE)]
        return min((float(own[0] / own[-1]) for own in eigenvalues), default=np.inf)

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
        from .report import efforts_figure, write_figure  # loaded on first use

        return write_figure(efforts_figure(self), path)

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Writes a report into a folder: `report.md`, with figures of the efforts and of the base parameters."""
        from .report import write_report  # loaded on first use

        return write_report(self, folder)


def _digits(value: float, deviation: float) -> float:
    if deviation <= 0.0 or not np.isfinite(deviation):
        return 0.0 if deviation else 16.0
    return float(np.clip(np.log10(max(abs(value), 1e-300) / deviation), 0.0, 16.0))
