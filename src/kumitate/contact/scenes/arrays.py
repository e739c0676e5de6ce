"""The arrays of a scene, with room for a number of pairs, points and couplings. All vectors are in the axes of the world."""

from __future__ import annotations

from typing import NamedTuple

from ...procedure import Floats, Ints
from ..pairs.rows.solids import Points, Solids
from ..surface import NUMBERS


class Rules(NamedTuple):
    """The constants of a run."""

    step: float  # [s]
    gravity: Floats  # (3) [m/s²]
    fall: float  # the speed that gravity gives in a step [m/s]
    patience: int  # after so many steps in which a body has hardly moved it sleeps; 0: bodies do not sleep
    flies: int  # 1 if bodies that nothing touches take a Runge-Kutta step, else 0
    follows: float  # the residual that is enough in large piles, as a part of the speed above `tuned.SLOW`; 0: always strict


class RobotMotions(NamedTuple):
    """The states of the robots in a scene, one after the other, and the programs that move them by themselves."""

    # of each robot the addresses of "moved", "flown", "loops", "open" and "projection" (`simulate.scenes.robots`); the second
    # is 0 where it does not fly, the last three where it has no loops
    programs: Ints[5]
    # of drives and stops that are settled together: the addresses of "begun" and "settled", where their numbers begin in q,
    # v, commands and laws, begin and end in pieces and driving, and the robot
    acting: Ints[11]
    laws: Floats  # what these take beside the state
    first_q: Ints  # where the numbers of each robot begin, here and below
    first_v: Ints
    first_u: Ints
    first_command: Ints
    first_piece: Ints
    first_closed: Ints
    first_freedom: Ints
    first_axis: Ints
    first_acting: Ints
    first_law: Ints
    first_of_link: Ints  # where the coordinates of each link begin
    pages: Ints  # of each link the address of its `carrying.link_program`,
    numbers: Floats[53]  # what that takes,
    moving: Floats[9]  # and gives: angular velocity and acceleration, acceleration of the origin, weight included
    wrench: Floats[6]  # what that motion takes, [n; f] about the origin, with all that the link carries
    heavy: Floats[10]  # and the inertia
    falling: Floats[6]  # impulses of a step in which nothing else acts, to be added to those of efforts: `carrying.carry`
    q: Floats  # before a step
    v: Floats
    next_q: Floats  # after it
    next_v: Floats
    u: Floats  # the efforts as "flown" takes them
    pose: Floats[4, 3]  # of each link its rotation to the world, and its origin [m]
    commands: Floats  # of drives
    pieces: Floats  # which of the limits of drives and of the stops hold in a pass
    following: Floats  # and in the next one
    settled: Floats  # and in the last pass of the last step
    rates: Floats  # the changes of the velocities in a pass, by the step
    # of all velocities as in rows of six, then of the degrees of freedom of driven loops: the efforts of drives and stops in a
    # pass, the inertias that reduce them, and the velocities that changes count from
    driving: Floats
    resisting: Floats
    carried: Floats
    reached: Floats[6]  # velocities after a step, in the axes before it
    inertia: Floats[6, 6]  # without `resisting`, and as if loops were open
    lasting: Ints  # of each robot, 1 where G is that of couplings alone, which never changes, 2 once its rows are orthonormal
    closed: Floats[6]  # G of loops and couplings, each of its rows in rows of six: G v are the rates at which they open
    bends: Floats  # by how much these rates change in a step, from the motion of links alone
    axes: Floats[6]  # of each degree of freedom of driven loops its rate per velocity, in rows of six
    opening: Floats[6]  # the other part of velocities after a step in which nothing pushes
    along: Floats[6]  # the efforts at the joints that are equal to those of drives in loops


