"""`FmuController`: a unit of FMI, such as somebody's model of a motor or of hydraulics, as a controller of a simulation."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree.ElementTree import ParseError, fromstring

import numpy as np

from ..errors import InputError, did_you_mean, needed
from .controllers import mechanism_of

#: The unit's names of its Float64 variables: "Real" in FMI 2.0.
_NUMBERS = ("Real", "Float64")


class FmuController:
    """A unit of FMI 2.0 or 3.0 that acts on joints, by co-simulation: it keeps a state, and is stepped from call to call.

    From one call to the next it advances by its own steps with the inputs of the first, as co-simulation does; then it is given
    those of now, and what it gives acts until the next call. It is called once per step, or at multiples of `sample_time`. A
    call for an earlier time begins again.

    Attributes:
        path: of the file; description: what FMPy reads of it; time: that the unit has reached, None before a run [s].
    """

    def __init__(
        self, robot: Any, path: str | Path, *, inputs: Mapping[str, Any], outputs: Mapping[str, str],
        start: Mapping[str, float] | None = None,
    ):  # fmt: skip
        """A unit on a robot (extra `fmu`).

        Args:
            inputs: by the unit's name of each, what it is given, in the unit's own units: "q.JOINT" or "v.JOINT", a coordinate
                or a velocity by its name in the mechanism's `q_names` or `v_names`; a number; or a function of (t, q, v).
            outputs: by the unit's name of each, the name in `v_names` that it is the effort of [N·m, N].
            start: values of parameters and of other variables that the unit begins with, by its names of them.

        Raises:
            InputError: for a file without a unit of FMI 2.0 or 3.0 with co-simulation for this machine, and for unknown names.
        """
        self.path, mechanism = Path(path), mechanism_of(robot)
        self._names = mechanism.q_names, mechanism.v_names
        fmpy = needed("fmpy", f"{self.path}: units of FMI are run by fmpy", "fmu")
        _check(self.path, fmpy)
        try:
            self.description = fmpy.read_model_description(str(self.path))
        except Exception as error:  # of many kinds, by what is wrong
            raise InputError(f"{self.path}: FMPy finds this unit of FMI invalid: {error}") from error
        if self.description.coSimulation is None:
            raise InputError(
                f"{self.path}: the unit has no co-simulation; export it with it, as its derivatives alone do not act"
            )
        known = {one.name: one for one in self.description.modelVariables if one.type in _NUMBERS}
        self._refs: dict[str, int] = {}
        for role, asked, causality in (("input", inputs, "input"), ("output", outputs, "output"), ("start", start or {}, "")):
            for name in asked:
                allowed = [one for one, variable in known.items() if causality in ("", variable.causality)]
                if name not in allowed:
                    raise InputError(f"{self.path}: the unit has no {role} {name!r}{did_you_mean(name, allowed, lead='; ')}")
                self._refs[name] = known[name].valueReference
        self._inputs = {name: self._reader(name, source) for name, source in inputs.items()}
        self._outputs = {name: self._place(f"the output {name!r}", target, 1) for name, target in outputs.items()}
        self._start = {name: float(value) for name, value in (start or {}).items()}
        self._folder = TemporaryDirectory(prefix="fmu", ignore_cleanup_errors=True)
        fmpy.extract(str(self.path), self._folder.name)
        self._unit = unit = fmpy.instantiate_fmu(self._folder.name, self.description, "CoSimulation")
        third, self._failure = self.description.fmiVersion.startswith("3"), fmpy.fmi1.FMICallException
        self._put, self._get = (unit.setFloat64, unit.getFloat64) if third else (unit.setReal, unit.getReal)
        self.time: float | None = None

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        now, unit = float(t), self._unit
        given = [float(read(now, q, v)) for read in self._inputs.values()]
        tau = np.zeros(len(self._names[1]))
        try:
            if self.time is None or now < self.time:
                self._begin(now)
            elif now > self.time:
                unit.doStep(currentCommunicationPoint=self.time, communicationStepSize=now - self.time)
            self.time = now
            self._put([self._refs[name] for name in self._inputs], given)
            np.add.at(tau, list(self._outputs.values()), self._get([self._refs[name] for name in self._outputs]))
        except self._failure as error:
            raise InputError(f"{self.path}: the unit failed at t = {now:g} s: {error}") from error
        return tau

    def _begin(self, now: float) -> None:
        self._unit.reset()
        self._put([self._refs[name] for name in self._start], list(self._start.values()))
        if self.description.fmiVersion.startswith("3"):
            self._unit.enterInitializationMode(startTime=now)
        else:
            self._unit.setupExperiment(startTime=now)
            self._unit.enterInitializationMode()
        self._unit.exitInitializationMode()

    def _reader(self, name: str, source: Any) -> Callable[[float, np.ndarray, np.ndarray], Any]:
        """What an input is given."""
        if callable(source):
            return source  # type: ignore[no-any-return]
        if not isinstance(source, str):
            return lambda t, q, v: source
        order, _, target = source.partition(".")
        if order not in ("q", "v"):
            raise InputError(
                f"{self.path}: {source!r} for the input {name!r} must be 'q.JOINT', 'v.JOINT', a number or a function"
            )
        place = self._place(f"the input {name!r}", target, "qv".index(order))
        return lambda t, q, v: (q, v)["qv".index(order)][place]

    def _place(self, what: str, target: str, order: int) -> int:
        names = list(self._names[order])
        if target not in names:
            raise InputError(
                f"{self.path}: {what} names no {('coordinate', 'velocity')[order]}{did_you_mean(target, names, lead='; ')}"
            )
        return names.index(target)


def _check(path: Path, fmpy: Any) -> None:
    """Refuses files without a unit of FMI 2.0 or 3.0 for this machine."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        with zipfile.ZipFile(path) as archive:
            version = fromstring(archive.read("modelDescription.xml")).get("fmiVersion", "")
    except (zipfile.BadZipFile, KeyError, ParseError) as error:
        raise InputError(
            f"{path}: this is not a unit of FMI, which is an archive with a modelDescription.xml ({error})"
        ) from error
    if not version.startswith(("2.", "3.")):
        raise InputError(f"{path}: the unit is of FMI {version or 'without a version'}; export it as FMI 2.0 or 3.0")
    found = fmpy.supported_platforms(str(path))
    if not {fmpy.platform, fmpy.platform_tuple} & set(found):
        raise InputError(
            f"{path}: the unit has no library for {fmpy.platform_tuple}, but for {', '.join(found) or 'no platform'}; export "
            "it for this machine, or compile its sources"
        )
