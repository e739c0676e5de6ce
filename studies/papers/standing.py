"""Balance of the lower body after HOAP-2 by upper-body motion: the strategies of thesis 6.3, and quantities of their runs.

Both feet are held on the floor. All torques act on top of gravity compensation of the closed mechanism: the printed springs of
0.3 N·m/rad could not carry m g h ≈ 19 N·m/rad. Joints are numbered as in the thesis (`HOAP2_JOINTS`); their angles count along
the chain from the left foot to the right one, so that joints 4 and 9 turn opposite ways when both legs lean alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from kumitate.analysis import SupportPolygon, ground_wrench, support_polygon, zero_moment_point
from kumitate.analysis.momentum import centroidal_momentum
from kumitate.compile import Kernel
from kumitate.control import Controller, Spline, closed_gravity_compensation, half_sine, pulse, push
from kumitate.dynamics import Wrenches
from kumitate.examples.catalogue import Curves, Plate
from kumitate.kinematics import center_of_mass, link_poses, place_pose
from kumitate.model import Mechanism
from kumitate.model.samples import HOAP2_JOINTS, HOAP2_STANDING, hoap2_legs, hoap2_legs_free, hoap2_reaching, hoap2_soles
from kumitate.papers.legged import ThreeJointModel
from kumitate.records.record import Record
from kumitate.scalar import absolute, trace
from kumitate.simulate.run import simulate

__all__ = [
    "STRATEGIES",
    "Gains",
    "StandingReadings",
    "Strategy",
    "correlation",
    "model_of",
    "plate",
    "read",
    "run",
    "said",
    "table",
]

#: Start and end of the push [s].
START, END = 1.0, 1.1
#: How long a constant push takes to rise and to fall [s].
RISE = 0.01
#: The angles of the trunk over which the splines of the gains rise [rad], about z (6.3.1) and y (6.3.2); not printed.
ROTATION_KNOT, EXTENSION_KNOT = 0.5, 0.2
_ARM_PARTS = ("shoulder", "upper_arm", "forearm")


@dataclass(frozen=True)
class Gains:
    """Virtual springs [N·m/rad] and dampers [N·m·s/rad] (thesis eq. 6.6) of the joints 1 to 10.

    Attributes:
        kp, kd: by the joint's number. A pair (a, b) is a fifth-order spline from a to b while the trunk turns from 0 to `knot`.
        knot: [rad].
        opposing: k_p4, k_d4 of eq. 6.7, which turns joint 4 against joint 9; None for eq. 6.6 there.
        reactionless: k_a of eq. 6.13 on joint 9 [N·m·s/rad]; 0 without the reaction null space.
    """

    kp: dict[int, float | tuple[float, float]]
    kd: dict[int, float | tuple[float, float]]
    knot: float = ROTATION_KNOT
    opposing: tuple[float, float] | None = None
    reactionless: float = 0.0


@dataclass(frozen=True)
class Strategy:
    """A push, and the gains of the controller.

    Attributes:
        title: of the run.
        reaching: whether the left arm is stretched out (fig. 6.5b).
        place, force: where and with what [N] it is pushed.
        shape: of the push over time, "constant" or "half sine".
        turn: which turn of the trunk the splines follow, "z" or "y".
        gains: of the drives.
    """

    title: str
    reaching: bool
    place: str
    force: tuple[float, float, float]
    shape: str
    turn: str
    gains: Gains = field(default_factory=lambda: _alike(0.0, 0.0))

    def mechanism(self) -> Mechanism:
        """The robot that is pushed."""
        return hoap2_reaching() if self.reaching else hoap2_legs()

    def wrench(self) -> Controller:
        """The push [n; f] (6) at `place`, as a function of (t, q, v)."""
        shape = half_sine(START, END) if self.shape == "half sine" else pulse(START, END, rise=RISE)
        return push(self.force, shape)

    def controller(self, mechanism: Mechanism) -> Controller:
        """The torques (nv) of all drives as a function of (t, q, v)."""
        holding, own, gains = closed_gravity_compensation(mechanism), _columns(mechanism), self.gains
        model = model_of(mechanism)
        stiffness = {i: _gain(gains.kp[i], gains.knot) for i in own}
        damping = {i: _gain(gains.kd[i], gains.knot) for i in own}

        def law(t: Any, q: Any, v: Any) -> Any:
            theta, rate = {i: q[k] for i, k in own.items()}, {i: v[k] for i, k in own.items()}
            turn = absolute(theta[6] if self.turn == "z" else theta[8] + theta[9])
            tau: list[Any] = list(holding(t, q, v))
            for i, k in own.items():
                if i == 4 and gains.opposing:  # eq. 6.7; its minus sign is in the chain's angles, see above
                    k_p, k_d = gains.opposing
                    tau[k] = tau[k] + k_p * theta[9] + k_d * rate[9]
                else:  # eq. 6.6
                    tau[k] = tau[k] - stiffness[i](turn) * theta[i] - damping[i](turn) * rate[i]
            if gains.reactionless:  # eq. 6.12, 6.13
                lean, leaning = (theta[9] - theta[4]) / 2.0, (rate[9] - rate[4]) / 2.0
                wanted = model.reactionless_ankle_rate(lean, theta[6], theta[8], rate[8])
                tau[own[9]] = tau[own[9]] + gains.reactionless * (wanted - leaning)
            return np.array(tau)

        return law


def _alike(kp: float, kd: float, **options: Any) -> Gains:
    return Gains(dict.fromkeys(range(1, 11), kp), dict.fromkeys(range(1, 11), kd), **options)


def _gain(value: float | tuple[float, float], knot: float) -> Callable[[Any], Any]:
    if isinstance(value, tuple):
        return Spline([0.0, knot], list(value))
    return lambda turn: value


def _rotation(*, strategy: bool) -> Gains:
    """The printed gains of 6.3.1, of the recovery phase throughout: no moment of changing over is printed."""
    others = dict.fromkeys((2, 3, 5, 7, 8, 10), 1.5)
    kp: dict[int, Any] = {**others, 1: 0.3, 4: 0.3, 6: 0.3, 9: 0.3}
    kd: dict[int, Any] = {**others, 1: (0.0, 0.5), 4: (0.0, 3.5), 6: (0.0, 0.5), 9: (0.0, 3.5)}
    if not strategy:
        return Gains(kp, kd)
    return Gains({**kp, 3: 5.0, 8: 5.0}, {**kd, 3: 0.5, 8: 0.5}, opposing=(5.0, 0.5))


def _combined() -> Gains:
    """The printed gains of 6.3.2."""
    plain = _alike(0.5, 0.05)
    kp, kd = {**plain.kp, 9: (0.5, 5.0)}, {**plain.kd, 9: (0.05, 2.0)}
    return Gains(kp, kd, knot=EXTENSION_KNOT, reactionless=50.0)


def _retuned() -> Gains:
    """Of the printed gains, three changed: springs of the hips' pitch 1.0, dampers of their yaw 0.3, and k_a 20."""
    printed = _combined()
    return replace(printed, kp={**printed.kp, 3: 1.0, 8: 1.0}, kd={**printed.kd, 1: 0.3, 6: 0.3}, reactionless=20.0)


