"""The motion of free bodies in a step: free of contact, after contact, and along a Runge-Kutta step where nothing touches.

Rotations are those of the body frame B; translations those of the center of mass, which moves straight. Efforts that follow
from the state are those of a program, evaluated before every step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dynamics.free_turning import turn_of
from ...procedure import Floats, Shaped, apply, apply_at, local, procedure
from ...procedure.called import later
from ...scalar import Scalar, trace
from ...spatial import Symmetric3, Vector3, quaternion_rotation
from .arrays import MovingBodies, Pulls, Rules, Scene
from .robots import place_robots


def _turn(step: Scalar, inertia: Any, twist: Any) -> list[Scalar]:
    omega = Vector3.of(twist[:3])
    return list(omega + turn_of(Symmetric3.of(inertia), omega, step, 0.5 * step))


_TURNED = trace(_turn, {"step": (), "inertia": (3, 3), "twist": 6}, name="turned_freely")
_ROTATION = trace(lambda q: [*map(list, quaternion_rotation(q).matrix())], {"q": 4}, name="rotation")


@procedure
def turned_freely(step: float, inertia: Shaped[3, 3], twist: Shaped[6], after: Shaped[3]) -> None:
    """The angular velocity after a step from that of `twist` without torque, in the axes of the body at its start."""
    apply(_TURNED, step, inertia, twist, after)


@procedure
def read_state(rules: Rules, bodies: MovingBodies, pulls: Pulls, q: Floats[7], v: Floats[6]) -> None:
    """Poses, inertias, and twists before the step; of free bodies also after it without contact. Robots keep their own."""
    for body in range(len(bodies.mass)):
        bodies.push[body] = 0.0
        if bodies.robots.link[body] < 0:
            _place(bodies, body, q[body], v[body])
    for k in range(len(pulls.body)):
        body = pulls.body[k]
        lever = bodies.turn[body] @ (pulls.at[k] - bodies.center[body])
        bodies.push[body, 0:3] += pulls.value[k, 0:3] + np.cross(lever, pulls.value[k, 3:6])
        bodies.push[body, 3:6] += pulls.value[k, 3:6]
    for body in range(len(bodies.mass)):
        if bodies.robots.link[body] < 0:
            _free(rules, bodies, body)
    place_robots(rules, bodies)


@later
def _place(bodies: MovingBodies, body: int, q: Shaped[7], v: Shaped[6]) -> None:
    """Pose and inertia in the world, [ω; v] of the center of mass there from that of B's origin, and the push of the drives."""
    turn, center, base, effort = bodies.turn[body], bodies.center[body], bodies.base_turn[body], bodies.effort[body]
    _turn_to_world(base, q[0:4], turn)
    bodies.place[body] = bodies.base_place[body] + base @ q[4:7] + turn @ center
    half = turn @ bodies.central[body]
    bodies.inertia[body] = half @ turn.T
    half[:] = turn @ bodies.yielding[body]
    bodies.mobility[body] = half @ turn.T
    bodies.before[body, 0:3] = turn @ v[0:3]
    bodies.before[body, 3:6] = turn @ (v[3:6] + np.cross(v[0:3], center))
    bodies.push[body, 0:3] = turn @ (effort[0:3] - np.cross(center, effort[3:6]))
    bodies.push[body, 3:6] = turn @ effort[3:6]


@procedure
def _turn_to_world(base: Shaped[3, 3], quaternion: Shaped[4], turn: Shaped[3, 3]) -> None:
    """base R_AB of the orientation (x, y, z, w) of B in A."""
    R = local(3, 3)
    apply(_ROTATION, quaternion, R)
    turn[:] = base @ R


@later
def _free(rules: Rules, bodies: MovingBodies, body: int) -> None:
    """The twist after a step without contact."""
    twist, push, spin = bodies.before[body], bodies.push[body], local(3)
    turned_freely(rules.step, bodies.inertia[body], twist, spin)
    bodies.free[body, 0:3] = spin + rules.step * (bodies.mobility[body] @ push[0:3])
    bodies.free[body, 3:6] = twist[3:6] + rules.step * (rules.gravity[0:3] + push[3:6] / bodies.mass[body])


@later
def moved(rules: Rules, bodies: MovingBodies, body: int, smooth: bool, q: Shaped[7], v: Shaped[6]) -> None:
    """The state after a step with the twist `after` all along it (Moreau 1988), but for what a body's own spin turns.

    It turns with the angular velocity in the middle of the step after the impulses: pushes, then free motion, in turn. If the
    step is `smooth`, it moves with the mean of the twists before springs act and after (`impulse.splitting`).
    """
    turn, twist, along = bodies.turn[body], bodies.after[body], local(6)
    if smooth:
        turned_freely(rules.step, bodies.inertia[body], bodies.before[body], along[0:3])
        along[0:3] = 0.5 * (along[0:3] + twist[0:3])
        along[3:6] = 0.5 * (bodies.before[body, 3:6] + twist[3:6])
    else:
        turned_freely(0.5 * rules.step, bodies.inertia[body], twist, along[0:3])
        along[3:6] = twist[3:6]
    v[0:3] = turn.T @ twist[0:3]
    angle = rules.step * (turn.T @ along[0:3])
    bodies.place[body] += rules.step * along[3:6]
    square = angle @ angle
    part, w = 0.5 - square / 48.0, 1.0 - square / 8.0
    if square > 1e-12:
        length = math.sqrt(square)
        part, w = math.sin(0.5 * length) / length, math.cos(0.5 * length)
    angle *= part
    real = q[3] * w - angle @ q[0:3]
    q[0:3] = q[3] * angle + w * q[0:3] + np.cross(q[0:3], angle)
    q[3] = real
    _settle(bodies, body, q, v)