class Robots(NamedTuple):
    """The robots in a scene, and their links. Velocities by joints are in rows of six; zeros fill up the last of a robot."""

    link: Ints  # of each moving body its number among all links, −1 of free bodies
    body: Ints  # the moving body of each link
    owner: Ints  # the robot of each link
    first_link: Ints  # where the links of each robot begin
    first_row: Ints  # and its rows of velocities
    first_block: Ints  # and the blocks of its inertia, row by row
    row_owner: Ints  # the robot of each row
    first_column: Ints  # where the blocks of each link's Jacobian begin, one per row
    moves: Ints  # 1 for those that may not be zero
    above: Ints  # the link that each is joined to, or −1
    joint: Ints[2]  # where the velocities of that joint begin among those of the robot, and where they end
    lever: Floats[3]  # from the origin of that link [m]
    columns: Floats[6]  # of each velocity the twist [ω; v] of its joint's link about the own origin
    jacobian: Floats[6, 6]  # of links that are given: to [ω; v] of the link's origin
    inertia: Floats[6, 6]  # of joints; where loops are closed, of velocities that keep them closed
    mobility: Floats[6, 6]  # its inverse
    inverted: Ints  # of each robot, 1 if `mobility` is that of this pass
    give: Floats[6, 6]  # of each link, its twist per unit wrench on it
    given: Ints  # 1 where `give` is that of this step: where points are near the link
    felt: Floats[6]  # space for efforts [N·m or N, or times s]
    screw: Floats[6]  # of each link, space for twists and wrenches
    reach: Floats[6, 6]  # space for the parts of units in a twist (`solvers.articulated`)
    reaching: Ints  # and for their nodes
    effort: Floats[6]  # of the drives
    undriven: Floats[6]  # velocities after a step without contact, drives, wrenches and `falling`
    before: Floats[6]  # velocities, as of `MovingBodies`
    free: Floats[6]
    after: Floats[6]
    pushed: Ints  # of robots that contact pushed in this step, 2 if springs alone did that the step resolves, else 1
    stopping: Floats  # the push of all stops, to tell whether there is any
    rides: Floats  # 1 of robots on a free base
    motions: RobotMotions  # what moves them by themselves


class MovingBodies(NamedTuple):
    """The moving bodies: free ones, and links of robots. Twists are [ω; v] of the center of mass [rad/s, m/s].

    Of links, the center is their origin; turn, place, push and the twists are all that is used.
    """

    mass: Floats  # [kg]
    center: Floats[3]  # of mass, in the body's frame B [m]
    central: Floats[3, 3]  # its inertia about that center in B [kg·m²]
    yielding: Floats[3, 3]  # the inverse of `central`
    base_turn: Floats[3, 3]  # the pose of the frame that the coordinates are measured in
    base_place: Floats[3]
    effort: Floats[6]  # [n; f] of drives about B's origin in the axes of B [N·m, N]
    push: Floats[6]  # [n; f] of all drives and wrenches, constant over a step, about the center of mass
    turn: Floats[3, 3]  # R_WB
    place: Floats[3]  # of the center of mass [m]
    inertia: Floats[3, 3]  # about the center of mass
    mobility: Floats[3, 3]  # its inverse
    before: Floats[6]  # twists at the start of a step,
    free: Floats[6]  # after the step without contact,
    after: Floats[6]  # and after it with contact
    quiet: Ints  # the number of steps in which the body has hardly moved; it sleeps from `Rules.patience` on
    still: Ints  # 1 if it sleeps in this step
    # of a body that sleeps on from the last step, 1 + the first body of its island, whose contact is not computed again; else 0
    bed: Ints
    # what points read of each body, and in a last row of the world: place, before, free, the diagonal of the mobility and its
    # entries xy, xz, yz, 1/mass, 1 of the world; of links, neither mobility nor mass
    seen: Floats[24]
    robots: Robots  # what the links among them belong to


class Pulls(NamedTuple):
    """Pulls on bodies."""

    body: Ints
    at: Floats[3]  # where it acts, in the frame of the body [m]
    value: Floats[6]  # [n; f] about that place [N·m, N]


