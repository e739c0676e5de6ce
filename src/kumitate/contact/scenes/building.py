"""A scene from a mechanism of free bodies: its arrays, and more room where a step lacks it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, ModelError
from ...model import Geometry, Mechanism, Place, Plane
from ...spatial import Transform
from ..scene import Contact, Touchable
from ..touching import points_for, solids_of
from .arrays import BlockFactors, FreeBodies, Islands, Memory, Placed, Pulls, ScenePoints, SolverSpace
from .rules import Rules
from .scene import Log, Scene
from .solvers.ordering import BITS

__all__ = ["fault_of", "free_bodies", "log_of", "roomier", "scene_of", "solid_names"]

#: Room to begin with, per solid: pairs, points, couplings of bodies.
_PAIRS, _POINTS, _COUPLINGS = 8, 24, 8
#: How much more room is made than a step lacked.
_SPARE = 1.5


class _Item(NamedTuple):
    """A shape of a scene: its body's name, the place of that body, the shape."""

    name: str
    place: Place
    geometry: Geometry


def fault_of(mechanism: Mechanism, contact: Contact) -> str:
    """Why a mechanism is not a scene of free bodies, or ""."""
    tree = mechanism.tree
    if tree.closed:
        return "it has loops or couplings"
    for link in tree.links:
        if link.kind.name != "floating" or link.parent >= 0:
            return f"joint {link.name!r} is {link.kind.name}, and only free bodies are possible"
        if any(float(part) != 0.0 for part in chain(link.armature, link.damping, link.friction, link.stiffness)):
            return f"joint {link.name!r} has damping, friction, stiffness or armature"
        if not (float(link.inertia.mass) > 0.0 and np.linalg.eigvalsh(_central(link.inertia)[1]).min() > 0.0):
            return f"the body of joint {link.name!r} has an inertia that is not positive"
    try:
        solids_of([item.geometry.shape for item in _items(mechanism, Touchable.of(mechanism, tree, contact))])
    except ModelError as error:
        return str(error)
    return ""


def solid_names(mechanism: Mechanism, contact: Contact) -> list[str]:
    """The names of the solids' bodies, in the order of the scene; "ground" where none has one."""
    return [item.name for item in _items(mechanism, Touchable.of(mechanism, mechanism.tree, contact))]


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
        raise InputError(
            f"{mechanism.name}: no moving body has a shape to touch with; give bodies `collisions`, as <collision> in a URDF "
            "does"
        )
    links, solids = len(tree.links), len(items)
    gravity = np.array([float(part) for part in mechanism.gravity])
    places = [tree.places[name] for name in wrenches]
    return Scene(
        rules=Rules(step, gravity, float(np.linalg.norm(gravity)) * step, patience, int(flies)),
        bodies=free_bodies(mechanism),
        pulls=Pulls(
            _ints([place.link for place in places]),
            _rows([list(place.pose.translation) for place in places], 3),
            np.zeros((len(places), 6)),
        ),
        solids=solids_of([item.geometry.shape for item in items]),
        placed=_placed(mechanism, contact, items),
        allowed=_allowed(mechanism, found),
        pairs=np.zeros((0, 2), dtype=np.int64),
        starts=np.zeros(solids + 2, dtype=np.int64),
        space=np.zeros((0, 2), dtype=np.int64),
        memory=_made(Memory, 0),
        found=points_for(0),
        points=_made(ScenePoints, 0),
        islands=Islands(*(np.zeros(size, dtype=np.int64) for size in (links, links, links, 0, links + 2, links + 2))),
        factors=_factors(links, _COUPLINGS * links),
        trial=_trial(0, links),
        counts=np.zeros(4, dtype=np.int64),
    )._replace(**_room(solids * _PAIRS, solids * _POINTS, links))  # fmt: skip


def roomier(scene: Scene) -> Scene:
    """The scene with the room that `counts` says it lacked, and some more; everything that is remembered is kept."""
    links = len(scene.bodies.mass)
    _, pairs, points, couplings = (int(count) for count in scene.counts)
    wanted_pairs = _more(pairs, len(scene.pairs))
    wanted_points = _more(points, len(scene.points.gap))
    changed: dict[str, Any] = {}
    if wanted_pairs > len(scene.pairs) or wanted_points > len(scene.points.gap):
        changed = _room(wanted_pairs, wanted_points, links)
        for new, old in zip(changed["memory"], scene.memory, strict=True):
            new[: len(old)] = old
    if couplings > len(scene.factors.later):
        changed["factors"] = _factors(links, _more(couplings, 0))
    return scene._replace(**changed)


def log_of(bodies: int, records: int, touches: int) -> Log:
    """An empty log with room for some records and touches."""
    return Log(
        np.zeros((records * bodies, 7)), np.zeros((records * bodies, 6)), np.zeros(records), np.zeros((records * bodies, 6)),
        np.zeros((records, 4)), np.zeros((touches, 17)), np.zeros(3, dtype=np.int64),
    )  # fmt: skip


def _more(needed: int, there: int) -> int:
    return there if needed <= there else int(_SPARE * needed) + 8


