"""Pseudo-inverses of symmetric matrices that may be singular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..scalar import Scalar
from .dense import Dense, Factors, dot


@dataclass(frozen=True)
class RangeInverse:
    """A damped pseudo-inverse W of a positive semidefinite A: W A x = x up to the null space of A.

    W = B + BEB + BEBEB + BEBEBEB with B = (A + E)⁻¹: a direction whose eigenvalue is σ is resolved to (ε/(σ + ε))⁴, where ε is
    the damping E. B is applied by its factors and never formed: where A is singular its entries would be so large that rounding
    would destroy the rest.
    """

    factors: Factors
    damping: tuple[Scalar, ...]

    @classmethod
    def of(cls, A: Dense, damping: Sequence[Scalar]) -> RangeInverse:
        """From A and the diagonal of E, which must be small compared with A where A is not singular."""
        rows = [[value + (damping[i] if i == j else 0.0) for j, value in enumerate(row)] for i, row in enumerate(A.rows)]
        return cls(Dense.of(rows).factored(), tuple(damping))

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """W b, by x ← B (b + E x)."""
        x = self.factors.solve(b)
        for _ in range(3):
            x = self.factors.solve([value + e for value, e in zip(b, self._damped(x), strict=True)])
        return x

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ; symmetric if G and H are the same."""
        halves = [self._halves(row) for row in left.rows]
        others = halves if left is right else [self._halves(row) for row in right.rows]
        first = self.factors.between(left, right)

        def more(u: Sequence[Scalar], v: Sequence[Scalar], s: Sequence[Scalar], t: Sequence[Scalar]) -> Scalar:
            """uᵀEs + uᵀEt + vᵀEt, with s = B h, t = B E s, and u, v likewise for the other row."""
            both = [a + b for a, b in zip(s, t, strict=True)]
            return dot(u, self._damped(both)) + dot(v, self._damped(t))

        return first + Dense.of([more(u, v, s, t) for s, t in others] for u, v in halves)

    def _halves(self, row: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """B h and B E B h."""
        once = self.factors.solve(row)
        return once, self.factors.solve(self._damped(once))

    def _damped(self, x: Sequence[Scalar]) -> list[Scalar]:
        return [e * value for e, value in zip(self.damping, x, strict=True)]
