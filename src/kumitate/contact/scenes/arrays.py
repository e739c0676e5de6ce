"""The arrays of a scene, with room for a number of pairs, points and couplings. All vectors are in the axes of the world."""

from __future__ import annotations

from typing import NamedTuple

from ...procedure import Floats, Ints
from ..pairs.rows.solids import Points, Solids
from ..surface import NUMBERS


class Rules(NamedTuple):
    """The constants of a run.

    Attributes:
        step: [s]; gravity: (3) [m/s²]; fall: the speed that it gives in a step [m/s].
        patience: after so many steps in which a body has hardly moved it sleeps; 0: bodies do not sleep.
        flies: 1 if bodies that nothing touches take a Runge-Kutta step, else 0.
    """

    step: float
    gravity: Floats
    fall: float
    patience: int
    flies: int


class RobotMotions(NamedTuple):
    """The states of the robots in a scene, one after the other, and the programs that move them by themselves.

    Attributes:
        programs: of each robot the addresses of "prepared", "moved", "flown", "begun", "settled", "loops" and "closed"
            (`simulate.scenes.robots`); the third is 0 where it does not fly, the next two
            where it has no drives and stops, the last two where it has no loops.
        first_q, first_v, first_u, first_command, first_piece, first_closed, first_freedom, first_axis: where the numbers of
            each robot begin.
        q, v: before a step; next_q, next_v: after it; u: the efforts as "flown" takes them.
        pose: of each link its rotation to the world row by row, and its origin [m].
        commands: of drives; pieces, following: which of their limits and of the stops hold in a pass, and in the next one.
        rates: the changes of the velocities in a pass, by the step.
        driving, resisting: the efforts of drives and stops in a pass, and the inertias that reduce them; carried: velocities
            that the changes count from; of all velocities as in rows of six, then of the degrees of freedom of driven loops.
        reached: velocities after a step, in the axes before it, in rows of six.
        inertia: without `resisting`, and as if loops were open.
        closed: G of loops and couplings, each of its rows in rows of six: G v are the rates at which they open.
        stay: the projector onto the velocities with G v = 0, in the blocks of the inertia.
        axes: of each degree of freedom of driven loops its rate per velocity, in rows of six.
        opening: the other part of velocities after a step in which nothing pushes; along: the efforts at the joints that are
            equal to those of drives in loops.
    """

    programs: Ints[7]
    first_q: Ints
    first_v: Ints
    first_u: Ints
    first_command: Ints
    first_piece: Ints
    first_closed: Ints
    first_freedom: Ints
    first_axis: Ints
    q: Floats
    v: Floats
    next_q: Floats
    next_v: Floats
    u: Floats
    pose: Floats[12]
    commands: Floats
    pieces: Floats
    following: Floats
    rates: Floats
    driving: Floats
    resisting: Floats
    carried: Floats
    reached: Floats[6]
    inertia: Floats[6, 6]
    closed: Floats[6]
    stay: Floats[6, 6]
    axes: Floats[6]
    opening: Floats[6]
    along: Floats[6]


class Robots(NamedTuple):
    """The robots in a scene, and their links. Velocities by joints are in rows of six, the last of a robot filled up by zeros.

    Attributes:
        link: of each moving body its number among all links, −1 of free bodies; body: the moving body of each link.
        owner: the robot of each link; first_link: where the links of each robot begin; first_row: its rows of velocities.
        first_block: where the blocks of its inertia begin, row by row; row_owner: the robot of each row.
        first_column: where the blocks of each link's Jacobian begin, one per row; moves: 1 for those that may not be zero.
        above: the link that each is joined to, or −1; lever: from the origin of that link [m]; joint: where the velocities of
            that joint begin among those of the robot, and where they end.
        columns: of each velocity the twist [ω; v] of its joint's link about the own origin, in the axes of the world.
        jacobian: of links that are given: to [ω; v] of the link's origin in the axes of the world; inertia, mobility: of
            joints, and the inverse. Where loops are closed, these are of velocities that keep them closed.
        give: of each link, its twist per unit wrench on it, if given is 1: where points are near it in this step.
        inverted: of each robot, 1 if `mobility` is that of this pass.
        felt: space for efforts [N·m or N, or times s]; screw: of each link, space for twists and wrenches.
        reach, reaching: space for the parts of units in a twist, and their nodes (`solvers.on_links`).
        effort: of the drives; undriven: velocities after a step without contact, drives and wrenches.
        before, free, after: velocities, as of `MovingBodies`.
        pushed: of robots that contact pushed in this step, 2 if springs alone did that the step resolves, else 1; stopping:
            the push of all stops, to tell whether there is any; rides: 1 of robots on a free base.
        motions: what moves them by themselves.
    """

    link: Ints
    body: Ints
    owner: Ints
    first_link: Ints
    first_row: Ints
    first_block: Ints
    row_owner: Ints
    first_column: Ints
    moves: Ints
    above: Ints
    joint: Ints[2]
    lever: Floats[3]
    columns: Floats[6]
    jacobian: Floats[6, 6]
    inertia: Floats[6, 6]
    mobility: Floats[6, 6]
    inverted: Ints
    give: Floats[6, 6]
    given: Ints
    felt: Floats[6]
    screw: Floats[6]
    reach: Floats[6, 6]
    reaching: Ints
    effort: Floats[6]
    undriven: Floats[6]
    before: Floats[6]
    free: Floats[6]
    after: Floats[6]
    pushed: Ints
    stopping: Floats
    rides: Floats
    motions: RobotMotions


