"""Motion with held points: their forces, accelerations, projection onto the surfaces, and what is observed of the points.

Every held point has three rows, along n, e₁ and e₂ of its `HeldEnd`. Λ, the accelerations of all rows per unit force of each,
may come from either method; the normal forces follow from A f_n = −(free accelerations) with A = Λ_nn − Λ_nt t K, where t is
the direction of sliding. These are N eq. 20-22 with ‖∂C/∂r‖ = 1, for several points at once.

The method here is that of articulated bodies: the rows of points and those of loops, propagated inwards through ABA, O(n) for
each. Neither M nor J is formed, and the mechanism may have loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..dynamics import Acting, Row, chord_closings, constraint_rows, link_motions, projected
from ..dynamics.aba import accelerations, articulated
from ..dynamics.loops.chord_forces import with_chord_drives
from ..dynamics.loops.constraints import mobilities, propagate_rows, solved_rows, with_forces
from ..dynamics.motion import falling
from ..errors import InputError
from ..model import Tree
from ..renamed import of_papers
from ..scalar import Scalar, Scalars, absolute, is_zero, loop, maximum, select, sqrt, tanh
from ..spatial import SparseFactors, dot, nearest_solution
from .point import SLIDING_SPEED, HeldEnd, HeldPoints, slide

#: Damping of Λ in implicit steps, relative to the inverse of the mechanism's mass (see `dynamics.loops.multipliers.DAMPING`).
DAMPING = 1e-9
#: The maximum number of iterations for the friction of implicit steps; the relative change at which they stop; and the
#: number of Newton steps for one point's speed in each iteration.
SWEEPS, SETTLED, NEWTON_STEPS = 30, 1e-9, 8


@dataclass(frozen=True)
class HeldSystem:
    """The linear equations of the rows of held points at one state, three rows per point: n, e₁, e₂."""

    ends: Sequence[HeldEnd]  # the points at this state
    Lambda: Sequence[Scalars]  # the accelerations per unit force of each row, with all loops closed
    free: Scalars  # the accelerations with the forces of all rows zero [m/s²]
    accelerations: Callable[[Scalars], list[Scalar]]  # v̇ (nv) as a function of the forces of all rows


@dataclass(frozen=True)
class HeldForces:
    """The forces that hold the points, one entry per point."""

    normal: list[Scalar]  # f_n along the surface's normal [N]; negative where the point is pulled towards the surface
    friction: list[tuple[Scalar, Scalar]]  # along e₁ and e₂ [N]

    @property
    def by_row(self) -> list[Scalar]:
        """The forces of all rows."""
        return [f for n, t in zip(self.normal, self.friction, strict=True) for f in (n, *t)]


def articulated_rows(tree: Tree, points: HeldPoints, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> HeldSystem:
    """The equations of the held points with the loops closed; arguments as for `kumitate.dynamics.aba_with_loops`."""
    motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
    ends = points.ends(tree, q, v, motions)
    loops = constraint_rows(tree, closings, q, v, motions, implicit_step=acting.implicit_step, resisting=acting.loop_resisting)
    pushed = with_chord_drives(tree, closings, acting)
    handles = articulated(tree, motions, q, v, tau, pushed)
    held = [row for end in ends for row in end.rows]
    reached = propagate_rows(tree, motions, handles, [*loops, *held], falling(acting.gravity))
    mobility, count = mobilities(reached), len(loops)
    own = [row[:count] for row in mobility[:count]]
    coupling = [row[:count] for row in mobility[count:]]  # of the loops' rows and the held rows

    def answer(wanted: Scalars) -> list[Scalar]:
        return solved_rows(tree, loops, own, wanted) if loops else []

    alpha = acting.baumgarte
    decay = [alpha * (2.0 * row.rate + alpha * row.error) for row in loops]
    # the loops' forces with those of the held points zero,
    at_rest = answer([-(reach.free + more) for reach, more in zip(reached, decay, strict=False)])
    answers = [answer([-x for x in row]) for row in coupling]  # and their change per unit force of each held row
    Lambda = [
        [mobility[count + i][count + j] + dot(coupling[i], answers[j]) for j in range(len(held))] for i in range(len(held))
    ]
    free = [reach.free + dot(row, at_rest) for reach, row in zip(reached[count:], coupling, strict=True)]

    def moved(forces: Scalars) -> list[Scalar]:
        loop_forces = [f + dot((a[k] for a in answers), forces) for k, f in enumerate(at_rest)]
        released = with_forces(handles, reached, [*loop_forces, *forces])
        found = accelerations(tree, motions, released, acting.gravity)
        return [rate for link in tree.links for rate in found[link][1]]

    return HeldSystem(ends, Lambda, free, moved)


#: The methods for the equations of held points, by name: articulated bodies, and the extended Newton-Euler method.
HELD_METHODS: dict[str, Callable[..., HeldSystem]] = {"rows": articulated_rows}


def check_method(name: Any) -> None:
    """Refuses an unknown method by an InputError that lists the known ones."""
    if not isinstance(name, str) or name not in HELD_METHODS:
        raise InputError(f"there is no held_method {name!r}; there are {', '.join(HELD_METHODS)}{of_papers(name)}")


@dataclass(frozen=True)
class HeldDynamics:
    """The held points of a mechanism, and the method that computes their forces.

    Attributes:
        points: the held points of the mechanism.
        method: a name in `HELD_METHODS`.

    Raises:
        InputError: for an unknown method.
    """

    points: HeldPoints
    method: str = "rows"

    def __post_init__(self) -> None:
        check_method(self.method)

    def accelerations(self, tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> tuple[list[Scalar], Scalar]:
        """v̇ (nv) with the held points, and the power of their friction [W].

        Args:
            tree: of the mechanism, or its base-parameter tree; q, v, tau: as for `kumitate.dynamics.aba_with_loops`.
            acting: everything that acts apart from the drives of joints. With an implicit step the friction is implicit too;
                gaps decay at the same rate as loop errors.
        """
        system = self.system(tree, q, v, tau, acting)
        forces = held_forces(tree, system, implicit_step=acting.implicit_step, baumgarte=acting.baumgarte)
        return system.accelerations(forces.by_row), friction_power(system.ends, forces)

    def observed(self, tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> dict[str, list[Any]]:
        """The observed quantities of every point, with friction by its current sliding velocity.

        Returns:
            "normal": f_n [N]; "friction": (3) along the surface [N]; "gap": from the surface [m], "opening": its rate [m/s];
            "position": (3) [m]; "velocity": (3) [m/s]. Vectors are in the axes of the world.
        """
        system = self.system(tree, q, v, tau, acting)
        forces = held_forces(tree, system)
        found: dict[str, list[Any]] = {key: [] for key in ("normal", "friction", "gap", "opening", "position", "velocity")}
        for end, f_n, (x, y) in zip(system.ends, forces.normal, forces.friction, strict=True):
            friction = end.axes[1] * x + end.axes[2] * y
            values = (f_n, list(friction), end.gap, end.rows[0].rate, list(end.r), list(end.rate))
            for key, value in zip(found, values, strict=True):
                found[key].append(value)
        return found

    def projected(self, tree: Tree, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """q and v with the points on their surfaces and the loops closed, in the metric of the mass matrix.

        Two Newton steps for q, with quadratic convergence; the velocity component away from the surfaces is removed from v.
        """

        def rows(q: Scalars, v: Scalars) -> list[Row]:
            return self.points.rows(tree, q, v)

        nearer, _ = projected(tree, q, v, more=rows)
        return projected(tree, nearer, v, more=rows)

    def system(self, tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> HeldSystem:
        """The equations of the points' forces."""
        return HELD_METHODS[self.method](tree, self.points, q, v, tau, acting)


