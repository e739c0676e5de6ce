"""The contract of interactions with the surroundings in a run, and the case without any interaction."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ...analysis import fastest_rate
from ...compile import Kernel
from ...errors import InputError
from ...model import Bound, Mechanism
from ..driving.actuation import Actuation
from ..driving.forcing import Forcing, InputLayout, Overlaps
from ..integrators import INTEGRATORS, ExtrapolatedEuler, Integrator, Midpoint, SemiImplicitEuler
from ..parameters import Variation
from .outputs import Output

if TYPE_CHECKING:
    from ...contact.forces import ContactForces
    from ...contact.plan import ContactPlan
    from ...held.motion import HeldDynamics
    from ...records.contact_record import Touched
    from ...scalar import Program
    from .advance import Advance


#: The fastest rate that explicit methods of order 4 and 5 follow, as a multiple of 1/step.
EXPLICIT = 2.5
#: The same for the midpoint rule, which finds its velocities by iteration.
ITERATED = 5.0


class Asked(NamedTuple):
    """The integrator that is asked for, or "auto": for steps [s] from a start, within a tolerance, of equal lengths or not."""

    name: str
    step: float
    tolerance: float
    q: np.ndarray
    v: np.ndarray
    equal_steps: bool = False


class Stabilisation(NamedTuple):
    """How loops are kept closed: by projection, else by errors that decay at a rate `baumgarte` [1/s], or not at all.

    `strict`: whether to project at the end of every step and at all inner stages, with factors of its own each time. Else a
    step begins with one linearised projection that shares the factors of its first accelerations, if that is enough.
    """

    projects: bool = True
    baumgarte: float = 0.0
    strict: bool = False


class StepDesign(NamedTuple):
    """What steps are compiled for; `bounds`: the limits at which joints stop."""

    integrator: Integrator
    actuation: Actuation
    stabilisation: Stabilisation
    outputs: tuple[Output, ...] = ()
    bounds: tuple[Bound, ...] = ()


class ContactCode(Protocol):
    """What records of contact and sensors need of a run's compiled step; `layout`: what stands where in u."""

    layout: InputLayout

    @property
    def jumps(self) -> Program | None:
        """(h, q, v, u) → the velocities after a step with contact by impulses, and that contact."""

    def kernel(self, role: str, *, quick: bool = False) -> Kernel:
        """The machine code of a program of (h, q, v, u): "jumps", or "dynamics", v̇ and the power of all efforts."""


