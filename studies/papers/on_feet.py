"""Balance of the lower body after HOAP-2 with feet that may lift: the strategies of `standing`, on a floor (thesis 6.3).

Nothing holds the feet but the floor, which pushes and rubs and does not pull. The laws are those of the held robot: they know
the ten joints' angles and rates alone, and gravity compensation is that of the posture with both soles down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

import numpy as np

from kumitate.compile import Kernel
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.control import Controller, joint_stops, limited, total
from kumitate.control.controllers import CompiledPage
from kumitate.control.sensor_models import Delayed, Noisy, Sampled
from kumitate.errors import DivergenceError, InputError
from kumitate.kinematics import link_poses, place_pose
from kumitate.model import Box, Capsule, Geometry, Mechanism
from kumitate.model.samples import HOAP2_JOINTS, HOAP2_STANDING, hoap2_legs_free
from kumitate.records.record import Record
from kumitate.scalar import trace
from kumitate.simulate.run import simulate
from kumitate.spatial import Vector3

from .standing import STRATEGIES, Strategy

__all__ = ["FEET", "FLOOR", "LAWS", "Drives", "Footing", "fate", "footing", "own_damping", "robot", "run"]

FEET = ("left_foot", "right_foot")
#: The floor, with the friction of rubber soles.
FLOOR = Contact(model="rigid", surface=Surface(friction=0.8))
#: Bodies that touch the floor when it falls: by how many of the shapes that are drawn of them, and by capsules in their boxes.
_SHELL = {"trunk": 2, "head": 1, "left_forearm": 1, "right_forearm": 1}
_LIMBS = ("left_thigh", "right_thigh", "left_shank", "right_shank")
#: The joints' mechanical stops [N·m/rad], [N·m·s/rad]: those of the hips, that turn more than a foot, and the others.
_STOP, _HIP_STOP_DAMPING, _STOP_DAMPING = 20.0, 1.0, 0.1
#: Standing is: the head this near to its height [m], soles no higher than this [m], over the last half second nothing faster
#: than this [rad/s, m/s]. Fallen is: the head below this part of its height.
_HEAD, _SOLE, _SLOW, _FALLEN = 0.020, 1e-3, 0.05, 1.0 / 3.0
_BASE_Q, _BASE_V = 7, 6


def _damped_at_rest() -> Strategy:
    """6.3.1, with dampers of joints 1, 6 and 9 that do not vanish where the trunk looks forward."""
    printed = STRATEGIES["rotation"]
    gains = replace(printed.gains, kd={**printed.gains.kd, 1: (0.1, 0.5), 6: (0.1, 0.5), 9: (0.3, 3.5)})
    return replace(printed, title="upper-body rotation, damped at rest too", gains=gains)


#: The strategies that are tried, by name.
LAWS: dict[str, Strategy] = {
    "rotation": _damped_at_rest(),
    "rotation, gains as printed": STRATEGIES["rotation"],
    "rotation, eq. 6.6 of the reaction alone": STRATEGIES["rotation, eq. 6.6 of the reaction alone"],
    "combined": STRATEGIES["combined"],
    "combined, gains as printed": STRATEGIES["combined, gains as printed"],
    "combined, eq. 6.6 alone": STRATEGIES["combined, eq. 6.6 alone"],
}


@dataclass(frozen=True)
class Drives:
    """The drives between the control law and the joints.

    Attributes:
        on: whether there are torques; without, the joints are limp up to their stops.
        period: of the law [s]: torques are held in between; None: new at every step of the simulation.
        local: of a sampled law, whether constant dampers of a joint's own rate sit in its drive and act at once, as servos
            have it.
        delay: from measuring to acting [s].
        noise: standard deviations of the measured angles [rad] and rates [rad/s], new at every period; `seed`: of it.
        torque: the most of each joint [N·m]; None: as the mechanism says.
    """

    on: bool = True
    period: float | None = None
    local: bool = False
    delay: float = 0.0
    noise: tuple[float, float] = (0.0, 0.0)
    seed: int = 0
    torque: float | None = None

    def damping(self, strategy: Strategy) -> np.ndarray:
        """The mechanism's own damping (10) [N·m·s/rad], which the law compensates."""
        if self.on and self.period is None:
            return own_damping(strategy, max)
        return own_damping(strategy, min) if self.on and self.local else np.zeros(10)

    def law(self, strategy: Strategy) -> Controller:
        """Torques (10) as a function of time, angles and rates of the ten joints.

        Raises:
            InputError: for delay or noise without a period.
        """
        held = strategy.mechanism()
        damping, stops = self.damping(strategy), _stops(held)
        if not self.on:
            return _page(stops)
        drive = limited(held, strategy.controller(held), limits=self.torque)
        law = total(drive, lambda t, q, v: damping * np.asarray(v))
        if self.period is None:
            if self.delay or any(self.noise):
                raise InputError("delay and noise are of a law that is sampled; give its period")
            return _page(total(law, stops))
        angles, rates = self.noise
        seen = Noisy(_page(law), q=angles, v=rates, period=self.period, seed=self.seed)
        return total(Sampled(Delayed(seen, acting=self.delay), self.period), _page(stops))


