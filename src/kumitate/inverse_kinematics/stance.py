"""The stance of a legged robot: its file's own standing posture, or one found by inverse kinematics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..analysis import support_polygon
from ..contact import Contact, on_ground
from ..contact.placement import ground_touches, lowest_of
from ..errors import InputError, KumitateError
from ..kinematics import center_of_mass, link_poses, neutral, place_pose
from ..model import Frame, Link, Mechanism, lock
from ..model.elements import INITIAL
from ..model.read.srdf import read_srdf
from ..spatial import DenseRotation, Matrix3, Rotation, Transform, Vector3, identity_rotation
from .goals import Goal, PoseGoal, PositionGoal, PostureGoal
from .search import inverse_kinematics, limits_of

#: A stance found bends knees so far that the hips sink by this part of their height: on soles, and on round feet, where legs
#: have no ankles to sway on.
_SUNK_ON_SOLES, _SUNK = 0.08, 0.2
#: The least part of the hips' height that lies between the top of a thigh and a knee, and that a sole is long; a round foot of
#: a mesh has small facets.
_THIGH, _SOLE = 0.25, 0.06
#: A named state stands where its feet are level within this part of the hips' height.
_LEVEL = 0.1
#: Feet are at their heights [m], and points of a sole touch together [m].
_EXACT, _TOGETHER = 1e-9, 1e-3
#: Where a search begins: by how much knees are bent [rad], or how far all joints of legs are moved towards their middle.
_BENDS, _INWARD = (0.5, -0.5), 0.15
_ROUNDS = 30
_REMEDY = "give coordinates (--q), or begin at its zero state (--start zero)"


class StandingPosture(NamedTuple):
    """A posture in which a legged robot stands.

    Attributes:
        q: coordinates (nq), the feet on the floor z = 0; `feet`: the names of the bodies on which it stands.
        told: in a few words, where the posture is from.
        points: (n, 3) where it touches the floor [m].
    """

    q: np.ndarray
    feet: tuple[str, ...]
    told: str
    points: np.ndarray


class _Leg(NamedTuple):
    """A leg: its joints from the base to the foot, the foot's body, a frame under it, and whether its sole is flat."""

    joints: list[Link]
    foot: str
    frame: Frame
    is_flat: bool


def stance(mechanism: Mechanism, q: Any, contact: Contact | None = None) -> StandingPosture:
    """The stance of a robot with a free base and two legs or more, on the floor z = 0.

    It is the file's own posture if there is one: a keyframe, or a state of the SRDF beside a URDF, that says where all joints
    of legs are. Its feet are put level. Otherwise feet are flat and level under the hips, knees are bent, and the center of
    mass is over the middle of the feet.

    Args:
        mechanism: the robot, whose legs are chains of two joints or more between the base and the lowest bodies.
        q: coordinates (nq) at which its base is level and its soles are flat, such as `Robot.start`.
        contact: with the floor.

    Raises:
        InputError: if it has no free base or no such legs, or does not reach such a posture.
    """
    q = np.asarray(q, dtype=float)
    with suppress(InputError):
        q = on_ground(mechanism, q, contact)
    legs = _legs(mechanism, q, contact)
    stand = _Standing(mechanism, legs, contact)
    for name, posture in _named(mechanism, legs, q):
        with suppress(KumitateError):
            return stand.level(posture, f"its state {name}", most=_LEVEL * stand.height(q))
    told = "a posture found by inverse kinematics: feet under the hips, knees bent, the center of mass over the feet"
    places = stand.under_the_hips(q)
    sunk = -stand.height(q) * (_SUNK_ON_SOLES if all(leg.is_flat for leg in legs) else _SUNK)
    for seed in _seeds(mechanism, legs, q):
        with suppress(KumitateError):
            return stand.over_the_feet(stand.moved(seed, (0.0, 0.0, sunk)), places, told)
    raise InputError(
        f"{mechanism.name}: no posture was found in which its center of mass is over {', '.join(leg.foot for leg in legs)}; "
        f"{_REMEDY}"
    )


