"""An interior point method on the exact laws of an island, on the same block factors as Newton's method.

With x = (μ λ_n, λ_t) and z = ((u_n − b) / μ + |u_t|, u_t), Coulomb's laws are: x and z are in the second-order cone, x·z = 0
(De Saxcé and Feng 1998; b is the least normal velocity). They are approached along x∘z = τ m, m being a point's mass, by
Mehrotra's predictor and corrector with the scaling of Nesterov and Todd (1997). |u_t| is √(u_t² + ε²) − ε, with ε → 0 as τ → 0:
in the end nothing is softened. The number of iterations hardly depends on the guess, and redundant points do no harm.
"""

from __future__ import annotations

import math

from ....procedure import Ints, apply, at, over, procedure
from ... import tuned
from ...laws import CONE
from ..arrays import Island, SolverSpace
from ..points import relative
from .articulated import forget_links, go_on, solve_twists
from .assembly import assemble, inertial
from .blocks import factor
from .cone_laws import AIMED, SCALED, STEPPED
from .laws import move, push_bodies, residual


@procedure
def interior_point(island: Island, rounds: int, follow: float, end: float, good: float, inside: float, short: float) -> float:
    """At most so many rounds from the impulses of the points, until √τ, an estimate of the residual, is below `end` [m/s].

    follow: how much of the derivative of |u_t| the directions follow at first. With all of it the matrix is not symmetric and
    becomes singular where the path turns back; with none of it every step is that of a convex problem, but more are needed.

    good: a residual that ends it too [m/s], which takes a tenth of a round to know; 0: it is not looked at.
    inside: how far in the cones it begins [m/s]; short: four steps of less than this part of the way end it.

    Returns the residual [m/s].
    """
    factors, trial = island.factors, island.trial
    _begin(island, inside)
    share, stalls = 1.0, 0
    for _ in range(rounds):
        tau = _tau(island, 0.0)
        if tau <= end * end or stalls >= 4 or (tau < tuned.CLOSE * good * good and _projected(island) <= good):
            break
        _scale(island, math.sqrt(tau), follow)
        trial.did[0] += 1
        assemble(island)
        factor(factors.count[0], factors)
        if share < tuned.CRAMPED:  # the last step met the boundary: away from it first
            share = _direction(island, tau, 0.0)
        else:
            ahead = min(1.0, _direction(island, 0.0, 0.0))
            center = _tau(island, ahead) / tau
            share = _direction(island, center * center * center * tau, 1.0)
        share = min(1.0, tuned.SHORT * share)
        _go(island, share)
        stalls = stalls + 1 if share < short else 0
        follow *= 0.5 if share < tuned.CRAMPED else 1.0
    return _projected(island)


@procedure
def _projected(island: Island) -> float:
    """Takes x as the impulses of the points; returns the residual of these."""
    points, trial = island.points, island.trial
    for c in island.listed:
        mu = points.friction[c]
        points.impulse[c] = trial.x[c]
        points.impulse[c, 0] = trial.x[c, 0] / mu if mu >= tuned.SMOOTH else trial.x[c, 0]
        apply(CONE, points.impulse[c], points.friction[c], points.impulse[c])
    move(island)
    return residual(island)


@procedure
def _begin(island: Island, inside: float) -> None:
    """x and z of the impulses and speeds, moved into the cones; hardly any friction is taken for zero."""
    points, trial = island.points, island.trial
    for c in island.listed:
        x, z, mu = trial.x[c], trial.z[c], points.friction[c]
        x[:] = points.impulse[c]
        z[:] = points.speed[c]
        trial.dx[c] = 0.0
        trial.dz[c] = 0.0
        trial.second[c] = 0.0  # what another solve left here may not be a number
        z[0] -= points.target[c]
        if mu < tuned.SMOOTH:
            x[1:3] = 0.0
            z[1:3] = 0.0
        else:
            x[0] *= mu
            z[0] = z[0] / mu + math.sqrt(z[1] * z[1] + z[2] * z[2])
        x[0] = max(x[0], math.sqrt(x[1] * x[1] + x[2] * x[2])) + inside * points.mass[c]
        z[0] = max(z[0], math.sqrt(z[1] * z[1] + z[2] * z[2])) + inside


