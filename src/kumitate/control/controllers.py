"""Controllers: functions tau = f(t, q, v) of a robot, traced into the step by `simulate`, combined like functions, limited.

A *reference* is the desired motion of the joints: constant coordinates (nq), or anything that is called with the time and has
`velocity` and `acceleration`, such as a `Spline`. Gains are numbers, arrays (nv), or functions of (t, q, v) that return these.

Controllers made of others pass on the inputs that these read, such as targets.

A controller reads an input of a simulation by a parameter of its name after (t, q, v). A combined one therefore has the further
parameters of all its parts, and gives each part its own.

Dynamics inside a controller: one call of a program while tracing, machine code when called with numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..compile import Kernel
from ..dynamics import chord_closings, chord_drives, constraint_rows, crba, link_motions, loop_jacobian, rnea, solve_symmetric
from ..errors import InputError
from ..kinematics import difference, jacobian, jacobian_rate, link_poses, place_pose
from ..model import Mechanism
from ..model.bounds import position_limits
from ..model.tree.traversal import with_limbs
from ..model.values import BOUND, NOT_NEGATIVE, POSITIVE, checked_array, checked_number
from ..scalar import Scalar, Scalars, active_scope, arrays, call, is_zero, maximum, table, trace
from ..spatial import Vector3, dot, nearest_solution, quaternion_log, quaternion_of, quaternion_product
from .paths import blend, smooth_clamp


class CompiledPage:
    """A function of arrays of scalars, traced once.

    Inside a controller that `simulate` traces, it is one call of its program, so that its code exists once in the step.
    Called with arrays of numbers, it runs as a compiled kernel, over batches too. It has one output.
    """

    def __init__(self, function: Callable[..., Any], inputs: Mapping[str, int | tuple[int, ...]], name: str):
        """`function` and `inputs` as in `kumitate.scalar.trace`; `name`: of the program."""
        self.program = trace(function, inputs, name)
        if len(self.program.outputs) != 1:
            raise ValueError(f"the page {name!r} has {len(self.program.outputs)} outputs; it needs one")

    def __call__(self, *arguments: Any) -> np.ndarray:
        """The output: an array of numbers, or of symbols while tracing."""
        if active_scope() is None:
            return self.kernel(*arguments)
        return np.array(call(self.program, *arguments), dtype=object)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledPage:
        return self  # it has no state

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled program."""
        return Kernel(self.program)


def mechanism_of(robot: Any) -> Mechanism:
    """The mechanism of a robot; a mechanism itself is returned unchanged, and anything else is a `TypeError`."""
    mechanism = getattr(robot, "mechanism", robot)
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"a controller is made for a Robot or a Mechanism, not for a {type(robot).__name__}")
    return mechanism


