"""The efforts of a step, where they follow from the state: a program gives them before every step."""

from __future__ import annotations

from ...procedure import Floats, apply_at, procedure
from .scene import Scene


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
        if at < 7 * bodies:
            efforts.q[k] = q[at // 7, at % 7]
        else:
            efforts.q[k] = motions.q[at - 7 * bodies]
    for k in range(len(efforts.v)):
        at = efforts.place_v[k]
        if at < 6 * bodies:
            efforts.v[k] = v[at // 6, at % 6]
        else:
            efforts.v[k] = motions.v[at - 6 * bodies]
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
    if place < 0:
        return 0.0
    return values[place]