class Interaction:
    """The interaction of a mechanism with its surroundings: none in this class; contact and held points are subclasses.

    Attributes:
        key: what programs depend on, for finding them again in memory; content: as text, on disk; None if unknown.
        plain: the options, as plain data.
        of_many_bodies: whether its steps are not traced, but made over lists of bodies; begins_traced: whether batches and
            derivatives of it are traced without being asked.
        touches: whether contact makes velocities jump once per step; forces: contact by continuous forces; held: points held on
            surfaces.
        parameters: of the simulation; their row stands at the end of u.
    """

    mechanism: Mechanism
    key: Hashable | None = ()
    content: str | None = ""
    plain: Any = None
    of_many_bodies: bool = False
    begins_traced: bool = False
    touches: bool = False
    forces: ContactForces | None = None
    held: HeldDynamics | None = None
    parameters: Variation | None = None

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        """The integrator of the steps, which can step over this interaction; the choice of "auto" is explained in `notes`."""
        return chosen_integrator(self.mechanism, asked, notes)

    def advance(self, design: StepDesign) -> Advance | None:
        """What advances states by steps that only this interaction has; None where it is the compiled step of one robot."""
        return None

    def check(self, stabilisation: Stabilisation) -> None:
        """Refuses what its steps do not have, before anything is compiled, with what to do instead."""

    def impacts(self, *, resisted: bool, begun: bool = False, parted: bool = False) -> Program | None:
        """The program of impulsive contact, where it makes velocities jump; as `contact.impulse.step.impact_program`."""
        return None

    def warn(self) -> None:
        """Warns of known limitations before a run."""

    def start(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The initial state, adjusted to the interaction."""
        return q, v

    def overlaps(self, q: np.ndarray) -> Overlaps | None:
        """What springs of contact leave out in runs that start at q (nq), so that bodies part slowly; None if nothing."""
        return None

    def touching(self, q: np.ndarray) -> list[str]:
        """The pairs that touch at q (nq), or nearly do, in words: "'foot' on 'ground'"."""
        return []

    def record(self, step: ContactCode, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        """The contact along a motion of steps h, with the run's compiled functions; None without contact."""
        return None

    @property
    def touching_bodies(self) -> list[tuple[str, str]]:
        """The bodies A and B of every point at which they may touch."""
        return []

    def pushes(self, code: ContactCode, h: Any, q: Any, v: Any, u: Any) -> list[Any]:
        """What pushes at every such point, as `forcing.PUSHES`, while tracing; where velocities jump, the mean force
        over the step h that begins there."""
        return []

    def plan(self) -> ContactPlan | None:
        """What contact will be, before anything is compiled; None without contact."""
        return None

    def slopes(self, impacts: Program | None) -> dict[Program, Program]:
        """The derivative of its program `impacts`, as a rule of `scalar.directional`; refused if it has none."""
        return {}

    def notes(self, forcing: Forcing, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[str]:
        """Notes for the audit along the states (n, nq), (n, nv) and efforts (n, size of u)."""
        return []


def content_of(model: Any, *parts: object) -> str | None:
    """A contact model and its parts as text; None if its code is not kumitate's own, or if a part has no text of its own."""
    text = f"{model.__module__}.{model.__qualname__} {parts!r}"
    return text if model.__module__.startswith("kumitate.") and " at 0x" not in text else None


# --- the choice of an integrator --------------------------------------------------------------------------------------
def chosen_integrator(mechanism: Mechanism, asked: Asked, notes: list[str]) -> Integrator:
    """The integrator that is asked for; if "auto" takes another than rkf45, `notes` says so."""
    name, step, tolerance, q, v, equal_steps = asked
    if name == "auto":
        try:
            rate, joint = fastest_rate(mechanism, q, v)
        except ZeroDivisionError:  # loops without equations at the start, which closing them says
            rate, joint = 0.0, ""
        name = "rkf45"
        if rate * step >= EXPLICIT:
            stiff = (
                f"integrator: damping, springs or drives at {joint!r} act at {rate:.3g} 1/s, too fast for explicit "
                f"{step:g} s steps; "
            )
            name = SemiImplicitEuler.name if equal_steps else ExtrapolatedEuler.name
            notes.append(
                stiff + (
                    "semi_implicit_euler was taken, which is implicit in them and of order 1. Without steps of equal length, "
                    "`km.simulate` takes extrapolated_euler" if equal_steps
                    else "extrapolated_euler was taken, which is implicit in them, of order 8 within `tolerance`. "
                    "semi_implicit_euler takes less time, at order 1; batches and `km.Simulation` take it, as their steps are "
                    "of equal length"
                )
            )  # fmt: skip
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise InputError(f"there is no integrator {name!r}; there are auto, {', '.join(INTEGRATORS)}")
    kind = INTEGRATORS[name]
    if kind is Midpoint:
        check_midpoint(mechanism, step, q, v)
    if not kind.adaptive:
        return kind()
    return kind(relative=tolerance, absolute=tolerance * 1e-2)  # type: ignore[call-arg]


def check_midpoint(mechanism: Mechanism, step: float, q: np.ndarray, v: np.ndarray) -> None:
    """Refuses steps [s] of the midpoint rule from a state that are too long for a mechanism's stiff forces."""
    rate, joint = fastest_rate(mechanism, q, v)
    if rate * step >= ITERATED:
        raise InputError(
            f"{mechanism.name}: damping, friction, springs or drives at {joint!r} act at {rate:.3g} 1/s, too fast for steps of "
            f"{step:g} s with integrator='midpoint'. Take steps below {ITERATED / rate:.2g} s, or integrator='auto', which is "
            "implicit in them"
        )
