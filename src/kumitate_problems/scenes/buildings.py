"""What stands or falls by statics: an arch of stones and a house of cards."""

from __future__ import annotations

import math

import numpy as np

from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Geometry, Hull, Mechanism
from kumitate.records.record import Record

from ..contact import RIGID, Trial, at, solid, unconnected
from ..contract import Measured

__all__ = ["arch", "card_house", "stones"]


def stones(thickness: float, count: int) -> tuple[Mechanism, np.ndarray]:
    """A half circle of radius 1 m (its middle line) of equal stones with radial joints, and where their centers are."""
    bodies, places = [], []
    for k in range(count):
        angles = math.pi * np.array([k, k + 1]) / count
        corners = [
            (r * math.cos(a), y, r * math.sin(a))
            for a in angles
            for r in (1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness)
            for y in (-0.1, 0.1)
        ]
        middle = np.mean(corners, axis=0)
        shape = Hull(tuple(map(tuple, corners - middle)))
        # about its own middle; a stone turns little, and at rest not at all
        inertia = (0.01 * thickness + 1e-3,) * 3
        bodies.append(Body(f"stone{k}", 1.0, inertia=inertia, visuals=(Geometry(shape),), collisions=(Geometry(shape),)))
        places.append(middle)
    return unconnected(*bodies), np.array(places)


def arch(trial: Trial = RIGID, count: int = 20, duration: float = 3.0) -> list[Measured]:
    """A half circle stands down to t/R = 0.1075, with hinges at 54.5° from the crown (Milankovitch 1907; Heyman 1969: 0.106).

    Of 20 stones it may be a little thinner, as hinges are only at joints. At 0.109 nothing may move; at 0.105 it falls.
    """
    found = []
    for thickness in (0.109, 0.105):
        mechanism, places = stones(thickness, count)
        run = trial.run(mechanism, at(*places), duration=duration, surface=Surface(0.8))
        found.append(float((run.q[0, 6::7] - run.q[-1, 6::7]).max()))
    return [
        Measured("how far the thick one sinks", found[0], 1e-6, "m"),
        Measured("how far the thin one is from falling", max(0.0, 0.5 - found[1]), 1e-6, "m"),
    ]


#: A card: length, thickness, width [m].
LONG, THIN, WIDE = 0.09, 0.002, 0.06
CARD = Box((THIN, WIDE, LONG))


def tent(x: float, z: float, lean: float) -> list[tuple[float, ...]]:
    """q of two cards on the height z that lean on each other at x."""
    c, s = math.cos(lean), math.sin(lean)
    return [
        (0.0, side * math.sin(0.5 * lean), 0.0, math.cos(0.5 * lean), x - side * 0.5 * (c * THIN + s * LONG), 0.0,
         z + 0.5 * (s * THIN + c * LONG))
        for side in (1.0, -1.0)
    ]  # fmt: skip


def card_house(trial: Trial = RIGID, duration: float = 3.0) -> list[Measured]:
    """Two cards of length L and thickness d lean on each other, α from upright: they stand if μ ≥ ½ (tan α − d/L).

    Each turns about its foot: the force between them is W/2 (tan α − d/L), level by symmetry. A house of seven, too, stands.
    """
    lean = math.radians(25.0)
    needed = 0.5 * (math.tan(lean) - THIN / LONG)

    def moved(q: list[tuple[float, ...]], mu: float) -> float:
        names = [f"card{k}" for k in range(len(q))]
        surfaces = {"ground": Surface(mu)}
        run: Record = trial.run(
            unconnected(*(solid(name, CARD, 0.002) for name in names)), np.ravel(q), duration=duration,
            surface=Surface(1.0), surfaces=surfaces,
        )  # fmt: skip
        return float(np.abs(run.q - run.q[0]).max())

    three = [q for k in range(3) for q in tent(0.5 * k, 0.0, lean)]
    apex = math.sin(lean) * LONG + 2.0 * THIN
    roof = math.sin(lean) * THIN + math.cos(lean) * LONG
    flat = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0, 0.0, roof + 0.5 * THIN)
    house = [*tent(-apex, 0.0, lean), *tent(apex, 0.0, lean), flat, *tent(0.0, roof + THIN, lean)]
    return [
        Measured("what moves, μ 1 % above", moved(three, 1.01 * needed), 1e-6, "m"),
        Measured("what stands, μ 1 % below", max(0.0, 0.01 - moved(three, 0.99 * needed)), 1e-6, "m"),
        Measured("what moves of a house of seven", moved(house, 0.6), 1e-6, "m"),
    ]
