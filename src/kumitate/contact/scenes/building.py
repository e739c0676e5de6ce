"""A scene from a mechanism of free bodies: its arrays, and more room where a step lacks it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeVar, get_type_hints

import numpy as np

from ...errors import ModelError
from ...model import Mechanism, Plane, Shape
from ...procedure.kinds import INT, ArrayKind
from ...spatial import Transform
from .. import tuned
from ..impulse.splitting import has_corners, rides_free
from ..pairs.rows import compile_routine, points_for, pose_row, solids_of
from ..scene import Contact, PlacedShape, Touchable, nothing_touches
from ..surface import NUMBERS, Surface
from .arrays import (
    BlockFactors,
    Efforts,
    Islands,
    MovingBodies,
    OverlapList,
    Placed,
    Pulls,
    RobotMotions,
    Robots,
    Rules,
    Scene,
    SceneLog,
    ScenePoints,
    SolverSpace,
)
from .parts import RobotPart, central_inertias, robot_parts
from .solvers.ordering import BITS

R = TypeVar("R", bound=tuple[Any, ...])

#: Room to begin with, per solid: pairs, points, couplings of bodies.
_PAIRS, _POINTS, _COUPLINGS = 8, 24, 8
#: The largest number of axes along which pairs are apart.
_AXES = 4096
#: How much more room is made than a step lacked.
_SPARE = 1.5


def fault_of(mechanism: Mechanism, contact: Contact) -> str:
    """Why a mechanism is not a scene of free bodies and robots, or ""."""
    items = _items(mechanism, Touchable.of(mechanism, mechanism.tree, contact))
    try:
        solids_of([item.geometry.shape for item in items], [repr(item.body) for item in items])
    except ModelError as error:
        return str(error)
    return ""


def solid_names(mechanism: Mechanism, contact: Contact) -> list[str]:
    """The names of the solids' bodies, in the order of the scene; "ground" where none has one."""
    return [item.body for item in _items(mechanism, Touchable.of(mechanism, mechanism.tree, contact))]


def scene_of(
    mechanism: Mechanism, contact: Contact, wrenches: Sequence[str], *, step: float, patience: int, flies: bool
) -> Scene:
    """The scene of a mechanism that `fault_of` has nothing against; at rest until `motion.read_state`.

    Args:
        wrenches: bodies and frames that wrenches act on; step: [s]; patience, flies: see `Rules`.

    Raises:
        InputError: if nothing can touch anything.
    """
    tree = mechanism.tree
    found = Touchable.of(mechanism, tree, contact)
    items = _items(mechanism, found)
    if not found.moving:
        raise nothing_touches(mechanism)
    follows = tuned.FOLLOWING if contact.accuracy == "following" else 0.0
    links, solids, parts = len(tree.links), len(items), robot_parts(mechanism)
    units = links + sum(map(rows_of, parts))
    gravity, numbers = np.array([float(part) for part in mechanism.gravity]), _numbers(mechanism)
    barred = _ints(sorted((numbers[one] << 31) + numbers.get(other, -1) + 1 for one, other in found.barred))
    places = [tree.places[name] for name in wrenches]
    pulls = Pulls(
        _ints([max(place.link, 0) for place in places]),  # on what does not move, wrenches stay zero
        _rows([list(place.pose.translation) for place in places], 3),
        np.zeros((len(places), 6)),
    )
    return _made(
        Scene, 0, rules=Rules(step, gravity, float(np.linalg.norm(gravity)) * step, patience, int(flies), follows),
        bodies=moving_bodies(mechanism, parts), pulls=pulls, efforts=_made(Efforts, 0, program=1, number=1),
        solids=solids_of([item.geometry.shape for item in items]),
        placed=_placed(mechanism, contact, items, parts)._replace(barred=barred),
        allowed=_allowed(mechanism, found), starts=solids + 2, axes=min(solids * solids, _AXES),
        factors=_factors(units, _COUPLINGS * units), overlaps=_made(OverlapList, 0, marks=2, thrown=0.0, held=4), counts=7,
        **_room(solids * _PAIRS, solids * _POINTS, links, units, turning=contact.turns),
    )  # fmt: skip


