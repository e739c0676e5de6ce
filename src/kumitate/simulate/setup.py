"""`Setup`: a mechanism, what drives it, what surrounds it and how its motion is computed; what every simulation is made of.

An option is a field here: its default, its meaning, its unit and its check are said once. `simulate`, `simulate_batch`,
`Simulation`, scenarios and the command take these fields as keywords, keys or texts, make a setup of them and hand it on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..errors import InputError, did_you_mean
from ..model import Mechanism, drive_states
from ..model.values import Rule, checked_number, shown
from .checks import DURATION, RATE, TIME, TOLERANCE, by_name, fitted_sample_time, run_times, steps_held

if TYPE_CHECKING:
    from ..contact.scene import Contact
    from ..held.point import HeldPoint
    from .driving.forcing import Controller
    from .parameters.variation import Variation
    from .stepping.outputs import Output

#: Whether a run ends at (t, q, v), and at the outputs that its further parameters name.
Until = Callable[..., bool]
#: How steps keep loops closed by projection, by the names that users give.
STABILISATIONS = ("lagged", "strict")


def _option(default: Any, check: Callable[[Any], Any]) -> Any:
    """A field whose value `check` refuses where it cannot be."""
    return field(default=default, metadata={"check": check})


def _number(default: float | None, name: str, rule: Rule) -> Any:
    """A field that holds a number of this rule; or None, if that is its default."""
    check = partial(checked_number, "simulate", name, rule=rule, error=InputError)
    return _option(default, check if default is not None else lambda value: value is None or check(value))


def _checked_stabilisation(name: Any) -> None:
    if name not in STABILISATIONS:
        raise InputError(f"stabilisation is {shown(name)}; it must be one of {', '.join(STABILISATIONS)}")


def _checked_held_method(name: Any) -> None:
    if name != "rows":
        from ..held.motion import check_method  # loaded where another one is asked for

        check_method(name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Driving:
    """What drives a mechanism.

    Attributes:
        controller: tau = f(t, q, v) (nv) [N·m, N]; or a constant. A function that is proved pure (it keeps no state, reads no
            clock, writes to nothing) is compiled into the step; `Record.audit` says how each was evaluated, and why. After
            (t, q, v) it may have the parameters `loop_q` and `loop_v`: the coordinates of loop joints and lines
            (`Mechanism.loop_q_names`; angles between −π and π), and their rates.
        wrenches: [n; f] by name of a body or frame, likewise; in the world's axes, about the body's or frame's origin [N·m, N].
        loop_tau: forces of drives along the degrees of freedom of loop joints [N·m, N], by the loop's name, likewise.
        motions: of joints that follow a function of time, by name: their position f(t) [rad or m], or a `PrescribedMotion`.
            They begin where these do, whatever q and v say, with the loops closed around them; their efforts are the reactions,
            in `Record.tau`. They have no stops. A loop joint that follows one has a coordinate of its name in q and v.
        inputs: arrays that may change from step to step and that functions read by parameters of their names after (t, q, v),
            such as targets: by name, how many numbers they have, or the values that they have unless others are given. Of a
            mechanism with drives, "target" (positions [rad, m], velocities or efforts, by the kind of drive),
            "target_velocity" and "feed_forward" [N·m, N] are inputs of one value per driven joint: an array, a dictionary by
            joint, or a function of (t, q, v) and other inputs. Position drives hold the start where nothing is said.
        sample_time: if given, controller and wrenches are called at its multiples only and held in between [s]. Without it,
            functions that keep state are called once per step, at its start, and all others are evaluated at every stage of
            the integrator; with 0, all are.
        traced: whether functions may be compiled; False calls them all.
    """

    controller: Controller | Sequence[float] | np.ndarray | None = None
    wrenches: Mapping[str, Controller | Sequence[float] | None] | None = _option(None, partial(by_name, "wrenches"))
    loop_tau: Mapping[str, Controller | Sequence[float] | None] | None = _option(None, partial(by_name, "loop_tau"))
    motions: Mapping[str, Any] | None = _option(None, partial(by_name, "motions"))
    inputs: Mapping[str, Any] | None = _option(None, partial(by_name, "inputs"))
    sample_time: float | None = _number(None, "sample_time", DURATION)
    traced: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Surroundings:
    """What surrounds a mechanism, and where its joints stop.

    Attributes:
        contact: the contact model and the surroundings; or a model's name, for a floor at z = 0. Models that make velocities
            jump ("rigid") have their own integrator; "penalty" is a force, which any integrator takes, "auto"
            being rkf45_adaptive. `Record.contact` has their forces.
        held: points that surfaces hold, with friction; they are put back onto them as loops are closed, or left to drift.
            `held_motion` then gives their forces.
        held_method: "rows" (articulated bodies), or one that `kumitate.papers` adds.
        limits: whether joints stop at their position limits (`Limits.lower`, `upper`), by impulses in steps that reach them,
            without rebound, together with the contact of bodies.
    """

    contact: Contact | str | None = None
    held: Sequence[HeldPoint] = ()
    held_method: str = _option("rows", _checked_held_method)
    limits: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Solver:
    """How a motion is computed.

    Attributes:
        step: time step [s]; the state is recorded at its multiples. Where a duration is given, it is made a little shorter if
            the duration is not a multiple of it.
        integrator: "rkf45" or "rk4" at the fixed step, "rkf45_adaptive" within `tolerance` (relative, per step); for stiff
            systems "semi_implicit_euler" (implicit in damping and springs, order 1) or "extrapolated_euler" (the same
            extrapolated to order 8, within `tolerance`). "auto" takes rkf45, or extrapolated_euler if damping or springs are
            too fast for rkf45 at this step, and semi_implicit_euler where steps must be equal; the audit then says so. With
            rigid contact "auto" is of order 1 where bodies touch, and "midpoint" of order 2 between impacts.
        tolerance: relative error of an adaptive step.
        stabilisation: how steps keep loops closed. "lagged": a step begins with one linearised projection, and projects fully
            only near singular postures and where gaps are large; "strict": every step and every stage projects fully, in two to
            three times the time.
        baumgarte: if given, loops are kept closed by errors that decay at this rate [1/s] instead of by projection after every
            step, the default; zero leaves them to drift.
        equal_steps: whether "auto" must take an integrator of constant step, which can be stepped one by one and in batches.
        side_by_side: whether the simulation is for many motions and for derivatives, so that contact of a robot and of up to
            four free bodies is traced pair by pair, into code of its own; steps of one motion go through lists instead, which
            begin at once. `Simulation.batch` and derivatives make such a simulation themselves.
    """

    step: float = _number(1e-3, "step", TIME)
    integrator: str = "auto"
    tolerance: float = _number(1e-8, "tolerance", TOLERANCE)
    stabilisation: str = _option("lagged", _checked_stabilisation)
    baumgarte: float | None = _number(None, "baumgarte", RATE)
    equal_steps: bool = True
    side_by_side: bool = False


@dataclass(frozen=True, eq=False)
class Setup(Driving, Surroundings, Solver):
    """A mechanism with all that acts on it, and how its motion is computed. It is checked where a simulation is made of it.

    Attributes:
        mechanism: that moves.
        q, v: the state (nq) and (nv) that runs begin at unless told otherwise; neutral and at rest unless given.
        outputs: further quantities computed of every recorded state: names of functions of `Robot` that need only q, v,
            accelerations and efforts, such as "energy", "center_of_mass", "pose:hand" or "velocity:hand"; "a", "tau";
            "force:cube/hand", that of contact on a body or robot by another, by the ground or by all (3) [N],
            "contact_wrenches" on all bodies; or a dictionary by names of your own, of such names, of sensors, or of functions
            of (t, q, v) that can be compiled. Further parameters of a function are the signals "a" and "tau", inputs, or
            outputs before it, by their names.
        parameters: numbers of the model that may differ from state to state and from row to row of a batch, by name:
            "mass:link3", "inertia:*", "damping:*", "friction:floor", "gain:kp", "gravity", …; docs/simulation.md lists the
            kinds. Where other values are not given, they are those of the mechanism, or of the dictionary that this may be.
    """

    mechanism: Mechanism
    q: Any = None
    v: Any = None
    outputs: Sequence[Any] | Mapping[str, Any] | Callable[..., Sequence[Output]] | str = field(default=(), kw_only=True)
    parameters: Sequence[str] | Mapping[str, Any] | str = field(default=(), kw_only=True)

    @property
    def strict(self) -> bool:
        """Whether steps project loops fully, at every stage."""
        return self.stabilisation == "strict"

    def traced_for(self, parameters: Variation | None) -> tuple[str, str]:
        """Why contact should be traced pair by pair: what is `wanted`, and what is `needed` as lists do not have it."""
        wanted, needed = "", ""
        if self.side_by_side:
            wanted = "many motions and derivatives have code of their own"
        elif parameters is not None and parameters.of_links:
            wanted = f"{parameters.of_links!r} is an input of its code"
        if self.motions:
            needed = f"joints follow motions ({', '.join(self.motions)})"
        elif stateful := [joint.name for joint in self.mechanism.driven if drive_states(joint.drive)]:
            needed = f"the drive of {stateful[0]!r} has a state of its own"
        elif self.baumgarte is not None and self.mechanism.tree.closed:
            needed = "loops are closed by `baumgarte`"
        return wanted, needed

    def check(self) -> None:
        """Refuses options that cannot be, alone or with each other, before anything is compiled.

        Raises:
            InputError: with all of them, each with its remedy.
        """
        told: list[InputError] = []
        for option in (option for option in fields(self) if option.metadata):
            try:
                option.metadata["check"](getattr(self, option.name))
            except InputError as error:
                told.append(error)
        given = {name for name in ("held", "contact", "motions", "parameters", "strict") if getattr(self, name)} | (
            {"rate"} if self.baumgarte is not None else set()
        )
        told += [InputError(f"{self.mechanism.name}: {why}") for both, why in _APART.items() if given.issuperset(both)]
        if len(told) == 1:
            raise told[0]
        if told:
            raise InputError("\n  ".join([f"{len(told)} options cannot be; nothing was computed", *map(str, told)]))
        steps_held(self.sample_time, self.step)


@dataclass(frozen=True, eq=False)
class Experiment(Setup):
    """A setup, how long it moves and what is recorded: what one run takes, and a batch of them.

    Attributes:
        duration: [s].
        every: steps from one recorded state to the next, which does not change the motion; every step unless given.
        until: evaluated at every recorded state (t, q, v), and with outputs by further parameters of their names; the run ends
            at the first at which it is true.
        progress: called with the fraction done from time to time. Without it, a bar is drawn in terminals and notebooks for
            runs of more than 2 s; `lambda done: None` leaves it out.
        equal_steps: as of `Solver`; a run may have steps of any length.
    """

    duration: float = field(kw_only=True)
    every: int | None = field(default=None, kw_only=True)
    until: Until | None = field(default=None, kw_only=True)
    progress: Callable[[float], None] | None = field(default=None, kw_only=True)
    equal_steps: bool = field(default=False, kw_only=True)

    @property
    def content(self) -> Hashable | None:
        """All that a simulation of it depends on, by value; None where a function is among it, as that may change."""
        model: Any = None
        try:
            if self.contact is not None:
                from ..contact.models import FORCE_MODELS, IMPULSE_MODELS  # loaded only where something touches

                name = self.contact if isinstance(self.contact, str) else getattr(self.contact, "model", "")
                model = FORCE_MODELS.get(name) or IMPULSE_MODELS.get(name)
            parts = [_content(getattr(self, one.name)) for one in fields(self) if one.name not in ("until", "progress")]
        except TypeError:
            return None
        return model, *parts

    @property
    def fitted(self) -> Self:
        """With its step, or the next shorter one of which the duration is a multiple; sample times stay as many steps long."""
        step, _, _ = run_times(self.mechanism.name, self.duration, self.step, self.every)
        if step == self.step:
            return self
        return replace(self, step=step, sample_time=fitted_sample_time(self.sample_time, self.step, step))


def _content(value: Any) -> Hashable:
    """A value as something that is equal for equal values only; a `TypeError` for functions and objects of unknown content."""
    if value is None or isinstance(value, str | Mechanism):
        return value
    if isinstance(value, bool | int | float | np.number):
        return type(value), value
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, Mapping):
        return Mapping, *((name, _content(part)) for name, part in value.items())
    if isinstance(value, list | tuple):
        return type(value), *map(_content, value)
    if is_dataclass(value):
        return type(value), *(_content(getattr(value, one.name)) for one in fields(value))
    raise TypeError(f"the content of a {type(value).__name__} is not known")


def options_of(kind: type[Setup], owner: str, given: Mapping[str, Any], without: Collection[str] = ()) -> Mapping[str, Any]:
    """Keywords for a setup of this kind, which may be those of its fields that `without` does not name."""
    known = {option.name: option.default is MISSING for option in fields(kind) if option.kw_only}
    for name in given:
        if name in without:
            raise InputError(f"{owner}: {name} is for single runs, and these are simulated side by side; leave it out")
        if name not in known:
            near = did_you_mean(name, known, lead=", ")
            raise InputError(f"{owner}: a simulation has no option {name!r}{near}; there are {', '.join(known)}")
    for name, needed in known.items():
        if needed and name not in given:
            raise InputError(f"{owner}: no {name} is given; write {name}=…")
    return given


#: Options that exclude each other, and what to do.
_APART = {
    ("held", "contact"): "points are held on surfaces or touch them; give `held` or `contact`, not both",
    ("held", "motions"): "joints cannot follow prescribed motions where points are held on surfaces. Take one of them out",
    ("held", "parameters"): "with points held on surfaces there are no parameters; make a simulation for each value",
    ("strict", "rate"): "stabilisation is 'strict', which projects, and baumgarte is given, which does not; leave one out",
}