_FRONT = Strategy("Left hand pushed from the front, −7 N", True, "left_hand", (-7.0, 0.0, 0.0), "constant", "z")
_BACK = Strategy("Right shoulder pushed from behind, 10 N", False, "right_shoulder_back", (10.0, 0.0, 0.0), "constant", "y")
#: Runs by name: of the upper-body rotation strategy (6.3.1) and of the combined rotation-extension strategy (6.3.2).
STRATEGIES: dict[str, Strategy] = {
    "rotation": replace(_FRONT, title="upper-body rotation, gains as printed", gains=_rotation(strategy=True)),
    "rotation, half sine": replace(
        _FRONT, title="upper-body rotation, push a half sine", shape="half sine", gains=_rotation(strategy=True)
    ),
    "rotation, eq. 6.6 of the reaction alone": replace(
        _FRONT, title="eq. 6.6 alone, the reaction's gains 0.3 and 0.03", gains=_alike(0.3, 0.03)
    ),
    "rotation, eq. 6.6 of the recovery alone": replace(
        _FRONT, title="eq. 6.6 alone, the recovery's gains", gains=_rotation(strategy=False)
    ),
    "combined": replace(_BACK, title="rotation-extension, three gains retuned", gains=_retuned()),
    "combined, half sine": replace(_BACK, title="rotation-extension, push a half sine", shape="half sine", gains=_retuned()),
    "combined, gains as printed": replace(_BACK, title="rotation-extension, gains as printed", gains=_combined()),
    "combined, gains as printed, half sine": replace(
        _BACK, title="gains as printed, push a half sine", shape="half sine", gains=_combined()
    ),
    "combined, eq. 6.6 alone": replace(_BACK, title="eq. 6.6 alone, the initial gains 0.5 and 0.05", gains=_alike(0.5, 0.05)),
    "combined, retuned without eq. 6.13": replace(
        _BACK, title="eq. 6.6 alone, the retuned gains", gains=replace(_retuned(), reactionless=0.0)
    ),
}


