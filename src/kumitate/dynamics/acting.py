"""What acts on a mechanism besides the drives of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import InputError
from ..model import Link
from ..scalar import Scalar, is_zero
from ..spatial import Force
from .wrenches import Applied

__all__ = ["Acting"]


@dataclass(frozen=True)
class Acting:
    """What acts on a mechanism besides the drives of its joints, and how an integration step takes it.

    Attributes:
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: external forces on links.
        loop_tau: forces of drives along the freedoms of loops' joints, by the loop's name [N·m or N].
        implicit_step: a step h > 0 [s] makes v̇ what an integration step that is implicit in the joints' damping and springs
            needs: damping then acts like the armature h·∂f/∂v.
        baumgarte: a rate α [1/s] at which errors of loops are made to decay: φ̈ + 2αφ̇ + α²φ = 0 in place of φ̈ = 0.
    """

    gravity: Sequence[Scalar]
    wrenches: Applied | None = None
    loop_tau: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    implicit_step: Scalar = 0.0
    baumgarte: Scalar = 0.0

    def on(self, link: Link, q: Sequence[Scalar]) -> Force:
        """The external force on a link, in its frame and about its origin."""
        return Force() if self.wrenches is None else self.wrenches.on(link, q)

    def at_an_instant(self, method: str) -> Acting:
        """Itself, for a method that knows nothing of integration steps.

        Raises:
            InputError: with an implicit step or a rate at which errors decay.
        """
        for name in ("implicit_step", "baumgarte"):
            value = getattr(self, name)
            if not is_zero(value):
                raise InputError(f"{method}: {name} is {value!r}, which only articulated bodies take into account. Use 'aba'")
        return self