@procedure
def _tau(island: Island, share: float) -> float:
    """The mean of x·z / m a share of the step ahead [m²/s²]."""
    points, trial = island.points, island.trial
    total = 0.0
    for c in island.listed:
        total += (trial.x[c] + share * trial.dx[c]) @ (trial.z[c] + share * trial.dz[c]) * points.size[c]
    return max(total / float(len(island.listed)), 1e-30)


@procedure
def _give(which: Ints, first: float, second: float, trial: SolverSpace) -> None:
    """Gives two numbers to all these points: `over` takes nothing that its rows share."""
    for c in which:
        trial.given[c, 0] = first
        trial.given[c, 1] = second


@procedure
def _scale(island: Island, root: float, follow: float) -> None:
    """The linearised laws of the points; root: √τ, follow: how much of the derivative of |u_t| is in them."""
    points, trial = island.points, island.trial
    which = island.listed
    _give(which, root, follow, trial)
    over(
        SCALED, len(which), at(points.friction, which), at(points.target, which), at(points.speed, which), at(trial.x, which),
        at(trial.z, which), at(trial.given, which), at(trial.K, which), at(trial.W, which), at(trial.slope, which),
        at(trial.lack, which),
    )  # fmt: skip


@procedure
def _direction(island: Island, tau: float, seconds: float) -> float:
    """dx, dz and the changes of twists towards x∘z = τ m; returns the longest step that keeps all in the cones.

    seconds: 1 to correct by the products of the predictor's steps.
    """
    bodies, points, factors, trial = island.bodies, island.points, island.factors, island.trial
    which = island.listed
    _give(which, tau, seconds, trial)
    over(
        AIMED, len(which), at(points.friction, which), at(points.mass, which), at(trial.x, which), at(trial.z, which),
        at(trial.W, which), at(trial.lack, which), at(trial.second, which), at(trial.given, which), at(trial.base, which),
        at(trial.aim, which),
    )  # fmt: skip
    for node in range(factors.count[0]):
        inertial(bodies, factors.unit[node], trial.effort[node])
    forget_links(island, trial.effort)
    for c in which:
        push_bodies(points, c, trial.aim[c], trial.effort, points.node[c, 0], points.node[c, 1])
    solve_twists(island, trial.effort)
    for c in which:
        relative(points, c, trial.effort, points.node[c, 0], points.node[c, 1], trial.aim[c])
    over(
        STEPPED, len(which), at(points.friction, which), at(trial.K, which), at(trial.base, which), at(trial.slope, which),
        at(trial.lack, which), at(trial.aim, which), at(trial.x, which), at(trial.z, which), at(trial.W, which),
        at(trial.dx, which), at(trial.dz, which), at(trial.second, which), at(trial.share, which),
    )  # fmt: skip
    share = 1.0 / tuned.SHORT
    for c in which:
        share = min(share, trial.share[c])
    return share


@procedure
def _go(island: Island, share: float) -> None:
    """A share of the step: twists, speeds, x and z, which rounding must not take out of their cones."""
    points, trial = island.points, island.trial
    go_on(island, share, trial.effort)
    for c in island.listed:
        x, z = trial.x[c], trial.z[c]
        points.speed[c] += share * trial.aim[c]
        x += share * trial.dx[c]
        z += share * trial.dz[c]
        x[0] = max(x[0], math.sqrt(x[1] * x[1] + x[2] * x[2]) * (1.0 + 3e-14) + 1e-20)
        z[0] = max(z[0], math.sqrt(z[1] * z[1] + z[2] * z[2]) * (1.0 + 3e-14) + 1e-20)