def run(strategy: Strategy, *, name: str = "", duration: float = 3.0, step: float = 2e-3) -> Record:
    """The robot stands upright at rest, and is pushed from 1.0 to 1.1 s."""
    mechanism = strategy.mechanism()
    mechanism = replace(mechanism, name=name or mechanism.name)
    return simulate(
        mechanism, duration=duration, step=step, integrator="rkf45", controller=strategy.controller(mechanism),
        wrenches={strategy.place: strategy.wrench()}, limits=False,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class StandingReadings:
    """What a run says, of the whole robot: its left foot, which the floor holds, is counted in.

    Attributes:
        time: (n) [s]; push: (n, 3) [N].
        momentum: angular, about the center of mass (n, 3) [kg·m²/s].
        trunk: turns of the trunk (n, 3) about x, y, z (roll, pitch, yaw) [rad].
        center: the center of mass (n, 3) [m]; zmp: the zero-moment point of both feet (n, 3) [m]; margin: how far inside of the
            soles' hull it is (n) [m].
        polygon: that hull.
    """

    time: np.ndarray
    push: np.ndarray
    momentum: np.ndarray
    trunk: np.ndarray
    center: np.ndarray
    zmp: np.ndarray
    margin: np.ndarray
    polygon: SupportPolygon

    @property
    def moved(self) -> np.ndarray:
        """The distance of the center of mass from its initial position (n) [m]."""
        return np.linalg.norm(self.center - self.center[0], axis=1)


def read(strategy: Strategy, result: Record) -> StandingReadings:
    """What a run of a strategy says, with feet that are held or that stand on a floor."""
    n, wrench = len(result), strategy.wrench()
    pushed = np.array([wrench(t, None, None) for t in result.time])
    q, v, a = result.q, result.v, result.a
    if q.shape[1] == len(HOAP2_JOINTS):  # the feet are held
        still = np.zeros((n, 6))
        q, v, a = (np.column_stack(parts) for parts in ((np.tile(HOAP2_STANDING[:7], (n, 1)), q), (still, v), (still, a)))
    point, momentum, center, pose = _page(strategy.reaching, strategy.place)(q, v, a, pushed)
    R = pose[:, :3, :3]
    turns = [np.arctan2(R[:, 2, 1], R[:, 2, 2]), -np.arcsin(np.clip(R[:, 2, 0], -1.0, 1.0)), np.arctan2(R[:, 1, 0], R[:, 0, 0])]
    polygon = support_polygon(hoap2_soles())
    return StandingReadings(
        result.time, pushed[:, 3:], momentum[:, :3], np.column_stack(turns), center, point, polygon.margin(point), polygon
    )


def correlation(readings: StandingReadings, start: float = 1.0, end: float = 1.6) -> float:
    """The correlation of the angular momenta about y and z from `start` to `end` [s]: −1 in opposite phase, 1 in phase."""
    during = (readings.time >= start - 1e-9) & (readings.time <= end + 1e-9)
    return float(np.corrcoef(readings.momentum[during, 1], readings.momentum[during, 2])[0, 1])


def said(readings: StandingReadings) -> tuple[str, ...]:
    """What is to be seen, in numbers: lines for the account of a run."""
    turns = np.degrees(readings.trunk)
    return (
        f"angular momenta about y and z, 1.0 to 1.6 s: correlation {correlation(readings):+.2f}",
        f"the center of mass moves by up to {1e3 * readings.moved.max():.1f} mm",
        _where(1e3 * float(readings.margin.min())),
        f"the trunk turns by {turns[:, 1].min():.0f} to {turns[:, 1].max():.0f} deg about y and by "
        f"{turns[:, 2].min():.0f} to {turns[:, 2].max():.0f} deg about z",
    )


def _where(margin: float) -> str:
    if margin < 0.0:
        return f"the zero-moment point leaves the hull of the soles by up to {-margin:.1f} mm"
    return f"the zero-moment point stays inside the hull of the soles, by at least {margin:.1f} mm"


def table() -> str:
    """All runs of `STRATEGIES` as a table in Markdown, with printed and retuned gains."""
    lines = [
        "| law | push | correlation of l_y, l_z | center of mass moves [mm] | ZMP inside by [mm] "
        "| trunk about y, about z [deg] |",
        "|---|---|---|---|---|---|",
    ]
    for strategy in STRATEGIES.values():
        found = read(strategy, run(strategy))
        turns = [
            f"{round(low)} to {round(high)}"
            for low, high in np.degrees([found.trunk.min(axis=0), found.trunk.max(axis=0)]).T[1:]
        ]
        cells = (
            strategy.title, f"{strategy.force[0]:g} N, {strategy.shape}", f"{correlation(found):+.2f}",
            f"{1e3 * found.moved.max():.1f}",
            f"{1e3 * found.margin.min():.1f}", "; ".join(turns),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def plate(strategy: Strategy, result: Record) -> Plate:
    """The panels of figures 6.6 and 6.8: push, angular momenta, trunk, center of mass, zero-moment point, joints."""
    readings = read(strategy, result)
    own = _columns(result.mechanism)
    heel, toe = (float(f(readings.polygon.vertices[:, 0])) for f in (np.min, np.max))
    edges = [np.full(len(result), 1e3 * edge) for edge in (heel, toe)]
    joints = {3: "right hip 3", 8: "left hip 8", 4: "right ankle 4", 9: "left ankle 9", 1: "right hip 1", 6: "left hip 6"}
    angles = np.degrees(result.q[:, [own[i] for i in joints]])
    panels = (
        Curves("Push", "N", ("$f_x$",), readings.push[:, :1]),
        Curves("Angular momenta about the center of mass", "N·m·s", ("$l_y$", "$l_z$"), readings.momentum[:, 1:]),
        Curves("Turns of the trunk", "deg", ("about y", "about z"), np.degrees(readings.trunk[:, 1:])),
        Curves("Displacement of the center of mass", "mm", ("x", "y", "z"), 1e3 * (readings.center - readings.center[0])),
        Curves("Zero-moment point", "mm", ("x", "y", "heel", "toe"), np.column_stack([1e3 * readings.zmp[:, :2], *edges])),
        Curves("Joints", "deg", tuple(joints.values()), angles),
    )
    return Plate(panels, f"{strategy.title[0].upper()}{strategy.title[1:]}: {'; '.join(said(readings)[:3])}.")


def model_of(mechanism: Mechanism) -> ThreeJointModel:
    """The control model of figure 6.7 for the lower body: both legs as one, the upper body as it is held."""
    sides = ("left", "right")
    upper = ["waist", "trunk", "head", *(f"{side}_{part}" for side in sides for part in _ARM_PARTS)]
    return ThreeJointModel.of(
        mechanism,
        [f"{side}_{part}" for side in sides for part in ("shank", "thigh")],
        [f"{side}_{part}" for side in sides for part in ("hip_block", "hip")],
        upper,
        ankle="left_ankle",
        hip="left_hip",
    )


def _columns(mechanism: Mechanism) -> dict[int, int]:
    """The indices of the joints in v, by the thesis's numbers."""
    return {i: mechanism.v_names.index(name) for i, name in enumerate(HOAP2_JOINTS, 1)}


@cache
def _page(reaching: bool, place: str) -> Kernel:
    """(q, v, a, push) of the robot that floats by its left foot → zero-moment point, momenta, center of mass, trunk's pose."""
    free = hoap2_legs_free((np.pi / 3.0,) * 2 if reaching else (0.0, 0.0))
    tree = free.tree

    def page(q: Any, v: Any, a: Any, w: Any) -> dict[str, Any]:
        X = place_pose(tree, link_poses(tree, q), tree.places["trunk"])
        held = ground_wrench(tree, q, v, a, gravity=free.gravity, wrenches=Wrenches(tree, {place: list(w)}))
        return {
            "zmp": zero_moment_point(held),
            "momentum": centroidal_momentum(tree, q, v),
            "center": center_of_mass(tree, q),
            "trunk": X.matrix(),
        }

    return Kernel(trace(page, {"q": free.nq, "v": free.nv, "a": free.nv, "w": 6}, f"standing_{free.name}_{place}"))
