"""Bodies as the page draws them and what it says of them: shapes, mass, inertia, the joint that carries each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ...model import WORLD, Body, Geometry, Joint, Mechanism, Mesh, Shape
from ...model.meshes import Facets
from ..stick_shapes import inertia_box
from ..surfaces import unscaled
from .motion import quaternions

#: The shapes that the page draws from their parameters; it draws others from their facets.
PRIMITIVES = ("box", "sphere", "cylinder", "capsule")


def groups_of(mechanism: Mechanism) -> dict[str, int]:
    """Bodies fixed to one another share a number (and so a colour); those fixed to the world have −1."""
    groups = {WORLD: -1}
    for joint in mechanism.joints:
        moves = joint.kind.nv > 0
        groups[joint.child] = max(groups.values()) + 1 if moves else groups[joint.parent]
    return groups


def body_data(body: Body, joint: Joint) -> dict[str, Any]:
    """The numbers of a body: mass [kg], center of mass [m], the uniform box of its inertia, its joint."""
    data: dict[str, Any] = {"name": body.name, "joint": {"name": joint.name, "kind": joint.kind.name}}
    if body.mass > 0.0:
        size, axes = inertia_box(body)
        data |= {"mass": body.mass, "center": _short(body.center_of_mass)}
        data["box"] = {"size": _short(size), "quaternion": _short(quaternions(axes[None])[0])}
    return data


def loop_data(mechanism: Mechanism) -> list[dict[str, Any]]:
    """The joints that close loops: name, kind, and the place on each of both bodies (index, −1 for the world; position [m])."""
    index = {WORLD: -1, **{body.name: k for k, body in enumerate(mechanism.bodies)}}
    return [
        {
            "name": loop.name, "kind": loop.kind.name,
            "ends": [
                {"body": index[body], "position": _short(place.translation)}
                for body, place in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
            ],
        }
        for loop in mechanism.loops
    ]  # fmt: skip


def shape_data(item: Geometry, meshes: Sequence[Shape], surfaces: Mapping[Shape, Facets]) -> dict[str, Any]:
    """A shape with its pose in the body; a mesh by its index in `meshes`."""
    rows = np.asarray(item.pose.matrix(), dtype=float)
    data: dict[str, Any] = {
        "position": rows[:3, 3].tolist(), "quaternion": quaternions(rows[None, :3, :3])[0].tolist(),
    }  # fmt: skip
    if item.color is not None:
        data["color"] = [float(part) for part in item.color]
    shape, scale = item.shape, (1.0, 1.0, 1.0)
    if shape.kind in PRIMITIVES:
        return {"type": shape.kind, **_numbers(shape), **data}
    if isinstance(shape, Mesh):
        shape, scale = unscaled(shape), shape.scale
        colors = surfaces[shape].colors
        if colors is not None and (colors != colors[0]).any():
            data.pop("color", None)  # the colours of parts in the file take precedence over one colour for the whole
    return {"type": "mesh", "mesh": meshes.index(shape), "scale": [float(part) for part in scale], **data}


def stored_once(shape: Shape) -> Shape:
    """The shape as the page stores it, once for all its uses and scales."""
    return unscaled(shape) if isinstance(shape, Mesh) else shape


def _numbers(shape: Any) -> dict[str, Any]:
    """The fields of a primitive: lengths, or lists of them."""
    return {field.name: np.asarray(getattr(shape, field.name), dtype=float).tolist() for field in fields(shape)}


def _short(numbers: Any) -> list[float]:
    """Rounded to seven digits: what a drawing needs."""
    return [float(f"{float(number):.7g}") for number in numbers]
