"""Bodies that roll without slip: the benchmark bicycle, a wheel that stays upright, slopes, a turntable."""

from __future__ import annotations

import math

import numpy as np

import kumitate as km
from kumitate.analysis import LoopEquations
from kumitate.examples.gallery.bicycle import eigenvalues
from kumitate.model.samples import bicycle

from .contract import Measured, Problem

__all__ = ["BICYCLE_EIGENVALUES", "BICYCLE_SPEEDS", "PROBLEMS"]

G = 9.81
#: Table 2: by forward speed [m/s], weave (real and imaginary part, or two real ones), capsize and castering [1/s].
BICYCLE_EIGENVALUES = {
    0: (3.13164324790656, 5.53094371765393, -3.13164324790656, -5.53094371765393),
    1: (3.52696170990070, 0.80774027519930, -3.13423125066578, -7.11008014637442),
    2: (2.68234517512745, 1.68066296590675, -3.07158645641514, -8.67387984831735),
    3: (1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920),
    4: (0.41325331521125, 3.07910818603206, -1.42944427361326, -12.15861426576447),
    5: (-0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822),
    6: (-1.52644486584142, 5.87673060598709, -0.00406690076970, -16.08537123098026),
    7: (-2.13875644258362, 7.19525913329805, 0.10268170574766, -18.15788466125262),
    8: (-2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569),
    9: (-3.21675402252485, 9.69377351531791, 0.15790184030917, -22.43788559040858),
    10: (-3.72016840437287, 10.90681139476287, 0.16105338653172, -24.62459635017404),
}
#: Above figure 3: where weave becomes stable, and where capsize ceases to be [m/s].
BICYCLE_SPEEDS = (4.29238253634111, 6.02426201538837)


def bicycle_modes() -> list[Measured]:
    """Eigenvalues at eleven speeds, and the two speeds between which it is stable."""
    equations, found = LoopEquations(bicycle()), []
    for speed, (first, second, capsize, castering) in BICYCLE_EIGENVALUES.items():
        real, imaginary = np.array([castering, capsize, first, second if speed == 0 else first]), 0.0 if speed == 0 else second
        poles = eigenvalues(speed, equations)
        found.append(Measured(f"real parts at {speed} m/s", poles.real, 1e-9, "1/s", real))
        found.append(Measured(f"imaginary part at {speed} m/s", poles.imag.max(), 1e-9, "1/s", imaginary))
    modes = (("weave", 2), ("capsize", 1))
    found += [
        Measured(f"{name} at its border", eigenvalues(speed, equations)[mode].real, 1e-9, "1/s")
        for (name, mode), speed in zip(modes, BICYCLE_SPEEDS, strict=True)
    ]
    return found


def upright_wheel() -> list[Measured]:
    """A thin disc that rolls straight on: its lean has λ² = (4 g/r − 12 ω²)/5, so it is upright above ω² = g/3r."""
    radius, mass, found = 0.3, 2.0, []
    across = 0.25 * mass * radius**2
    # the spin is the last joint: lean and heading are then angles in space, whose equations do not change as the wheel turns
    chain = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "heading": (0, 0, 1), "lean": (1, 0, 0), "spin": (0, 1, 0)}
    names = ("world", *chain)
    bodies = (*(km.Body(name) for name in names[1:-1]), km.Body("spin", mass, inertia=(across, 2.0 * across, across)))
    joints = tuple(
        km.Joint(name, "prismatic" if name in "xyz" else "revolute", names[k], name, axis=axis)
        for k, (name, axis) in enumerate(chain.items())
    )
    axle = km.pose(rpy=(0.5 * math.pi, 0.0, 0.0))
    coin = km.Robot(
        km.Mechanism("coin", bodies, joints, (km.Loop("ground", km.RollingDisc(radius), "world", "spin", pose_b=axle),))
    )
    for part in (0.5, 1.5, 4.0):  # of the border
        spin = math.sqrt(part * G / (3.0 * radius))
        poles = km.linearize(coin, [0.0, 0.0, radius, 0.0, 0.0, 0.0], [radius * spin, 0.0, 0.0, 0.0, 0.0, spin]).poles
        fastest = poles[np.argmax(np.abs(poles))]
        square = (4.0 * G / radius - 12.0 * spin**2) / 5.0
        kind = "growth" if square > 0.0 else "rate of its wobble"
        size = float(abs(fastest.real if square > 0.0 else fastest.imag))
        found.append(Measured(f"{kind} at {part:g} of the border's ω²", size, 1e-9, "1/s", math.sqrt(abs(square))))
    return found


