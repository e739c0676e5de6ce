"""An interior point method on the exact laws of an island, on the same block factors as Newton's method.

With x = (μ λ_n, λ_t) and z = ((u_n − b) / μ + |u_t|, u_t), Coulomb's laws are: x and z are in the second-order cone, x·z = 0
(De Saxcé and Feng 1998; b is the least normal velocity). They are approached along x∘z = τ m, m being a point's mass, by
Mehrotra's predictor and corrector with the scaling of Nesterov and Todd (1997). |u_t| is √(u_t² + ε²) − ε, with ε → 0 as τ → 0:
in the end nothing is softened. The number of iterations hardly depends on the guess, and redundant points do no harm.
"""

from __future__ import annotations

import math

from ....procedure import Shaped, local, procedure
from ..arrays import BlockFactors, Islands, MovingBodies, ScenePoints, SolverSpace
from .articulated import forget_links, go_on, solve_twists
from .assembly import assemble, change_of, inertial
from .blocks import factor
from .cone_scaling import divided, product, scale_point, step_to_cone
from .laws import add_wrench, move, onto_cone, residual

__all__ = ["interior_point"]

#: The start is moved into the cones by this part of the fastest velocity.
INSIDE = 0.1
#: A step goes this part of the way to the boundary of the cones.
SHORT = 0.99
#: ε of a sticking point, as a multiple of √τ; of a sliding one it is smaller by √τ / |u_t|.
ROUNDING = 0.3
#: The rounds end when √τ is below this part of the fastest velocity: the rest is for Newton steps, which converge faster there.
END = 1e-5
#: Below this friction a point has only a normal law.
SMOOTH = 1e-6
#: After a step shorter than this the next one only centers, and follows |u_t| half as much.
CRAMPED = 0.2
#: How much of the derivative of |u_t| the directions follow at first. With all of it the matrix is not symmetric and becomes
#: singular where the path turns back; with none of it every step is that of a convex problem, but needs more of them.
FOLLOWED = 0.8
#: Four steps shorter than this in a row end the iteration.
STALLED = 1e-2


@procedure
def interior_point(
    island: int, rounds: int, enough: float, fastest: float, bodies: MovingBodies, islands: Islands, points: ScenePoints,
    factors: BlockFactors, trial: SolverSpace,
) -> float:  # fmt: skip
    """At most so many rounds from the impulses of the points.

    Returns the residual [m/s]. Rounds end when √τ, an estimate of it, is below `enough` [m/s] or END of the fastest.
    """
    _begin(island, INSIDE * max(fastest, 1e-3), islands, points, trial)
    follow, share, stalls, end = FOLLOWED, 1.0, 0, max(enough, END * fastest)
    for _ in range(rounds):
        tau = _tau(island, 0.0, islands, points, trial)
        if tau <= end * end or stalls >= 4:
            break
        _scale(island, math.sqrt(tau), follow, islands, points, trial)
        assemble(island, bodies, islands, points, factors, trial)
        factor(factors.count[0], factors)
        if share < CRAMPED:  # the last step met the boundary: away from it first
            _direction(island, tau, 0.0, bodies, islands, points, factors, trial)
        else:
            _direction(island, 0.0, 0.0, bodies, islands, points, factors, trial)
            ahead = min(1.0, _longest(island, islands, points, trial))
            center = _tau(island, ahead, islands, points, trial) / tau
            for at in range(islands.first_point[island], islands.first_point[island + 1]):
                _second(islands.points[at], trial)
            _direction(island, center * center * center * tau, 1.0, bodies, islands, points, factors, trial)
        share = min(1.0, SHORT * _longest(island, islands, points, trial))
        _go(island, share, bodies, islands, points, factors, trial)
        stalls = stalls + 1 if share < STALLED else 0
        follow *= 0.5 if share < CRAMPED else 1.0
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        _impulse(points, trial, c, points.impulse[c])
        onto_cone(points.impulse[c], points.friction[c])
    move(island, bodies, islands, points)
    return residual(island, islands, points, trial)