def with_efforts(scene: Scene, sizes: Iterable[Sequence[int]]) -> Scene:
    """The scene with room for so many efforts, commands, pieces, rows of loops, degrees of freedom, rows of axes, drives and
    stops, and their numbers, of each robot: `RobotMotions` says which."""
    robots = scene.bodies.robots
    u, command, piece, rows, freedom, axis, acting, law = map(_starts, sizes)
    pushes = {name: np.zeros(freedom[-1]) for name in ("driving", "resisting", "carried")}
    motions = robots.motions._replace(
        first_u=u, first_command=command, first_piece=piece, first_closed=rows, first_freedom=freedom,
        first_axis=axis, first_acting=acting, first_law=law, u=np.zeros(u[-1]), commands=np.zeros(command[-1]),
        pieces=np.zeros(piece[-1]), following=np.zeros(piece[-1]), settled=np.zeros(piece[-1]),
        closed=np.zeros((rows[-1], 6)), bends=np.zeros(rows[-1]),
        axes=np.zeros((axis[-1], 6)), acting=np.zeros((acting[-1], 11), dtype=np.int64), laws=np.zeros(law[-1]), **pushes,
    )  # fmt: skip
    return scene._replace(bodies=scene.bodies._replace(robots=robots._replace(motions=motions)))


def roomier(scene: Scene) -> Scene:
    """The scene with what `counts` says it lacked, room and some more or a routine; everything that is remembered is kept."""
    if scene.counts[6] < 0:
        compile_routine(scene.solids, int(scene.counts[6]))
        scene.counts[6] = 0
        return scene
    links, units = len(scene.bodies.mass), len(scene.factors.unit)
    pairs, points, couplings = (int(count) for count in scene.counts[1:4])
    wanted_pairs = _more(pairs, len(scene.pairs))
    wanted_points = _more(points, len(scene.points.gap))
    changed = scene._asdict()
    if wanted_pairs > len(scene.pairs) or wanted_points > len(scene.points.gap):
        changed |= _room(wanted_pairs, wanted_points, links, units, turning=len(scene.points.turns.length) > 0)
    if couplings > len(scene.factors.later):
        changed["factors"] = _factors(units, _more(couplings, 0))
    made = _made(Scene, 0, **changed)
    for new, old in zip((*made.memory, made.settled), (*scene.memory, scene.settled), strict=True):
        new[: len(old)] = old
    return made


def log_of(bodies: int, records: int, touches: int, robots: tuple[int, int] = (0, 0)) -> SceneLog:
    """An empty log with room for some records and touches; `robots`: how many coordinates and velocities all of them have."""
    q, v = robots
    rows = records * bodies
    return _made(
        SceneLog, records, q=rows, v=rows, reached=rows, robot_q=records * q, robot_v=records * v, robot_reached=records * v,
        touches=touches, marks=3,
    )  # fmt: skip


def _numbers(mechanism: Mechanism) -> dict[str, int]:
    return {body.name: k for k, body in enumerate(mechanism.bodies)}


def _more(needed: int, there: int) -> int:
    return there if needed <= there else int(_SPARE * needed) + 8


def _items(mechanism: Mechanism, found: Touchable) -> list[PlacedShape]:
    moving = [shape for name in found.moving for shape in found.shapes(mechanism.tree, name)]
    return [*sorted(moving, key=lambda item: item.place.link), *found.standing]


def moving_bodies(mechanism: Mechanism, parts: Sequence[RobotPart] = ()) -> MovingBodies:
    """The bodies of a mechanism that `fault_of` has nothing against; of links of its robots, nothing but their number."""
    links = mechanism.tree.links
    made = _made(MovingBodies, len(links), robots=robots_of(parts, len(links)), seen=len(links) + 1)
    made.seen[-1, -2] = 1.0
    free = np.flatnonzero(made.robots.link < 0)
    inertias = [links[k].inertia for k in free]
    made.mass[free] = [float(inertia.mass) for inertia in inertias]
    made.center[free], made.central[free] = central_inertias(inertias)
    made.yielding[free] = np.linalg.inv(made.central[free])
    bases = _pose_rows([links[k].placement for k in free])
    made.base_turn[free], made.base_place[free] = bases[:, :3], bases[:, 3]
    return made