def _items(mechanism: Mechanism, found: Touchable) -> list[_Item]:
    places = mechanism.tree.places
    moving = [_Item(name, places[name], shape) for name, shapes in found.moving.items() for shape in shapes]
    return sorted(moving, key=lambda item: item.place.link) + [_Item(*item) for item in found.standing]


def _central(inertia: Any) -> tuple[np.ndarray, np.ndarray]:
    """The center of mass [m] and the inertia about it [kg·m²]."""
    mass = float(inertia.mass)
    center = np.array([float(part) for part in inertia.first_moment]) / mass
    I = inertia.rotational
    about = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]], dtype=float)
    return center, about - mass * (center @ center * np.eye(3) - np.outer(center, center))


def free_bodies(mechanism: Mechanism) -> FreeBodies:
    """The bodies of a mechanism that `fault_of` has nothing against."""
    links = mechanism.tree.links
    made: FreeBodies = _made(FreeBodies, len(links))
    for k, link in enumerate(links):
        made.mass[k] = float(link.inertia.mass)
        made.center[k], made.central[k] = _central(link.inertia)
        made.yielding[k] = np.linalg.inv(made.central[k])
        base = _pose_row(link.placement)
        made.base_turn[k], made.base_place[k] = base[:9].reshape(3, 3), base[9:]
    return made


def _placed(mechanism: Mechanism, contact: Contact, items: Sequence[_Item]) -> Placed:
    made = _made(Placed, len(items))
    numbers = {body.name: k for k, body in enumerate(mechanism.bodies)}
    flat = np.array([isinstance(item.geometry.shape, Plane) for item in items])
    for k, item in enumerate(items):
        made.body[k], made.owner[k] = item.place.link, numbers.get(item.name, -1)
        made.own[k] = _pose_row((item.place.pose @ item.geometry.pose).dense())
        if item.place.link >= 0:
            made.own[k, 9:] -= _central(mechanism.tree.links[item.place.link].inertia)[0]
        surface = contact.of(item.name)
        made.friction[k], made.kinetic[k], made.restitution[k] = surface.friction, surface.kinetic, surface.restitution
        if not flat[k]:
            points, radius = item.geometry.shape.support()
            low, high = points.min(axis=0) - radius, points.max(axis=0) + radius
            made.half[k], made.middle[k] = 0.5 * (high - low), 0.5 * (high + low)
            made.reach[k] = np.linalg.norm(points - made.middle[k], axis=1).max() + radius
    made.pose[:] = made.own
    return made._replace(sorted=np.flatnonzero(~flat), planes=np.flatnonzero(flat))


def _allowed(mechanism: Mechanism, found: Touchable) -> np.ndarray:
    """`allowed` of `broad_phase.near_pairs`."""
    if found.between is None:
        return np.zeros(0, dtype=np.int64)
    numbers = {body.name: k for k, body in enumerate(mechanism.bodies)}
    keys = [(min(pair) << 31) + max(pair) for pair in ([numbers[name] for name in names] for names in found.between)]
    return _ints(sorted(keys) or [-1])


def _room(pairs: int, points: int, links: int) -> dict[str, Any]:
    """The arrays of a scene with room for some pairs and points."""
    return {
        "pairs": np.zeros((pairs, 2), dtype=np.int64),
        "space": np.zeros((pairs, 2), dtype=np.int64),
        "memory": _made(Memory, points),
        "found": points_for(points // 8 + 1),
        "points": _made(ScenePoints, points),
        "islands": Islands(*(np.zeros(size, dtype=np.int64) for size in (links, links, links, points, links + 2, links + 2))),
        "trial": _trial(points, links),
    }


def _factors(links: int, couplings: int) -> BlockFactors:
    words = links * ((links + BITS - 1) // BITS)
    counts = (links, links, words, links, links + 1, couplings, links)
    node, body, near, degree, first, later, mark = (np.zeros(size, dtype=np.int64) for size in counts)
    diagonal, inverse, lower, upper = (np.zeros((size, 6, 6)) for size in (links, links, couplings, couplings))
    return BlockFactors(node, body, near, degree, first, later, diagonal, inverse, lower, upper, mark)


def _trial(points: int, links: int) -> SolverSpace:
    made = _made(SolverSpace, points)
    return made._replace(effort=np.zeros((links, 6)))


def _made(kind: Any, rows: int) -> Any:
    """A record of arrays with this many rows each, from the annotations of its fields."""
    return kind(*(_empty(text, rows) for text in kind.__annotations__.values()))


def _empty(annotation: Any, rows: int) -> np.ndarray:
    text = getattr(annotation, "__forward_arg__", annotation)
    sizes = text[text.index("[") + 1 : -1].split(",") if "[" in text else []
    return np.zeros((rows, *map(int, sizes)), dtype=np.int64 if text.startswith("Ints") else float)


def _ints(values: Sequence[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _rows(rows: Sequence[Sequence[Any]], size: int) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(len(rows), size)


def _pose_row(pose: Transform) -> np.ndarray:
    """A rotation row by row, then a position [m]."""
    return np.array([float(x) for x in chain(*pose.rotation.matrix(), pose.translation)])