@procedure
def _begin(island: int, inside: float, islands: Islands, points: ScenePoints, trial: SolverSpace) -> None:
    """x and z of the impulses and speeds, moved into the cones; hardly any friction is taken for zero."""
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        x, z, mu = trial.x[c], trial.z[c], points.friction[c]
        for k in range(3):
            x[k] = points.impulse[c, k]
            z[k] = points.speed[c, k]
            trial.dx[c, k] = 0.0
            trial.dz[c, k] = 0.0
        z[0] -= points.target[c]
        if mu < SMOOTH:
            for k in range(1, 3):
                x[k] = 0.0
                z[k] = 0.0
        else:
            x[0] *= mu
            z[0] = z[0] / mu + math.sqrt(z[1] * z[1] + z[2] * z[2])
        x[0] = max(x[0], math.sqrt(x[1] * x[1] + x[2] * x[2])) + inside * points.mass[c]
        z[0] = max(z[0], math.sqrt(z[1] * z[1] + z[2] * z[2])) + inside


@procedure
def _impulse(points: ScenePoints, trial: SolverSpace, c: int, impulse: Shaped[3]) -> None:
    """λ of x."""
    mu = points.friction[c]
    impulse[0] = trial.x[c, 0] / mu if mu >= SMOOTH else trial.x[c, 0]
    impulse[1] = trial.x[c, 1]
    impulse[2] = trial.x[c, 2]


@procedure
def _tau(island: int, share: float, islands: Islands, points: ScenePoints, trial: SolverSpace) -> float:
    """The mean of x·z / m a share of the step ahead [m²/s²]."""
    total, first, last = 0.0, islands.first_point[island], islands.first_point[island + 1]
    for at in range(first, last):
        c = islands.points[at]
        along = 0.0
        for k in range(3):
            along += (trial.x[c, k] + share * trial.dx[c, k]) * (trial.z[c, k] + share * trial.dz[c, k])
        total += along * points.size[c]
    return max(total / float(last - first), 1e-30)


@procedure
def _scale(island: int, root: float, follow: float, islands: Islands, points: ScenePoints, trial: SolverSpace) -> None:
    """The scaling W, K = D⁻¹ W² A of dλ = push − K du, A of dz = A du + lack, and the lack of z; root: √τ.

    follow: how much of the derivative of |u_t| is in A.
    """
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        mu, W, K, lack = points.friction[c], trial.W[c], trial.K[c], trial.lack[c]
        scale_point(trial.x[c], trial.z[c], W)
        ux, uy = points.speed[c, 1], points.speed[c, 2]
        epsilon = ROUNDING * root * root / (root + math.sqrt(ux * ux + uy * uy))
        length = math.sqrt(ux * ux + uy * uy + epsilon * epsilon)
        trial.slope[c, 0] = follow * ux / length
        trial.slope[c, 1] = follow * uy / length
        first = 1.0 / mu if mu >= SMOOTH else 1.0
        lack[0] = first * (points.speed[c, 0] - points.target[c]) - trial.z[c, 0]
        for i in range(3):
            of_x = W[i, 0] * W[0, 0] + W[i, 1] * W[0, 1] + W[i, 2] * W[0, 2]
            K[i, 0] = first * of_x
            for j in range(1, 3):
                K[i, j] = 0.0
                lack[j] = 0.0
                if mu >= SMOOTH:
                    of_j = W[i, 0] * W[j, 0] + W[i, 1] * W[j, 1] + W[i, 2] * W[j, 2]
                    K[i, j] = of_x * trial.slope[c, j - 1] + of_j
                    lack[j] = points.speed[c, j] - trial.z[c, j]
            if mu < SMOOTH and i > 0:
                K[i, 0] = 0.0
        for j in range(3):
            K[0, j] *= first
        if mu >= SMOOTH:
            lack[0] += length - epsilon