def _placed(mechanism: Mechanism, contact: Contact, items: Sequence[PlacedShape], parts: Sequence[RobotPart]) -> Placed:
    material, surfaces = _materials(contact, items)
    made = _made(
        Placed, len(items), materials=int(material.max()) + 1, belts=int(bool(contact.belts)), material=material,
        surfaces=surfaces,
    )  # fmt: skip
    numbers = _numbers(mechanism)
    robots = {link for part in parts for link in part.links}
    flat = np.array([isinstance(item.geometry.shape, Plane) for item in items])
    made.own[:] = _pose_rows([item.place.pose @ item.geometry.pose for item in items])
    boxes: dict[int, tuple[np.ndarray, np.ndarray, float]] = {}
    for k, item in enumerate(items):
        made.body[k], made.owner[k] = item.place.link, numbers.get(item.body, -1)
        made.family[k] = mechanism.tree.ancestors(item.place.link)[-1].index if item.place.link in robots else -1
        if contact.of(item.body).moves:
            turn = made.own[k, :3] @ pose_row(item.geometry.pose)[:3].T
            made.belt[k] = turn @ contact.of(item.body).belt
        made.cornered[k] = has_corners(item.geometry.shape)
        if not flat[k]:
            shape = item.geometry.shape
            if id(shape) not in boxes:  # bodies often share one
                boxes[id(shape)] = _bounds(shape)
            made.half[k], made.middle[k], made.reach[k] = boxes[id(shape)]
    free = np.flatnonzero((made.body >= 0) & (made.family < 0))
    made.own[free, 3] -= central_inertias([mechanism.tree.links[k].inertia for k in made.body[free]])[0]
    made.pose[:] = made.own
    span = np.full(len(mechanism.tree.links), -1.0)
    moves = made.body >= 0
    np.maximum.at(span, made.body[moves], np.linalg.norm(made.own[moves, 3], axis=1) + made.reach[moves])
    return made._replace(span=span, sorted=np.flatnonzero(~flat), planes=np.flatnonzero(flat))


def _bounds(shape: Shape) -> tuple[np.ndarray, np.ndarray, float]:
    """Half edges and middle of the bounding box of a shape, and the radius about that middle [m]."""
    points, radius = shape.support()
    low, high = points.min(axis=0) - radius, points.max(axis=0) + radius
    middle = 0.5 * (high + low)
    return 0.5 * (high - low), middle, np.linalg.norm(points - middle, axis=1).max() + radius


def _materials(contact: Contact, items: Sequence[PlacedShape]) -> tuple[np.ndarray, np.ndarray]:
    """The kinds of surfaces: of which kind that of each solid is, and what every two kinds combine to."""
    paired = {name for pair in contact.pairs for name in pair}
    kinds: dict[tuple[Surface, float | None, str, bool], int] = {}  # parameters set those of the world alone
    found = []
    for name, place, shape in items:
        kind = (contact.of(name), contact.own_friction(name, shape), name if name in paired else "", place.link < 0)
        found.append(kinds.setdefault(kind, len(kinds)))
    one_of = list(dict(zip(found, items, strict=True)).values())  # kinds are numbered as they appear
    both = [contact.where(a.body, b.body, (a.geometry, b.geometry)) for a in one_of for b in one_of]
    return _ints(found), _rows([one.numbers for one in both], len(NUMBERS))


