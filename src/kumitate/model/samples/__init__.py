"""Mechanisms that come with the package, each with its initial state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import InputError, did_you_mean
from ..mechanism import Mechanism
from .stored import (
    ANDREWS_START,
    ANDREWS_TORQUE,
    BICYCLE_START,
    FLOATING_ARM_START,
    HOAP1_STANDING,
    HOAP2_STANDING,
    andrews,
    bicycle,
    bicycle_velocity,
    bricard,
    distance_pendulum,
    double_pendulum,
    floating_arm,
    four_bars,
    four_bars_name,
    four_bars_of,
    four_bars_start,
    free_rod,
    governor,
    hoap1,
    hoap2_legs,
    hoap2_legs_free,
    hoap2_reaching,
    pa10,
    pendulum,
    planar_3r,
    planar_4r,
    planar_4r_leaning,
    planar_4r_singular,
    planar_7r,
    planar_tree,
    planar_tree_5,
)

__all__ = [
    "ANDREWS_START", "ANDREWS_TORQUE", "BICYCLE_START", "FLOATING_ARM_START", "HOAP1_STANDING", "HOAP2_STANDING", "SAMPLES",
    "Sample", "andrews", "bicycle", "bicycle_velocity", "bricard", "distance_pendulum", "double_pendulum", "floating_arm",
    "four_bars", "four_bars_name", "four_bars_of", "four_bars_start", "free_rod", "governor", "hoap1", "hoap2_legs",
    "hoap2_legs_free", "hoap2_reaching", "pa10", "pendulum", "planar_3r", "planar_4r", "planar_4r_leaning",
    "planar_4r_singular", "planar_7r", "planar_tree", "planar_tree_5", "sample",
]  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A mechanism and its initial state. Calling a sample builds its mechanism.

    Attributes:
        name: by which it is loaded; `title`: a description.
        build: makes the mechanism.
        q, v: initial coordinates [rad, m] and velocities [rad/s, m/s].
        duration: of its simulation [s].
        rows: the rows of the papers (docs/rows.md) that it belongs to.
        step: of its simulation [s].
    """

    name: str
    title: str
    build: Callable[[], Mechanism]
    q: tuple[float, ...]
    v: tuple[float, ...]
    duration: float
    rows: tuple[str, ...] = ()
    step: float = 1e-3

    def __call__(self) -> Mechanism:
        return self.build()


def _at_rest(title: str, build: Callable[[], Mechanism], degrees: tuple[float, ...], duration: float, *rows: str) -> Sample:
    """A sample whose joints all turn: it starts at these angles [deg], without velocity."""
    q = tuple(math.radians(angle) for angle in degrees)
    return Sample(build.__name__, title, build, q, (0.0,) * len(q), duration, rows)


def _four_bars(count: int) -> Sample:
    """A row of four-bar linkages whose legs stand upright and whose corners move at 1 m/s."""
    q, v = four_bars_start(count, 0.0, 1.0)
    title = f"Row of {count} four-bar linkages" if count > 1 else "Four-bar linkage"
    return Sample(four_bars_name(count), f"{title}, toppling", four_bars_of(count), q, v, 10.0)


#: Every sample by its name.
SAMPLES: dict[str, Sample] = {
    item.name: item
    for item in (
        _at_rest("Pendulum: a point mass on a massless rod", pendulum, (60.0,), 10.0),
        _at_rest("Double pendulum of two point masses", double_pendulum, (90.0, 0.0), 10.0),
        _at_rest("Planar serial chain of three rods", planar_3r, (135.0, -45.0, 225.0), 3.0, "T-3.1"),
        _at_rest("Planar tree of four rods", planar_tree, (0.0, 0.0, 90.0, 90.0), 3.0, "T-3.2"),
        _at_rest("Planar tree of five rods", planar_tree_5, (0.0, 0.0, 90.0, 90.0, 0.0), 3.0, "T-3.2"),
        Sample(
            "free_rod", "Free rod in space", free_rod, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
            (0.72, 0.48, 0.24, -0.24, 0.36, 0.0), 10.0, ("T-3.5",),
        ),
        _at_rest("Planar loop of three rods and the ground", planar_4r, (135.0, -45.0, 225.0), 3.0, "T-3.3"),
        _at_rest("The loop through its singular posture", planar_4r_singular, (60.0, 30.0, 150.0), 3.0, "T-3.4"),
        _at_rest("The loop in a leaning plane", planar_4r_leaning, (60.0, 30.0, 150.0), 3.0, "T-sing"),
        Sample(
            "distance_pendulum", "Pendulum: a free point mass, held at a distance", distance_pendulum, (-1.0, 0.0, 0.0),
            (0.0, 0.0, 0.0), 10.0,
        ),
        _four_bars(1), _four_bars(2), _four_bars(40),
        Sample("andrews", "Andrews' squeezer, seven bodies", andrews, ANDREWS_START, (0.0,) * 7, 0.03, step=1e-5),
        Sample(
            "bicycle", "Benchmark bicycle with a rigid rider, rolling", bicycle, BICYCLE_START, bicycle_velocity(4.6, 0.5), 5.0,
        ),
        _at_rest("Bricard's mechanism, which ought not to move", bricard, (0.0,) * 5, 10.0),
        Sample(
            "governor", "Stiff flyball governor", governor, (0.0, 0.0, math.pi / 6.0, math.pi / 6.0),
            (2.0 * math.pi, 0.0, 0.0, 0.0), 10.0,
        ),
        _at_rest("Planar arm of seven rods", planar_7r, (90.0, *[0.0] * 6), 3.0, "T-4.1"),
        Sample("floating_arm", "Arm of six rods on a floating base", floating_arm, *FLOATING_ARM_START, 10.0, ("T-4.2",)),
        Sample("hoap1", "Small humanoid of HOAP-1's size, 6 + 20 degrees of freedom", hoap1, HOAP1_STANDING, (0.0,) * 26, 1.0),
        _at_rest("Ten-joint lower body after HOAP-2, feet held", hoap2_legs, (0.0,) * 10, 1.0, "T-6.2"),
        _at_rest("The same, its left arm stretched out", hoap2_reaching, (0.0,) * 10, 1.0, "T-6.2"),
        Sample("hoap2_legs_free", "Lower body after HOAP-2, free", hoap2_legs_free, HOAP2_STANDING, (0.0,) * 16, 1.0),
        _at_rest("Seven-joint arm PA-10 in free fall", pa10, (0.0, 45.0, 10.0, 0.0, 0.0, 0.0, 0.0), 10.0, "T-PA10"),
    )
}  # fmt: skip


def sample(name: str) -> Sample:
    """The sample of this name.

    Raises:
        InputError: if there is no such sample; with the names of all.

    >>> sample("planar_3r").duration
    3.0
    """
    if name not in SAMPLES:
        hint = did_you_mean(name, SAMPLES, ";", lead="; ")
        raise InputError(f"there is no sample {name!r}{hint} The samples are {', '.join(SAMPLES)}")
    return SAMPLES[name]