#: How many parameters come first: (t, q, v).
_FIRST = 3
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def signature_of(*parts: Any) -> inspect.Signature:
    """(t, q, v, *, ...) with the inputs that any of the functions among the parts reads; required where one requires it.

    Where two have another number by default, such as a gain, the whole has none: None.
    """
    first = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("t", "q", "v")]
    further: dict[str, inspect.Parameter] = {}
    for parameter in (one for part in parts if callable(part) for one in _further(part)):
        known = further.get(parameter.name)
        if known is None or parameter.default is parameter.empty:
            further[parameter.name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        elif known.default is not known.empty and not np.array_equal(known.default, parameter.default):
            further[parameter.name] = known.replace(default=None)
    return inspect.Signature([*first, *further.values()])


def evaluated(part: Callable[..., Any], t: Any, q: Any, v: Any, inputs: Mapping[str, Any]) -> Any:
    """The value of a controller at (t, q, v), with those of the inputs that it reads."""
    own = {one.name: inputs[one.name] for one in _further(part) if one.name in inputs} if inputs else {}
    return part(t, q, v, **own)


def _further(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that name inputs: those after the third."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[_FIRST:]
    except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        return []
    return [parameter for parameter in parameters if parameter.kind in _NAMED]


#: tau (nv) = f(t, q, v), where further parameters are inputs or gains by name.
Controller = Callable[..., Any]


def _forces_for(mechanism: Mechanism) -> Callable[[Any, Any, Any], Any]:
    """(q, v, v̇) → the joint forces, loops having no other forces than their springs and dampers."""
    tree = with_limbs(mechanism.base_parameter_tree)

    def forces(q: Any, v: Any, a: Any) -> Any:
        pushed = chord_drives(tree, chord_closings(tree, q, v), {}, None)
        return rnea(tree, q, v, a, gravity=mechanism.gravity, wrenches=pushed)

    return forces


def gravity_compensation(robot: Any) -> Controller:
    """The joint forces that hold the robot at rest in its posture, joint springs included."""
    mechanism = mechanism_of(robot)
    forces, still = _forces_for(mechanism), table([0.0] * mechanism.nv)
    page = CompiledPage(lambda q: forces(q, still, still), {"q": mechanism.nq}, f"gravity_forces_{mechanism.name}")
    return lambda t, q, v: page(q)


#: Damping of J Jᵀ per square of the mechanism's size: directions that the loops hardly constrain are left to the drives.
DAMPING_OF_LOOPS = 1e-12


def closed_gravity_compensation(robot: Any) -> Controller:
    """The joint forces of least norm that hold a mechanism with loops at rest in its posture.

    `gravity_compensation` holds the tree with zero loop forces: of two feet on the floor, one carries everything. The
    loops' forces λ are free, however, because drives and loops can work against each other: tau = g − Jᵀλ holds it with any λ,
    and with the same motion. This law takes the λ with the least tau, so that both legs share the load; springs are included.
    """
    mechanism = mechanism_of(robot)
    tree, nv = mechanism.base_parameter_tree, mechanism.nv

    def holding(q: Any) -> list[Scalar]:
        still = table([0.0] * nv)
        closings = chord_closings(tree, q, still)
        load = rnea(tree, q, still, still, gravity=mechanism.gravity, wrenches=chord_drives(tree, closings, {}, None))
        motions = link_motions(tree, q, still)
        rows = constraint_rows(tree, closings, q, still, motions)
        J = loop_jacobian(tree, motions, [row for row in rows if is_zero(row.softness)])
        A = [[dot(a, b) for b in J] for a in J]
        E = [[DAMPING_OF_LOOPS * tree.size**2 if i == j else 0.0 for j in range(len(J))] for i in range(len(J))]
        strengths = nearest_solution(A, [dot(row, load) for row in J], E, sweeps=1) if J else []
        return [load[k] - dot((row[k] for row in J), strengths) for k in range(nv)]

    page = CompiledPage(holding, {"q": mechanism.nq}, f"closed_gravity_{mechanism.name}")
    return lambda t, q, v: page(q)


def pd(robot: Any, reference: Any, *, kp: Any, kd: Any) -> Controller:
    """K_p (q_ref − q) + K_d (v_ref − v): springs and dampers at the joints (thesis eq. 6.6 for a constant reference).

    Add `gravity_compensation` by `total`. Gains that are numbers may be parameters of a simulation: "gain:kp".
    """
    mechanism = mechanism_of(robot)
    for name, gain in (("kp", kp), ("kd", kd)):
        if not callable(gain):
            checked_array(mechanism.name, name, gain, (mechanism.nv,))
    error = _error_page(mechanism)
    goal, goal_velocity, _ = _reference(mechanism, reference)

    def law(t: Any, q: Any, v: Any, kp: Any = kp, kd: Any = kd) -> Any:
        stiffness, damping = _gain(kp, t, q, v), _gain(kd, t, q, v)
        return stiffness * error(q, goal(t)) + damping * (goal_velocity(t) - np.asarray(v))

    return law


def computed_torque(robot: Any, reference: Any, *, kp: Any, kd: Any) -> Controller:
    """Inverse dynamics of the reference's acceleration plus PD feedback: the error obeys ë + K_d ė + K_p e = 0."""
    mechanism = mechanism_of(robot)
    wish = pd(mechanism, reference, kp=kp, kd=kd)
    *_, goal_acceleration = _reference(mechanism, reference)
    return inverse_dynamics(mechanism, lambda t, q, v, kp=kp, kd=kd: goal_acceleration(t) + wish(t, q, v, kp=kp, kd=kd))


def inverse_dynamics(robot: Any, acceleration: Controller) -> Controller:
    """The joint forces for an acceleration v̇ (nv) = f(t, q, v); for a mechanism with loops, those with zero loop forces."""
    mechanism = mechanism_of(robot)
    sizes = {"q": mechanism.nq, "v": mechanism.nv, "a": mechanism.nv}
    page = CompiledPage(_forces_for(mechanism), sizes, f"inverse_dynamics_{mechanism.name}")

    def law(t: Any, q: Any, v: Any, **inputs: Any) -> Any:
        return page(q, v, evaluated(acceleration, t, q, v, inputs))

    law.__signature__ = signature_of(acceleration)  # type: ignore[attr-defined]
    return law


def scheduled(robot: Any, gains: Mapping[str, Any], angle: Callable[[Any], Any], *, otherwise: Any = 0.0) -> Controller:
    """Gains (nv) that vary with the posture (thesis 6.3): for `kp` and `kd` of `pd`.

    Args:
        robot: the robot whose joints are named.
        gains: by the joint's name, a number, or a function of the angle such as a `Spline`.
        angle: α(q), such as `lambda q: q[0]`.
        otherwise: the gain of all joints that are not named.

    Raises:
        InputError: if a name is not that of a moving joint.
    """
    mechanism = mechanism_of(robot)
    columns = columns_of(mechanism, gains)

    def gain(t: Any, q: Any, v: Any) -> Any:
        alpha = angle(q)
        values: list[Any] = [otherwise] * mechanism.nv
        for name, item in gains.items():
            for k in columns[name]:
                values[k] = item(alpha) if callable(item) else item
        return _array(values)

    return gain


def total(*controllers: Any) -> Controller:
    """The sum of controllers, and of constants (nv); it reads the inputs that any of them reads."""
    if not controllers:
        raise InputError("a sum of no controllers drives nothing; give one or more")

    def law(t: Any, q: Any, v: Any, **inputs: Any) -> Any:
        parts = [np.asarray(evaluated(part, t, q, v, inputs) if callable(part) else part) for part in controllers]
        return sum(parts[1:], parts[0])

    law.__signature__ = signature_of(*controllers)  # type: ignore[attr-defined]
    return law


def undriven(robot: Any, joints: Sequence[str], controller: Controller) -> Controller:
    """The controller with zero force at joints that have no drive, such as a floating base.

    Raises:
        InputError: if a name is not that of a moving joint.
    """
    mechanism = mechanism_of(robot)
    free = {k for columns in columns_of(mechanism, joints).values() for k in columns}

    def law(t: Any, q: Any, v: Any, **inputs: Any) -> Any:
        tau = evaluated(controller, t, q, v, inputs)
        return _array([0.0 if k in free else tau[k] for k in range(mechanism.nv)])

    law.__signature__ = signature_of(controller)  # type: ignore[attr-defined]
    return law


def _array(values: Sequence[Any]) -> np.ndarray:
    """Numbers as numbers, symbols as objects."""
    array = np.array(values, dtype=object)
    return array.astype(float) if all(isinstance(x, float | int) for x in values) else array


def _gain(gain: Any, t: Any, q: Any, v: Any) -> Any:
    return np.asarray(gain(t, q, v) if callable(gain) else gain)


def columns_of(mechanism: Mechanism, names: Any) -> dict[str, range]:
    """The columns of v of each joint, by its name, which must be that of a moving joint."""
    known = {link.name: range(link.v_start, link.v_start + link.kind.nv) for link in mechanism.tree.links}
    for name in names:
        if name not in known:
            raise InputError(f"{mechanism.name}: {name!r} is not a moving joint; there are {', '.join(known)}")
    return {name: known[name] for name in names}


def _error_page(mechanism: Mechanism) -> Callable[[Any, Any], Any]:
    """(q, goal) → the dv (nv) that leads from q to the goal."""
    if mechanism.nq == mechanism.nv:
        return lambda q, goal: np.asarray(goal) - np.asarray(q)
    nq, name = mechanism.nq, f"difference_{mechanism.name}"
    return CompiledPage(lambda q, goal: difference(mechanism.tree, q, goal), {"q": nq, "goal": nq}, name)


def _reference(mechanism: Mechanism, given: Any) -> tuple[Callable[[Any], Any], ...]:
    """Position (nq), velocity (nv) and acceleration (nv) as functions of the time."""
    nq, nv = mechanism.nq, mechanism.nv
    if not callable(given):
        constant = checked_array(mechanism.name, "the reference", given)
        if constant.shape != (nq,):
            raise InputError(f"{mechanism.name}: the reference has shape {constant.shape}; it must have {nq} components")
        return (lambda t: constant), (lambda t: np.zeros(nv)), (lambda t: np.zeros(nv))
    for what, size in (("__call__", nq), ("velocity", nv), ("acceleration", nv)):
        found = np.shape(getattr(given, what, lambda t: ())(0.0))
        if found != (size,):
            raise InputError(
                f"{mechanism.name}: {what} of the reference gives the shape {found}; it must give {size} components"
            )
    return given, given.velocity, given.acceleration


def push(force: Sequence[float], shape: Callable[[Any], Any]) -> Controller:
    """A force that keeps its direction: a wrench [n; f] (6) without moment, for the `wrenches` of `simulate`.

    The key in `wrenches` is the body or frame at whose origin it acts.

    Args:
        force: (3) in the world [N].
        shape: the factor of the force at time t, such as `pulse(1.0, 1.1)`.

    Raises:
        InputError: if the force does not have three components.

    >>> push((-7.0, 0.0, 0.0), lambda t: 1.0)(1.05, None, None)
    array([ 0.,  0.,  0., -7.,  0.,  0.])
    """
    if len(force) != 3:
        raise InputError(f"a push has {len(force)} components; give a force of 3, in the axes of the world")
    wrench = np.array([0.0, 0.0, 0.0, *force])
    return lambda t, q, v: wrench * shape(t) + 0.0


# --- operational space control (Khatib 1987) --------------------------------------------------------------------------------
#: Damping of Λ⁻¹ = J M⁻¹ Jᵀ, relative to the inverse of the mechanism's mass: directions that move less easily are given up.
DAMPING_OF_MOBILITY = 1e-8


def operational_space(
    robot: Any,
    place: str,
    reference: Any,
    *,
    kp: Any,
    kd: Any,
    rows: Sequence[int] = (3, 4, 5),
    posture: Controller | None = None,
) -> Controller:
    """Moves a frame along a reference: ẍ = ẍ_ref + K_d ė + K_p e, by tau = Jᵀ Λ (ẍ − J̇v) + h and a posture in the null space.

    Args:
        robot: a tree, every joint driven.
        place: the body or frame.
        reference: a `PoseSpline`, or a constant pose (qx, qy, qz, qw, x, y, z) in the world.
        kp, kd: gains, one for all rows or one each [1/s², 1/s].
        rows: which of [ω; v] are controlled, in the axes of the world; the position by default, `range(6)` for the pose.
        posture: forces (nv) of a controller that acts in the null space; by default zero, apart from h.

    Near a singular posture the directions that cannot be moved are given up smoothly (a damped solve).

    Raises:
        InputError: if there is no such place, a row is not in 0 to 5, or the mechanism has loops.
    """
    mechanism = mechanism_of(robot)
    tree, chosen = mechanism.tree, list(rows)
    tree.place(place, f"{mechanism.name}: operational space control is of")
    if not chosen or not set(chosen) <= set(range(6)) or len(set(chosen)) < len(chosen):
        raise InputError(f"rows are {chosen}; name some of 0 to 5, each once: [ω; v]")
    if tree.closed:
        raise InputError(f"{mechanism.name}: operational space control is for trees; take the virtual loop's law for loops")
    stiffness, damping = (np.broadcast_to(np.asarray(gain, dtype=float), (len(chosen),)).tolist() for gain in (kp, kd))
    at = tree.places[place]

    def law(q: Any, v: Any, pose: Any, rate: Any, bend: Any, tau: Any) -> Any:
        v, pose, tau = list(v), list(pose), list(tau)
        X = place_pose(tree, link_poses(tree, q), at)
        J, J_rate = ([rows[i] for i in chosen] for rows in (jacobian(tree, q, at), jacobian_rate(tree, q, v, at)))
        error = _pose_error(X, pose)
        wished = [
            bend[i] + d * (rate[i] - dot(row, v)) + k * error[i] - dot(drift, v)
            for i, k, d, row, drift in zip(chosen, stiffness, damping, J, J_rate, strict=True)
        ]
        M = crba(tree, q)
        responses = [solve_symmetric(M, row) for row in J]
        mobility = [[dot(row, response) for response in responses] for row in J]
        easy = [[DAMPING_OF_MOBILITY * _scale(tree, i) if i == j else 0.0 for j in chosen] for i in chosen]
        free = [dot(response, tau) for response in responses]  # the frame's acceleration due to the posture alone
        forces = nearest_solution(mobility, [a - b for a, b in zip(wished, free, strict=True)], easy)
        bias = rnea(tree, q, v, table([0.0] * tree.nv), gravity=mechanism.gravity)
        return [h + t + dot((row[k] for row in J), forces) for k, (h, t) in enumerate(zip(bias, tau, strict=True))]

    sizes = {"q": mechanism.nq, "v": mechanism.nv, "pose": 7, "rate": 6, "bend": 6, "tau": mechanism.nv}
    page = CompiledPage(law, sizes, f"operational_space_{mechanism.name}_{place}")
    goal, goal_rate, goal_bend = _motion(reference)
    rest = np.zeros(mechanism.nv)
    return lambda t, q, v: page(q, v, goal(t), goal_rate(t), goal_bend(t), rest if posture is None else posture(t, q, v))


def _scale(tree: Any, row: int) -> float:
    """The mobility of a direction if the whole mass moved: 1/m, or 1/(m ℓ²) for rotations."""
    return 1.0 / (tree.mass * (tree.size**2 if row < 3 else 1.0))


def _pose_error(X: Any, pose: Scalars) -> list[Scalar]:
    """The rotation vector and the translation (6) from a pose to the desired one, in the axes of the world."""
    x, y, z, w = quaternion_of(X.rotation)
    turn = quaternion_log(quaternion_product(pose[:4], [-x, -y, -z, w]))
    return [*turn, *(Vector3.of(pose[4:7]) - X.translation)]


def _motion(reference: Any) -> tuple[Callable[[Any], Any], ...]:
    if callable(reference):
        return reference, reference.velocity, reference.acceleration
    constant = np.array(reference, dtype=float)
    if constant.shape != (7,) or abs(np.linalg.norm(constant[:4]) - 1.0) > 1e-6:
        raise InputError(f"the reference is {reference}; give (qx, qy, qz, qw, x, y, z) with a quaternion of unit length")
    return (lambda t: constant), (lambda t: np.zeros(6)), (lambda t: np.zeros(6))


# --- limits of torque, velocity and position around a controller; traceable -------------------------------------------------
def limited(robot: Any, controller: Controller, *, limits: Any = None, smooth: bool = False) -> Controller:
    """The controller with its forces kept within ±limits [N·m, N].

    Args:
        limits: one for all, or (nv); by default the joints' `Limits.effort`, unlimited where it is not given.
        smooth: saturate smoothly near the limit (`smooth_clamp`) instead of cutting off at it.

    Raises:
        InputError: if a limit is not positive.
    """
    mechanism = mechanism_of(robot)
    bounds = _bounds(mechanism, "effort", limits)
    free, finite = np.isinf(bounds), np.where(np.isinf(bounds), 1.0, bounds)

    def law(t: Any, q: Any, v: Any) -> Any:
        tau = np.asarray(controller(t, q, v))
        kept = smooth_clamp(tau, finite) if smooth else arrays.maximum(-finite, arrays.minimum(finite, tau))
        return np.where(free, tau, kept)

    return law


def speed_limited(robot: Any, controller: Controller, *, limits: Any = None, margin: float = 0.1) -> Controller:
    """The controller with forces that would accelerate a joint beyond ±limits [rad/s, m/s] faded out, as drives do.

    Forces along the velocity fall from full to zero over the last `margin` of the limit, by a fifth-order step; forces
    against it are unchanged. Other forces on the joint can still carry it beyond.

    Args:
        limits: one for all, or (nv); by default the joints' `Limits.velocity`, unlimited where it is not given.

    Raises:
        InputError: if a limit is not positive, or `margin` is not between 0 and 1.
    """
    mechanism = mechanism_of(robot)
    bounds = _bounds(mechanism, "velocity", limits)
    if not 0.0 < margin <= 1.0:
        raise InputError(f"margin is {margin}; it is a fraction of the limit, above 0 and up to 1")
    free, finite = np.isinf(bounds), np.where(np.isinf(bounds), 1.0, bounds)

    def law(t: Any, q: Any, v: Any) -> Any:
        tau, speed = np.asarray(controller(t, q, v)), np.asarray(v) / finite
        forward = np.array([maximum(0.0, x) for x in tau.tolist()])
        backward = tau - forward
        kept = forward * blend(speed, 1.0, 1.0 - margin) + backward * blend(-speed, 1.0, 1.0 - margin)
        return np.where(free, tau, kept)

    return law


def joint_stops(robot: Any, *, stiffness: Any, damping: Any = 0.0, width: float = 0.01) -> Controller:
    """Springs and dampers that push joints back into their position limits; add it to a controller by `total`.

    For simulations with `limits=False`: joints otherwise stop at their limits without give.

    The damping sets in over the first `width` [rad, m] beyond the limit, so that the force has no jump. Joints without
    limits, and those whose coordinates are not angles or lengths, have no stops.

    Args:
        stiffness: [N·m/rad, N/m], one for all or (nv); damping: [N·m·s/rad, N·s/m], likewise.

    Raises:
        InputError: if one of them is negative, or the width is not positive.
    """
    mechanism = mechanism_of(robot)
    k, d = (
        checked_array(mechanism.name, f"the {what} of joint stops", x, (mechanism.nv,), NOT_NEGATIVE)
        for what, x in (("stiffness", stiffness), ("damping", damping))
    )
    width = checked_number(mechanism.name, "the width of joint stops", width, POSITIVE, error=InputError)
    stops = list(position_limits(mechanism))

    def law(t: Any, q: Any, v: Any) -> Any:
        tau: list[Any] = [0.0] * mechanism.nv
        for i, j, lower, upper in stops:
            for bound, sign in ((upper, 1.0), (lower, -1.0)):
                if np.isfinite(bound):
                    over = maximum(0.0, sign * (q[i] - bound))
                    tau[j] = tau[j] - (sign * float(k[j]) * over + float(d[j]) * blend(over, 0.0, width) * v[j])
        return np.array(tau)

    return law


def _bounds(mechanism: Mechanism, what: str, given: Any) -> np.ndarray:
    """The bounds (nv), infinite where none is given."""
    if given is None:
        said = [getattr(limit, what) for joint in mechanism.joints for limit in joint.limits]
        bounds = np.array([np.inf if x is None else x for x in said], dtype=float)
    else:
        bounds = checked_array(mechanism.name, f"the limit of {what}", given, (mechanism.nv,), BOUND)
    if not (bounds > 0.0).all():
        worst = int(np.argmin(np.nan_to_num(bounds, nan=-np.inf)))
        raise InputError(
            f"{mechanism.name}: the limit of {what} of {mechanism.v_names[worst]!r} is {bounds[worst]}; it must be positive"
        )
    return bounds
