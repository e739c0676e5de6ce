"""MuJoCo as a peer on a floor: the same mechanism as MJCF, with its shapes, its drives and a plane below."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kumitate.contact.scene import GROUND, Contact
from kumitate.errors import InputError
from kumitate.model import Box, Capsule, Geometry, Link, Mechanism, Place, Plane, Sphere
from kumitate.model.convert import mujoco as mujoco_order

from .mujoco_peer import inertial, listed, placed

__all__ = ["DEFAULT", "STIFF", "MuJoCoOnFloor", "Settings", "floor_mjcf"]


@dataclass(frozen=True)
class Settings:
    """How MuJoCo solves contact.

    Attributes:
        name: for tables.
        cone: of friction: "pyramidal" or "elliptic".
        tolerance: of its Newton solver; `impratio`: how much stiffer friction is than the normal direction.
        solref, solimp: of every contact: time constant [s] and damping ratio; impedance.
        solver: "Newton" or "CG".
    """

    name: str
    cone: str = "pyramidal"
    tolerance: float = 1e-8
    impratio: float = 1.0
    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, float, float] = (0.9, 0.95, 0.001)
    solver: str = "Newton"


#: MuJoCo's defaults.
DEFAULT = Settings("as it comes")
#: As hard as it allows at a step of 1 ms: a time constant of two steps, nearly full impedance, the round cone.
STIFF = Settings("as hard as it allows", "elliptic", 1e-15, 100.0, (2e-3, 1.0), (0.9999, 0.9999, 0.001))


class MuJoCoOnFloor:
    """A mechanism of floating, revolute and prismatic joints on the floor z = 0, driven by springs towards a posture."""

    def __init__(self, mechanism: Mechanism, contact: Contact, settings: Settings, *, step: float, stiffness: float):
        self.settings = settings
        self.mujoco: Any = importlib.import_module("mujoco")
        text = floor_mjcf(mechanism, contact, settings, step=step, stiffness=stiffness)
        self.model = self.mujoco.MjModel.from_xml_string(text)
        self.data = self.mujoco.MjData(self.model)
        self.order = mujoco_order(mechanism, self.model)

    def acceleration(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v̇ (nv) of one state in our order, drives and contacts included."""
        self._set(q, v)
        self.mujoco.mj_forward(self.model, self.data)
        return self.order.back(self.data.qpos, self.data.qvel, self.data.qacc)[2]

    def steps(self, q: np.ndarray, v: np.ndarray, count: int) -> Callable[[], None]:
        """A call that makes `count` steps in C from each of some states (N, nq), (N, nv)."""
        starts = [self.order.to(*state) for state in zip(q, v, strict=True)]
        mujoco, model, data = self.mujoco, self.model, self.data

        def run() -> None:
            for at, speed in starts:
                mujoco.mj_resetData(model, data)
                data.qpos[:], data.qvel[:] = at, speed
                mujoco.mj_step(model, data, count)

        return run

    def along(self, q: np.ndarray, v: np.ndarray, count: int) -> Iterator[None]:
        """Steps from one state; after each, `contacts` can be asked."""
        self._set(q, v)
        for _ in range(count):
            self.mujoco.mj_step(self.model, self.data)
            yield None

    def contacts(self) -> Iterator[tuple[tuple[int, int], float, float, np.ndarray, np.ndarray]]:
        """Of every contact of the last step: which it is, its gap [m], μ, and force and velocity along normal and tangents.

        The velocities are those after the step, of the robot against the floor.
        """
        mujoco, model, data = self.mujoco, self.model, self.data
        seen: dict[int, int] = {}
        for k in range(data.ncon):
            contact, force, jacobian = data.contact[k], np.zeros(6), np.zeros((3, model.nv))
            geom = int(contact.geom2)
            seen[geom] = seen.get(geom, -1) + 1
            mujoco.mj_contactForce(model, data, k, force)
            mujoco.mj_jac(model, data, jacobian, None, contact.pos, model.geom_bodyid[geom])
            velocity = contact.frame.reshape(3, 3) @ (jacobian @ data.qvel)
            yield (geom, seen[geom]), float(contact.dist), float(contact.friction[0]), force[:3], velocity

    def _set(self, q: np.ndarray, v: np.ndarray) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.order.to(q, v)[:2]


def floor_mjcf(mechanism: Mechanism, contact: Contact, settings: Settings, *, step: float, stiffness: float) -> str:
    """The mechanism as MJCF on the floor z = 0; only the floor is touched. Joints have our damping, motors the stiffness.

    Raises:
        InputError: for a shape or a joint that it does not translate.
    """
    ground = contact.on(mechanism).ground or ()
    if [geometry.shape for geometry in ground] != [Plane()] or ground[0].pose != Geometry(Plane()).pose:
        raise InputError(
            f"{mechanism.name}: in a comparison with MuJoCo the ground must be the plane z = 0, got {ground!r:.80}"
        )
    tree = mechanism.tree
    friction = {body.name: contact.of(body.name).against(contact.of(GROUND)).friction for body in mechanism.bodies}
    on_link: dict[int, list[str]] = {}
    for body in mechanism.bodies:
        place = tree.places[body.name]
        for geometry in body.collisions:
            on_link.setdefault(place.link, []).append(_geom(place, geometry, friction[body.name]))

    def nested(link: Link) -> str:
        inside = (
            inertial(link)
            + "".join(on_link.get(link.index, ()))
            + "".join(nested(child) for child in tree.children(link.index))
        )
        return f'<body name="{link.name}" {placed(link.placement)}>{_joint(link)}{inside}</body>'

    solver = f'cone="{settings.cone}" tolerance="{settings.tolerance!r}" impratio="{settings.impratio!r}"'
    hinges = [link for link in tree.links if link.kind.nv == 1]
    drives = "".join(f'<position joint="{link.name}" kp="{stiffness!r}"/>' for link in hinges) if stiffness else ""
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{step!r}" gravity="{listed(mechanism.gravity)}" {solver}/>'
        f'<default><geom solref="{listed(settings.solref)}" solimp="{listed(settings.solimp)}" condim="3"/></default>'
        f'<worldbody><geom type="plane" size="0 0 1" friction="0 0 0" conaffinity="0"/>'
        f"{''.join(nested(link) for link in tree.children(-1))}</worldbody><actuator>{drives}</actuator></mujoco>"
    )


def _joint(link: Link) -> str:
    kinds = {"revolute": "hinge", "prismatic": "slide"}
    if link.kind.name == "floating":
        return f'<freejoint name="{link.name}"/>'
    if link.kind.name not in kinds:
        raise InputError(f"joint {link.name!r} is {link.kind.name}; for MuJoCo joints must be floating, revolute or prismatic")
    return (
        f'<joint name="{link.name}" type="{kinds[link.kind.name]}" axis="0 0 1" damping="{link.damping[0]!r}" '
        f'armature="{link.armature[0]!r}"/>'
    )


def _geom(place: Place, geometry: Geometry, friction: float) -> str:
    shape = geometry.shape
    if isinstance(shape, Box):
        kind, size = "box", [0.5 * edge for edge in shape.size]
    elif isinstance(shape, Sphere):
        kind, size = "sphere", [shape.radius]
    elif isinstance(shape, Capsule):
        kind, size = "capsule", [shape.radius, 0.5 * shape.length]
    else:
        raise InputError(f"{type(shape).__name__}: for MuJoCo shapes must be boxes, spheres or capsules")
    at = f'{placed(place.pose @ geometry.pose)} contype="0"'
    return f'<geom type="{kind}" size="{listed(size)}" friction="{friction!r} 0 0" {at}/>'
