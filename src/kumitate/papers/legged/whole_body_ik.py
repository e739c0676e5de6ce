"""Whole-body inverse kinematics of a biped: upright trunk, flat feet, given center of mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...analysis import ground_wrench, momentum_matrix
from ...compile import Kernel
from ...dynamics import rnea
from ...errors import InputError
from ...kinematics import center_of_mass, integrate, jacobian, link_poses, place_pose, total_mass
from ...model import Mechanism
from ...scalar import trace

#: Largest number of Newton steps, and the accepted error of postures [m, rad].
_PASSES, _ENOUGH = 30, 1e-11


class JointTrajectory(NamedTuple):
    """Coordinates (n, nq), velocities (n, nv) and accelerations (n, nv) at n times."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class Upright:
    """A robot with a floating trunk and legs of six joints each: 18 degrees of freedom for 18 requirements.

    Trunk and feet keep the axes of the world; both feet's frames and the center of mass are where requested. All other joints
    move as given.
    """

    def __init__(self, mechanism: Mechanism, trunk: str, feet: tuple[str, str]):
        """`trunk`: the body that floats; `feet`: the bodies at the ends of the legs, left and right.

        Raises:
            InputError: if the legs, with the trunk, do not have 18 degrees of freedom.
        """
        self.mechanism, self.feet = mechanism, feet
        tree = mechanism.tree
        own = {link.index: link for body in (trunk, *feet) for link in tree.ancestors(tree.places[body].link)}
        self.free = [k for _, link in sorted(own.items()) for k in range(link.v_start, link.v_start + link.kind.nv)]
        if len(self.free) != 18:
            raise InputError(
                f"{mechanism.name}: trunk {trunk!r} and legs to {feet} have {len(self.free)} degrees of freedom, not 18: six "
                "of a floating trunk and six per leg"
            )
        places = [tree.places[name] for name in (trunk, *feet)]
        mass = total_mass(tree)

        def wishes(q: Any, center: Any, left: Any, right: Any) -> dict[str, Any]:
            poses = link_poses(tree, q)
            frames = [place_pose(tree, poses, place) for place in places]
            missed = [goal - now for goal, now in zip(center, center_of_mass(tree, q), strict=True)]
            rows = [[entry / mass for entry in row] for row in momentum_matrix(tree, q)[3:]]
            for frame, place, goal in zip(frames, places, (None, left, right), strict=True):
                J = jacobian(tree, q, place)
                missed += [-turn for turn in _turn(frame.rotation.matrix())]
                rows += J[:3]
                if goal is not None:
                    missed += [a - b for a, b in zip(goal, frame.translation, strict=True)]
                    rows += J[3:]
            return {"missed": missed, "J": rows}

        def demands(q: Any, v: Any, a: Any) -> dict[str, Any]:
            ground = ground_wrench(tree, q, v, a, gravity=mechanism.gravity)
            tau = rnea(tree, q, v, a, gravity=mechanism.gravity)
            return {"tau": tau, "ground": ground, "J": [jacobian(tree, q, place) for place in places[1:]]}

        nq, nv = mechanism.nq, mechanism.nv
        self._wishes = Kernel(trace(wishes, {"q": nq, "center": 3, "left": 3, "right": 3}, f"upright_{mechanism.name}"))
        self._demands = Kernel(trace(demands, {"q": nq, "v": nv, "a": nv}, f"demands_{mechanism.name}"))
        self._moved = Kernel(trace(lambda q, dv: integrate(tree, q, dv), {"q": nq, "dv": nv}, f"moved_{mechanism.name}"))

    def postures(self, guess: np.ndarray, center: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The coordinates (n, nq) at n times, from a guess (n, nq) whose other joints stay: by Newton's method, all at once.

        Args:
            center, left, right: requested positions of the center of mass and the feet's frames (n, 3) [m].

        Raises:
            InputError: if a posture is out of reach.
        """
        q = np.array(guess, dtype=float)
        for _ in range(_PASSES):
            missed, J = self._wishes(q, center, left, right)
            worst = np.abs(missed).max(axis=1)
            if worst.max() < _ENOUGH:
                return q
            dv = np.zeros((len(q), self.mechanism.nv))
            dv[:, self.free] = np.linalg.solve(J[:, :, self.free], missed[..., None])[..., 0]
            q = self._moved(q, dv * np.minimum(1.0, 0.5 / np.abs(dv).max(axis=1, initial=1e-300, keepdims=True)))
        k = int(np.argmax(worst))
        raise InputError(
            f"{self.mechanism.name}: posture {k} misses its feet or center of mass by {worst[k]:.3g} m after {_PASSES} Newton "
            "steps: out of reach, or a leg is straight; take shorter steps or bend the knees more"
        )

    def motion(
        self, times: np.ndarray, guess: np.ndarray, center: Sequence[np.ndarray], left: Sequence[np.ndarray],
        right: Sequence[np.ndarray],
    ) -> JointTrajectory:  # fmt: skip
        """The motion at evenly spaced times (n), from positions and velocities of the center of mass and the feet's frames.

        Args:
            guess: as in `postures`; its rows give the motion of the other joints.
            center, left, right: position (n, 3) [m] and velocity (n, 3) [m/s] each.
        """
        q = self.postures(guess, center[0], left[0], right[0])
        _, J = self._wishes(q, center[0], left[0], right[0])
        still = np.zeros_like(center[1])
        wanted = np.column_stack([center[1], still, still, left[1], still, right[1]])
        v = np.zeros((len(q), self.mechanism.nv))
        others, columns = self._others()
        v[:, others] = np.gradient(guess[:, columns], times, axis=0)
        wanted -= np.einsum("nij,nj->ni", J, v)
        v[:, self.free] = np.linalg.solve(J[:, :, self.free], wanted[..., None])[..., 0]
        return JointTrajectory(q, v, np.asarray(np.gradient(v, times, axis=0)))

    def ground(self, motion: JointTrajectory) -> np.ndarray:
        """The ground reaction that a motion needs: [n; f] (n, 6) about the world's origin [N·m, N]."""
        return self._demands(*motion)[1]

    def efforts(self, motion: JointTrajectory, loads: np.ndarray) -> np.ndarray:
        """The joint efforts (n, nv) of a motion, if the left and right foot take these parts (n, 2) of the ground reaction.

        Those of the floating base are left out: zero for a motion that the ground allows.
        """
        tau, ground, J = self._demands(*motion)
        forces = loads[..., None] * ground[:, None, 3:]
        moments = loads[..., None] * (ground[:, :3] - np.cross(self._feet(motion.q), forces).sum(axis=1))[:, None]
        tau = tau - np.einsum("nkij,nki->nj", J, np.concatenate([moments, forces], axis=2))
        tau[:, :6] = 0.0
        return tau

    def _feet(self, q: np.ndarray) -> np.ndarray:
        """The positions of the feet's frames (n, 2, 3) [m]: their errors with the world's origin as the target."""
        origin = np.zeros((len(q), 3))
        missed, _ = self._wishes(q, origin, origin, origin)
        return -np.stack([missed[:, 9:12], missed[:, 15:18]], axis=1)

    def _others(self) -> tuple[list[int], list[int]]:
        """The degrees of freedom of the other joints, in v and in q."""
        found = [
            (link.v_start + k, link.q_start + k)
            for link in self.mechanism.tree.links
            for k in range(link.kind.nv)
            if link.v_start + k not in self.free
        ]
        return [v for v, _ in found], [q for _, q in found]


def _turn(R: Any) -> list[Any]:
    """The rotation vector [rad] of a rotation matrix with a small angle; for a larger angle only its direction."""
    return [0.5 * (R[2][1] - R[1][2]), 0.5 * (R[0][2] - R[2][0]), 0.5 * (R[1][0] - R[0][1])]
