"""The free turning of a rigid body in a step, of order two in its gyroscopic torque."""

from __future__ import annotations

from ...procedure import Shaped, local, procedure

__all__ = ["turned_freely"]

#: An inertia whose determinant is below this part of the cube of its trace is that of a point or a rod: no torque of its own.
FLAT = 1e-12


@procedure
def turned_freely(step: float, inertia: Shaped[3, 3], twist: Shaped[6], after: Shaped[3]) -> None:
    """The angular velocity after a step from that of `twist` without torque, in the axes of the body at its start.

    One linearly implicit step of the midpoint rule on I ω̇ = −ω × I ω: (I + h/2 G) Δω = −h ω × I ω with G = ∂(ω × I ω)/∂ω =
    [ω] I − [I ω] (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.7). About an axis of symmetry it turns ω
    and keeps its length, where an explicit step makes it longer by the part (h Ω)²/2, Ω being the rate at which it turns.
    """
    own, A, turn, h = local(3), local(3, 3), local(3), 0.5 * step
    for i in range(3):
        own[i] = inertia[i, 0] * twist[0] + inertia[i, 1] * twist[1] + inertia[i, 2] * twist[2]
        after[i] = twist[i]
    for j in range(3):
        A[0, j] = inertia[0, j] + h * (twist[1] * inertia[2, j] - twist[2] * inertia[1, j])
        A[1, j] = inertia[1, j] + h * (twist[2] * inertia[0, j] - twist[0] * inertia[2, j])
        A[2, j] = inertia[2, j] + h * (twist[0] * inertia[1, j] - twist[1] * inertia[0, j])
    A[0, 1] += h * own[2]
    A[0, 2] -= h * own[1]
    A[1, 0] -= h * own[2]
    A[1, 2] += h * own[0]
    A[2, 0] += h * own[1]
    A[2, 1] -= h * own[0]
    turn[0] = step * (twist[2] * own[1] - twist[1] * own[2])
    turn[1] = step * (twist[0] * own[2] - twist[2] * own[0])
    turn[2] = step * (twist[1] * own[0] - twist[0] * own[1])
    # by Cramer's rule: A is an inertia, but for a part of order h
    x = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    y = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    z = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    whole, trace = A[0, 0] * x + A[0, 1] * y + A[0, 2] * z, inertia[0, 0] + inertia[1, 1] + inertia[2, 2]
    if whole <= FLAT * trace * trace * trace:
        return
    per = 1.0 / whole
    after[0] += per * (
        x * turn[0] + (A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2]) * turn[1] + (A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1]) * turn[2]
    )
    after[1] += per * (
        y * turn[0] + (A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]) * turn[1] + (A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2]) * turn[2]
    )
    after[2] += per * (
        z * turn[0] + (A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1]) * turn[1] + (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]) * turn[2]
    )