class Efforts(NamedTuple):
    """What drives a scene in a step: numbers u, and where each of them acts."""

    # the address of (t, q, v, u) → u, by the mechanism's own coordinates and velocities, called before every step; 0 where u
    # stays as it is held
    program: Ints
    number: Floats  # of steps made since the start
    # of each coordinate and velocity of the mechanism its place among those of bodies, row by row; those of robots, one after
    # the other, stand behind all bodies
    place_q: Ints
    place_v: Ints
    q: Floats  # space for them
    v: Floats
    held: Floats  # u as it is given
    acting: Floats  # with the values of the program
    bodies: Ints  # of each number of `MovingBodies.effort` its place in u, −1 where it is zero
    pulls: Ints  # the same of `Pulls.value`, `Robots.effort`, `RobotMotions.u` and `RobotMotions.commands`
    robots: Ints
    own: Ints
    commands: Ints


class Placed(NamedTuple):
    """Where the solids of `contact.pairs.rows` are, and what they are made of: those of moving bodies first.

    Poses are a rotation, and in a fourth row a position [m].
    """

    body: Ints  # the number of the moving body, or −1 for the world
    owner: Ints  # the number of the body of the mechanism, or −1
    family: Ints  # of the robot's first link, or −1: unless pairs are named, links that joints connect do not touch each other
    own: Floats[4, 3]  # the pose about the body's center of mass in the axes of the body, or in the world
    pose: Floats[4, 3]  # in the world
    half: Floats[3]  # half edges of the bounding box in the solid's frame [m]
    middle: Floats[3]  # and its center
    reach: Floats  # the radius about that center; 0 of planes
    span: Floats  # of each moving body how far its solids reach from its center [m], −1 if it has none
    material: Ints  # of which kind its surface is
    materials: int  # how many kinds there are
    surfaces: Floats[len(NUMBERS)]  # of two kinds, in the row of the first times `materials` plus the second: a `Surface`
    belt: Floats[3]  # the velocity of the surface in the axes of its moving body, or of the world [m/s]
    belts: int  # 1 if any moves
    cornered: Ints  # 1 of shapes with corners, by which they touch (`impulse.splitting`)
    margin: Floats  # how far around the bounding box others are near [m]
    low: Floats[3]  # the corners of that box in the world, with the margin
    high: Floats[3]
    resting: Ints  # 1 of the world's solids and of bodies that sleep
    barred: Ints  # 2³¹ · a moving body's owner + 1 + that of a body of the world, of the pairs that never touch, sorted
    sorted: Ints  # the numbers of the solids that are not planes, by the least x of their boxes
    planes: Ints  # the numbers of the planes


class Turns(NamedTuple):
    """Moments of torsional and rolling friction at the points of a step: about the normal, and about the tangents.

    Moments are `length` times an impulse, and angular velocities are velocities at that length, so that they have the units
    of the other components of a point. There are no rows if no surface has such friction.
    """

    length: Floats  # [m]
    limit: Floats[2]  # of the moment about the normal and of that about the tangents, in parts of the normal impulse
    size: Floats  # this and the next ones as of `ScenePoints`
    mass: Floats
    before: Floats[3]
    free: Floats[3]
    mode: Floats[3]
    impulse: Floats[3]
    speed: Floats[3]
    K: Floats[3, 3]  # λ' = base − K dω − push du_n, of the linearised law
    base: Floats[3]
    push: Floats[3]