def _allowed(mechanism: Mechanism, found: Touchable) -> np.ndarray:
    """`allowed` of `broad_phase.near_pairs`."""
    if found.between is None:
        return np.zeros(0, dtype=np.int64)
    numbers, size = _numbers(mechanism), len(mechanism.bodies)
    may = np.zeros(-(-size * size // 32) * 32, dtype=np.int64)
    for names in found.between:
        a, b = (numbers[name] for name in names)
        may[[a * size + b, b * size + a]] = 1
    return np.concatenate([[size], may.reshape(-1, 32) @ (1 << np.arange(32, dtype=np.int64))])


def _room(pairs: int, points: int, links: int, units: int, *, turning: bool) -> dict[str, Any]:
    """The arrays of a scene with room for some pairs and points; `turning`: also for their moments."""
    turns = points if turning else 0
    saved = dict.fromkeys(("first", "kept", "best", "pushed", "x", "aim", "lack"), points + turns)
    return {
        "pairs": pairs, "space": pairs, "memory": points, "former": points, "found": points_for(points // 8 + 1),
        "points": _made(ScenePoints, points, turns=turns),
        "islands": _made(Islands, links, points=points, first_body=links + 2, first_point=links + 2),
        "trial": _made(SolverSpace, points, effort=units + links, did=4, **saved), "settled": points,
    }  # fmt: skip


def _factors(units: int, couplings: int) -> BlockFactors:
    words = units * ((units + BITS - 1) // BITS)
    return _made(BlockFactors, units, count=1, near=words, first=units + 1, later=couplings, lower=couplings, upper=couplings)


def rows_of(part: RobotPart) -> int:
    """The rows of six that its velocities take."""
    return -(-part.mechanism.nv // 6)


def robots_of(parts: Sequence[RobotPart], bodies: int) -> Robots:
    """The robots of a scene with so many moving bodies, still without any state."""
    link, rows = np.full(bodies, -1, dtype=np.int64), [rows_of(part) for part in parts]
    links, all_rows = [len(part.links) for part in parts], sum(rows)
    body = _ints([number for part in parts for number in part.links])
    link[body] = np.arange(len(body))
    owner = np.repeat(np.arange(len(parts)), links)
    parents = [(first, part.mechanism.tree) for first, part in zip(_starts(links).tolist(), parts, strict=False)]
    blocks, columns = sum(size * size for size in rows), sum(size * many for size, many in zip(rows, links, strict=True))
    joints = [(link.v_start, link.v_start + link.kind.nv) for _, tree in parents for link in tree.links]
    return _made(
        Robots, len(body), motions=_motions_of(parts),
        link=link, body=body, owner=owner, row_owner=np.repeat(np.arange(len(parts)), rows),
        first_link=_starts(links), first_row=_starts(rows),
        first_block=_starts([size * size for size in rows]), first_column=_starts([rows[robot] for robot in owner]),
        moves=_ints([number for part in parts for number in _moved_rows(part)]),
        above=_ints([link.parent + first if link.parent >= 0 else -1 for first, tree in parents for link in tree.links]),
        joint=np.array(joints, np.int64).reshape(-1, 2), inverted=np.ones(len(parts), dtype=np.int64), pushed=len(parts),
        stopping=len(parts), rides=np.array([float(any(map(rides_free, tree.children(-1)))) for _, tree in parents]),
        jacobian=columns, inertia=blocks, mobility=blocks, columns=6 * all_rows, reach=all_rows + 2, reaching=all_rows + 2,
        felt=all_rows, effort=all_rows, undriven=all_rows, before=all_rows, free=all_rows, after=all_rows,
    )  # fmt: skip


def _motions_of(parts: Sequence[RobotPart]) -> RobotMotions:
    """The states of robots, without programs, drives and stops."""
    first_q, first_v = _starts([len(part.q) for part in parts]), _starts([len(part.v) for part in parts])
    q, v, rows, blocks = int(first_q[-1]), int(first_v[-1]), sum(map(rows_of, parts)), sum(rows_of(part) ** 2 for part in parts)
    sizes: dict[str, Any] = {name: len(parts) + 1 for name in RobotMotions._fields if name.startswith("first_")}
    by_link = ("pose", "first_of_link", "pages", "numbers", "moving", "wrench", "heavy")
    sizes |= dict.fromkeys(by_link, sum(len(part.links) for part in parts)) | {"first_q": first_q, "first_v": first_v}
    sizes |= dict.fromkeys(("falling", "reached", "opening", "along"), rows) | dict.fromkeys(
        ("programs", "lasting"), len(parts)
    )
    return _made(RobotMotions, 0, **sizes, q=q, v=v, next_q=q, next_v=v, rates=v, inertia=blocks)


def _moved_rows(part: RobotPart) -> list[int]:
    """Of every link and row of velocities, 1 if any of the row moves the link; loops join all."""
    tree, rows = part.mechanism.tree, range(rows_of(part))
    moving = [{k // 6 for above in tree.ancestors(link.index) for k in above.velocities(range(tree.nv))} for link in tree.links]
    return [int(row in found or tree.closed) for found in moving for row in rows]


def _starts(sizes: Sequence[int]) -> np.ndarray:
    """Where each of some stretches begins, and where the last one ends."""
    return _ints([0, *np.cumsum(sizes, dtype=np.int64)])


def _made(kind: type[R], rows: int, **given: Any) -> R:
    """A record of arrays of zeros with this many rows each, and of such records, from the annotations of its fields.

    Args:
        given: fields that are others; of arrays and records also the number of rows.
    """
    made = {}
    for name, (row, dtype, record) in _fields(kind).items():
        value = given.get(name, rows)
        if isinstance(value, int) and dtype is not None:
            value = np.zeros((value, *row), dtype)
        elif isinstance(value, int) and record is not None:
            value = _made(record, value)
        made[name] = value
    return kind(**made)


@cache
def _fields(kind: type) -> dict[str, tuple[tuple[int, ...], type | None, Any]]:
    """Of every field of a record the shape of a row and the type of its numbers, if it is an array, or its own record."""
    found: dict[str, tuple[tuple[int, ...], type | None, Any]] = {}
    for name, field in get_type_hints(kind).items():
        row = field.row if isinstance(field, ArrayKind) else ()
        dtype = (np.int64 if field.element == INT else float) if hasattr(field, "element") else None
        found[name] = row, dtype, field if hasattr(field, "_fields") else None
    return found


def _ints(values: Sequence[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _rows(rows: Sequence[Sequence[Any]], size: int) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(len(rows), size)


def _pose_rows(poses: Sequence[Transform]) -> np.ndarray:
    """Of each pose its rotation, and in a fourth row its position [m]."""
    turns = {turn: [*map(list, turn.matrix())] for turn in {pose.rotation for pose in poses}}  # many bodies have the same
    return np.array([[*turns[pose.rotation], list(pose.translation)] for pose in poses], dtype=float).reshape(-1, 4, 3)
