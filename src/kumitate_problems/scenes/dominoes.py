"""Dominoes: the wave along a row of them against the theory of van Leeuwen."""

from __future__ import annotations

import math

import numpy as np

from kumitate.contact.surface import Surface
from kumitate.model import Box

from ..contact import RIGID, Trial, at, solid, unconnected
from ..contract import Measured

__all__ = ["dominoes", "passages"]

G = 9.81
#: Height, thickness, width, and the space between two [m].
HIGH, THICK, WIDE, SPACE = 0.048, 0.0075, 0.024, 0.02


def passages(count: int, push: float) -> np.ndarray:
    """How long each of some dominoes falls before it hits the next [s] (van Leeuwen 2010, "The domino effect").

    Dominoes turn about their foot, do not slide, touch without friction, and go on leaning on one another after collisions.
    Then only the angle θ of the first of them, the head, is free: the one behind it follows from
    h sin(θ' − θ) = (s + d) cos θ − d, and so on. Energy is kept between collisions; a collision keeps the momentum conjugate
    to θ, since all constraint impulses are without friction.

    Args:
        count: of passages; push: the rate at which the first one begins to fall [rad/s].
    """
    from scipy.integrate import quad

    inertia, pitch = (HIGH**2 + THICK**2) / 3.0, SPACE + THICK  # of 1 kg, about the foot
    touch = math.asin(SPACE / HIGH)

    def train(angle: float, length: int) -> tuple[float, np.ndarray]:
        """The potential energy of a train of leaning dominoes [J/kg], and how fast each turns, by the head's rate."""
        angles, rates = [angle], [1.0]
        for _ in range(length - 1):
            last = angles[-1]
            reach = (pitch * math.cos(last) - THICK) / HIGH
            angles.append(last + math.asin(reach))
            rates.append(rates[-1] * (1.0 - pitch * math.sin(last) / (HIGH * math.sqrt(1.0 - reach * reach))))
        height = sum(0.5 * (HIGH * math.cos(a) + THICK * math.sin(a)) for a in angles)
        return G * height, np.array(rates)

    times, rate = [], push
    for length in range(1, count + 1):
        start, rates = train(0.0, length)
        energy = start + 0.5 * inertia * float(rates @ rates) * rate**2

        def slowness(angle: float, length: int = length, energy: float = energy) -> float:
            height, rates = train(angle, length)
            return math.sqrt(0.5 * inertia * float(rates @ rates) / (energy - height))

        times.append(quad(slowness, 0.0, touch)[0])
        end, rates = train(touch, length)
        before = rates * math.sqrt((energy - end) / (0.5 * inertia * float(rates @ rates)))
        _, joined = train(0.0, length + 1)
        rate = float(np.append(0.0, before) @ joined) / float(joined @ joined)
    return np.array(times)


def dominoes(trial: Trial = RIGID, count: int = 24) -> list[Measured]:
    """A row whose feet do not slip and whose faces are smooth: when the wave reaches the dominoes, and its speed at the end."""
    fine = Trial(trial.model, trial.step / 10.0)
    push = 3.0
    names = [f"domino{k}" for k in range(count)]
    row = unconnected(*(solid(name, Box((THICK, WIDE, HIGH)), 0.01) for name in names))
    v = np.zeros(6 * count)
    v[1], v[3], v[5] = push, 0.5 * push * HIGH, 0.5 * push * THICK  # about the front edge of its foot
    feet = {(name, "ground"): Surface(10.0) for name in names}
    exact = np.cumsum(passages(count - 2, push))
    run = fine.run(
        row, at(*((k * (SPACE + THICK), 0.0, 0.5 * HIGH) for k in range(count))), v,
        duration=round(1.2 * exact[-1], 2), surface=Surface(0.0), pairs=feet,
    )  # fmt: skip
    hit = [float(run.time[np.argmax(np.abs(run.v[:, 6 * k + 1]) > 1e-2)]) for k in range(1, count - 1)]
    speeds = [(SPACE + THICK) * 8.0 / (times[-1] - times[-9]) for times in (hit, exact)]
    return [
        Measured("when the wave comes", np.array(hit), 2.0 * trial.step, "s", exact),
        Measured("its speed over the last eight", speeds[0], 0.02 * speeds[1], "m/s", speeds[1]),
    ]
