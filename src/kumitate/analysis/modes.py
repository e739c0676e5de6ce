"""The modes of a linear system: their shapes, frequencies and damping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Parts of poles below this fraction of the largest entry of A are rounding errors and become zero.
_ROUNDING = 1e-14
#: Components of a shape below this fraction of its largest are not printed.
_SMALL = 1e-3


@dataclass(frozen=True, eq=False)
class Mode:
    """One natural mode: x(t) = Re(shape · e^{pole·t}).

    A multiple pole with one shape, such as the double zero of a free rigid-body motion, is only accurate to about the square
    root of the rounding error.

    Attributes:
        pole: λ [1/s]; for a conjugate pair, the one with the positive imaginary part.
        shape: by degree of freedom (`Mechanism.v_names`), its amplitude and phase; the largest component is 1.
    """

    pole: complex
    shape: dict[str, complex]

    @property
    def oscillates(self) -> bool:
        """Whether it oscillates."""
        return self.pole.imag > 0.0

    @property
    def frequency(self) -> float:
        """The natural frequency |λ| [rad/s], undamped."""
        return abs(self.pole)

    @property
    def damping(self) -> float:
        """The damping ratio ζ = −Re λ / |λ|: 0 undamped, 1 if it does not oscillate, negative if it grows; 0 for λ = 0."""
        return -self.pole.real / abs(self.pole) if self.pole.real else 0.0

    @property
    def period(self) -> float:
        """The period 2π / Im λ [s]; infinite if it does not oscillate."""
        return 2.0 * math.pi / self.pole.imag if self.oscillates else math.inf

    @property
    def time_constant(self) -> float:
        """The time −1 / Re λ [s] in which it decays to 1/e; negative if it grows, infinite if it does neither."""
        return -1.0 / self.pole.real if self.pole.real else math.inf

    def __str__(self) -> str:
        if self.oscillates:
            how = f"{self.pole.imag / (2.0 * math.pi):.4g} Hz, ζ = {self.damping:.4g}"
        elif self.pole == 0.0:
            how = "held by nothing"
        else:
            what = "grows to e times" if self.pole.real > 0.0 else "falls to 1/e"
            how = f"{what} in {abs(self.time_constant):.4g} s"
        parts = sorted(self.shape.items(), key=lambda item: -abs(item[1]))
        shown = ", ".join(f"{name} {_polar(part)}" for name, part in parts if abs(part) > _SMALL)
        return f"{_complex(self.pole)} 1/s: {how}; {shown}"


def modes_of(A: np.ndarray, motions: np.ndarray, names: Sequence[str]) -> list[Mode]:
    """The modes of ẋ = A x with x = (y, w), slowest first; one per conjugate pair.

    Args:
        A: (m + k, m + k), for m motions y and k rates w.
        motions: (nv, m), the displacement of each degree of freedom per unit of each y.
        names: of the degrees of freedom (nv).
    """
    m = motions.shape[1]
    poles, vectors = np.linalg.eig(A) if len(A) else (np.zeros(0), np.zeros((0, 0)))
    least = _ROUNDING * np.abs(A).max(initial=0.0)
    real, imaginary = (np.where(np.abs(part) > least, part, 0.0) for part in (poles.real, poles.imag))
    order = np.lexsort((real, np.hypot(real, imaginary)))
    found = []
    for k in order:
        if imaginary[k] >= 0.0:
            moved = motions @ vectors[:m, k]
            moved = moved / moved[int(np.argmax(np.abs(moved)))]
            found.append(Mode(complex(real[k], imaginary[k]), dict(zip(names, moved.astype(complex).tolist(), strict=True))))
    return found


def _complex(value: complex) -> str:
    return f"{value.real:.4g} ± {value.imag:.4g}i" if value.imag else f"{value.real:.4g}"


def _polar(part: complex) -> str:
    """A real number with its sign, a complex one by magnitude and phase."""
    if abs(part.imag) < _SMALL * abs(part):
        return f"{part.real:.3g}"
    return f"{abs(part):.3g} at {math.degrees(math.atan2(part.imag, part.real)):.0f}°"
