"""The contract of interactions with the surroundings in a run, and the case without any interaction."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ...compile import Kernel
from ...model import Bound, Mechanism
from ..integrators import Integrator
from ..parameters import Variation
from ..prescribed.overlaps import Overlaps
from ..stepping.choice import chosen_integrator
from ..stepping.forcing import Forcing
from ..stepping.layout import InputLayout

if TYPE_CHECKING:
    from ...contact.forces import ContactForces
    from ...contact.held.motion import HeldDynamics
    from ...contact.plan import ContactPlan
    from ...scalar import Program
    from ..results.contact_record import Touched
    from ..stepping.actuation import Actuation
    from ..stepping.advance import Advance
    from ..stepping.outputs import Output
    from ..stepping.stabilisation import Stabilisation


class Asked(NamedTuple):
    """The requested integrator.

    Attributes:
        name: of the integrator, or "auto".
        step: [s]; `tolerance`: the relative error of an adaptive step.
        q, v: the start.
        equal_steps: whether its steps must have equal lengths.
    """

    name: str
    step: float
    tolerance: float
    q: np.ndarray
    v: np.ndarray
    equal_steps: bool = False


class StepDesign(NamedTuple):
    """What steps are compiled for.

    Attributes:
        integrator: of the steps.
        actuation: the sources of efforts, and how each is evaluated.
        stabilisation: how loops are kept closed.
        outputs: the quantities computed at every state that is recorded or looked at.
        bounds: the limits at which joints stop.
    """

    integrator: Integrator
    actuation: Actuation
    stabilisation: Stabilisation
    outputs: tuple[Output, ...] = ()
    bounds: tuple[Bound, ...] = ()


class StepKernels(Protocol):
    """What records of contact need of a run's compiled step: functions of (h, q, v, u).

    Attributes:
        layout: what stands where in u.
    """

    layout: InputLayout

    @property
    def dynamics_kernel(self) -> Kernel:
        """v̇ and the power of all efforts."""

    @property
    def jump_kernel(self) -> Kernel:
        """The velocities after a step with contact by impulses, and that contact."""


class StepPrograms(Protocol):
    """What pushes of contact need of a run's step: programs of (h, q, v, u).

    Attributes:
        layout: as of `StepKernels`.
    """

    layout: InputLayout

    @property
    def jumps(self) -> Program | None:
        """The velocities after a step with contact by impulses, and that contact."""


class Interaction:
    """The interaction of a mechanism with its surroundings: none in this class; contact and held points are subclasses.

    Attributes:
        mechanism: the moving mechanism.
        key: what programs depend on, for finding them again in memory; None if unknown.
        content: the same as text, for finding them on disk; None if unknown.
        plain: the options, as plain data.
        of_many_bodies: whether its steps are not traced, but made over lists of bodies.
        touches: whether contact makes velocities jump once per step.
        forces: contact by continuous forces.
        held: points held on surfaces.
        parameters: of the simulation; their row stands at the end of u.
    """

    mechanism: Mechanism
    key: Hashable | None = ()
    content: str | None = ""
    plain: Any = None
    of_many_bodies: bool = False
    touches: bool = False
    forces: ContactForces | None = None
    held: HeldDynamics | None = None
    parameters: Variation | None = None

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        """The integrator of the steps; the choice of "auto" is explained in `notes`.

        Raises:
            InputError: if there is no such integrator, or if it cannot step over this interaction.
        """
        name, step, tolerance, q, v, equal_steps = asked
        return chosen_integrator(self.mechanism, name, step, tolerance, q, v, notes, equal_steps=equal_steps)

    def advance(self, design: StepDesign) -> Advance:
        """What advances states by the integrator's steps, with what drives them and all that surrounds them."""
        from ..stepping.compiled_step import compiled_step  # with the compiler: loaded for the first steps

        return compiled_step(design, self)

    def check(self, stabilisation: Stabilisation) -> None:
        """Refuses what its steps do not have, before anything is compiled.

        Raises:
            InputError: with what to do instead.
        """

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
        """The touching pairs at q (nq), in words."""
        return []

    def record(self, step: StepKernels, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        """The contact along a motion of steps h, with the run's compiled functions; None without contact."""
        return None

    def rows(self, u: np.ndarray) -> list[np.ndarray]:
        """The parameters in u (n, size of u), as the last input of programs; nothing without any."""
        return [] if self.parameters is None else [np.ascontiguousarray(u[..., u.shape[-1] - self.parameters.size :])]

    @property
    def points(self) -> list[str]:
        """The points at which bodies may touch by impulses, by the names of the bodies; one name for each."""
        return []

    @property
    def touching_bodies(self) -> list[tuple[str, str]]:
        """The bodies A and B of every point at which they may touch."""
        return []

    def pushes(self, code: StepPrograms, h: Any, q: Any, v: Any, u: Any) -> list[Any]:
        """What pushes at every such point, as `stepping.reading.PUSHES`, while tracing; where velocities jump, the mean force
        over the step h that begins there."""
        return []

    def plan(self) -> ContactPlan | None:
        """What contact will be, before anything is compiled; None without contact."""
        return None

    def slopes(self, impacts: Program | None) -> dict[Program, Program]:
        """The derivative of its program `impacts`, as a rule of `scalar.directional`.

        Raises:
            InputError: if it has none.
        """
        return {}

    def notes(self, forcing: Forcing, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[str]:
        """Notes for the audit along the states (n, nq), (n, nv) and efforts (n, size of u)."""
        return []


def content_of(model: Any, *parts: object) -> str | None:
    """A contact model and its parts as text; None if its code is not kumitate's own, or if a part has no text of its own."""
    text = f"{model.__module__}.{model.__qualname__} {parts!r}"
    return text if model.__module__.startswith("kumitate.") and " at 0x" not in text else None
