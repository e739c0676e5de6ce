"""Pairs of convex solids that overlap a little, beside MuJoCo's collision of the same pairs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kumitate.contact.pairs.rows import Points, Solid, Solids, points_for, solids_of, touching
from kumitate.contact.pairs.rows.touch import touch
from kumitate.measure.timing import Contender, Effort, by_turns, thread_seconds
from kumitate.model import Box, Capsule, Cylinder, Ellipsoid, Hull, Shape, Sphere
from kumitate.procedure import Floats, Ints, procedure

from .contract import Case, agreement
from .mujoco_peer import MuJoCo
from .report import Row

__all__ = ["TouchingPairs", "touch_all"]

#: How deep the pairs overlap [m], and the distance of one pair from the next.
DEPTH, APART = 1e-3, 10.0
_STONE = np.random.default_rng(1).normal(size=(32, 3))
STONE = 0.2 * _STONE / np.linalg.norm(_STONE, axis=1)[:, None]
#: The shapes, and as MuJoCo's elements.
SHAPES: dict[str, tuple[Shape, str]] = {
    "sphere": (Sphere(0.1), 'type="sphere" size="0.1"'),
    "capsule": (Capsule(0.07, 0.3), 'type="capsule" size="0.07 0.15"'),
    "box": (Box((0.2, 0.3, 0.4)), 'type="box" size="0.1 0.15 0.2"'),
    "cylinder": (Cylinder(0.1, 0.3), 'type="cylinder" size="0.1 0.15"'),
    "ellipsoid": (Ellipsoid((0.1, 0.2, 0.15)), 'type="ellipsoid" size="0.1 0.2 0.15"'),
    "hull of 32": (Hull(tuple(map(tuple, STONE.tolist()))), 'type="mesh" mesh="stone"'),
}
#: Pairs, with the most seconds that one may take.
PAIRS = {
    ("sphere", "sphere"): 20e-9, ("capsule", "capsule"): None, ("box", "box"): 0.5e-6, ("capsule", "box"): 3e-6,
    ("box", "cylinder"): 3e-6, ("ellipsoid", "ellipsoid"): 3e-6, ("box", "hull of 32"): 3e-6,
    ("hull of 32", "hull of 32"): 3e-6,
}  # fmt: skip


@procedure
def touch_all(
    solids: Solids, pairs: Ints[2], poses: Floats[4, 3], margin: float, before: int, out: Points, gaps: Floats
) -> int:  # fmt: skip
    """Touches pair after pair, with two rows of `poses` each; writes the least gap of each, and gives the number of points."""
    total = 0
    for i in range(len(pairs)):
        count = touch(
            Solid(solids, pairs[i, 0], poses[2 * i]), Solid(solids, pairs[i, 1], poses[2 * i + 1]), margin, before, out, 0
        )
        gaps[i] = margin
        for k in range(count):
            gaps[i] = min(gaps[i], out.gaps[k])
        total += count
    return total


@dataclass(frozen=True)
class TouchingPairs(Case):
    """Random poses of two solids that overlap by 1 mm, many pairs one after the other."""

    name: str = "touching"
    title: str = "contact points of pairs of convex solids"
    peer: str = "MuJoCo"
    pairs: int = 4000

    def rows(self, effort: Effort) -> Iterator[Row]:
        for (a, b), at_most in PAIRS.items():
            yield self._row(a, b, at_most, effort)

    def _row(self, a: str, b: str, at_most: float | None, effort: Effort) -> Row:
        solids, count = solids_of([SHAPES[a][0], SHAPES[b][0]]), effort.share(self.pairs)
        poses = overlapping(solids, min(count, 200))
        theirs = _scene(a, b, poses) if MuJoCo.installed() else None
        many = np.tile(poses, (-(-count // (len(poses) // 2)), 1, 1))
        pairs, gaps, out = np.tile([0, 1], (len(many) // 2, 1)), np.zeros(len(many) // 2), points_for(1)
        touch_all(solids, pairs, many, 0.0, -1, out, gaps)
        contenders = {"ours": Contender(lambda: touch_all(solids, pairs, many, 0.0, -1, out, gaps), len(pairs))}
        error = None
        if theirs is not None:
            mujoco, model, data = theirs
            mujoco.mj_collision(model, data)
            least = np.full(len(poses) // 2, np.inf)
            for contact in data.contact:
                pair = (model.geom_bodyid[contact.geom[0]] - 1) // 2
                least[pair] = min(least[pair], contact.dist)
            # its depths of round solids are found to its own tolerance
            error = agreement(f"{a} and {b}", 1.0 + gaps[: len(least)], 1.0 + least, 1e-3)
            contenders["theirs"] = Contender(lambda: mujoco.mj_collision(model, data), len(least))
        timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        return Row(
            self.name, f"{a}, {b}", timings["ours"], "MuJoCo" if theirs else "", timings.get("theirs"),
            at_most=at_most, agreement=error, remarks="a pair, 1 mm deep, in random poses",
        )  # fmt: skip


def overlapping(solids: Solids, count: int) -> np.ndarray:
    """Poses (2 · count, 4, 3) of both solids, in which they overlap by `DEPTH`: found by halving."""
    rng, out, rows = np.random.default_rng(2), points_for(1), []
    for _ in range(count):
        X, Y = (np.vstack([_turn(rng), np.zeros(3)]) for _ in range(2))
        way = rng.normal(size=3)
        low, high = 0.0, 2.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            Y[3] = middle * way / np.linalg.norm(way)
            found = touching(Solid(solids, 0, X), Solid(solids, 1, Y), 0.0, -1, out, 0)
            deep = found > 0 and float(out.gaps[:found].min()) < -DEPTH
            low, high = (middle, high) if deep else (low, middle)
        rows += [X, Y]
    return np.array(rows)


def _turn(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def _scene(a: str, b: str, poses: np.ndarray) -> tuple[Any, Any, Any]:
    """MuJoCo with the same pairs, far from each other: its module, the model and the data at the poses."""
    mujoco = importlib.import_module("mujoco")
    bodies, pairs = "", ""
    for k, pose in enumerate(poses):
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, pose[:3].ravel())
        place = pose[3] + np.array([APART * (k // 2), 0.0, 0.0])
        shape = SHAPES[(a, b)[k % 2]][1]
        bodies += (
            f'<body pos="{_listed(place)}" quat="{_listed(quaternion)}"><freejoint/>'
            f'<geom name="g{k}" contype="0" conaffinity="0" {shape}/></body>'
        )
        pairs += f'<pair geom1="g{k - 1}" geom2="g{k}"/>' if k % 2 else ""
    mesh = f'<asset><mesh name="stone" vertex="{_listed(STONE.ravel())}"/></asset>'
    text = f'<mujoco><size memory="200M"/>{mesh}<worldbody>{bodies}</worldbody><contact>{pairs}</contact></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return mujoco, model, data


def _listed(numbers: np.ndarray) -> str:
    return " ".join(repr(float(number)) for number in numbers)
