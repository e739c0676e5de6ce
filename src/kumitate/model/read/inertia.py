"""Physically impossible inertias in files: reported, corrected for rounding, or replaced by the nearest possible ones.

A body's second moments of mass Σ = ∫ r rᵀ dm about its center of mass are positive semidefinite, and its inertia is
I = tr(Σ) 1 − Σ. This is equivalent to: the principal values are not negative, and none exceeds the sum of the other two.
"""

from __future__ import annotations

import numpy as np

from .notes import Notes

NEGATIVE = "with a large negative principal value"

BROKEN_TRIANGLE = (
    "inertias that no rigid body has (the largest principal value is more than the sum of the others), used as given; "
    "recompute them from the shapes, check their units and axes, or read the file with fix_inertia (--fix-inertia)"
)

#: The tolerance of a + b ≥ c for principal values, which files contain rounded.
_TRIANGLE_TOLERANCE = 1e-3
#: Negative principal values down to this fraction of the largest one count as rounding; a body below this mass [kg] is a
#: placeholder, whose inertia was not computed.
_NEGLIGIBLE = 1e-3
_PLACEHOLDER = 1e-3
#: Negative values down to this fraction of the largest entry are rounding of this reader.
_EXACT = 1e-9
#: Below this times the mass [m²], numbers are rounding errors of the program that wrote the file, not inertias.
_NO_INERTIA = 1e-16


def nearest_inertia(inertia: np.ndarray) -> np.ndarray:
    """The nearest physically possible inertia (3, 3), by the second moments of mass; unchanged if it is possible.

    >>> nearest_inertia(np.diag([1.0, 1.0, 4.0])).diagonal().tolist()
    [2.0, 2.0, 4.0]
    """
    moments = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    clipped = _clipped(moments)
    return np.trace(clipped) * np.eye(3) - clipped


def usable_inertia(
    inertia: np.ndarray, mass: float, link: str, notes: Notes, *, line: int | None = None, fix: bool = False
) -> np.ndarray:
    """The inertia (3, 3) to use; remarks on it are added to `notes`.

    Args:
        inertia: symmetric, about the center of mass [kg·m²]; mass: [kg].
        link: its link; notes: takes the remarks; line: its line in the file.
        fix: whether impossible inertias are replaced by the nearest possible ones. Those with a negative principal value
            that is neither small nor a placeholder's are always replaced; without `fix` this is a fault, with which the
            mechanism has poses but no dynamics.
    """
    size = float(np.abs(inertia).max())
    if 0.0 < size < _NO_INERTIA * mass:
        notes.add(f"inertias below {_NO_INERTIA:g} m² times the mass, read as zero", link, line)
        return np.zeros((3, 3))
    values = np.linalg.eigvalsh(inertia)
    least, middle, most = values
    negative = least < -_EXACT * size
    broken = most > (least + middle) * (1.0 + _TRIANGLE_TOLERANCE)
    if not (negative or broken):
        return inertia
    if fix:
        nearest = nearest_inertia(inertia)
        notes.add(
            "inertias that no rigid body has, replaced by the nearest that one can have; principal values in kg·m²",
            f"{link!r} {_listed(values)} → {_listed(np.linalg.eigvalsh(nearest))}",
            line,
        )
        return nearest
    if not negative:
        notes.add(BROKEN_TRIANGLE, link, line)
        return inertia
    if -least < _NEGLIGIBLE * most or mass < _PLACEHOLDER:
        notes.add(
            "inertias with a small negative principal value, which is read as zero; correct them, or read the file with "
            "fix_inertia (--fix-inertia)",
            f"{link!r} {_listed(values)} kg·m²",
            line,
        )
        return _clipped(inertia)
    notes.add(
        f"inertias {NEGATIVE}, which no body has: poses can be computed, what needs the inertias is refused; correct them, or "
        "read the file with fix_inertia (--fix-inertia)",
        f"{link!r} {_listed(values)} kg·m²",
        line,
    )
    notes.fault(
        f"link {link!r}: the inertia has the principal values {_listed(values)} kg·m²; the negative principal value "
        f"{least:.6g} is physically impossible. Check signs and the axes that the numbers are given in, or read the file with "
        "fix_inertia=True (--fix-inertia) to use the nearest possible inertia",
        line,
    )
    return nearest_inertia(inertia)


def _clipped(matrix: np.ndarray) -> np.ndarray:
    """The symmetric matrix with its negative eigenvalues set to zero."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= 0.0:
        return matrix
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return 0.5 * (clipped + clipped.T)


def _listed(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"