@procedure
def _settle(bodies: MovingBodies, body: int, q: Shaped[7], v: Shaped[6]) -> None:
    """Completes a state: the quaternion to unit length, B's origin and its velocity from those of the center of mass.

    The angular part of v and the quaternion are given, the others are in `bodies.place` and the last half of `after`.
    """
    turn, base, center = local(3, 3), bodies.base_turn[body], bodies.center[body]
    q[0:4] *= 1.0 / math.sqrt(q[0:4] @ q[0:4])
    _turn_to_world(base, q[0:4], turn)
    origin = bodies.place[body] - turn @ center - bodies.base_place[body]
    q[4:7] = base.T @ origin
    v[3:6] = turn.T @ bodies.after[body, 3:6] - np.cross(v[0:3], center)


@later
def flown(rules: Rules, bodies: MovingBodies, body: int, q: Shaped[7], v: Shaped[6]) -> None:
    """The state after a step of a body that nothing touches: its spin by the classical Runge-Kutta method of order four."""
    h, start, state, slope, total, turns = rules.step, local(7), local(7), local(7), local(7), False
    for k in range(3):
        turns = turns or bodies.push[body, k] != 0.0 or v[k] != 0.0
    start[0:4] = q[0:4]
    start[4:7] = v[0:3]
    state[:] = start
    if turns:
        for stage in range(4):
            _spin(bodies, body, state, slope)
            total += (h / 6.0 if stage == 0 or stage == 3 else h / 3.0) * slope
            state[:] = start + (0.5 * h if stage < 2 else h) * slope
    q[0:4] += total[0:4]
    v[0:3] += total[4:7]
    # exact, as the force is constant
    bodies.place[body] += 0.5 * h * (bodies.before[body, 3:6] + bodies.free[body, 3:6])
    bodies.after[body, 3:6] = bodies.free[body, 3:6]
    _settle(bodies, body, q, v)


@procedure
def _spin(bodies: MovingBodies, body: int, state: Shaped[7], slope: Shaped[7]) -> None:
    """The rates of the quaternion and of ω in the axes of B, under a torque that is constant in the world (Euler)."""
    turn, omega = local(3, 3), state[4:7]
    _turn_to_world(bodies.base_turn[body], state[0:4], turn)
    spin = bodies.central[body] @ omega
    torque = turn.T @ bodies.push[body, 0:3] - np.cross(omega, spin)
    slope[0:3] = 0.5 * (state[3] * omega + np.cross(state[0:3], omega))
    slope[3] = -0.5 * (state[0:3] @ omega)
    slope[4:7] = bodies.yielding[body] @ torque


@procedure
def drive(scene: Scene, q: Floats[7], v: Floats[6]) -> None:
    """Evaluates the program of the efforts, if there is one, and writes its values to where they act.

    A step that lacks room is made again, so that the program must give the same values again, as compiled functions do.
    """
    efforts, motions = scene.efforts, scene.bodies.robots.motions
    if efforts.program[0] == 0:
        return
    bodies = len(q)
    for k in range(len(efforts.q)):
        at = efforts.place_q[k]
        efforts.q[k] = q[at // 7, at % 7] if at < 7 * bodies else motions.q[at - 7 * bodies]
    for k in range(len(efforts.v)):
        at = efforts.place_v[k]
        efforts.v[k] = v[at // 6, at % 6] if at < 6 * bodies else motions.v[at - 6 * bodies]
    time = efforts.number[0] * scene.rules.step
    apply_at(efforts.program[0], (time, efforts.q, efforts.v, efforts.held), (efforts.acting,))
    _spread(scene)


@procedure
def _spread(scene: Scene) -> None:
    """Writes u to where it acts."""
    efforts, bodies = scene.efforts, scene.bodies
    for k in range(len(efforts.bodies)):
        bodies.effort[k // 6, k % 6] = _at(efforts.acting, efforts.bodies[k])
    for k in range(len(efforts.pulls)):
        scene.pulls.value[k // 6, k % 6] = _at(efforts.acting, efforts.pulls[k])
    for k in range(len(efforts.robots)):
        bodies.robots.effort[k // 6, k % 6] = _at(efforts.acting, efforts.robots[k])
    for k in range(len(efforts.own)):
        bodies.robots.motions.u[k] = _at(efforts.acting, efforts.own[k])
    for k in range(len(efforts.commands)):
        bodies.robots.motions.commands[k] = _at(efforts.acting, efforts.commands[k])


@procedure
def _at(values: Floats, place: int) -> float:
    return values[place] if place >= 0 else 0.0
