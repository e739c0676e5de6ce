"""The motion of free bodies in a step: free of contact, after contact, and along a Runge-Kutta step where nothing touches.

Rotations are those of the body frame B; translations those of the center of mass, which moves straight.
"""

from __future__ import annotations

import math
from typing import Any

from ...dynamics.settling.free_turning import turn_of
from ...procedure import Floats, Shaped, apply, local, procedure
from ...scalar import Scalar, trace
from ...spatial import Symmetric3, Vector3
from .arrays import MovingBodies, Pulls, Rules
from .robots import place_robots


def _turn(step: Scalar, inertia: Any, twist: Any) -> list[Scalar]:
    omega = Vector3.of(twist[:3])
    return list(omega + turn_of(Symmetric3.of(inertia), omega, step, 0.5 * step))


_TURNED = trace(_turn, {"step": (), "inertia": (3, 3), "twist": 6}, name="turned_freely")


@procedure
def turned_freely(step: float, inertia: Shaped[3, 3], twist: Shaped[6], after: Shaped[3]) -> None:
    """The angular velocity after a step from that of `twist` without torque, in the axes of the body at its start."""
    apply(_TURNED, step, inertia, twist, after)


@procedure
def read_state(rules: Rules, bodies: MovingBodies, pulls: Pulls, q: Floats[7], v: Floats[6]) -> None:
    """Poses, inertias, and twists before the step; of free bodies also after it without contact. Robots keep their own."""
    for body in range(len(bodies.mass)):
        if bodies.robots.link[body] < 0:
            _pose(bodies, body, q[body])
            _twist(bodies, body, v[body])
            _effort(bodies, body)
        else:
            for k in range(6):
                bodies.push[body, k] = 0.0
    for k in range(len(pulls.body)):
        body, at, value = pulls.body[k], pulls.at[k], pulls.value[k]
        lever = local(3)
        for i in range(3):
            for j in range(3):
                lever[i] += bodies.turn[body, i, j] * (at[j] - bodies.center[body, j])
        push = bodies.push[body]
        push[0] += value[0] + lever[1] * value[5] - lever[2] * value[4]
        push[1] += value[1] + lever[2] * value[3] - lever[0] * value[5]
        push[2] += value[2] + lever[0] * value[4] - lever[1] * value[3]
        for i in range(3):
            push[3 + i] += value[3 + i]
    for body in range(len(bodies.mass)):
        if bodies.robots.link[body] < 0:
            _free(rules, bodies, body)
    place_robots(rules, bodies)


@procedure
def _pose(bodies: MovingBodies, body: int, q: Shaped[7]) -> None:
    turn, own, base = bodies.turn[body], local(3, 3), bodies.base_turn[body]
    _rotation(q[0], q[1], q[2], q[3], own)
    for i in range(3):
        place = bodies.base_place[body, i]
        for j in range(3):
            turn[i, j] = base[i, 0] * own[0, j] + base[i, 1] * own[1, j] + base[i, 2] * own[2, j]
            place += base[i, j] * q[4 + j]
        bodies.place[body, i] = place + (
            turn[i, 0] * bodies.center[body, 0] + turn[i, 1] * bodies.center[body, 1] + turn[i, 2] * bodies.center[body, 2]
        )
    _turned(turn, bodies.central[body], bodies.inertia[body])
    _turned(turn, bodies.yielding[body], bodies.mobility[body])


@procedure
def _rotation(x: float, y: float, z: float, w: float, R: Shaped[3, 3]) -> None:
    """R_AB of the orientation (x, y, z, w) of B in A, as `spatial.quaternion_rotation`."""
    R[0, 0] = 1.0 - (2.0 * y * y + 2.0 * z * z)
    R[0, 1] = 2.0 * x * y - 2.0 * w * z
    R[0, 2] = 2.0 * x * z + 2.0 * w * y
    R[1, 0] = 2.0 * x * y + 2.0 * w * z
    R[1, 1] = 1.0 - (2.0 * x * x + 2.0 * z * z)
    R[1, 2] = 2.0 * y * z - 2.0 * w * x
    R[2, 0] = 2.0 * x * z - 2.0 * w * y
    R[2, 1] = 2.0 * y * z + 2.0 * w * x
    R[2, 2] = 1.0 - (2.0 * x * x + 2.0 * y * y)