@procedure
def _direction(
    island: int, tau: float, seconds: float, bodies: MovingBodies, islands: Islands, points: ScenePoints, factors: BlockFactors,
    trial: SolverSpace,
) -> None:  # fmt: skip
    """dx, dz and the changes of twists towards x∘z = τ m; `seconds`: 1 to correct by the products of the predictor's steps."""
    total = local(3)
    for node in range(factors.count[0]):
        inertial(bodies, factors.unit[node], trial.effort[node])
    forget_links(island, bodies.robots, islands, factors, trial.effort)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        _push(c, tau * points.mass[c], seconds, points, trial)
        _impulse(points, trial, c, total)
        for k in range(3):
            total[k] += trial.base[c, k]
        add_wrench(points.frame[c], points.lever_a[c], total, 1.0, trial.effort[factors.node[points.body[c, 0]]])
        if points.body[c, 1] >= 0:
            add_wrench(points.frame[c], points.lever_b[c], total, -1.0, trial.effort[factors.node[points.body[c, 1]]])
    solve_twists(island, bodies.robots, islands, factors, trial.effort)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        du, dx, dz, mu = trial.aim[c], trial.dx[c], trial.dz[c], points.friction[c]
        change_of(points, factors, trial.effort, c, du)
        for k in range(3):
            dx[k] = trial.base[c, k] - trial.K[c, k, 0] * du[0] - trial.K[c, k, 1] * du[1] - trial.K[c, k, 2] * du[2]
            dz[k] = trial.lack[c, k]
        if mu >= SMOOTH:
            dx[0] *= mu
            dz[0] += du[0] / mu + trial.slope[c, 0] * du[1] + trial.slope[c, 1] * du[2]
            dz[1] += du[1]
            dz[2] += du[2]
        else:
            dz[0] += du[0]


@procedure
def _push(c: int, wanted: float, seconds: float, points: ScenePoints, trial: SolverSpace) -> None:
    """`trial.base` = D⁻¹ (W ρ − W² lack), with λ̄∘ρ = wanted e − λ̄∘λ̄ − second and λ̄ = W z."""
    W, z, base = trial.W[c], trial.z[c], trial.base[c]
    bar, d, rho = local(3), local(3), local(3)
    for i in range(3):
        bar[i] = W[i, 0] * z[0] + W[i, 1] * z[1] + W[i, 2] * z[2]
    product(bar, bar, d)
    for i in range(3):
        d[i] = -d[i] - seconds * trial.second[c, i]
    d[0] += wanted
    divided(bar, d, rho)
    lack = trial.lack[c]
    for i in range(3):
        rho[i] -= W[i, 0] * lack[0] + W[i, 1] * lack[1] + W[i, 2] * lack[2]
    for i in range(3):
        base[i] = W[i, 0] * rho[0] + W[i, 1] * rho[1] + W[i, 2] * rho[2]
    if points.friction[c] >= SMOOTH:
        base[0] /= points.friction[c]


@procedure
def _second(c: int, trial: SolverSpace) -> None:
    """The product (W⁻¹ dx)∘(W dz) of a step; W⁻¹ = J W J / η², η² = √(det W)^(2/3) of the scaling."""
    W, dx, dz, one, other = trial.W[c], trial.dx[c], trial.dz[c], local(3), local(3)
    per_square = 1.0 / (W[0, 0] * W[0, 0] - W[0, 1] * W[0, 1] - W[0, 2] * W[0, 2])
    for i in range(3):
        sign = per_square if i == 0 else -per_square
        one[i] = sign * (W[i, 0] * dx[0] - W[i, 1] * dx[1] - W[i, 2] * dx[2])
        other[i] = W[i, 0] * dz[0] + W[i, 1] * dz[1] + W[i, 2] * dz[2]
    product(one, other, trial.second[c])


@procedure
def _longest(island: int, islands: Islands, points: ScenePoints, trial: SolverSpace) -> float:
    """The longest step that keeps all x and z in the cones, at most 1 / SHORT."""
    share = 1.0 / SHORT
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        share = min(share, step_to_cone(trial.x[c], trial.dx[c]), step_to_cone(trial.z[c], trial.dz[c]))
    return share


@procedure
def _go(
    island: int, share: float, bodies: MovingBodies, islands: Islands, points: ScenePoints, factors: BlockFactors,
    trial: SolverSpace,
) -> None:  # fmt: skip
    """A share of the step: twists, speeds, x and z, which rounding must not take out of their cones."""
    go_on(island, share, bodies, islands, factors, trial.effort)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        x, z = trial.x[c], trial.z[c]
        for k in range(3):
            points.speed[c, k] += share * trial.aim[c, k]
            x[k] += share * trial.dx[c, k]
            z[k] += share * trial.dz[c, k]
        x[0] = max(x[0], math.sqrt(x[1] * x[1] + x[2] * x[2]) * (1.0 + 3e-14) + 1e-20)
        z[0] = max(z[0], math.sqrt(z[1] * z[1] + z[2] * z[2]) * (1.0 + 3e-14) + 1e-20)
