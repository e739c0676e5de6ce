"""The direction in which two boxes are furthest apart, or overlap least."""

from __future__ import annotations

import math

from ...procedure import Shaped, procedure

__all__ = ["most_separating"]

#: A direction is changed, from faces of A to those of B to edges and from one step to the next, only for this much [m].
_BETTER = 1e-6
#: That of two edges is taken only if it is better by this [m]: next to a face, its edges would be found one after the other,
#: one point at a time, as a box rocks on it.
_EDGES = 2e-5
#: Edges with a smaller square of the sine between them are parallel, and faces suffice.
_PARALLEL = 1e-12


@procedure
def most_separating(
    C: Shaped[3, 3], t: Shaped[3], half_a: Shaped[8], half_b: Shaped[8], margin: float, before: int
) -> tuple[int, float]:  # fmt: skip
    """The direction's number and the separation along it [m]; −1 if the boxes are further apart than the margin.

    The directions are the normals of A's faces (0 to 2), of B's faces (3 to 5) and the common perpendiculars of edge i of A
    and edge j of B (6 + 3 i + j) (Gottschalk, Lin, Manocha, SIGGRAPH 1996).

    Args:
        C: R_AB, B's axes in A.
        t: position of B in A [m].
        half_a, half_b: half edges [m].
        before: the direction of the last step, −1 if none.
    """
    best = -1
    most = -math.inf
    chosen = -math.inf
    for i in range(3):
        apart = abs(t[i]) - half_a[i] - (
            abs(C[i, 0]) * half_b[0] + abs(C[i, 1]) * half_b[1] + abs(C[i, 2]) * half_b[2]
        )  # fmt: skip
        if apart > margin:
            return -1, apart
        weight = apart + (_BETTER if before == i else 0.0)
        if weight > most:
            most = weight
            chosen = apart
            best = i
    for j in range(3):
        apart = abs(t[0] * C[0, j] + t[1] * C[1, j] + t[2] * C[2, j]) - half_b[j] - (
            abs(C[0, j]) * half_a[0] + abs(C[1, j]) * half_a[1] + abs(C[2, j]) * half_a[2]
        )  # fmt: skip
        if apart > margin:
            return -1, apart
        weight = apart - (_BETTER if before != 3 + j else 0.0)
        if weight > most:
            most = weight
            chosen = apart
            best = 3 + j
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            square = C[i1, j] * C[i1, j] + C[i2, j] * C[i2, j]  # of a_i × b_j
            reach = half_a[i1] * abs(C[i2, j]) + half_a[i2] * abs(C[i1, j])
            reach += half_b[j1] * abs(C[i, j2]) + half_b[j2] * abs(C[i, j1])
            along = abs(t[i2] * C[i1, j] - t[i1] * C[i2, j]) - reach
            # a sine is at most 1: where the edges overlap more than the best direction, dividing by it changes nothing
            if square > _PARALLEL and (along >= 0.0 or along > most):
                apart = along / math.sqrt(square)
                if apart > margin:
                    return -1, apart
                weight = apart - (_EDGES if before != 6 + 3 * i + j else _EDGES - _BETTER)
                if weight > most:
                    most = weight
                    chosen = apart
                    best = 6 + 3 * i + j
    return best, chosen
