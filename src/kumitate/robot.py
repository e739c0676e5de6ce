"""`Robot`: a mechanism with its compiled kernels.

With `run`, this is the only module that combines the packages; it adds names, checks of arguments, and a cache of kernels.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import calls, kinematics
from .analysis import ConstraintReport, Equilibrium, LoopEquations, LoopGap, assemble, constraint_report, static_equilibrium
from .analysis.closing.assemble import assemble_rows
from .compile import Kernel
from .errors import InputError, ModelError
from .model import WORLD, Drive, Mechanism, attach, joint_columns, lock
from .model.elements import INITIAL
from .model.mechanism import Contents, nearest
from .model.things import SEPARATOR
from .model.values import checked_array, checked_pose, shown
from .programs.catalogue import kernel_key, stored_program
from .records.record import Energy
from .simulate.checks import checked_rows, checked_state
from .simulate.starts import default_start, named_state, state_by_name
from .spatial import Transform

if TYPE_CHECKING:
    from .contact.queries import Hit, Nearest, ShapeTable
    from .cuda import DeviceKernel
    from .inverse_kinematics import Reached, StandingPosture

#: With loops, the degrees of freedom up to which one program computes all derivatives: their number grows with the cube.
_MOST_AT_ONCE = 40


@calls.plain_calls(
    ("bias_forces", "center_of_mass", "centroidal_momentum", "forward_dynamics", "gravity_forces", "ground_wrench", "integrate",
     "inverse_dynamics", "mass_matrix", "momentum", "momentum_rate", "zmp"),
    at_places=("jacobian", "jacobian_rate", "pose", "velocity"),
)  # fmt: skip
class Robot(Contents):
    """A mechanism and its compiled functions; kernels are compiled on first use and kept, on disk too.

    All functions take one state, or a batch of states with leading axes: q (..., nq), v (..., nv); they return float64 arrays
    with the same leading axes. SI units, radians; angular parts first; in the axes of the world unless stated otherwise.
    """

    def __init__(self, mechanism: Mechanism, *, start: tuple[Any, Any] | None = None):
        """A robot of a mechanism; `start` is the state (q, v) at which simulations begin by default."""
        self.mechanism, self._given_start = mechanism, start
        self._kernels: dict[tuple, Any] = {}
        self._plain_calls: dict[Any, calls.PlainCall] = {}

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """The state (q, v) at which simulations begin by default.

        The one given; that of the mechanism's starts called "initial"; otherwise at rest at `simulate.starts.default_start`:
        neutral, within limits, loops closed.
        """
        if self._given_start is not None:
            return tuple(np.array(part, dtype=float) for part in self._given_start)  # type: ignore[return-value]
        q, v = self.starts.get(INITIAL, (None, np.zeros(self.nv)))
        return default_start(self._loops, q), v

    @property
    def starts(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The named states (q, v) of the mechanism, such as the keyframes of MJCF."""
        return {start.name: named_state(self.mechanism, start.q, start.v) for start in self.mechanism.starts}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in another process too, is made from the mechanism and the start; its kernels are compiled when needed."""
        return partial(type(self), self.mechanism, start=vars(self).get("start", self._given_start)), ()

    def __repr__(self) -> str:
        m = self.mechanism
        return f"Robot({m.name!r}, {len(m.bodies)} bodies, nq={m.nq}, nv={m.nv}, {len(m.loops)} loops)"

    @cached_property
    def mass(self) -> float:
        """The mass of all moving bodies [kg]."""
        return kinematics.total_mass(self.mechanism.tree)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the mechanism in the format of the path's suffix: .urdf, .xml (MJCF), or kumitate's own .json, which has all.

        Raises:
            InputError: for another suffix, a folder that does not exist, or joints that the format has nothing for.

        Warns:
            KumitateWarning: once for each kind of thing that the format cannot express.

        >>> from tempfile import mkdtemp
        >>> from kumitate import load
        >>> load(load("pa10").save(f"{mkdtemp()}/arm.urdf")).nv
        7
        """
        from .model.files import replacing
        from .model.write import mechanism_text

        text = mechanism_text(self.mechanism, path)
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return Path(path)

    def to_c(self, folder: str | os.PathLike[str], functions: Sequence[str] | str, *, real: str = "double") -> Path:
        """Writes functions as C for a controller: header, source, Makefile, CMakeLists, README, and a test that checks itself.

        Args:
            folder: made if it is not there.
            functions: by name, with the place of those that have one: "inverse_dynamics", "mass_matrix", "pose:hand", …; and
                "step", of a simulation of the robot alone, (h, q, v, tau, targets of drives) → q, v.
            real: the type of numbers, "double" or "float".

        Raises:
            InputError: for an unknown function or type, a place that there is not, and steps that need more than numbers.

        >>> from tempfile import mkdtemp
        >>> from kumitate import load
        >>> folder = load("pa10").to_c(mkdtemp(), ["inverse_dynamics", "pose:link7"])
        >>> sorted(path.name for path in folder.iterdir())
        ['CMakeLists.txt', 'Makefile', 'README.md', 'pa10.c', 'pa10.h', 'test.c']
        """
        from .export.controller import write_c

        return write_c(self.mechanism, self.start, functions, folder, real=real)

    def _repr_html_(self) -> str:
        """What notebooks display: the picture at the start, and the joints."""
        from .share.notebook import robot_html

        return robot_html(self.mechanism, self.start[0])

    # --- states -------------------------------------------------------------------------------------------------------
    def neutral(self) -> np.ndarray:
        """The coordinates (nq) at which every joint's frames coincide."""
        return np.array(kinematics.neutral(self.mechanism.tree))

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A random state: q (nq) over the whole manifold, v (nv) from the standard normal distribution. Limits are ignored."""
        return np.array(kinematics.random_coordinates(self.mechanism.tree, rng)), rng.normal(size=self.nv)

    def integrate(self, q: Any, dv: Any) -> np.ndarray:
        """The coordinates after moving from q by dv (..., nv), a velocity times a time."""
        return self.compile("integrate")(self._coordinates(q), dv)

    def difference(self, q0: Any, q1: Any) -> np.ndarray:
        """The dv (..., nv) from q0 to q1: integrate(q0, difference(q0, q1)) is q1."""
        return self.compile("difference")(self._coordinates(q0), self._coordinates(q1))

    def locked(self, joints: Sequence[str]) -> Robot:
        """The robot with these joints, and those coupled to them, fixed at their positions in `start`.

        Raises:
            ModelError: if a name is not the name of a joint.
        """
        joints = (joints,) if isinstance(joints, str) else joints
        q, v = self.start
        own = {columns.joint.name: columns for columns in joint_columns(self.mechanism)}
        mechanism = lock(self.mechanism, {name: q[own[name].q] if name in own else () for name in joints})
        kept_q, kept_v = np.ones(self.nq, dtype=bool), np.ones(self.nv, dtype=bool)
        for name, columns in own.items():
            if mechanism.joint(name).kind.nv == 0:
                kept_q[columns.q] = kept_v[columns.v] = False
        return Robot(mechanism, start=(q[kept_q], v[kept_v]))

    def with_drives(self, drives: Mapping[str, Drive | None]) -> Robot:
        """The robot with drives in joints, by the joints' names; as of `Mechanism.with_drives`."""
        return Robot(self.mechanism.with_drives(drives), start=self._given_start)

    def attach(self, other: Robot | Mechanism, *, to: str, at: Any = None, name: str = "") -> Robot:
        """The robot with another one mounted on a body or frame, such as a gripper on a flange; it starts where both do.

        Args:
            other: what is mounted, by its base; to: the body or frame; at: its pose there, a `kumitate.pose` or 4×4 numbers.
            name: before all names of the other one, "gripper/finger"; without it they stay as they are.

        Raises:
            ModelError: if there is no such body or frame, if the two share names, or if the other one's base floats.

        >>> from kumitate import load, pose
        >>> arm = load("pa10").attach(load("planar_3r"), to="link7", at=pose((0.0, 0.0, 0.1)), name="hand")
        >>> arm.nq, arm.mechanism.q_names[-1]
        (10, 'hand/joint3')
        """
        other, prefix = as_robot(other), f"{name}{SEPARATOR}" if name else ""
        frame = next((frame for frame in self.mechanism.frames if frame.name == to), None)
        mount = Transform() if at is None else checked_pose(self.name, "at", at)
        if free := next((joint.name for joint in other.mechanism.joints if joint.parent == WORLD and joint.kind.nv == 6), None):
            raise ModelError(
                f"{other.name}: its base floats by the joint {free!r}, so that it cannot be mounted; load it without"
            )
        body, X = (to, mount) if frame is None else (frame.body, frame.pose @ mount)
        whole = attach(self.mechanism, other.mechanism, body, X, prefix=prefix)
        own, theirs = ({columns.joint.name: columns for columns in joint_columns(robot.mechanism)} for robot in (self, other))
        q, v = np.zeros(whole.nq), np.zeros(whole.nv)
        for columns in joint_columns(whole):
            joint = columns.joint.name
            source, robot = (own[joint], self) if joint in own else (theirs[joint.removeprefix(prefix)], other)
            q[columns.q], v[columns.v] = robot.start[0][source.q], robot.start[1][source.v]
        return Robot(whole, start=(q, v))

    def state(
        self,
        q: Mapping[str, Any] | None = None,
        v: Mapping[str, Any] | None = None,
        *,
        pose: Mapping[str, Any] | None = None,
        start: str | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The state (q, v) with numbers given by name, closed and checked; the rest is as in `start`, and at rest.

        Args:
            q, v: numbers by the names of joints, bodies (their joint's) or components ("base.x"); they are kept, and the
                other joints close the loops around them.
            pose: poses in the world by the names of bodies that their own joint can bring there.
            start: the name of one of `starts`, in the place of `start`.

        Raises:
            InputError: for unknown names, wrong numbers, poses that are not reached, loops that cannot be closed.
        """
        if start is not None and start not in self.starts:
            raise InputError(f"{self.name}: there is no start {start!r}; {nearest(start, self.starts)}")
        usual = (self.start[0], np.zeros(self.nv)) if start is None else self.starts[start]
        return state_by_name(self._loops, usual, q or {}, v or {}, pose or {})

    def stance(self) -> StandingPosture:
        """The posture in which a legged robot with a free base stands on the floor z = 0: its `q` (nq), and its `feet`.

        That of its file, a keyframe or a state of the SRDF beside it, where one says how all legs are, put level. Otherwise
        feet are flat and level under the hips, knees are bent, and the center of mass is over the middle of the feet.

        Raises:
            InputError: if it has no free base or no legs, or if no such posture was found.
        """
        from .inverse_kinematics import stance  # loaded on first use

        return stance(self.mechanism, self.start[0])

    # --- loops --------------------------------------------------------------------------------------------------------
    def assemble(self, q: Any, v: Any = None) -> Any:
        """The configuration nearest to a rough q (nq) that closes all loops; with v (nv), the pair (q, v) of nearest ones.

        Nearest by least squares over the joints' coordinates (rad and m alike). Rows q (N, nq) and v (N, nv) are closed all at
        once, in machine code.

        Raises:
            ModelError: if the loops cannot be closed from there; it names the loop with the largest gap, and the gap.
        """
        if np.ndim(q) == 2:
            rows_q = checked_rows(self.mechanism, "q", q, self.nq, len(q))
            rows_v = None if v is None else checked_rows(self.mechanism, "v", v, self.nv, len(q))
            rows = assemble_rows(self._loops, rows_q, rows_v)
            return rows[0] if v is None else rows
        v_given = None if v is None else checked_state(self.mechanism, "v", self.nv, v)
        closed = assemble(self._loops, checked_state(self.mechanism, "q", self.nq, q), v_given)
        return closed[0] if v is None else closed

    def constraint_residual(self, q: Any, v: Any = None) -> list[LoopGap]:
        """The gap of every loop and coupling at q, and how fast it opens with v; the largest over a batch."""
        return self._loops.gaps(self._coordinates(q), np.zeros((*np.shape(q)[:-1], self.nv)) if v is None else v)

    def constraint_report(self, q: Any) -> ConstraintReport:
        """The constraints of the loops at q (nq): mobility, redundant rows, determined forces, distance to singularity."""
        return constraint_report(self._loops, checked_state(self.mechanism, "q", self.nq, q))

    @cached_property
    def _loops(self) -> LoopEquations:
        return LoopEquations(self.mechanism)

    # --- dynamics -----------------------------------------------------------------------------------------------------
    def forward_dynamics(
        self, q: Any, v: Any, tau: Any, *, method: str = "auto", order: str | Sequence[int] | None = None,
        partition: str | Sequence[Sequence[str | int]] | None = None, wrenches: Mapping[str, Any] | None = None,
        loop_tau: Mapping[str, Any] | None = None,
    ) -> np.ndarray:  # fmt: skip
        """The accelerations v̇ (..., nv) under the drives' forces tau (..., nv) [rad/s², m/s²].

        Damping, friction, armatures, gravity, loops and couplings are included; `assemble` finds q and v that close the loops.
        Drives of joints (`with_drives`) act in simulations only.

        Args:
            q, v, tau: state and forces of the drives [N·m, N].
            method: "aba" (articulated bodies, O(n)), "ada" or "dca" (assembled by inverse inertias), "hybrid"
                (sub-chains by their inertia matrices, assembled), "lagrange" (from the energies), "crba" (the inertia
                matrix, factored), or one of `kumitate.papers`; "auto": "aba", or up to 8 degrees of freedom "crba" if
                that has fewer operations.
            partition: the sub-chains of "hybrid", by joints; or "auto".
            order: in which "ada" and "dca" assemble the joints: "balanced", "both_ends", "few_handles", "leaf_first", "serial",
                or numbers: of the moving joints in the order of `joints`, then of loops, then of couplings. It changes only
                rounding and cost.
            wrenches: external [n; f] (..., 6) by name of a body or frame, in the world's axes, about that frame's origin.
            loop_tau: forces of drives along the degrees of freedom of loop joints (..., nv of the loop) [N·m, N], by loop name.

        Raises:
            InputError: for wrong shapes, an unknown method or place, or quaternions not of unit length.
        """
        names, drives = tuple(wrenches or ()), tuple(loop_tau or ())
        options: dict[str, Any] = {"method": method, "order": order, "partition": partition}
        kernel = self.compile("forward_dynamics", wrenches=names, loop_tau=drives, **options)
        found = kernel(self._coordinates(q), v, tau, *(wrenches or {}).values(), *(loop_tau or {}).values())
        self._loops.lines.check_directions(q, v, drives)
        return found

    def inverse_dynamics(self, q: Any, v: Any, a: Any, *, wrenches: Mapping[str, Any] | None = None) -> np.ndarray:
        """The forces of the drives (..., nv) [N·m, N] for the accelerations a, by recursive Newton-Euler: INV of paper N.

        For a mechanism with loops: the drives' forces at the joints of the tree for zero forces in the loops.
        """
        kernel = self.compile("inverse_dynamics", wrenches=tuple(wrenches or ()))
        return kernel(self._coordinates(q), v, a, *(wrenches or {}).values())

    def inverse_kinematics(self, goals: Any, q0: Any = None, **options: Any) -> Reached:
        """The postures at which goals are reached; loops are closed, and coordinates stay within their limits.

        Args:
            goals: of `kumitate.inverse_kinematics`, such as PoseGoal("hand", X): one or several, weighted against each other;
                or lists of them, each of lower priority than the one before.
            q0: where the search starts (..., nq); by default the robot's start.
            options: `limits` False to pass limits; `tolerance` of the errors [m, rad], 1e-8; `restarts`, searches from random
                postures where the first fails, 30, the nearest first; `seed` of these.

        Raises:
            InputError: for goals with unknown places or targets of wrong shapes. Where a target is out of reach, `solved` is
                False and q comes as near as was found.
        """
        from .inverse_kinematics import inverse_kinematics  # loaded on first use

        return inverse_kinematics(self.mechanism, goals, self._coordinates(self.start[0] if q0 is None else q0), **options)

    def joint_wrenches(
        self,
        q: Any,
        v: Any,
        tau: Any,
        *,
        method: str = "aba",
        order: str | Sequence[int] | None = None,
        in_world: bool = False,
        wrenches: Mapping[str, Any] | None = None,
        loop_tau: Mapping[str, Any] | None = None,
    ) -> dict[str, np.ndarray]:
        """The force [n; f] (..., 6) that every moving joint exerts on the body it carries [N·m, N], by the joint's name.

        About the origin of that body's frame, in its axes, or in the world's with `in_world`. It contains the forces of drive,
        damping and friction along the joint, and the constraint forces across it. The joints of the tree are followed by those
        of the loops: the force that each exerts on its `body_b`, about the origin and in the axes of its frame there.

        Components that redundant loops leave undetermined (`constraint_report`) are least in the norm of
        `dynamics.loops.wrenches` by "aba" and "lagrange"; by "ada" and "dca" they depend on the order of assembly.

        Args:
            q, v, tau: state and forces of the drives.
            method: "aba" (articulated bodies, thesis eq. 2.23), "ada" (assembly and disassembly, eq. 2.15), "dca", or
                "lagrange" (multipliers of redundant coordinates, for comparison).
            order, wrenches, loop_tau: as of `forward_dynamics`.
        """
        names, drives = tuple(wrenches or ()), tuple(loop_tau or ())
        kernel = self.compile("joint_wrenches", method=method, order=order, in_world=in_world, wrenches=names, loop_tau=drives)
        stacked = kernel(self._coordinates(q), v, tau, *(wrenches or {}).values(), *(loop_tau or {}).values())
        self._loops.lines.check_directions(q, v, drives)
        joints = [item.name for items in (self.mechanism.tree.links, self.mechanism.tree.chords) for item in items]
        return {name: stacked[..., k, :] for k, name in enumerate(joints)}

    def mass_matrix(self, q: Any, *, method: str = "crba") -> np.ndarray:
        """The joint-space inertia matrix M (..., nv, nv), armatures on its diagonal; `kumitate.papers` adds methods."""
        M = self.compile("mass_matrix", method=method)(self._coordinates(q))
        return M.reshape(*np.shape(q)[:-1], self.nv, self.nv)  # with no degrees of freedom the second axis is missing

    def bias_forces(self, q: Any, v: Any) -> np.ndarray:
        """The drives' forces (..., nv) at zero acceleration (Coriolis, gravity, damping and friction): M a + bias = tau."""
        return self.compile("bias_forces")(self._coordinates(q), v)

    def gravity_forces(self, q: Any) -> np.ndarray:
        """The drives' forces (..., nv) that hold the mechanism at rest: the gradient of the potential energy."""
        return self.compile("gravity_forces")(self._coordinates(q))

    # --- derivatives of the dynamics ----------------------------------------------------------------------------------
    def derivatives(self, q: Any, v: Any, tau: Any, *, wrenches: Mapping[str, Any] | None = None) -> calls.ForwardDerivatives:
        """The accelerations a with ∂a/∂q, ∂a/∂v and ∂a/∂tau (..., nv, nv); arguments and errors as of `forward_dynamics`.

        q moves along the degrees of freedom (`integrate`), with the components of v held. Wrenches keep their directions in the
        world. With loops, only directions that keep them closed have a meaning.
        """
        q, acting, m = self._coordinates(q), wrenches or {}, self.mechanism
        if m.tree.closed and m.nv > _MOST_AT_ONCE:
            return self._along_each_direction(q, v, tau, acting)
        return calls.ForwardDerivatives(*self.compile("forward_slopes", wrenches=tuple(acting))(q, v, tau, *acting.values()))

    def _along_each_direction(self, q: np.ndarray, v: Any, tau: Any, acting: Mapping[str, Any]) -> calls.ForwardDerivatives:
        """The same by one evaluation along every direction, all of them in one batch."""
        n, kernel = self.mechanism.nv, self.compile("forward_slope", wrenches=tuple(acting))
        state = [np.asarray(part, dtype=float)[..., None, :] for part in (q, v, tau, *acting.values())]
        units, still = np.eye(n), np.zeros((n, n))
        along = [np.vstack([units if k == j else still for j in range(3)]) for k in range(3)]
        a, slopes = kernel(*state, *along)
        by_q, by_v, by_tau = (np.swapaxes(slopes[..., k * n : (k + 1) * n, :], -1, -2) for k in range(3))
        return calls.ForwardDerivatives(a[..., 0, :], by_q, by_v, by_tau)

    def inverse_derivatives(
        self, q: Any, v: Any, a: Any, *, wrenches: Mapping[str, Any] | None = None
    ) -> calls.InverseDerivatives:
        """The drives' forces tau with ∂tau/∂q, ∂tau/∂v and ∂tau/∂a (..., nv, nv); arguments as of `inverse_dynamics`."""
        q, acting = self._coordinates(q), wrenches or {}
        return calls.InverseDerivatives(*self.compile("inverse_slopes", wrenches=tuple(acting))(q, v, a, *acting.values()))

    def inverse_second_derivatives(
        self, q: Any, v: Any, a: Any, weights: Any, *, wrenches: Mapping[str, Any] | None = None
    ) -> calls.SecondDerivatives:
        """Σ weights[i] ∂²tau[i] (..., nv, nv) by q, v and a; weights (..., nv), other arguments as of `inverse_dynamics`."""
        q, acting = self._coordinates(q), wrenches or {}
        kernel = self.compile("inverse_second_slopes", wrenches=tuple(acting))
        return calls.SecondDerivatives(*kernel(q, v, a, weights, *acting.values()))

    # --- kinematics and analysis --------------------------------------------------------------------------------------
    def pose(self, q: Any, place: str) -> np.ndarray:
        """The pose X_WB (..., 4, 4) of a body or frame in the world: [R p; 0 1], R (3, 3), p [m]."""
        return self.compile("pose", place=place)(self._coordinates(q))

    def poses(self, q: Any) -> dict[str, np.ndarray]:
        """The poses X_WB (..., 4, 4) of all bodies, by name."""
        stacked = self.compile("poses")(self._coordinates(q))
        return {body.name: stacked[..., k, :, :] for k, body in enumerate(self.mechanism.bodies)}

    def velocity(self, q: Any, v: Any, place: str) -> np.ndarray:
        """[ω; v] (..., 6) of a body or frame: angular velocity, and velocity of its origin, in the axes of the world."""
        return self.compile("velocity", place=place)(self._coordinates(q), v)

    def jacobian(self, q: Any, place: str) -> np.ndarray:
        """J (..., 6, nv) of a body or frame: `velocity` = J v."""
        return self.compile("jacobian", place=place)(self._coordinates(q))

    def jacobian_rate(self, q: Any, v: Any, place: str) -> np.ndarray:
        """J̇ (..., 6, nv) at the velocity v."""
        return self.compile("jacobian_rate", place=place)(self._coordinates(q), v)

    def reach(self, q: Any, place: str, points: Any, direction: Any) -> np.ndarray:
        """max d·p (...) over points p (m, 3) fixed on a body or frame, d = `direction` (..., 3) in the world [m].

        For d = (0, 0, −1) this is minus the height of the lowest point. The points are compiled in: each set has a kernel.
        """
        checked = checked_array(self.name, f"the points of {place!r} [m]", points).reshape(-1, 3).tolist()
        return self.compile("reach", place=place, points=tuple(map(tuple, checked)))(self._coordinates(q), direction)

    def center_of_mass(self, q: Any) -> np.ndarray:
        """The center of mass of all moving bodies (..., 3) [m]."""
        return self.compile("center_of_mass")(self._coordinates(q))

    def momentum(self, q: Any, v: Any) -> np.ndarray:
        """[l; p] (..., 6): angular momentum about the world's origin, linear momentum [kg·m²/s, kg·m/s]."""
        return self.compile("momentum")(self._coordinates(q), v)

    def centroidal_momentum(self, q: Any, v: Any) -> np.ndarray:
        """[l; p] (..., 6): angular momentum about the center of mass, linear momentum, in world axes [kg·m²/s, kg·m/s]."""
        return self.compile("centroidal_momentum")(self._coordinates(q), v)

    def momentum_rate(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """d/dt of `momentum` (..., 6) with accelerations a (..., nv) [N·m, N]."""
        return self.compile("momentum_rate")(self._coordinates(q), v, a)

    def mass_center_motion(self, q: Any, v: Any, a: Any) -> dict[str, np.ndarray]:
        """The "position", "velocity" and "acceleration" (..., 3) of the center of mass in the world [m, m/s, m/s²]."""
        motion = self.compile("mass_center_motion")(self._coordinates(q), v, a)
        return dict(zip(("position", "velocity", "acceleration"), motion, strict=True))

    def ground_wrench(self, q: Any, v: Any, a: Any, *, wrenches: Mapping[str, Any] | None = None) -> np.ndarray:
        """[n; f] (..., 6) of all supports, in addition to weight and `wrenches`: about the world's origin [N·m, N]."""
        kernel = self.compile("ground_wrench", wrenches=tuple(wrenches or ()))
        return kernel(self._coordinates(q), v, a, *(wrenches or {}).values())

    def zmp(self, q: Any, v: Any, a: Any, *, height: float = 0.0, wrenches: Mapping[str, Any] | None = None) -> np.ndarray:
        """The zero-moment point (..., 3) on horizontal ground at `height` [m]; not finite in free flight."""
        above = checked_array(self.name, "the height [m]", height, ()).item()
        kernel = self.compile("zmp", height=above, wrenches=tuple(wrenches or ()))
        return kernel(self._coordinates(q), v, a, *(wrenches or {}).values())

    def static_equilibrium(self, q: Any, **options: Any) -> Equilibrium:
        """The least forces of the drives that hold the robot at rest; options as in `kumitate.analysis.static_equilibrium`."""
        return static_equilibrium(self._loops, checked_state(self.mechanism, "q", self.nq, q), **options)

    def energy(self, q: Any, v: Any) -> Energy:
        """Kinetic, potential and total energy, each (...) [J]; the potential is 0 with the center of mass at the origin."""
        kinetic, potential = self.compile("energy")(self._coordinates(q), v)
        return Energy(kinetic, potential, kinetic + potential)

    # --- shapes; meshes are replaced by convex hulls ----------------------------------------------------------------------
    def distance(self, q: Any, a: str, b: str) -> Nearest:
        """The shortest way between two bodies, or shapes by their names ("shape" or "body/shape").

        Args:
            q: coordinates (..., nq).

        Returns:
            `distance` (...) [m], negative where they overlap: the shortest way apart of the two shapes that are deepest;
            `points` (..., 2, 3) [m] of a and of b, and the unit `normal` (..., 3) from a to b, in the world.

        Raises:
            InputError: for unknown names, bodies without shapes, and a shape with itself.
        """
        return self._shape_table.distance(self.poses(q), a, b)

    def ray(self, q: Any, origin: Any, direction: Any) -> Hit | None:
        """What a ray meets first: its body, shape, distance [m], point and outward normal; None if nothing.

        Args:
            q: coordinates (nq).
            origin: (3), in the world [m]. If it is inside of a shape, that is met at distance 0.
            direction: (3), of any length but zero, in the axes of the world.

        Raises:
            InputError: for a direction that is zero, and for a robot without shapes.
        """
        return self._shape_table.ray(self.poses(q), origin, direction)

    @cached_property
    def _shape_table(self) -> ShapeTable:
        from .contact.queries import ShapeTable

        return ShapeTable(self.mechanism)

    # --- kernels ------------------------------------------------------------------------------------------------------
    @overload
    def compile(
        self, function: str, *, dtype: Any = ..., portable: bool = ..., target: Literal["cpu"] = ..., **options: Any
    ) -> Kernel: ...

    @overload
    def compile(self, function: str, *, dtype: Any = ..., target: Literal["cuda"], **options: Any) -> DeviceKernel: ...

    def compile(
        self, function: str, *, dtype: Any = np.float64, portable: bool = False, target: str = "cpu", **options: Any
    ) -> Kernel | DeviceKernel:
        """The compiled kernel of one of this class's functions, to be called without checks of the state.

        Args:
            function: its name, such as "forward_dynamics"; dtype: float64, or float32 for twice the lanes.
            portable: whether results have the same bits on every processor, at some cost.
            target: "cpu", or "cuda" for NVIDIA's GPUs: the kernel takes arrays of PyTorch, CuPy or JAX there, where float32 is
                the faster one.
            options: of that function: `method`; `wrenches`, names of the bodies or frames that external wrenches act on, each
                of which becomes one more input (6); `place`, the body or frame of pose, velocity, jacobian and jacobian_rate.

        Raises:
            InputError: for an unknown function, method, place or target; the message lists the right ones.
        """
        if target not in ("cpu", "cuda") or (portable and target != "cpu"):
            raise InputError(f"there is no target {target!r} of code{' that is portable' if portable else ''}; take 'cpu'")
        key = (np.dtype(dtype).name, portable, target, *kernel_key(function, options))
        if key not in self._kernels:
            program = stored_program(self.mechanism, function, options)
            if target == "cpu":
                self._kernels[key] = Kernel(program, dtype, portable=portable)
            else:
                from .cuda import DeviceKernel  # loaded only where a GPU is asked for

                self._kernels[key] = DeviceKernel(program, dtype)
        return self._kernels[key]

    def prepare(self, *functions: str) -> Robot:
        """Compiles the named functions in advance, or forward and inverse dynamics. Returns the robot."""
        for function in functions or ("forward_dynamics", "inverse_dynamics"):
            self.compile(function).prepare()
        return self

    def _coordinates(self, q: Any) -> np.ndarray:
        return calls.checked_coordinates(self.mechanism, q)

    @cached_property
    def _unit_quaternions(self) -> Any:
        return calls.unit_quaternions(self.mechanism)


def as_robot(given: Any) -> Robot:
    """A robot, or the robot of a mechanism.

    Raises:
        InputError: for anything else, such as the name of a robot.
    """
    if isinstance(given, Robot):
        return given
    if not isinstance(given, Mechanism):
        raise InputError(f"{shown(given)} is not a robot; give what kumitate.load(...) returns, or a kumitate.Mechanism")
    return Robot(given)