def held_forces(tree: Tree, system: HeldSystem, *, implicit_step: Scalar = 0.0, baumgarte: Scalar = 0.0) -> HeldForces:
    """The forces that make the accelerations of the points follow their surfaces, with friction |f_t| = K |f_n|.

    Args:
        implicit_step: with a step h > 0 [s], friction depends on the sliding velocity at the end of the step: it brings a
            point to rest, or lets it creep, for any step size. Zero uses the current velocity (N eq. 6).
        baumgarte: the rate [1/s] at which gaps decay.
    """
    ends = system.ends
    wanted = [-(system.free[3 * k] + baumgarte * (2.0 * end.rows[0].rate + baumgarte * end.gap)) for k, end in enumerate(ends)]
    sliding = _sliding(system, wanted)
    if is_zero(implicit_step) or not any(end.friction for end in ends):
        return sliding
    return _implicit(tree, system, wanted, sliding, implicit_step)


def friction_power(ends: Sequence[HeldEnd], forces: HeldForces) -> Scalar:
    """The power of the friction of all points [W]; it is never positive where friction opposes the sliding."""
    pairs = zip(ends, forces.friction, strict=True)
    return sum((f * x for end, force in pairs for f, x in zip(force, end.slip, strict=True)), 0.0)


def _sliding(system: HeldSystem, wanted: Scalars) -> HeldForces:
    """Forces for the current sliding velocity (N eq. 20-22)."""
    ends, Lambda = system.ends, system.Lambda
    count = len(ends)
    t = [slide(end.slip) for end in ends]
    across = [[Lambda[3 * k][3 * l] for l in range(count)] for k in range(count)]  # m_c of (15)
    along = [[dot(Lambda[3 * k][3 * l + 1 : 3 * l + 3], t[l]) for l in range(count)] for k in range(count)]  # dᵀ j_t of (20)
    f_n = _solved(across, wanted)
    if any(end.friction for end in ends):
        for _ in range(count):  # friction opposes the sliding for either sign of the normal force
            K = [select(f < 0.0, -end.friction, end.friction) for f, end in zip(f_n, ends, strict=True)]
            A = [[m - d * k for m, d, k in zip(*pair, K, strict=True)] for pair in zip(across, along, strict=True)]  # (21)
            f_n = _solved(A, wanted)  # (22)
    caps = [end.friction * absolute(f) for end, f in zip(ends, f_n, strict=True)]
    return HeldForces(f_n, [(-cap * x, -cap * y) for cap, (x, y) in zip(caps, t, strict=True)])


