"""Sleep: bodies of an island that have hardly moved for a while keep their place, velocities zero and impulses, until woken.

After the first such step the contact of the island is not computed again: its impulses stay in the memory, and what is
recorded of it in `Scene.settled`. It wakes when a point with a body that is awake is found, or when efforts act on it.
"""

from __future__ import annotations

from ...procedure import procedure
from ...procedure.called import later
from .arrays import Island, MovingBodies, Rules, Scene, ScenePoints
from .islands import root_of
from .logs import end_of_pair, gained_at, write_touch
from .solvers.blocks import largest

#: A body hardly moves if its velocities are below this [m/s, rad/s].
QUIET = 1e-9


@procedure
def is_asleep(rules: Rules, island: Island) -> bool:
    """Whether all bodies of an island sleep; one that is awake, or pushed, wakes the others."""
    if rules.patience == 0:
        return False
    for body in island.members:
        if island.bodies.quiet[body] < rules.patience or island.bodies.push[body] @ island.bodies.push[body] != 0.0:
            return False
    return True


@procedure
def count_quiet(bodies: MovingBodies, body: int, touched: int) -> None:
    """Counts the steps in which a body that something touches has hardly moved."""
    bodies.quiet[body] = bodies.quiet[body] + 1 if touched == 1 and largest(bodies.after[body]) < QUIET else 0


@later
def lie_down(scene: Scene) -> None:
    """Takes islands that fell asleep in the last step out of the search for contact, and those that it woke in again.

    Repeating it, as a step that is made again does, changes nothing.
    """
    bodies, lying, changed = scene.bodies, 0, 0
    for body in range(len(bodies.mass)):
        lying = max(lying, bodies.still[body])
        changed = max(changed, 1 if (bodies.still[body] == 1) != (bodies.bed[body] > 0) else 0)
    if changed == 0:
        return
    _get_up(scene)
    if lying == 0:
        return
    for body in range(len(bodies.mass)):
        if bodies.still[body] == 1 and bodies.bed[body] == 0:
            bodies.bed[body] = -1 - root_of(scene.islands.parent, body)  # negative until its rows are written
    _write_rows(scene)
    for body in range(len(bodies.mass)):
        bodies.bed[body] = abs(bodies.bed[body])


@procedure
def _write_rows(scene: Scene) -> None:
    """Writes what is recorded of the contact of bodies that have just lain down."""
    points, first = scene.points, 0
    while first < scene.counts[5]:
        end = end_of_pair(points, first, scene.counts[5])
        if scene.bodies.bed[points.body[first, 0]] < 0:
            row = scene.settled[scene.counts[4]]
            if write_touch(scene, first, end, row[0:20], 0) == 1:
                row[20] = 0.0
                for c in range(first, end):
                    row[20] += gained_at(scene, c)
                scene.counts[4] += 1
        first = end


@procedure
def _get_up(scene: Scene) -> None:
    """Takes the rows of bodies that are awake out of `Scene.settled`."""
    bodies, kept = scene.bodies, 0
    for body in range(len(bodies.mass)):
        if bodies.still[body] == 0:
            bodies.bed[body] = 0
    for row in range(scene.counts[4]):
        if bodies.bed[scene.placed.body[int(scene.settled[row, 1])]] > 0:
            scene.settled[kept] = scene.settled[row]
            kept += 1
    scene.counts[4] = kept


@procedure
def sleep_on(bodies: MovingBodies) -> None:
    """Lets bodies that lie sleep in this step too, but for islands that efforts act on."""
    for body in range(len(bodies.mass)):
        bodies.still[body] = 1 if bodies.bed[body] > 0 else 0
        if bodies.bed[body] > 0:
            bodies.after[body] = 0.0
    for body in range(len(bodies.mass)):
        if bodies.still[body] == 1 and bodies.push[body] @ bodies.push[body] != 0.0:
            _wake(bodies, bodies.bed[body])


@procedure
def wake_touched(bodies: MovingBodies, points: ScenePoints, count: int) -> int:
    """Wakes the islands that points are found on; returns whether there are any."""
    woken = 0
    for c in range(count):
        for side in range(2):
            body = points.body[c, side]
            if body >= 0 and bodies.still[body] == 1:
                _wake(bodies, bodies.bed[body])
                woken = 1
    return woken


@procedure
def _wake(bodies: MovingBodies, bed: int) -> None:
    for body in range(len(bodies.mass)):
        if bodies.bed[body] == bed:
            bodies.still[body] = 0