class ScenePoints(NamedTuple):
    """The points of contact of a step (as many as there is room for), sorted by their pairs of solids."""

    solid: Ints[2]  # the numbers of A's and B's solids
    body: Ints[2]  # of A and B; B may be −1, the world
    feature: Ints  # which point of a pair
    material: Ints  # the row of `Placed.surfaces`
    place: Floats[3]  # [m]
    gap: Floats  # [m], negative where they overlap
    frame: Floats[3, 3]  # the rows are the normal from B to A and two tangents
    lever_a: Floats[3]  # from the centers of mass of A and B [m]
    lever_b: Floats[3]
    friction: Floats  # the coefficient that applies now
    size: Floats  # the largest velocity along an axis per unit impulse along it [1/kg]
    mass: Floats  # its inverse
    softness: Floats  # the velocity along the normal that a compliant point gives way with per unit impulse [1/kg]
    give: Floats  # that it gets, if all points of its bodies that touch are pushed so
    resolved: Floats  # 1 if the step resolves its spring
    begun: Floats  # its velocity along the normal before springs act [m/s] (`impulse.splitting`)
    left_out: Floats  # by how much less deep than it is a compliant point counts for its spring [m]
    target: Floats  # the least normal velocity after the step [m/s]
    plastic: Floats  # without restitution
    drift: Floats[3]  # the part of belts in the velocities, along the frame's axes
    before: Floats[3]  # velocities of A's surface relative to B's along these axes [m/s], as in `MovingBodies`
    free: Floats[3]
    mode: Floats[3]  # the velocity from which the first guess is made whether the point is apart, sticks or slides
    impulse: Floats[3]  # along the frame's axes [N·s]
    speed: Floats[3]  # the velocity after it
    waits: Ints  # 1 if it is not solved for, 2 if it has just ceased to wait (`islands`), else 0
    known: Ints  # 1 if the impulse is remembered from the last step
    recalled: Floats[3]  # that impulse, in the world
    steady: Floats  # the part of it that is kept in what is remembered of this step
    common: Floats  # the largest mass of a point of the same two bodies
    node: Ints[2]  # of A and B in the factors of their island; −1 for the world
    edge: Ints  # the block that couples A and B there
    row_a: Ints  # the rows of A and B in `MovingBodies.seen`
    row_b: Ints
    turns: Turns  # torsional and rolling friction


class Memory(NamedTuple):
    """The points of the last step that carried impulses, sorted by their pairs of solids."""

    solid: Ints[2]  # the numbers of A's and B's solids
    feature: Ints  # which point of the pair
    impulse: Floats[3]  # on A, in the world [N·s]


class Islands(NamedTuple):
    """Groups of bodies that touch one another; bodies and points are listed island by island."""

    parent: Ints  # of every body in the forest of the union-find
    label: Ints  # the number of its island
    bodies: Ints
    points: Ints
    first_body: Ints  # where each island begins in the lists
    first_point: Ints
    allowed: Floats  # of every body, by how much its island may miss the laws [m/s],
    left: Floats  # by how much it does,
    pile: Ints  # and how many are in it if all points are solved for


class BlockFactors(NamedTuple):
    """The matrix of one island in blocks of 6 × 6, and its factors; nodes are numbered in the order of elimination.

    A unit is a free body, by its number, or a row of a robot's velocities, by its number and that of all bodies.
    """

    count: Ints  # of the nodes of the island
    listed: Ints  # its units
    node: Ints  # of each unit; in the place of a robot's link, the row of efforts for wrenches on it
    unit: Ints  # of each node
    near: Ints  # one row of bits per unit, of those that it is coupled with while the order is found
    degree: Ints  # how many these are
    first: Ints  # the later nodes that node k is coupled with are later[first[k] : first[k + 1]], in order
    later: Ints
    diagonal: Floats[6, 6]  # of each node; all blocks are of the transpose
    inverse: Floats[6, 6]
    lower: Floats[6, 6]  # of each coupling, (later, k)
    upper: Floats[6, 6]  # and (k, later)
    mark: Ints  # space for the nodes' positions


class SolverSpace(NamedTuple):
    """Space for the solvers; impulses that are set aside have those of `Turns` after those of all points."""

    K: Floats[3, 3]  # of each point's linearised law, λ' = base − K du
    base: Floats[3]
    aim: Floats[3]  # the argument of its projection
    first: Floats[3]  # the best impulses of all methods,
    kept: Floats[3]  # those before a step,
    best: Floats[3]  # the best of a method,
    pushed: Floats[3]  # and those that push overlaps out
    asked: Floats  # the targets that do so
    done: Floats[3]  # the impulses of earlier impacts of the step,
    moved: Floats[3]  # and the velocities that these have changed
    due: Floats  # when the bodies of the point meet [s] (`laws.meets_after`)
    x: Floats[3]  # of the interior point method,
    z: Floats[3]
    dx: Floats[3]  # with their steps
    dz: Floats[3]
    W: Floats[3, 3]  # its scaling
    slope: Floats[2]  # ∂|u_t|/∂u_t
    lack: Floats[3]  # of z
    second: Floats[3]  # the product of the predictor's steps
    given: Floats[2]  # two numbers that all points share
    share: Floats  # the part of a step that stays in the cones
    reach: Floats[3, 6]  # J of each point: the velocity of A there along the frame's axes is J [ω; v] of A's center
    effort: Floats[6]  # of each node, then of each link of robots, [n; f], and after a solution its change of twist
    did: Ints  # since set to 0: [interior point rounds; Newton steps; islands; turns with points that had waited]