def _implicit(tree: Tree, system: HeldSystem, wanted: Scalars, start: HeldForces, h: Scalar) -> HeldForces:
    """Forces for the sliding velocity w at the end of the step.

    Friction −c w acts like a viscous damper, a row with compliance 1/(h c). The coefficient c = K |f_n| tanh(‖w‖/ṙ₀)/‖w‖ is
    found by alternately solving the equations of all points for given c, and the law of each point for its speed.
    """
    ends, Lambda, free = system.ends, system.Lambda, system.free
    count = len(ends)
    E = [[DAMPING / tree.mass if i == j else 0.0 for j in range(3 * count)] for i in range(3 * count)]
    right = [
        x for k, end in enumerate(ends) for x in (wanted[k], *(-(free[3 * k + i + 1] + w / h) for i, w in enumerate(end.slip)))
    ]

    def damping(caps: Scalars, speeds: Scalars) -> list[Scalar]:
        return [maximum(cap * _slope(x), 1e-9 * tree.mass / h) for cap, x in zip(caps, speeds, strict=True)]

    def nearer(_: Any, before: tuple[list[Scalar], list[Scalar], Scalar]) -> tuple[Any, None]:
        c, _, _ = before
        soft = [list(row) for row in Lambda]
        for i in range(3 * count):
            soft[i][i] = soft[i][i] + (1.0 / (h * c[i // 3]) if i % 3 else 0.0)
        forces = nearest_solution(soft, right, E)
        caps = [end.friction * absolute(f) for end, f in zip(ends, forces[::3], strict=True)]
        speeds = [_speed(Lambda, forces[3 * k + 1 : 3 * k + 3], k, h, c[k], cap) for k, cap in enumerate(caps)]
        better, change = damping(caps, speeds), 0.0
        for new, old in zip(better, c, strict=True):
            change = maximum(change, absolute(new / old - 1.0))
        return (better, forces, change), None

    caps = [end.friction * absolute(f) for end, f in zip(ends, start.normal, strict=True)]
    first = damping(caps, [_norm(end.slip) for end in ends])
    (_, forces, _), _ = loop(SWEEPS, nearer, (first, [0.0] * (3 * count), 1.0), while_=lambda now: now[2] > SETTLED)
    return HeldForces(forces[::3], list(zip(forces[1::3], forces[2::3], strict=True)))


def _speed(Lambda: Sequence[Scalars], s: Scalars, k: int, h: Scalar, c: Scalar, cap: Scalar) -> Scalar:
    """The speed x of point k at the end of the step, from x + hμ·cap·tanh(x/ṙ₀) = x₀, where μ is its mobility along s."""
    n, e = 3 * k, (3 * k + 1, 3 * k + 2)
    size = _norm(s)
    along = [part / size for part in s]
    across = dot([Lambda[n][i] for i in e], along)
    mobility = dot([dot([Lambda[i][j] for j in e], along) for i in e], along)
    mu = mobility - across * across / Lambda[n][n]  # with the normal force adapting
    x_0, push = size * (1.0 / c + h * mu), h * mu * cap
    x = maximum(x_0 - push, x_0 / (1.0 + push / SLIDING_SPEED))  # both are below the solution, and so are all Newton iterates
    for _ in range(NEWTON_STEPS):
        ratio = tanh(x / SLIDING_SPEED)
        x = x - (x + push * ratio - x_0) / (1.0 + push * (1.0 - ratio * ratio) / SLIDING_SPEED)
    return x


def _slope(speed: Scalar) -> Scalar:
    """tanh(x/ṙ₀)/x."""
    x = maximum(speed, 1e-9 * SLIDING_SPEED)
    return tanh(x / SLIDING_SPEED) / x


def _norm(pair: Scalars) -> Scalar:
    """‖(a, b)‖, never zero."""
    return sqrt(sum((x * x for x in pair), 0.0) + 1e-30)


def _solved(A: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """The x of A x = b by elimination without pivoting, as A is close to a positive definite matrix."""
    return SparseFactors.of({i: dict(enumerate(row)) for i, row in enumerate(A)}).solve(b)