def has_legs(mechanism: Mechanism) -> bool:
    """Whether two chains of two joints or more of one degree of freedom leave its one base, which is free: a quick look."""
    tree = mechanism.tree
    tips = [tree.ancestors(link.index) for link in tree.links if not tree.children(link.index)]
    long = [chain for chain in tips if len(chain) > 2 and all(link.kind.nv == 1 for link in chain[:-1])]
    return len(tree.children(-1)) == 1 and tree.children(-1)[0].kind.nv == 6 and len(long) > 1


def _legs(mechanism: Mechanism, q: np.ndarray, contact: Contact | None) -> list[_Leg]:
    """The legs; raises `InputError` if there is no free base, or fewer than two legs."""
    tree = mechanism.tree
    bases = [link for link in tree.children(-1) if link.kind.nv == 6]
    if not bases:
        raise InputError(
            f"{mechanism.name}: has no stance, as its base is not free; load its file with floating_base=True "
            "(--floating-base), or leave the stance out"
        )
    touches, poses = ground_touches(mechanism, q, contact), link_poses(tree, q.tolist())
    feet: dict[int, _Leg] = {}
    for body in lowest_of(mechanism, touches):
        place = tree.places[body]
        joints = tree.ancestors(place.link)[-2::-1]
        if len(joints) < 2 or any(link.kind.nv != 1 for link in joints) or place.link in feet:
            continue
        points = touches[body]
        sole = points[points[:, 3] < points[:, 3].min() + _TOGETHER]
        low = sole[:, :3] + [0.0, 0.0, points[:, 3].min()]
        hips = float(poses[joints[0]].translation.z) - low[0, 2]
        is_flat = bool(support_polygon(low).area > (_SOLE * hips) ** 2)
        under = Transform(
            _level_of(sole[:, [0, 1, 3]], low[:, :2].mean(axis=0)) if is_flat else identity_rotation(),
            Vector3(*low.mean(axis=0)),
        )
        frame = Frame(f"under {body}", body, place_pose(tree, poses, place).inverse() @ under)
        feet[place.link] = _Leg(list(joints), body, frame, is_flat)
    if len(feet) < 2:
        raise InputError(
            f"{mechanism.name}: has no stance, as there are no two legs: chains of two joints or more between its base and its "
            f"lowest bodies at the zero state; {_REMEDY}"
        )
    return list(feet.values())


def _level_of(sole: np.ndarray, middle: np.ndarray) -> Rotation:
    """Axes, x nearly that of the world, in which the side of a sole's hull that bears its middle (2) is level.

    Of the planes through three of its points (n, 3) with none below them that is the highest one there. The sole of a mesh need
    not be level in the axes of its body.
    """
    a, b, c = np.array(list(combinations(sole, 3))).swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    normals *= np.sign(normals[:, 2:])
    bears = normals[:, 2] > 1e-9 * np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)
    heights = np.einsum("nk,nmk->nm", normals, sole - a[:, None])
    bears &= heights.min(axis=1) >= -1e-9 * np.abs(heights).max(axis=1, initial=1e-9 * np.ptp(sole))
    if not bears.any():
        return identity_rotation()
    normals, a = normals[bears], a[bears]
    there = a[:, 2] - np.einsum("nk,nk->n", normals[:, :2], middle - a[:, :2]) / normals[:, 2]
    z = normals[there.argmax()] / np.linalg.norm(normals[there.argmax()])
    x = np.array([1.0, 0.0, 0.0]) - z[0] * z
    x /= np.linalg.norm(x)
    return DenseRotation(Matrix3.of(np.column_stack([x, np.cross(z, x), z]).tolist()))


