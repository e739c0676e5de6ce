"""The step of an integrator on a driven mechanism as programs and machine code, made once for all runs that share it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .. import kinematics
from ..compile import Kernel, Recurrence
from ..model import Mechanism
from ..scalar import Program, call, maximum, trace
from .actuation import Actuation
from .integrators import Integrator
from .interactions import Interaction
from .kept import Kept
from .outputs import Output, evaluated
from .stabilisation import Stabilisation
from .system import NO_STEP, Jumps, dynamics_program, observables_program, projection_program, step_program

__all__ = ["CompiledStep", "compiled_step"]


@dataclass(frozen=True, eq=False)
class CompiledStep:
    """One integrator on one driven mechanism; everything is compiled when it is first needed.

    Attributes:
        efforts: the program (t, q, v, u) → u of the functions that are compiled into the step, if there are any.
        dynamics: (h, q, v, u) → v̇ and power, h being 0 where nothing is implicit.
        projection: (q, v) → q, v with the loops closed; None where there are none, or they are left alone.
        jumps: what contact by impulses adds.
        outputs: what is computed of every state that is recorded or looked at.
        inputs: where each input stands in u.
    """

    mechanism: Mechanism
    integrator: Integrator
    efforts: Program | None
    dynamics: Program
    projection: Program | None
    jumps: Jumps | None = field(repr=False)
    outputs: tuple[Output, ...] = ()
    inputs: Mapping[str, slice] = field(default_factory=dict)

    @classmethod
    def of(
        cls, integrator: Integrator, actuation: Actuation, interaction: Interaction, stabilisation: Stabilisation,
        outputs: tuple[Output, ...] = (),
    ) -> CompiledStep:  # fmt: skip
        """Traced for an actuation and what surrounds its mechanism."""
        forcing, mechanism = actuation.forcing, actuation.forcing.mechanism
        dynamics = dynamics_program(
            mechanism, forcing, implicit_damping=integrator.implicit_damping, baumgarte=stabilisation.baumgarte,
            held=interaction.held, pressing=interaction.forces,
        )  # fmt: skip
        constrained = mechanism.tree.closed or interaction.held is not None
        projection = projection_program(mechanism, interaction.held) if constrained and stabilisation.projects else None
        jumps = None if interaction.impacts is None else Jumps.of(interaction.impacts, mechanism, forcing)
        return cls(mechanism, integrator, actuation.program, dynamics, projection, jumps, outputs, forcing.own)

    @cached_property
    def program(self) -> Program:
        """(t, h, q, v, work, u) → q, v, work, error: one step."""
        return step_program(self.mechanism, self.integrator, self.dynamics, self.projection, self.efforts, self.jumps)

    @cached_property
    def kernel(self) -> Kernel:
        """One step, to be called."""
        return Kernel(self.program)

    @cached_property
    def recurrence(self) -> Recurrence:
        """Steps in machine code: (number, q, v, work, error) of a state from those h earlier, for given h and u.

        `number` counts the steps since the start, `error` is the largest that a step estimated since then.
        """
        step = self.program

        def advanced(number: Any, q: Any, v: Any, work: Any, error: Any, h: Any, u: Any) -> dict[str, Any]:
            after = call(step, number * h, h, q, v, work, u)
            worst = maximum(error, after["error"])
            return {"number": number + 1.0, "q": after["q"], "v": after["v"], "work": after["work"], "error": worst}

        return Recurrence(trace(advanced, self._sizes, step.name), self.look)

    @cached_property
    def look(self) -> Program:
        """(number, q, v, work, error, h, u) → what is recorded of a state: q, v, work, error and the outputs."""

        def look(number: Any, q: Any, v: Any, work: Any, error: Any, h: Any, u: Any) -> dict[str, Any]:
            signals = Signals(self, number * h, h, q, v, u)
            return {"q": list(q), "v": list(v), "work": work, "error": error, **evaluated(self.outputs, signals)}

        return trace(look, self._sizes, f"record_{self.mechanism.name}")

    @cached_property
    def look_kernel(self) -> Kernel:
        """The same, to be called."""
        return Kernel(self.look)

    @property
    def _sizes(self) -> dict[str, int | tuple[int, ...]]:
        size = next(array.size for array in self.dynamics.inputs if array.name == "u")
        m = self.mechanism
        return {"number": (), "q": m.nq, "v": m.nv, "work": (), "error": (), "h": (), "u": size}

    @cached_property
    def _efforts(self) -> Kernel | None:
        return None if self.efforts is None else Kernel(self.efforts)

    def efforts_along(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """u at many states: as `held` (n, size) or (size), and where functions are compiled, by these, all at once."""
        held = np.broadcast_to(held, (len(time), held.shape[-1]))
        return held if self._efforts is None else self._efforts(time, q, v, held)

    @cached_property
    def dynamics_kernel(self) -> Kernel:
        """The accelerations of the run, and the power."""
        return Kernel(self.dynamics)

    @cached_property
    def projection_kernel(self) -> Kernel:
        """(q, v) → q, v with the loops closed."""
        return Kernel(self.projection or projection_program(self.mechanism))

    @cached_property
    def observables(self) -> Kernel:
        """(q, v) → energies, center of mass, momentum."""
        return Kernel(observables_program(self.mechanism))


class Signals:
    """What outputs are computed from, at one state while tracing; each is computed when it is first asked for."""

    def __init__(self, compiled: CompiledStep, t: Any, h: Any, q: Any, v: Any, u: Any):
        self._compiled, self._h = compiled, h
        self._values: dict[str, Any] = {"t": t, "q": q, "v": v, "held": u}
        self._values |= {name: u[own] for name, own in compiled.inputs.items()}

    def __call__(self, name: str) -> Any:
        """A signal, of `reading.SIGNALS`, or an input; inside, also "held", efforts held over a step, and "u", all of them."""
        if name not in self._values:
            self._values[name] = getattr(self, f"_{name}")()
        return self._values[name]

    def _u(self) -> Any:
        efforts = self._compiled.efforts
        return self("held") if efforts is None else call(efforts, *map(self, ("t", "q", "v", "held")))

    def _tau(self) -> Any:
        return self("u")[: self._compiled.mechanism.nv]

    def _a(self) -> Any:
        """The accelerations; where contact makes velocities jump, their mean over the step that begins here."""
        compiled, q, v = self._compiled, self("q"), self("v")
        if compiled.jumps is None:
            return call(compiled.dynamics, NO_STEP, q, v, self("u"))["acceleration"]
        h, turning = self._h, kinematics.turning(compiled.mechanism.tree, v)
        free = call(compiled.dynamics, h, q, v, self("u"))["acceleration"]
        v_free = [rate + h * (a - b) for rate, a, b in zip(v, free, turning, strict=True)]
        after = call(compiled.jumps.impacts, h, q, v, v_free)["v"]
        return [(b - a) / h + turn for a, b, turn in zip(v, after, turning, strict=True)]


_KEPT = Kept[CompiledStep](64)


def compiled_step(
    integrator: Integrator, actuation: Actuation, interaction: Interaction, stabilisation: Stabilisation,
    outputs: tuple[Output, ...] = (),
) -> CompiledStep:  # fmt: skip
    """The step, traced unless one for the same mechanism, settings and functions is still in memory."""
    forcing = actuation.forcing
    functions = "" if actuation.program is None else str(actuation.program)
    shape = (tuple(forcing.places), tuple(forcing.drives), tuple((name, len(x)) for name, x in forcing.inputs.items()))
    key = (
        forcing.mechanism,
        _settings(integrator),
        shape,
        functions,
        interaction.key,
        stabilisation,
        tuple((output.name, output.key) for output in outputs),
    )
    return _KEPT.get(
        None if interaction.key is None else key,
        lambda: CompiledStep.of(integrator, actuation, interaction, stabilisation, outputs),
    )


def _settings(integrator: Any) -> Hashable:
    """What an integrator is made of."""
    if not isinstance(integrator, Integrator):
        return integrator  # type: ignore[no-any-return]
    return (type(integrator), *((name, _settings(value)) for name, value in sorted(vars(integrator).items())))
