"""Conversion between our states of a mechanism and another program's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from ...errors import InputError
from ...scalar.arrays import clip
from .actuators import Actuator
from .joint_order import JointOrder
from .layouts import UNIT_VECTORS

#: The tolerance of the length of quaternions, and of cosine and sine.
_OFF = 1e-6


@dataclass(frozen=True)
class Order:
    """Conversion between our states of a mechanism and another program's.

    All functions take one state or batches with leading axes, (..., nq) and (..., nv), and give float64. The mechanism must be
    the same in both programs, as when both read one file: the same frames, axes of joints and zero positions.

    Attributes:
        mechanism: its name.
        peer: the other program's.
        joints: in the other program's order.
        our_nq, our_nv: sizes of our states; `nq`, `nv`: of theirs.
        actuators: of MuJoCo's model, in its order.
        driven: our joints and loops with drives, in the order of their targets.
    """

    mechanism: str
    peer: str
    joints: tuple[JointOrder, ...]
    our_nq: int
    our_nv: int
    nq: int
    nv: int
    actuators: tuple[Actuator, ...] = ()
    driven: tuple[str, ...] = ()

    # --- states -----------------------------------------------------------------------------------------------------------
    @overload
    def to(self, q: Any) -> np.ndarray: ...
    @overload
    def to(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]: ...
    @overload
    def to(self, q: Any, v: Any, a: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def to(self, q: Any, v: Any = None, a: Any = None) -> Any:
        """Their coordinates for ours; also velocities v and accelerations a = v̇, if they are given.

        Raises:
            InputError: for wrong shapes, quaternions not of unit length, or accelerations without velocities.
        """
        q = self._coordinates(q)
        parts = [self._filled(q.shape[:-1], self.nq, ((joint.q, joint.coordinates(q)) for joint in self.joints))]
        if v is not None:
            v = self._array("v", v, self.our_nv)
            parts.append(self._theirs(q, v))
        if a is not None:
            parts.append(self._theirs(q, self._array("a", a, self.our_nv), self._needed(v)))
        return parts[0] if len(parts) == 1 else tuple(parts)

    @overload
    def back(self, q: Any) -> np.ndarray: ...
    @overload
    def back(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]: ...
    @overload
    def back(self, q: Any, v: Any, a: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def back(self, q: Any, v: Any = None, a: Any = None) -> Any:
        """Our coordinates for theirs; also velocities and accelerations, if they are given. The inverse of `to`.

        An angle that they write as cosine and sine comes back within −π…π.

        Raises:
            InputError: for wrong shapes, quaternions not of unit length, or accelerations without velocities.
        """
        ours = self._coordinates_back(q)
        parts = [ours]
        if v is not None:
            v = self._ours(ours, self._array("v", v, self.nv))
            parts.append(v)
        if a is not None:
            parts.append(self._ours(ours, self._array("a", a, self.nv), self._needed(v)))
        return parts[0] if len(parts) == 1 else tuple(parts)

    # --- forces and matrices ------------------------------------------------------------------------------------------------
    def forces_to(self, q: Any, tau: Any) -> np.ndarray:
        """Their generalised forces (..., nv) for ours at our q, with the same power: tau'·v' = tau·v."""
        # the map of velocities is orthogonal, so that its inverse transpose is itself
        return self._theirs(self._coordinates(q), self._array("tau", tau, self.our_nv))

    def forces_back(self, q: Any, tau: Any) -> np.ndarray:
        """Our generalised forces (..., nv) for theirs at their q."""
        return self._ours(self._coordinates_back(q), self._array("tau", tau, self.nv))

    def velocity_matrix(self, q: Any) -> np.ndarray:
        """The orthogonal A (..., nv, nv) at our q: v' = A v and tau' = A tau, their quantities with primes.

        Inertia matrices are M' = A M Aᵀ, Jacobians J' = J Aᵀ.
        """
        q = self._coordinates(q)[..., None, :]
        return np.swapaxes(self._theirs(q, np.eye(self.our_nv)), -1, -2)

    def control(self, ctrl: Any) -> Any:
        """The targets of our drives (..., driven) for MuJoCo's `ctrl` (..., nu), clipped to its range; also while tracing.

        Raises:
            InputError: for another shape; if an actuator has no drive here, or a drive no actuator there.
        """
        faults = [f"{one.name!r}: {one.fault}" for one in self.actuators if one.fault]
        joints = [one.joint for one in self.actuators]
        faults += [f"{name!r} has a drive here that no actuator is" for name in self.driven if name not in joints]
        if faults or not self.actuators:
            why = "; ".join(faults) or f"{self.peer} has named no actuators"
            raise InputError(
                f"{self.mechanism}: controls cannot be converted: {why}. Give the mujoco.MjModel of the robot's file, "
                "and the robot as it was read from it"
            )
        size = np.shape(ctrl)[-1:]
        if size != (len(joints),):
            names = ", ".join(one.name for one in self.actuators)
            raise InputError(f"{self.mechanism}: ctrl has shape {np.shape(ctrl)}; it must be (..., {len(joints)}): {names}")
        at = [joints.index(name) for name in self.driven]
        lower, upper, scale, offset = np.array([self.actuators[k][3:7] for k in at]).T
        return clip(np.asarray(ctrl)[..., at], lower, upper) * scale + offset

    # --- arrays -------------------------------------------------------------------------------------------------------------
    def _coordinates(self, q: Any) -> np.ndarray:
        array = self._array("q", q, self.our_nq)
        for joint in self.joints:
            self._check_unit(joint, array[..., joint.our_q], joint.link.kind.coordinates)
        return array

    def _coordinates_back(self, q: Any) -> np.ndarray:
        array = self._array("q", q, self.nq)
        for joint in self.joints:
            self._check_unit(joint, array[..., joint.q], joint.layout.q)
        pieces = ((joint.our_q, joint.our_coordinates(array)) for joint in self.joints)
        return self._filled(array.shape[:-1], self.our_nq, pieces)

    def _theirs(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        x = _spread(x, q, v)
        return self._filled(x.shape[:-1], self.nv, ((joint.v, joint.velocities(q, x, v)) for joint in self.joints))

    def _ours(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        x = _spread(x, q, v)
        return self._filled(x.shape[:-1], self.our_nv, ((joint.our_v, joint.our_velocities(q, x, v)) for joint in self.joints))

    @staticmethod
    def _filled(lead: tuple[int, ...], size: int, pieces: Iterable[tuple[slice, np.ndarray]]) -> np.ndarray:
        out = np.empty((*lead, size))
        for places, values in pieces:
            out[..., places] = values
        return out

    # --- checks -------------------------------------------------------------------------------------------------------------
    def _array(self, name: str, values: Any, size: int) -> np.ndarray:
        array = np.asarray(values, dtype=float)
        if array.ndim == 0 or array.shape[-1] != size:
            raise InputError(
                f"{self.mechanism}: {name} has the shape {array.shape}; its last axis must have {size} components. Ours are "
                f"nq={self.our_nq}, nv={self.our_nv}, {self.peer}'s nq={self.nq}, nv={self.nv}"
            )
        return array

    def _needed(self, v: np.ndarray | None) -> np.ndarray:
        if v is None:
            raise InputError(f"{self.mechanism}: accelerations are given without velocities v, which they depend on; give both")
        return v

    def _check_unit(self, joint: JointOrder, part: np.ndarray, names: tuple[str, ...]) -> None:
        for unit in (part[..., [names.index(name) for name in group]] for group in UNIT_VECTORS if group[0] in names):
            off = np.abs(1.0 - np.linalg.norm(unit, axis=-1))
            if not (off < _OFF).all():
                worst = part.reshape(-1, len(names))[int(np.argmax(np.nan_to_num(off, nan=np.inf)))]
                raise InputError(
                    f"{self.mechanism}: q of joint {joint.link.name!r} is {worst.tolist()}, where a part is {off.max():.3g} "
                    f"off unit length; its components must be ({', '.join(names)}), in this order"
                )


def _spread(x: np.ndarray, *others: np.ndarray | None) -> np.ndarray:
    """x broadcast to the common leading axes of all arrays."""
    lead = np.broadcast_shapes(x.shape[:-1], *(other.shape[:-1] for other in others if other is not None))
    return np.broadcast_to(x, (*lead, x.shape[-1]))
