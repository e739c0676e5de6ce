"""Outputs of simulations by name: functions of `Robot`, signals, sensors, and functions of (t, q, v)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from .contact.scene import GROUND
from .errors import InputError, did_you_mean
from .model import Mechanism, Sensor
from .model.things import SEPARATOR, belongs, pushes, things_of
from .programs import PROGRAMS, make_program
from .programs.of_sensors import force_program, wrenches_program
from .scalar import Program, trace
from .simulate.driving.forcing import COMMANDS, LAST, SIGNALS
from .simulate.interactions import Interaction
from .simulate.parameters import Variation
from .simulate.setup import Setup
from .simulate.stepping.equations import row_of
from .simulate.stepping.outputs import STATE, Output, function_output, signal_output, trial

if TYPE_CHECKING:
    from .simulate.simulation import MechanismSimulation

#: What sensors read of a mechanism beside its geometry, by the names of parameters.
_MASSES = frozenset(("mass", "center_of_mass"))
_READ_BY = {
    **dict.fromkeys(("subtree_center", "subtree_velocity"), _MASSES),
    **dict.fromkeys(("accelerometer", "proper_acceleration"), frozenset(("gravity",))),
    **dict.fromkeys(("force", "torque", "subtree_angular_momentum"), _MASSES | {"moment", "inertia", "gravity"}),
}
#: What stands before the names of what pushes each other, and the output of all that pushes.
FORCE, WRENCHES = "force", "contact_wrenches"
#: Functions that cannot be outputs: they need more than a state and the forces that act.
_NEED_MORE = ("forward_dynamics", "inverse_dynamics", "reach", "integrate", "difference")


class _Named:
    """Outputs by name, which a simulation makes once it knows its inputs, its parameters and what touches."""

    def __init__(self, asked: Mapping[str, Any]):
        self._asked = asked

    def __len__(self) -> int:
        return len(self._asked)

    def __call__(self, simulation: MechanismSimulation, q: np.ndarray, v: np.ndarray) -> list[Output]:
        """The outputs of a simulation that starts at (q, v); refuses unknown names and functions that cannot be compiled."""
        mechanism, setup = simulation.mechanism, simulation.setup
        _check_forces(self._asked, setup)
        driven = len(mechanism.driven)
        inputs = dict(simulation.actuation.forcing.inputs) | ({name: np.zeros(driven) for name in COMMANDS} if driven else {})
        found: list[Output] = []
        for name, what in self._asked.items():
            found.append(_output(mechanism, name, what, (q, v), inputs, found, simulation.parameters))
        return [_felt(mechanism, output, self._asked, simulation.interaction) for output in found]


def named_outputs(given: Any) -> Any:
    """The `outputs` of a setup by names: of a list, a dictionary with names of one's own, or one name."""
    if isinstance(given, _Named):
        return given
    names = (given,) if isinstance(given, str) else given
    return _Named(names if isinstance(names, Mapping) else {name: name for name in names})


def checked_output(mechanism: Mechanism, name: Any) -> None:
    """Refuses the name of an output that there is not, with the closest known one."""
    _output(mechanism, str(name), str(name), ((), ()), {}, ())


def _output(
    mechanism: Mechanism,
    name: str,
    what: Any,
    start: tuple[Any, Any],
    inputs: Mapping[str, np.ndarray],
    before: Sequence[Output],
    parameters: Variation | None = None,
) -> Output:
    """The output of a name of a function of `Robot`, of a signal, or of a function."""
    if name in inputs or (name in STATE and what != name):
        taken = "an input" if name in inputs else "what every state records"
        raise InputError(f"{mechanism.name}: an output is called {name!r}, the name of {taken}. Take another")
    if callable(what):
        q, v = (np.asarray(part, dtype=float) for part in start)
        row = {} if parameters is None else {"parameters": parameters.blank}
        trials = [{**trial(mechanism, t, q, v, inputs), **row} for t in (0.0, 0.7)]
        return function_output(mechanism, name, what, trials, before)
    if isinstance(what, Sensor):
        return _sensor_output(mechanism, name, what, parameters)
    if what in SIGNALS:
        return signal_output(mechanism, what, name)
    function, _, place = str(what).partition(":")
    if what == WRENCHES:
        return Output(name, LAST, lambda: wrenches_program(mechanism, ()), (len(mechanism.bodies), 6))
    if function == FORCE:
        of, by = _pushed(mechanism, place, f"{mechanism.name}: the output {what!r}")
        return Output(name, (FORCE, of, by), lambda: force_program(mechanism, of, by, ()), feels=of, by=by)
    known, others = [key for key in PROGRAMS if key not in _NEED_MORE], (*SIGNALS, FORCE, WRENCHES)
    if function not in known:
        raise InputError(
            f"{mechanism.name}: there is no output {what!r}{did_you_mean(function, (*known, *others), lead=', ')}; "
            f"there are {', '.join(others)}, {', '.join(known)}"
        )
    options = {"place": place} if place else {}
    if bool(place) != ("place" in signature(PROGRAMS[function]).parameters):
        wants = f"the name of a body or frame, {function}:NAME" if not place else "no name"
        raise InputError(f"{mechanism.name}: the output {what!r} needs {wants}")
    if place:
        mechanism.tree.place(place, f"{mechanism.name}: the output {what!r} is of")
    if parameters is None:
        return Output(name, (function, place), lambda: make_program(mechanism, function, **options))
    return Output(name, (function, place), lambda: _varied_program(parameters, function, options))