class Springs(NamedTuple):
    """What steps with springs need; empty where contact is rigid."""

    law: Ints  # the addresses of a `springs.law_program` and of a `springs.spring_program`
    clock: Floats  # [time left of a step that is not finished; the longest part of a step that the springs allow now] [s]
    steep: Floats  # of every body, the sum over its points of the stiffness times the velocity per unit impulse [1/s²]
    yields: Floats[3]  # of every point, the velocities along its axes per unit impulse along them [1/kg]


class Island(NamedTuple):
    """An island with all that its solution reads and writes."""

    members: Ints  # the numbers of its bodies
    listed: Ints  # and of its points, those of two bodies next to each other
    bodies: MovingBodies  # all of the scene
    points: ScenePoints
    factors: BlockFactors  # of the island that is being solved
    trial: SolverSpace


class OverlapList(NamedTuple):
    """What springs leave out of overlaps, by pairs of solids."""

    marks: Ints  # [1 before the first step; rows in use]
    thrown: float  # the energy of the springs at the start from which on bodies are parted slowly [J]
    held: Floats  # [that energy [J]; the deepest overlap at the start [m], of these two solids]
    rows: Floats[3]  # two solids, and by how much less deep than they are their points count [m]; in the order of points


class SceneLog(NamedTuple):
    """What is recorded of a motion: states, and the contact of the steps that begin at them."""

    q: Floats[7]  # coordinates and velocities of all bodies after each record
    v: Floats[6]
    work: Floats  # done since the start, at each record [J]
    reached: Floats[6]  # the bodies' velocities after the first step of each record, in the axes before it
    # of each record: the worst residual [m/s]; the same as a part of the speeds; penetration [m]; energy gained [J]; work of
    # contact [J]; `SolverSpace.did`; the worst residuals in small and in large piles [m/s]
    sums: Floats[11]
    robot_q: Floats  # of robots, likewise, those of one record after those of the other
    robot_v: Floats
    robot_reached: Floats
    # of every pair of solids that pushed each other: [record; A, B; force on A (3) [N]; place (3) [m]; normal (3); gap [m];
    # velocity of A relative to B after the step (3) [m/s]; friction; moment of torsional and rolling friction on A (3) [N·m]],
    # means weighted by the normal forces
    touches: Floats[20]
    marks: Ints  # [records finished; steps made of the next one; rows of `touches` in use]


class Scene(NamedTuple):
    """A scene with its work space."""

    rules: Rules
    bodies: MovingBodies
    pulls: Pulls
    efforts: Efforts
    solids: Solids
    placed: Placed
    allowed: Ints  # this and the next three: see `broad_phase.near_pairs`
    pairs: Ints[2]
    starts: Ints
    space: Ints[2]
    memory: Memory
    former: Memory  # space for the memory before a step
    found: Points  # where solids touch
    axes: Floats[3]  # see `narrow_phase.find_points`
    points: ScenePoints
    springs: Springs
    islands: Islands
    factors: BlockFactors
    trial: SolverSpace
    overlaps: OverlapList  # of compliant solids at the start
    settled: Floats[21]  # of sleeping islands, the rows of `SceneLog.touches`, each with the energy gained in a step [J]
    # [known points in the memory; needed pairs; needed points; needed couplings; settled rows; points of this step; the routine
    # that `touch` lacks], the second to the fourth and the last after a step that lacked room
    counts: Ints
