"""MuJoCo as a peer: the same mechanism as MJCF, with its drives and loops, stepped by its own Runge-Kutta integrator."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kumitate.model import Link, Mechanism
from kumitate.scalar import floats
from kumitate.spatial import Transform

__all__ = ["MuJoCo", "inertial", "listed", "mjcf", "placed"]


#: The least moment of inertia that bodies get [kg·m²]: MuJoCo takes no thin rods.
THINNEST = 1e-6


class MuJoCo:
    """A mechanism of revolute joints with a PD controller towards zero, in MuJoCo. Its q and v are ours."""

    def __init__(self, mechanism: Mechanism, *, step: float, stiffness: float = 0.0, damping: float = 0.0):
        self.mujoco: Any = importlib.import_module("mujoco")
        text = mjcf(mechanism, stiffness=stiffness, damping=damping, step=step)
        self.model = self.mujoco.MjModel.from_xml_string(text)
        self.data = self.mujoco.MjData(self.model)

    @staticmethod
    def installed() -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec("mujoco") is not None

    def acceleration(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v̇ (nv) of one state, drives included."""
        self._set(q, v)
        self.mujoco.mj_forward(self.model, self.data)
        return self.data.qacc.copy()

    def steps(self, q: np.ndarray, v: np.ndarray, count: int) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
        """A call that makes `count` steps in C from one state and gives the last q and v."""

        def run() -> tuple[np.ndarray, np.ndarray]:
            self._set(q, v)
            self.mujoco.mj_step(self.model, self.data, count)
            return self.data.qpos, self.data.qvel

        return run

    def driven(self, tau: np.ndarray, count: int) -> None:
        """So many steps from where it is, of a call each, with these efforts (nv)."""
        for _ in range(count):
            self.data.qfrc_applied[:] = tau
            self.mujoco.mj_step(self.model, self.data)

    def trajectory(self, q: np.ndarray, v: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """q (count, nq) and v (count, nv) after each of so many steps."""
        self._set(q, v)
        states = []
        for _ in range(count):
            self.mujoco.mj_step(self.model, self.data)
            states.append((self.data.qpos.copy(), self.data.qvel.copy()))
        along_q, along_v = zip(*states, strict=True)
        return np.array(along_q), np.array(along_v)

    def _set(self, q: np.ndarray, v: np.ndarray) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = q, v


def mjcf(mechanism: Mechanism, *, step: float, stiffness: float = 0.0, damping: float = 0.0) -> str:
    """The mechanism's links as MJCF, without geometry, contacts and limits.

    The controller −stiffness·q − damping·v is a position drive of MuJoCo's, so that it too is evaluated at every stage in C.
    Loops hold points together (`connect`), as stiffly as MuJoCo allows for the step.
    """
    tree = mechanism.tree
    ends = [(chord.base, f"{chord.name} base") for chord in tree.chords]
    ends += [(chord.follower, f"{chord.name} follower") for chord in tree.chords]

    def body(index: int) -> str:
        link = tree.links[index]
        return (
            f'<body name="{link.name}" {placed(link.placement)}>{inertial(link)}'
            f'<joint name="{link.name}" type="hinge" axis="0 0 1" damping="{link.damping[0]!r}"/>'
            f"{sites(index)}{''.join(body(child.index) for child in tree.children(index))}</body>"
        )

    def sites(index: int) -> str:
        here = [(name, place.pose.translation) for place, name in ends if place.link == index]
        return "".join(f'<site name="{name}" pos="{listed(floats(at))}"/>' for name, at in here)

    driven = tree.links if stiffness or damping else ()
    drives = "".join(f'<position joint="{link.name}" kp="{stiffness!r}" kv="{damping!r}"/>' for link in driven)
    stiff = f'solref="{2.0 * step!r} 1" solimp="0.9999 0.9999 0.001"'
    loops = "".join(f'<connect site1="{chord.name} base" site2="{chord.name} follower" {stiff}/>' for chord in tree.chords)
    constrained = "enable" if loops else "disable"
    option = (
        f'<option timestep="{step!r}" integrator="RK4" gravity="{listed(mechanism.gravity)}">'
        f'<flag contact="disable" constraint="{constrained}"/></option>'
    )
    bodies = "".join(body(link.index) for link in tree.children(-1))
    parts = f"<worldbody>{sites(-1)}{bodies}</worldbody><actuator>{drives}</actuator><equality>{loops}</equality>"
    return f'<mujoco><compiler angle="radian"/>{option}{parts}</mujoco>'


def inertial(link: Link) -> str:
    """Mass and inertia of a link."""
    inertia = link.inertia
    center = np.array(floats(inertia.first_moment)) / inertia.mass
    about_origin = np.array([floats(row) for row in inertia.rotational])
    I = about_origin - float(inertia.mass) * (center @ center * np.eye(3) - np.outer(center, center))
    size, axes = np.linalg.eigh(I)
    I = (axes * np.maximum(size, THINNEST)) @ axes.T
    full = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return f'<inertial pos="{listed(center)}" mass="{inertia.mass!r}" fullinertia="{listed(full)}"/>'


def placed(at: Transform) -> str:
    """A pose as attributes."""
    x, y, _ = at.dense().rotation.matrix().T
    return f'pos="{listed(floats(at.translation))}" xyaxes="{listed(floats([*x, *y]))}"'


def listed(values: Iterable[float]) -> str:
    """Numbers as an attribute has them."""
    return " ".join(repr(float(value)) for value in values)
