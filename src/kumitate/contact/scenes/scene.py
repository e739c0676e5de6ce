"""Everything that a step of a scene reads and writes, in arrays with room for a number of pairs, points and couplings."""

from __future__ import annotations

from typing import NamedTuple

from ...procedure import Floats, Ints
from ..pairs.rows.solids import Points, Solids
from .arrays import (
    BlockFactors,
    Efforts,
    Islands,
    Memory,
    MovingBodies,
    Placed,
    Pulls,
    Rules,
    ScenePoints,
    SolverSpace,
    Springs,
)
from .overlaps import OverlapList


class SceneLog(NamedTuple):
    """What is recorded of a motion: states, and the contact of the steps that begin at them.

    Attributes:
        q, v: (records · bodies) of coordinates and velocities after each record; work: (records) done since the start [J].
        reached: (records · bodies) of velocities after the first step of each record, in the axes before it.
        sums: of each record: the worst residual [m/s]; the same as a part of the speeds; penetration [m]; energy gained [J];
            work of contact [J].
        robot_q, robot_v, robot_reached: of robots, likewise, those of one record after those of the other.
        touches: of every pair of solids that pushed each other: [record; A, B; force on A (3) [N]; place (3) [m]; normal (3);
            gap [m]; velocity of A relative to B after the step (3) [m/s]; friction; moment of torsional and rolling friction on
            A (3) [N·m]], means weighted by the normal forces.
        marks: [records finished; steps made of the next one; rows of `touches` in use].
    """

    q: Floats[7]
    v: Floats[6]
    work: Floats
    reached: Floats[6]
    sums: Floats[5]
    robot_q: Floats
    robot_v: Floats
    robot_reached: Floats
    touches: Floats[20]
    marks: Ints


class Scene(NamedTuple):
    """A scene with its work space.

    Attributes:
        rules, bodies, pulls, efforts, solids, placed, memory, points, springs, islands, factors, trial: see there.
        allowed, pairs, starts, space: see `broad_phase.near_pairs`.
        found: where solids touch; axes: see `narrow_phase.find_points`.
        overlaps: of compliant solids at the start.
        settled: of sleeping islands, the rows of `SceneLog.touches`, each with the energy gained in a step [J].
        counts: [known points in the memory; needed pairs; needed points; needed couplings; settled rows; points of this step],
            the second to the fourth after a step that lacked room.
    """

    rules: Rules
    bodies: MovingBodies
    pulls: Pulls
    efforts: Efforts
    solids: Solids
    placed: Placed
    allowed: Ints
    pairs: Ints[2]
    starts: Ints
    space: Ints[2]
    memory: Memory
    found: Points
    axes: Floats[3]
    points: ScenePoints
    springs: Springs
    islands: Islands
    factors: BlockFactors
    trial: SolverSpace
    overlaps: OverlapList
    settled: Floats[21]
    counts: Ints