def _stops(held: Mechanism) -> Controller:
    """The mechanical stops of the ten joints."""
    hips = [name.endswith(("hip_pitch", "hip_roll")) for name in held.v_names]
    return joint_stops(held, stiffness=_STOP, damping=np.where(hips, _HIP_STOP_DAMPING, _STOP_DAMPING))


def _page(law: Controller) -> Controller:
    """A law of ten joints as one page, which is compiled where it is called."""
    return CompiledPage(
        lambda t, q, v: law(t, np.array(list(q)), np.array(list(v))), {"t": (), "q": 10, "v": 10}, "law_on_feet"
    )


def own_damping(strategy: Strategy, of: Callable[..., float] = max) -> np.ndarray:
    """By how much the strategy damps each joint's own rate (10), in the order of v [N·m·s/rad].

    Args:
        of: `max` or `min`, of the ends of gains that vary with the posture.
    """
    gains, held = strategy.gains, strategy.mechanism()
    own = {i: of(gain) if isinstance(gain, tuple) else gain for i, gain in gains.kd.items()}
    if gains.opposing:
        own[4] = 0.0  # eq. 6.7 looks at joint 9 only
    own[9] += gains.reactionless / 2.0  # θ_a = (θ9 − θ4)/2
    by_name = {name: own[i] for i, name in enumerate(HOAP2_JOINTS, 1)}
    return np.array([by_name[name] for name in held.v_names])


def robot(strategy: Strategy, damping: np.ndarray | None = None) -> Mechanism:
    """`hoap2_legs_free`, whose shell touches the floor too, with its joints' `damping` (10) [N·m·s/rad].

    Limits of its drives' efforts are left out: `Drives` keeps them, and the law does not compensate the damping.
    """
    free = hoap2_legs_free((np.pi / 3.0,) * 2 if strategy.reaching else (0.0, 0.0))
    shell = {body.name: body.visuals[: _SHELL[body.name]] for body in free.bodies if body.name in _SHELL}
    shell |= {name: (_capsule(free.body(name).visuals[0]),) for name in _LIMBS}
    own = dict(zip(free.v_names[_BASE_V:], np.zeros(10) if damping is None else damping, strict=True))
    return replace(
        free,
        bodies=tuple(replace(body, collisions=shell.get(body.name, body.collisions)) for body in free.bodies),
        joints=tuple(
            replace(
                joint,
                damping=float(own.get(joint.name, 0.0)),
                limits=tuple(replace(limit, effort=None) for limit in joint.limits),
            )
            for joint in free.joints
        ),
    )


def _capsule(box: Geometry) -> Geometry:
    """A capsule in a box, along its z."""
    assert isinstance(box.shape, Box)
    x, y, z = box.shape.size
    radius = min(x, y) / 2.0
    return Geometry(Capsule(radius, z - 2.0 * radius), box.pose)