def _named(mechanism: Mechanism, legs: Sequence[_Leg], q: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The file's named states that say where all joints of legs are, with their names and where they stand."""
    tree = mechanism.tree
    needed = {link.name for leg in legs for link in leg.joints}
    postures: list[tuple[str, Mapping[str, Sequence[float]]]] = [
        (repr(state.name), dict(state.q)) for state in mechanism.starts if state.name != INITIAL
    ]
    source = Path(mechanism.source or "")
    beside = [*source.parent.glob("*.srdf"), *(source.parent.parent / "srdf").glob("*.srdf")] if mechanism.source else []
    for file in sorted(beside, key=lambda file: (file.stem != source.stem, file.stem != mechanism.name, file)):
        with warnings.catch_warnings(), suppress(KumitateError):  # what else the file says is not asked for
            warnings.simplefilter("ignore")
            read = read_srdf(file, mechanism, skip_unknown=True)
            postures += [(f"{name!r} of {file.name}", pose) for name, pose in read.poses.items()]
    for name, pose in postures:
        if needed <= pose.keys():
            posture = q.copy()
            for link in tree.links:
                posture[link.q_start : link.q_start + link.kind.nq] = pose.get(link.name, link.coordinates(q.tolist()))
            yield name, posture


def _seeds(mechanism: Mechanism, legs: Sequence[_Leg], q: np.ndarray) -> Iterator[np.ndarray]:
    """Coordinates with bent legs: towards the middle of their joints' ranges, or with bent knees."""
    low, high = limits_of(mechanism)
    inward = q.copy()
    for i in (link.q_start for leg in legs for link in leg.joints):
        if i in low and i in high:
            inward[i] += _INWARD * (0.5 * (low[i] + high[i]) - q[i])
    yield inward
    for bend in _BENDS:
        bent = q.copy()
        for leg in legs:
            for link, part in zip(leg.joints[-3 if leg.is_flat else -2 :], (-0.5, 1.0, -0.5), strict=False):
                bent[link.q_start] += bend * part
        yield bent


class _Standing:
    """What puts a robot onto its feet: its base by its coordinates, its legs by inverse kinematics of the legs alone."""

    def __init__(self, mechanism: Mechanism, legs: Sequence[_Leg], contact: Contact | None):
        self.legs, self.contact, self.own = legs, contact, mechanism
        self.mechanism = replace(mechanism, frames=(*mechanism.frames, *(leg.frame for leg in legs)))
        self.base = next(link for link in mechanism.tree.children(-1) if link.kind.nv == 6)
        self.moving = {link.name for leg in legs for link in leg.joints}

    def feet(self, q: np.ndarray) -> np.ndarray:
        """(legs, 4, 4) of the frames under the feet."""
        tree = self.mechanism.tree
        poses = link_poses(tree, q.tolist())
        return np.array([np.array(place_pose(tree, poses, tree.places[leg.frame.name])) for leg in self.legs], dtype=float)

    def moved(self, q: np.ndarray, by: Sequence[float]) -> np.ndarray:
        """Coordinates with the base moved along the axes of the world [m]."""
        q, x = q.copy(), self.base.q_start + self.base.kind.coordinates.index("x")
        q[x : x + 3] += np.array(list(self.base.placement.rotation.unrotate(Vector3(*by))), dtype=float)
        return q

    def height(self, q: np.ndarray) -> float:
        """The mean height of the legs' first joints above the feet [m]."""
        poses = link_poses(self.own.tree, q.tolist())
        hips = np.mean([float(poses[leg.joints[0]].translation.z) for leg in self.legs])
        return float(hips - self.feet(q)[:, 2, 3].mean())

    def under_the_hips(self, q: np.ndarray) -> np.ndarray:
        """(legs, 2) of points on the floor: as far ahead as the top of the thigh, as far aside as at the coordinates q."""
        poses, feet = link_poses(self.own.tree, q.tolist()), self.feet(q)
        found = feet[:, :2, 3].copy()
        for row, leg in zip(found, self.legs, strict=True):
            places = np.array([list(poses[link].translation) for link in leg.joints], dtype=float)
            lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
            long = np.flatnonzero(lengths > _THIGH * self.height(q))
            row[0] = places[long[0] if len(long) else 0, 0]
        return found

    def level(self, q: np.ndarray, told: str, *, most: float) -> StandingPosture:
        """A posture with its feet put level where they stand, its center of mass moved over them where it is not.

        Raises `InputError` if they are further from level than `most` [m], or cannot be put so.
        """
        q = on_ground(self.own, q, self.contact)
        feet = self.feet(q)
        if np.ptp(feet[:, 2, 3]) > most:
            raise InputError(f"{self.own.name}: the feet are not level")
        q = self._reached(q, feet)
        try:
            return self._checked(q, told)
        except InputError:
            return self.over_the_feet(q, feet[:, :2, 3], told)

    def over_the_feet(self, q: np.ndarray, places: np.ndarray, told: str) -> StandingPosture:
        """A posture near q with the feet at places (legs, 2) of the floor, and the center of mass over their middle, if any."""
        feet = self.feet(q)
        feet[:, :2, 3] = places
        for _ in range(_ROUNDS):
            q = self._reached(q, feet)
            away = support_polygon(self._points(q)).center - np.array(center_of_mass(self.own.tree, q.tolist()))[:2]
            if np.abs(away).max() < _TOGETHER:
                return self._checked(q, told)
            q = self.moved(q, (*away, 0.0))
        raise InputError(f"{self.own.name}: its center of mass does not come over its feet")

    def _touches(self, q: np.ndarray) -> list[np.ndarray]:
        """The points of each foot that may touch, and their gaps."""
        feet = [leg.foot for leg in self.legs]
        touches = ground_touches(self.own, q, self.contact, feet)
        return [touches[foot] for foot in feet]

    def _points(self, q: np.ndarray) -> np.ndarray:
        """(n, 3) where feet touch the floor."""
        points = np.vstack(self._touches(q))
        return points[points[:, 3] < _TOGETHER][:, :3]

    def _reached(self, q: np.ndarray, feet: np.ndarray) -> np.ndarray:
        """The coordinates near q with the base where it is, and the feet level at their places on the floor, if any."""
        tree, soles = self.own.tree, [leg.is_flat for leg in self.legs]
        # the program is of the legs alone, under a base that is fixed where its coordinates are neutral
        still = {link.name: link.coordinates(q.tolist()) for link in tree.links if link.name not in self.moving}
        legs = lock(self.mechanism, still | {self.base.name: self.base.kind.neutral()})
        moving = [link.q_start for link in tree.links if link.name in self.moving]
        from_world = np.array(self.base.pose(neutral(tree)) @ self.base.pose(q.tolist()).inverse(), dtype=float)
        wanted = feet.copy()
        for foot in wanted:  # upright, turned about the vertical alone
            x, y = foot[:2, 0] / np.linalg.norm(foot[:2, 0])
            foot[:3, :3] = [[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]]
        for _ in range(_ROUNDS):
            at = self.feet(q)
            wanted[:, 2, 3] = at[:, 2, 3] - [points[:, 3].min() for points in self._touches(q)]
            off = np.abs(wanted - at)
            if max(off[:, :3, 3].max(), off[soles].max(initial=0.0)) < _EXACT:
                return q
            goals: list[Goal] = [
                PoseGoal(leg.frame.name, pose) if leg.is_flat else PositionGoal(leg.frame.name, pose[:3, 3])
                for leg, pose in zip(self.legs, from_world @ wanted, strict=True)
            ]
            goals.append(PostureGoal(q[moving]))
            found = inverse_kinematics(legs, goals, q[moving], restarts=0, tolerance=0.1 * _EXACT, quick=True)
            if not found.solved:
                break
            q = np.array(q)
            q[moving] = found.q
        raise InputError(f"{self.own.name}: its feet do not reach the floor")

    def _checked(self, q: np.ndarray, told: str) -> StandingPosture:
        """The stance; raises `InputError` if its center of mass is not over the feet by 5 % of their spread."""
        points = self._points(q)
        polygon, center = support_polygon(points), center_of_mass(self.own.tree, q.tolist())
        if polygon.margin(center) < 0.05 * np.sqrt(polygon.area) or polygon.area == 0.0:
            raise InputError(f"{self.own.name}: its center of mass is not over its feet")
        return StandingPosture(q, tuple(leg.foot for leg in self.legs), told, points)