class MovingBodies(NamedTuple):
    """The moving bodies (n): free ones, and links of robots. Twists are [ω; v] of the center of mass [rad/s, m/s].

    Of links, the center is their origin; turn, place, push and the twists are all that is used.

    Attributes:
        mass: [kg]; center: of mass in the body's frame B [m]; central: its inertia about that center in B [kg·m²].
        yielding: the inverse of `central`.
        base_turn, base_place: the pose of the frame that the coordinates are measured in.
        effort: [n; f] of drives about B's origin in the axes of B; push: [n; f] of all drives and wrenches, constant over a
            step, about the center of mass in the axes of the world [N·m, N].
        turn: R_WB; place: of the center of mass [m]; inertia, mobility: the inertia about it and its inverse.
        before, free, after: twists at the start of a step, after the step without contact, and after it with contact.
        quiet: the number of steps in which the body has hardly moved; it sleeps from `Rules.patience` on.
        still: 1 if it sleeps in this step.
        bed: of a body that sleeps on from the last step, 1 + the first body of its island, whose contact is not computed
            again; else 0.
        seen: what points read of each body, and in a last row of the world: place, before, free, the diagonal of the mobility
            and its entries xy, xz, yz, 1/mass, 1 of the world; of links, neither mobility nor mass.
        robots: what the links among them belong to.
    """

    mass: Floats
    center: Floats[3]
    central: Floats[3, 3]
    yielding: Floats[3, 3]
    base_turn: Floats[3, 3]
    base_place: Floats[3]
    effort: Floats[6]
    push: Floats[6]
    turn: Floats[3, 3]
    place: Floats[3]
    inertia: Floats[3, 3]
    mobility: Floats[3, 3]
    before: Floats[6]
    free: Floats[6]
    after: Floats[6]
    quiet: Ints
    still: Ints
    bed: Ints
    seen: Floats[24]
    robots: Robots


class Pulls(NamedTuple):
    """Pulls on bodies.

    Attributes:
        body: the number of the body; at: where it acts, in the frame of the body [m].
        value: [n; f] about that place in the axes of the world [N·m, N].
    """

    body: Ints
    at: Floats[3]
    value: Floats[6]


class Efforts(NamedTuple):
    """What drives a scene in a step: numbers u, and where each of them acts.

    Attributes:
        program: the address of (t, q, v, u) → u, by the mechanism's own coordinates and velocities, called before every step;
            0 where u stays as it is held.
        number: of steps made since the start.
        place_q, place_v: of each coordinate and velocity of the mechanism its place among those of bodies, row by row; those of
            robots, one after the other, stand behind all bodies.
        q, v: space for them; held: u as it is given; acting: with the values of the program.
        bodies, pulls, robots, own, commands: of each number of `MovingBodies.effort`, `Pulls.value`, `Robots.effort`,
            `RobotMotions.u` and `RobotMotions.commands` its place in u, −1 where it is zero.
    """

    program: Ints
    number: Floats
    place_q: Ints
    place_v: Ints
    q: Floats
    v: Floats
    held: Floats
    acting: Floats
    bodies: Ints
    pulls: Ints
    robots: Ints
    own: Ints
    commands: Ints