@procedure
def _turned(R: Shaped[3, 3], own: Shaped[3, 3], turned: Shaped[3, 3]) -> None:
    """turned = R own Rᵀ."""
    half = local(3, 3)
    for i in range(3):
        for j in range(3):
            half[i, j] = R[i, 0] * own[0, j] + R[i, 1] * own[1, j] + R[i, 2] * own[2, j]
    for i in range(3):
        for j in range(3):
            turned[i, j] = half[i, 0] * R[j, 0] + half[i, 1] * R[j, 1] + half[i, 2] * R[j, 2]


@procedure
def _twist(bodies: MovingBodies, body: int, v: Shaped[6]) -> None:
    """[ω; v] of the center of mass in the world, from that of B's origin in its own axes."""
    center, turn, twist = bodies.center[body], bodies.turn[body], bodies.before[body]
    x = v[3] + v[1] * center[2] - v[2] * center[1]
    y = v[4] + v[2] * center[0] - v[0] * center[2]
    z = v[5] + v[0] * center[1] - v[1] * center[0]
    for i in range(3):
        twist[i] = turn[i, 0] * v[0] + turn[i, 1] * v[1] + turn[i, 2] * v[2]
        twist[3 + i] = turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z


@procedure
def _effort(bodies: MovingBodies, body: int) -> None:
    """The push of the drives."""
    center, turn, effort, push = bodies.center[body], bodies.turn[body], bodies.effort[body], bodies.push[body]
    x = effort[0] - center[1] * effort[5] + center[2] * effort[4]
    y = effort[1] - center[2] * effort[3] + center[0] * effort[5]
    z = effort[2] - center[0] * effort[4] + center[1] * effort[3]
    for i in range(3):
        push[i] = turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z
        push[3 + i] = turn[i, 0] * effort[3] + turn[i, 1] * effort[4] + turn[i, 2] * effort[5]


@procedure
def _free(rules: Rules, bodies: MovingBodies, body: int) -> None:
    """The twist after a step without contact."""
    twist, mobility, push, spin = bodies.before[body], bodies.mobility[body], bodies.push[body], local(3)
    turned_freely(rules.step, bodies.inertia[body], twist, spin)
    for i in range(3):
        rate = mobility[i, 0] * push[0] + mobility[i, 1] * push[1] + mobility[i, 2] * push[2]
        bodies.free[body, i] = spin[i] + rules.step * rate
        pulled = rules.gravity[i] + bodies.push[body, 3 + i] / bodies.mass[body]
        bodies.free[body, 3 + i] = twist[3 + i] + rules.step * pulled


@procedure
def moved(rules: Rules, bodies: MovingBodies, body: int, q: Shaped[7], v: Shaped[6]) -> None:
    """The state after a step with the twist `after` all along it (Moreau 1988), but for what a body's own spin turns.

    It turns with the angular velocity in the middle of the step after the impulses: pushes, then free motion, in turn.
    """
    turn, twist, angle, middle = bodies.turn[body], bodies.after[body], local(3), local(3)
    turned_freely(0.5 * rules.step, bodies.inertia[body], twist, middle)
    for i in range(3):
        v[i] = turn[0, i] * twist[0] + turn[1, i] * twist[1] + turn[2, i] * twist[2]
        angle[i] = rules.step * (turn[0, i] * middle[0] + turn[1, i] * middle[1] + turn[2, i] * middle[2])
        bodies.place[body, i] += rules.step * twist[3 + i]
    square = angle[0] * angle[0] + angle[1] * angle[1] + angle[2] * angle[2]
    part, w = 0.5 - square / 48.0, 1.0 - square / 8.0
    if square > 1e-12:
        length = math.sqrt(square)
        part = math.sin(0.5 * length) / length
        w = math.cos(0.5 * length)
    x, y, z = part * angle[0], part * angle[1], part * angle[2]
    qx, qy, qz, qw = q[0], q[1], q[2], q[3]
    q[0] = qw * x + qx * w + qy * z - qz * y
    q[1] = qw * y - qx * z + qy * w + qz * x
    q[2] = qw * z + qx * y - qy * x + qz * w
    q[3] = qw * w - qx * x - qy * y - qz * z
    _settle(bodies, body, q, v)