def down_a_slope() -> list[Measured]:
    """Ball and coin roll down 20 deg: 5/7 and 2/3 of g sin α, held back by 2/7 and 1/3 of m g sin α."""
    lean, radius, t = math.radians(20.0), 0.1, 1.0
    pull, half = G * math.sin(lean), math.sqrt(0.5)
    found = []
    for name, kind, inertia, start, part in (
        ("ball", km.RollingSphere(radius), (0.4 * radius**2,) * 3, (0.0, 0.0, 0.0, 1.0), 5.0 / 7.0),
        (
            "coin",
            km.RollingDisc(radius),
            (0.25 * radius**2, 0.25 * radius**2, 0.5 * radius**2),
            (half, 0.0, 0.0, half),
            2.0 / 3.0,
        ),
    ):
        mechanism = km.Mechanism(
            name, (km.Body(name, 1.0, inertia=inertia),), (km.Joint("free", "floating", "world", name),),
            (km.Loop("ground", kind, "world", name),), gravity=(pull, 0.0, -G * math.cos(lean)),
        )  # fmt: skip
        run = km.simulate(mechanism, [*start, 0.0, 0.0, radius], duration=t, step=1e-3, integrator="rkf45")
        force = np.linalg.norm(run.joint_wrenches()["ground"][-1, 3:])
        held = math.hypot(G * math.cos(lean), (1.0 - part) * pull)
        found += [
            Measured(f"way of the {name}", run.q[-1, 4], 1e-9, "m", 0.5 * part * pull * t * t),
            Measured(f"force under the {name}", float(force), 1e-9, "N", held),
        ]
    return found


def turntable() -> list[Measured]:
    """A solid ball on a turntable goes round a circle at 2/7 of its rate, wherever it is; after 7/2 turns it is back."""
    rate, start, v, radius = 2.0, 0.6, 0.3, 0.1
    disk, ball = km.Body("table", 1e3, inertia=(1e3,) * 3), km.Body("ball", 1.0, inertia=(0.4 * radius**2,) * 3)
    joints = (km.Joint("axle", "revolute", "world", "table"), km.Joint("free", "floating", "world", "ball"))
    mechanism = km.Mechanism("turntable", (disk, ball), joints, (km.Loop("rolls", km.RollingSphere(radius), "table", "ball"),))
    slow, circle = 2.0 / 7.0 * rate, v / (2.0 / 7.0 * rate)
    # rolling at the start: v + ω × (−R z) = Ω × r, so that ω = z × (v − Ω × r)/R
    spin = np.cross([0.0, 0.0, 1.0], [0.0, v - rate * start, 0.0]) / radius
    t = 2.0 * math.pi / slow
    run = km.simulate(
        mechanism, [0.0, 0.0, 0.0, 0.0, 1.0, start, 0.0, radius], [rate, *spin, 0.0, v, 0.0], duration=t, step=t / 8000,
        integrator="rkf45", motions={"axle": lambda t: rate * t},
    )  # fmt: skip
    phase = slow * run.time
    exact = np.column_stack([start - circle + circle * np.cos(phase), circle * np.sin(phase)])
    return [
        Measured("place", run.q[:, 5:7], 1e-8, "m", exact),
        Measured("speed", np.linalg.norm(run.v[:, 4:], axis=1), 1e-8, "m/s", v),
    ]


_KIND = "rolling"
PROBLEMS = (
    Problem(
        "bicycle",
        _KIND,
        "Eigenvalues of the benchmark bicycle",
        "Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463, 2007, table 2",
        bicycle_modes,
    ),
    Problem(
        "upright wheel",
        _KIND,
        "A disc rolls upright where ω² > g/3r",
        "Routh, Advanced Rigid Dynamics, 1884, art. 244",
        upright_wheel,
    ),
    Problem("down a slope", _KIND, "Ball and coin: 5/7 and 2/3 of g sin α", "Meriam and Kraige, Dynamics, 6/5", down_a_slope),
    Problem(
        "ball on a turntable, rolling",
        _KIND,
        "A circle at 2/7 of the table's rate",
        "Weltner, Am. J. Phys. 47, 1979",
        turntable,
    ),
)
