"""The inertia of a robot and what changes its velocities by itself, by lists of its links: no robot needs code of its own.

Composite rigid bodies (Walker and Orin 1982) and recursive Newton-Euler, as `dynamics.crba` and `dynamics.rnea`. All is handed
from link to link in the axes of the world and about the links' own origins. What a joint does is a page of its kind.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ....compile import found_or_traced
from ....dynamics.motion import acceleration, link_motion
from ....dynamics.passive import driving_force, resisting_inertia
from ....model import JointKind, Link, Tree
from ....procedure import LocatedProgram, apply, apply_at, local, procedure
from ....scalar import Program, Scalar, trace
from ....spatial import DenseRotation, Inertia, Matrix3, Motion, Symmetric3, Transform, Vector3
from ..arrays import MovingBodies, Robots, Rules

#: Of a link: X_PF (12), the offset of its coordinate, its inertia (10), then five numbers of each degree of freedom.
NUMBERS = 23


def link_numbers(link: Link) -> list[float]:
    """The numbers of a link, as its page takes them."""
    X, I = link.placement, link.inertia
    springs = [list(map(float, part or [0.0] * link.kind.nv)) for part in (link.stiffness, link.rest)]
    inertia = map(float, (I.mass, *I.first_moment, *_entries(I.rotational)))
    placed = [*(float(x) for row in X.rotation.matrix() for x in row), *map(float, X.translation), float(link.offset), *inertia]
    return [*placed, *link.armature, *link.damping, *link.friction, *springs[0], *springs[1]]


def link_of(kind: JointKind, numbers: Any) -> Link:
    """The first link of a tree, with a joint of a kind, from its numbers."""
    own = [numbers[k] for k in range(NUMBERS + 5 * kind.nv)]
    placement = Transform(DenseRotation(Matrix3.of([own[0:3], own[3:6], own[6:9]])), Vector3.of(own[9:12]))
    armature, damping, friction, *springs = (tuple(own[k : k + kind.nv]) for k in range(NUMBERS, len(own), kind.nv))
    stiffness, rest = springs if kind.nq == kind.nv else [(0.0,) * kind.nv] * 2  # quaternions have none
    inertia = _inertia(own[13:NUMBERS])
    return Link("", 0, -1, kind, placement, inertia, 0, 0, armature, damping, friction, own[12], stiffness, rest)


@cache
def link_page(kind: JointKind) -> LocatedProgram:
    """What a link with a joint of a kind hands on, for `carry`."""
    return LocatedProgram(found_or_traced(f"link {kind!r}", lambda: link_program(kind)))


def link_program(kind: JointKind) -> Program:
    """(h, q, v, numbers, frame, moving) → of a link from that above: pose, lever, columns, motion, wrench, inertia, and six
    numbers of its joint: inertias of a step implicit in damping and springs, impulses of these, and velocities without any."""

    def stage(h: Scalar, q: Any, v: Any, numbers: Any, frame: Any, moving: Any) -> dict[str, Any]:
        link = link_of(kind, numbers)
        inertia = link.inertia
        above = Transform(DenseRotation(Matrix3.of(frame[0:3])), Vector3.of(frame[3]))
        omega, angular, linear = (above.rotation.unrotate(Vector3.of(moving[k : k + 3])) for k in (0, 3, 6))
        motion = link_motion(link, omega, q, v)
        rates = acceleration(motion, Motion(angular, linear), [0.0] * kind.nv)
        wrench = inertia.times(rates) + inertia.velocity_force(motion.omega)
        pose, pushes = (above @ motion.X_PL).dense(), driving_force(link, [0.0] * kind.nv, q, v, h)
        R, carried = pose.rotation, [rate - h * turned for rate, turned in zip(v, kind.turning(v), strict=True)]
        moment, turned = R.rotate(inertia.first_moment), R.rotate_symmetric(inertia.rotational)
        return {
            "pose": [*map(list, R.matrix()), list(pose.translation)],
            "lever": list(above.rotation.rotate(motion.X_PL.translation)),
            "columns": [[*R.rotate(S.angular), *R.rotate(S.linear)] for S in motion.S],
            "motion": [x for part in (motion.omega, rates.angular, rates.linear) for x in R.rotate(part)],
            "wrench": [*R.rotate(wrench.moment), *R.rotate(wrench.force)],
            "heavy": [inertia.mass, *moment, *_entries(turned)],
            "resisting": _six(resisting_inertia(link, v, h)),
            "impulse": _six([h * push for push in pushes]),
            "carried": _six(carried),
        }

    sizes: dict[str, int | tuple[int, ...]] = {"h": (), "q": kind.nq, "v": kind.nv, "numbers": NUMBERS + 5 * kind.nv}
    return trace(stage, {**sizes, "frame": (4, 3), "moving": 9}, f"link_{kind.name}")


def _six(values: list[Scalar]) -> list[Scalar]:
    return [*values, *[0.0] * (6 - len(values))]


def _entries(matrix: Symmetric3) -> list[Scalar]:
    return [matrix.xx, matrix.yy, matrix.zz, matrix.xy, matrix.xz, matrix.yz]


def _inertia(numbers: Any) -> Inertia:
    return Inertia(numbers[0], Vector3.of(numbers[1:4]), Symmetric3(*(numbers[k] for k in range(4, 10))))


def _moved_inertia(heavy: Any, lever: Any) -> list[Scalar]:
    moved = _inertia(heavy).to_parent(Transform(translation=Vector3.of(lever)))
    return [moved.mass, *moved.first_moment, *_entries(moved.rotational)]


_MOVED = trace(_moved_inertia, {"heavy": 10, "lever": 3}, name="moved_inertia")
_FELT = trace(
    lambda heavy, column: list(_inertia(heavy).times(Motion.of(column))), {"heavy": 10, "column": 6}, name="inertia_felt"
)


def list_links(robots: Robots, robot: int, tree: Tree) -> None:
    """Writes what `carry` reads of the links of a robot."""
    own = robots.motions
    for k, link in enumerate(tree.links, int(robots.first_link[robot])):
        numbers = link_numbers(link)
        own.numbers[k, : len(numbers)] = numbers
        own.first_of_link[k], own.pages[k] = own.first_q[robot] + link.q_start, link_page(link.kind).address


@procedure
def carry(rules: Rules, bodies: MovingBodies, robot: int) -> None:
    """Poses, columns and the inertia of a robot; velocities after a step in which nothing acts, and the impulses of weight, of
    velocities, damping and springs in that step."""
    robots, own, first_v = bodies.robots, bodies.robots.motions, bodies.robots.motions.first_v[robot]
    first, end, row = robots.first_link[robot], robots.first_link[robot + 1], robots.first_row[robot]
    rows, M = robots.first_row[robot + 1] - row, own.inertia[robots.first_block[robot] : robots.first_block[robot + 1]]
    frame, moving, resisting, impulse, carried = local(4, 3), local(9), local(6), local(6), local(6)
    M[:] = 0.0
    for k in range(own.first_v[robot + 1] - first_v, 6 * rows):
        M[k // 6 * rows + k // 6, k % 6, k % 6] = 1.0
    for link in range(first, end):
        above, begin, last = robots.above[link], robots.joint[link, 0], robots.joint[link, 1]
        if above >= 0:
            frame[:] = own.pose[above]
            moving[:] = own.moving[above]
        else:
            frame[:] = 0.0
            moving[:] = 0.0
            for k in range(3):
                frame[k, k], moving[6 + k] = 1.0, -rules.gravity[k]
        q, v = own.q[own.first_of_link[link] : len(own.q)], own.v[first_v + begin : own.first_v[robot + 1]]
        columns = robots.columns[6 * row + begin : 6 * row + last]
        motion, wrench, heavy = own.moving[link], own.wrench[link], own.heavy[link]
        apply_at(
            own.pages[link], (rules.step, q, v, own.numbers[link], frame, moving),
            (own.pose[link], robots.lever[link], columns, motion, wrench, heavy, resisting, impulse, carried),
        )  # fmt: skip
        for k in range(last - begin):
            i, a = row + (begin + k) // 6, (begin + k) % 6
            M[(begin + k) // 6 * (rows + 1), a, a] = resisting[k]
            own.falling[i, a], robots.undriven[i, a] = impulse[k], carried[k]
    for link in range(end - 1, first - 1, -1):
        _gather_link(rules, bodies, robot, link)


@procedure
def _gather_link(rules: Rules, bodies: MovingBodies, robot: int, link: int) -> None:
    """The rows of the inertia at a joint, and what its link hands on to that above."""
    robots, own, row = bodies.robots, bodies.robots.motions, bodies.robots.first_row[robot]
    rows, block, felt, heavy = robots.first_row[robot + 1] - row, robots.first_block[robot], local(6), local(10)
    for at in range(robots.joint[link, 0], robots.joint[link, 1]):
        column, i, a, above = robots.columns[6 * row + at], at // 6, at % 6, link
        own.falling[row + i, a] -= rules.step * (column @ own.wrench[link])
        apply(_FELT, own.heavy[link], column, felt)
        while above >= 0:
            for other in range(robots.joint[above, 0], min(robots.joint[above, 1], at + 1)):
                j, b, entry = other // 6, other % 6, robots.columns[6 * row + other] @ felt
                own.inertia[block + i * rows + j, a, b] += entry
                if other != at:
                    own.inertia[block + j * rows + i, b, a] += entry
            felt[0:3] += np.cross(robots.lever[above], felt[3:6])
            above = robots.above[above]
    if robots.above[link] >= 0:
        wrench, carried = own.wrench[link], own.wrench[robots.above[link]]
        carried += wrench
        carried[0:3] += np.cross(robots.lever[link], wrench[3:6])
        apply(_MOVED, own.heavy[link], robots.lever[link], heavy)
        own.heavy[robots.above[link]] += heavy