def _check_forces(outputs: Mapping[str, Any], setup: Setup) -> None:
    """Refuses sensors of forces between bodies where other forces act on these, which are not among an output's signals."""
    acting = next((key for key in ("contact", "wrenches", "held") if getattr(setup, key)), None)
    found = next((own for own, what in outputs.items() if isinstance(what, Sensor) and what.kind in ("force", "torque")), None)
    if acting and found is not None:
        raise InputError(
            f"{setup.mechanism.name}: the output {found!r} is of a force between bodies, which is the rest of all that act on "
            f"them, and {acting} acts too. Leave it out; results have the forces of contact, and efforts of the joints"
        )


def _sensor_output(
    mechanism: Mechanism, name: str, sensor: Sensor, parameters: Variation | None, points: Sequence[tuple[str, str]] = ()
) -> Output:
    from .programs.of_sensors import sensor_program  # loaded only where there is one

    kinds = {kind.name for kind, _ in parameters.columns} if parameters else set()
    varied = sorted(kinds & _READ_BY.get(sensor.kind, frozenset()))
    if varied:
        raise InputError(
            f"{mechanism.name}: the {sensor.kind} sensor {name!r} measures the mechanism as it was made, and depends on what "
            f"the parameters change: {', '.join(varied)}. Leave one of the two out"
        )
    program = sensor_program(mechanism, sensor, points)
    return Output(name, ("sensor", str(program)), lambda: program)


def _pushed(mechanism: Mechanism, place: str, label: str) -> tuple[str, str]:
    """The body or robot that is pushed, and what pushes it, "" for all: of "cube" or "cube/arm/finger"."""
    known = {GROUND, *(body.name for body in mechanism.bodies), *things_of(mechanism)}
    parts = place.split(SEPARATOR)
    splits = [(SEPARATOR.join(parts[:k]), SEPARATOR.join(parts[k:])) for k in range(1, len(parts) + 1)]
    for of, by in reversed(splits):  # "arm/finger" is one body, not what "finger" pushes of "arm"
        if of in known - {GROUND} and by in {"", *known - {of}}:
            return of, by
    near = did_you_mean(place, known, lead=", ")
    raise InputError(f"{label} is of a body, or of two that touch, {FORCE}:A or {FORCE}:A/B; there is no {place!r}{near}")


def _felt(mechanism: Mechanism, output: Output, named: Mapping[str, Any], around: Interaction) -> Output:
    """An output with the points of contact, if it feels contact: a force, or a touch sensor, which feels nothing without.

    In a scene any bodies may touch, so that it is a sum over what pushes on its body.
    """
    if output.feels:
        _check_touching(mechanism, output, around)
        points = [(output.feels, output.by)] if around.of_many_bodies else around.touching_bodies
        made = force_program(mechanism, output.feels, output.by, points)
        return output._replace(make=lambda: made, feels=output.feels if around.of_many_bodies else "")
    if output.key == LAST:
        if not around.touching_bodies:
            raise InputError(
                f"{mechanism.name}: the output {WRENCHES!r} is of points that are known beforehand; give contact=…, and "
                f"side_by_side=True where it goes through lists; or take {FORCE}:NAME, of one body"
            )
        pushed = wrenches_program(mechanism, around.touching_bodies)
        return output._replace(make=lambda: pushed)
    sensor = named[output.name]
    if getattr(sensor, "kind", "") != "touch":
        return output
    if not around.of_many_bodies:
        return _sensor_output(mechanism, output.name, sensor, None, around.touching_bodies)
    body = next((frame.body for frame in mechanism.frames if frame.name == sensor.of), sensor.of)
    return _sensor_output(mechanism, output.name, sensor, None, [(body, "")])._replace(feels=body)


def _check_touching(mechanism: Mechanism, output: Output, around: Interaction) -> None:
    """Refuses a force between what can never touch."""
    of, by, contact = output.feels, output.by, getattr(around, "contact", None)
    if contact is None:
        raise InputError(
            f"{mechanism.name}: the output {output.name!r} is a force of contact, and nothing touches anything; give contact=…"
        )
    solids = [body.name for body in mechanism.bodies if body.collisions] + [GROUND] * bool(contact.ground)
    if around.of_many_bodies:
        near = [(a, b) for a in solids for b in solids if a != b and contact.may(a, b)]
    else:
        near = around.touching_bodies
    if not any(belongs(one, of) and pushes(two, by) for a, b in near for one, two in ((a, b), (b, a))):
        raise InputError(
            f"{mechanism.name}: the output {output.name!r} is the force on {of!r}{f' from {by!r}' if by else ''}, which can "
            "never touch: they need collision shapes, and no `apart` that keeps them from it. Leave the output out"
        )


def _varied_program(parameters: Variation, function: str, options: dict[str, Any]) -> Program:
    """The program of a function of `Robot` that reads the parameters of a state, too."""
    mechanism = parameters.plant.mechanism
    _, inputs = PROGRAMS[function](mechanism, **options)

    def page(*given: Any) -> Any:
        *state, row = given
        return PROGRAMS[function](parameters.at(row).mechanism, **options)[0](*state)

    return trace(page, {**inputs, **row_of(parameters)}, f"{function}_{mechanism.name}")