class Placed(NamedTuple):
    """Where the solids of `contact.pairs.rows` are, and what they are made of: those of moving bodies first (n).

    Poses are a rotation, and in a fourth row a position [m].

    Attributes:
        body: the number of the moving body, or −1 for the world; owner: of the body of the mechanism, or −1; family: of the
            robot's first link, or −1: unless pairs are named, links that joints connect do not touch each other.
        own: the pose about the body's center of mass in the axes of the body, or in the world; pose: in the world.
        half, middle: half edges and center of the bounding box in the solid's frame [m]; reach: the radius about that center.
        span: of each moving body how far its solids reach from its center [m], −1 if it has none.
        material: of which kind its surface is; materials: how many kinds there are; surfaces: of every two kinds, in the row of
            the first times `materials` plus the second, the numbers of a `Surface`.
        belt: the velocity of the surface in the axes of its moving body, or of the world [m/s]; belts: 1 if any moves.
        cornered: 1 of shapes with corners, by which they touch (`impulse.splitting`).
        low, high: the corners of the bounding box in the world, with the margin of the step [m].
        resting: 1 of the world's solids and of bodies that sleep.
        barred: 2³¹ · a moving body's owner + 1 + that of a body of the world, of the pairs that never touch, sorted.
        sorted: the numbers of the solids that are not planes, by the least x of their boxes; planes: of the planes.
    """

    body: Ints
    owner: Ints
    family: Ints
    own: Floats[4, 3]
    pose: Floats[4, 3]
    half: Floats[3]
    middle: Floats[3]
    reach: Floats
    span: Floats
    material: Ints
    materials: int
    surfaces: Floats[len(NUMBERS)]
    belt: Floats[3]
    belts: int
    cornered: Ints
    low: Floats[3]
    high: Floats[3]
    resting: Ints
    barred: Ints
    sorted: Ints
    planes: Ints


class Turns(NamedTuple):
    """Moments of torsional and rolling friction at the points of a step: about the normal, and about the tangents.

    Moments are `length` times an impulse, and angular velocities are velocities at that length, so that they have the units
    of the other components of a point. There are no rows if no surface has such friction.

    Attributes:
        length: [m]; limit: of the moment about the normal and of that about the tangents, in parts of the normal impulse.
        size, mass: as of `ScenePoints`.
        before, free, mode, impulse, speed: likewise.
        K, base, push: λ' = base − K dω − push du_n, of the linearised law.
    """

    length: Floats
    limit: Floats[2]
    size: Floats
    mass: Floats
    before: Floats[3]
    free: Floats[3]
    mode: Floats[3]
    impulse: Floats[3]
    speed: Floats[3]
    K: Floats[3, 3]
    base: Floats[3]
    push: Floats[3]


class ScenePoints(NamedTuple):
    """The points of contact of a step (as many as there is room for), sorted by their pairs of solids.

    Attributes:
        solid: the numbers of A's and B's solids; body: of A and B, B may be −1, the world; feature: which point of a pair;
            material: the row of `Placed.surfaces`.
        place: [m]; gap: [m], negative where they overlap.
        frame: the rows are the normal from B to A and two tangents.
        lever_a, lever_b: from the centers of mass of A and B [m].
        friction: the coefficient that applies now; size: the largest velocity along an axis per unit impulse along it [1/kg];
            mass: its inverse.
        softness: the velocity along the normal that a compliant point gives way with per unit impulse [1/kg]; give: that it
            gets, if all points of its bodies that touch are pushed so; resolved: 1 if the step resolves its spring; begun: its
            velocity along the normal before springs act [m/s] (`impulse.splitting`).
        left_out: by how much less deep than it is a compliant point counts for its spring [m].
        target: the least normal velocity after the step [m/s]; plastic: without restitution.
        drift: the part of belts in the velocities, along the frame's axes.
        before, free: velocities of A's surface relative to B's along the frame's axes [m/s], as in `MovingBodies`.
        mode: the velocity from which the first guess is made whether the point is apart, sticks or slides.
        impulse: along the frame's axes [N·s]; speed: the velocity after it.
        known: 1 if the impulse is remembered from the last step; recalled: that impulse, in the world; steady: the part of it
            that is kept in what is remembered of this step.
        common: the largest mass of a point of the same two bodies.
        edge: the block that couples A and B in the factors of their island.
        row_a, row_b: the rows of A and B in `MovingBodies.seen`.
        turns: torsional and rolling friction.
    """

    solid: Ints[2]
    body: Ints[2]
    feature: Ints
    material: Ints
    place: Floats[3]
    gap: Floats
    frame: Floats[3, 3]
    lever_a: Floats[3]
    lever_b: Floats[3]
    friction: Floats
    size: Floats
    mass: Floats
    softness: Floats
    give: Floats
    resolved: Floats
    begun: Floats
    left_out: Floats
    target: Floats
    plastic: Floats
    drift: Floats[3]
    before: Floats[3]
    free: Floats[3]
    mode: Floats[3]
    impulse: Floats[3]
    speed: Floats[3]
    known: Ints
    recalled: Floats[3]
    steady: Floats
    common: Floats
    edge: Ints
    row_a: Ints
    row_b: Ints
    turns: Turns