def run(
    strategy: Strategy, drives: Drives | None = None, *, name: str = "", duration: float = 6.0, step: float = 1e-3
) -> Record:
    """Stands upright on the floor at rest, and is pushed from 1.0 to 1.1 s; if the run breaks down, the part before.

    Dampers are taken implicitly: the mechanism has those of the law at their strongest, and the law gives back what is too
    much. A foot alone has 3e-4 kg·m², and 10 N·m·s/rad in explicit steps of 1 ms would make it run away as soon as it lifts.
    The motion is that of the law but for an inertia of step times damping, at joint 9 0.01 kg·m².
    """
    drives = drives or Drives()
    mechanism = robot(strategy, drives.damping(strategy))
    law = drives.law(strategy)

    def controller(t: Any, q: Any, v: Any) -> Any:
        return np.array([*[0.0] * _BASE_V, *law(t, q[_BASE_Q:], v[_BASE_V:])])

    try:
        return simulate(
            replace(mechanism, name=name or mechanism.name), HOAP2_STANDING, duration=duration, step=step, sample_time=step,
            controller=controller, wrenches={strategy.place: strategy.wrench()}, contact=FLOOR,
            limits=False,  # the robot's own stops are springs and dampers, in its law
        )  # fmt: skip
    except DivergenceError as error:
        return cast(Record, error.result)


@dataclass(frozen=True, eq=False)
class Footing:
    """Quantities of a run at the left and the right foot.

    Attributes:
        load: normal forces (n, 2) [N]; pressure: centers of pressure of each foot (n, 2, 3) [m], NaN where it bears nothing.
        lift: of the highest corner of each sole over the floor (n, 2) [m].
        slip: how far the middle of each sole is from where it stood, along the floor (n, 2) [m].
        head, trunk: heights (n) [m].
    """

    load: np.ndarray
    pressure: np.ndarray
    lift: np.ndarray
    slip: np.ndarray
    head: np.ndarray
    trunk: np.ndarray


def footing(result: Record) -> Footing:
    """The quantities of a run at the feet."""
    contact = result.contact
    if contact is None:
        raise InputError(f"{result.mechanism.name}: the run had no contact, so that it says nothing of its feet")
    corners, heights = _heights()(result.q)
    middles = corners.mean(axis=2)
    return Footing(
        np.stack([contact.on(foot)[:, 2] for foot in FEET], axis=1),
        np.stack([contact.center_of_pressure(foot) for foot in FEET], axis=1),
        corners[..., 2].max(axis=2),
        np.linalg.norm((middles - middles[0])[..., :2], axis=2),
        heights[:, 0],
        heights[:, 1],
    )


def fate(result: Record, found: Footing | None = None) -> str:
    """How a run ends: "stands", "falls", "sways", which is neither, or "breaks down" before its end."""
    found = found or footing(result)
    if result.time[-1] < result.settings["duration"] - 1e-9:
        return "breaks down"
    if found.head[-1] < _FALLEN * found.head[0]:
        return "falls"
    calm = np.abs(result.v[result.time > result.time[-1] - 0.5]).max() < _SLOW
    upright = abs(found.head[-1] - found.head[0]) < _HEAD and found.lift[-1].max() < _SOLE
    return "stands" if upright and calm else "sways"


@cache
def _heights() -> Kernel:
    """q → the soles' lower corners (2, 4, 3), heights of head and trunk (2)."""
    free = hoap2_legs_free()
    tree = free.tree

    def page(q: Any) -> dict[str, Any]:
        poses = link_poses(tree, q)
        at = {name: place_pose(tree, poses, tree.places[name]) for name in (*FEET, "head", "trunk")}
        corners = []
        for foot in FEET:
            (sole,) = free.body(foot).collisions
            assert isinstance(sole.shape, Box)
            x, y, z = (part / 2.0 for part in sole.shape.size)
            X = at[foot] @ sole.pose
            corners.append([list(X.point(Vector3(a * x, b * y, -z))) for a in (1, -1) for b in (1, -1)])
        return {"corners": corners, "heights": [at[name].translation.z for name in ("head", "trunk")]}

    return Kernel(trace(page, {"q": free.nq}, "soles_hoap2_legs_free"))
