"""The step of an integrator on a driven mechanism as programs and machine code, made once for all runs that share it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..compile import Kernel, Recurrence
from ..model import Mechanism
from ..scalar import Program, call, maximum, trace
from .actuation import Actuation
from .integrators import Integrator
from .interactions import Interaction
from .kept import Kept
from .stabilisation import Stabilisation
from .system import Jumps, dynamics_program, observables_program, projection_program, step_program

__all__ = ["CompiledStep", "compiled_step"]


@dataclass(frozen=True, eq=False)
class CompiledStep:
    """One integrator on one driven mechanism; everything is compiled when it is first needed.

    Attributes:
        efforts: the program (t, q, v, u) → u of the functions that are compiled into the step, if there are any.
        dynamics: (h, q, v, u) → v̇ and power, h being 0 where nothing is implicit.
        projection: (q, v) → q, v with the loops closed; None where there are none, or they are left alone.
        jumps: what contact by impulses adds.
    """

    mechanism: Mechanism
    integrator: Integrator
    efforts: Program | None
    dynamics: Program
    projection: Program | None
    jumps: Jumps | None = field(repr=False)

    @classmethod
    def of(
        cls, integrator: Integrator, actuation: Actuation, interaction: Interaction, stabilisation: Stabilisation
    ) -> CompiledStep:
        """Traced for an actuation and what surrounds its mechanism."""
        forcing, mechanism = actuation.forcing, actuation.forcing.mechanism
        dynamics = dynamics_program(
            mechanism, forcing, implicit_damping=integrator.implicit_damping, baumgarte=stabilisation.baumgarte,
            held=interaction.held, pressing=interaction.forces,
        )  # fmt: skip
        constrained = mechanism.tree.closed or interaction.held is not None
        projection = projection_program(mechanism, interaction.held) if constrained and stabilisation.projects else None
        jumps = None if interaction.impacts is None else Jumps.of(interaction.impacts, mechanism, forcing)
        return cls(mechanism, integrator, actuation.program, dynamics, projection, jumps)

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
        step, m = self.program, self.mechanism
        size = next(array.size for array in step.inputs if array.name == "u")

        def advanced(number: Any, q: Any, v: Any, work: Any, error: Any, h: Any, u: Any) -> dict[str, Any]:
            after = call(step, number * h, h, q, v, work, u)
            worst = maximum(error, after["error"])
            return {"number": number + 1.0, "q": after["q"], "v": after["v"], "work": after["work"], "error": worst}

        def look(number: Any, q: Any, v: Any, work: Any, error: Any, h: Any, u: Any) -> dict[str, Any]:
            return {"q": list(q), "v": list(v), "work": work, "error": error}

        inputs: dict[str, int | tuple[int, ...]] = {
            "number": (), "q": m.nq, "v": m.nv, "work": (), "error": (), "h": (), "u": size,
        }  # fmt: skip
        return Recurrence(trace(advanced, inputs, step.name), trace(look, inputs, f"record_{m.name}"))

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
    def observables(self) -> Kernel:
        """(q, v) → energies, center of mass, momentum."""
        return Kernel(observables_program(self.mechanism))


_KEPT = Kept[CompiledStep](64)


def compiled_step(
    integrator: Integrator, actuation: Actuation, interaction: Interaction, stabilisation: Stabilisation
) -> CompiledStep:
    """The step, traced unless one for the same mechanism, settings and functions is still in memory."""
    forcing = actuation.forcing
    functions = "" if actuation.program is None else str(actuation.program)
    shape = (tuple(forcing.places), tuple(forcing.drives))
    key = (forcing.mechanism, _settings(integrator), shape, functions, interaction.key, stabilisation)
    return _KEPT.get(
        None if interaction.key is None else key,
        lambda: CompiledStep.of(integrator, actuation, interaction, stabilisation),
    )


def _settings(integrator: Any) -> Hashable:
    """What an integrator is made of."""
    if not isinstance(integrator, Integrator):
        return integrator  # type: ignore[no-any-return]
    return (type(integrator), *((name, _settings(value)) for name, value in sorted(vars(integrator).items())))