@procedure
def _settle(bodies: MovingBodies, body: int, q: Shaped[7], v: Shaped[6]) -> None:
    """Completes a state: the quaternion to unit length, B's origin and its velocity from those of the center of mass.

    The angular part of v and the quaternion are given, the others are in `bodies.place` and the last half of `after`.
    """
    scale = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for i in range(4):
        q[i] *= scale
    turn, own, base, center = local(3, 3), local(3, 3), bodies.base_turn[body], bodies.center[body]
    _rotation(q[0], q[1], q[2], q[3], own)
    for i in range(3):
        for j in range(3):
            turn[i, j] = base[i, 0] * own[0, j] + base[i, 1] * own[1, j] + base[i, 2] * own[2, j]
    origin, twist = local(3), bodies.after[body]
    for i in range(3):
        reach = turn[i, 0] * center[0] + turn[i, 1] * center[1] + turn[i, 2] * center[2]
        origin[i] = bodies.place[body, i] - reach - bodies.base_place[body, i]
    back = local(3)
    for i in range(3):
        q[4 + i] = base[0, i] * origin[0] + base[1, i] * origin[1] + base[2, i] * origin[2]
        back[i] = turn[0, i] * twist[3] + turn[1, i] * twist[4] + turn[2, i] * twist[5]
    v[3] = back[0] - (v[1] * center[2] - v[2] * center[1])
    v[4] = back[1] - (v[2] * center[0] - v[0] * center[2])
    v[5] = back[2] - (v[0] * center[1] - v[1] * center[0])


@procedure
def flown(rules: Rules, bodies: MovingBodies, body: int, q: Shaped[7], v: Shaped[6]) -> None:
    """The state after a step of a body that nothing touches: its spin by the classical Runge-Kutta method of order four."""
    h = rules.step
    state, slope, total = local(7), local(7), local(7)
    for i in range(4):
        state[i] = q[i]
    for i in range(3):
        state[4 + i] = v[i]
    for stage in range(4):
        _spin(bodies, body, state, slope)
        weight = h / 6.0 if stage == 0 or stage == 3 else h / 3.0
        ahead = 0.5 * h if stage < 2 else h
        for i in range(7):
            total[i] += weight * slope[i]
            state[i] = (q[i] if i < 4 else v[i - 4]) + ahead * slope[i]
    for i in range(4):
        q[i] += total[i]
    for i in range(3):
        v[i] += total[4 + i]
        # exact, as the force is constant
        speed, after = bodies.before[body, 3 + i], bodies.free[body, 3 + i]
        bodies.place[body, i] += 0.5 * h * (speed + after)
        bodies.after[body, 3 + i] = after
    _settle(bodies, body, q, v)


@procedure
def _spin(bodies: MovingBodies, body: int, state: Shaped[7], slope: Shaped[7]) -> None:
    """The rates of the quaternion and of ω in the axes of B, under a torque that is constant in the world (Euler)."""
    own, turn, base = local(3, 3), local(3, 3), bodies.base_turn[body]
    _rotation(state[0], state[1], state[2], state[3], own)
    x, y, z = state[4], state[5], state[6]
    spin, torque = local(3), local(3)
    for i in range(3):
        spin[i] = bodies.central[body, i, 0] * x + bodies.central[body, i, 1] * y + bodies.central[body, i, 2] * z
        for j in range(3):
            turn[i, j] = base[i, 0] * own[0, j] + base[i, 1] * own[1, j] + base[i, 2] * own[2, j]
    for i in range(3):
        for k in range(3):
            torque[i] += turn[k, i] * bodies.push[body, k]
    torque[0] -= y * spin[2] - z * spin[1]
    torque[1] -= z * spin[0] - x * spin[2]
    torque[2] -= x * spin[1] - y * spin[0]
    for i in range(3):
        slope[4 + i] = 0.0
        for k in range(3):
            slope[4 + i] += bodies.yielding[body, i, k] * torque[k]
    slope[0] = 0.5 * (state[3] * x + state[1] * z - state[2] * y)
    slope[1] = 0.5 * (state[3] * y - state[0] * z + state[2] * x)
    slope[2] = 0.5 * (state[3] * z + state[0] * y - state[1] * x)
    slope[3] = -0.5 * (state[0] * x + state[1] * y + state[2] * z)