class Memory(NamedTuple):
    """The points of the last step that carried impulses, sorted by their pairs of solids.

    Attributes:
        solid: the numbers of A's and B's solids; feature: the point of the pair; impulse: on A, in the world [N·s].
    """

    solid: Ints[2]
    feature: Ints
    impulse: Floats[3]


class Islands(NamedTuple):
    """Groups of bodies that touch one another; bodies and points are listed island by island.

    Attributes:
        parent: of every body in the forest of the union-find; label: the number of its island.
        bodies, points: lists; first_body, first_point: where each island begins in them.
    """

    parent: Ints
    label: Ints
    bodies: Ints
    points: Ints
    first_body: Ints
    first_point: Ints


class BlockFactors(NamedTuple):
    """The matrix of one island in blocks of 6 × 6, and its factors; nodes are numbered in the order of elimination.

    A unit is a free body, by its number, or a row of a robot's velocities, by its number and that of all bodies.

    Attributes:
        count: of the nodes of the island; listed: its units.
        node: of each unit; in the place of a robot's link, the row of efforts for wrenches on it; unit: of each node.
        near: one row of bits per unit, of those that it is coupled with while the order is found; degree: how many.
        first, later: the later nodes that node k is coupled with are later[first[k] : first[k + 1]], in order.
        diagonal, inverse: of each node; lower, upper: of each coupling, (later, k) and (k, later); all of the transpose.
        mark: space for the nodes' positions.
    """

    count: Ints
    listed: Ints
    node: Ints
    unit: Ints
    near: Ints
    degree: Ints
    first: Ints
    later: Ints
    diagonal: Floats[6, 6]
    inverse: Floats[6, 6]
    lower: Floats[6, 6]
    upper: Floats[6, 6]
    mark: Ints


class SolverSpace(NamedTuple):
    """Space for the solvers.

    Attributes:
        K, base: of each point's linearised law, λ' = base − K du; aim: the argument of its projection.
        first, kept, tried, best: impulses: the best of all methods, before a step, after it, and the best of a method; pushed:
            those that push overlaps out; those of `Turns` stand after those of all points. asked: the targets that do so.
        x, z, dx, dz: of the interior point method, and their steps; W: its scaling; slope: ∂|u_t|/∂u_t; lack: of z; second: the
            product of the predictor's steps; given: two numbers that all points share; share: the part of a step
            that stays in the cones.
        reach: J of each point, the velocity of A there along the frame's axes being J [ω; v] of A's center.
        effort: of each node, then of each link of robots, [n; f], and after a solution its change of twist.
    """

    K: Floats[3, 3]
    base: Floats[3]
    aim: Floats[3]
    first: Floats[3]
    kept: Floats[3]
    tried: Floats[3]
    best: Floats[3]
    pushed: Floats[3]
    asked: Floats
    x: Floats[3]
    z: Floats[3]
    dx: Floats[3]
    dz: Floats[3]
    W: Floats[3, 3]
    slope: Floats[2]
    lack: Floats[3]
    second: Floats[3]
    given: Floats[2]
    share: Floats
    reach: Floats[3, 6]
    effort: Floats[6]


class Springs(NamedTuple):
    """What steps with springs need; empty where contact is rigid.

    Attributes:
        law: the addresses of a `springs.law_program` and of a `springs.spring_program`.
        clock: [time left of a step that is not finished; the longest part of a step that the springs allow now] [s].
        steep: of every body, the sum over its points of the stiffness times the velocity per unit impulse [1/s²].
        yields: of every point, the velocities along its axes per unit impulse along them [1/kg].
    """

    law: Ints
    clock: Floats
    steep: Floats
    yields: Floats[3]


class Island(NamedTuple):
    """An island with all that its solution reads and writes.

    Attributes:
        members, listed: the numbers of its bodies and of its points, those of two bodies next to each other.
        bodies, points: all of the scene; factors, trial: those of the island that is being solved.
    """

    members: Ints
    listed: Ints
    bodies: MovingBodies
    points: ScenePoints
    factors: BlockFactors
    trial: SolverSpace


class OverlapList(NamedTuple):
    """What springs leave out of overlaps, by pairs of solids.

    Attributes:
        marks: [1 before the first step; rows in use].
        thrown: the energy of the springs at the start from which on bodies are parted slowly [J].
        held: [that energy [J]; the deepest overlap at the start [m], of these two solids].
        rows: two solids, and by how much less deep than they are their points count [m]; in the order of points.
    """

    marks: Ints
    thrown: float
    held: Floats
    rows: Floats[3]


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
