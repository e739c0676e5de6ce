"""The efforts of a step by what they act on, and their power."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from ... import kinematics
from ...dynamics import chord_closings, passive_force
from ...kinematics import link_twists
from ...model import Command, Mechanism
from ...scalar import Scalar
from .forcing import Forcing

__all__ = ["Parts", "applied_power", "parts_of"]


class Parts(NamedTuple):
    """The parts of the efforts u.

    Attributes:
        tau: of a controller (nv); `applied`: wrenches by place; `loop_tau`: drives in loop joints by name.
        commands: of every driven joint.
    """

    tau: Any
    applied: dict[str, list[Scalar]]
    loop_tau: dict[str, list[Scalar]]
    commands: list[Command]


def parts_of(forcing: Forcing, u: Any) -> Parts:
    """The parts of u."""
    nv = forcing.mechanism.nv
    tau, efforts = u[:nv], iter(u[nv:])  # long chains index tau inside loops of the program
    applied = {name: list(islice(efforts, 6)) for name in forcing.places}
    loop_tau = {name: list(islice(efforts, size)) for name, size in forcing.drives.items()}
    rows = [list(islice(efforts, len(forcing.mechanism.driven))) for _ in forcing.commands]
    return Parts(tau, applied, loop_tau, [Command(*values) for values in zip(*rows, strict=True)])


def applied_power(mechanism: Mechanism, q: Any, v: Any, parts: Parts) -> Scalar:
    """The power of controllers, joint damping and wrenches [W]; gravity and springs are in the potential energy instead."""
    tree = mechanism.tree
    total: Scalar = 0.0
    for link in tree.links:
        rates = link.velocities(v)
        for force, lost, rate in zip(link.velocities(parts.tau), passive_force(link, rates), rates, strict=True):
            total = total + (force - lost) * rate
    for chord, closing in zip(tree.chords, chord_closings(tree, q, v), strict=True):
        efforts = parts.loop_tau.get(chord.name, (0.0,) * len(closing.rates))
        for force, lost, rate in zip(efforts, passive_force(chord, closing.rates), closing.rates, strict=True):
            total = total + (force - lost) * rate
    if parts.applied:
        poses, twists = kinematics.link_poses(tree, q), link_twists(tree, q, v)
        for name, wrench in parts.applied.items():
            R = kinematics.place_pose(tree, poses, tree.places[name]).rotation
            twist = kinematics.place_twist(tree, twists, tree.places[name])
            in_world = [*R.rotate(twist.angular), *R.rotate(twist.linear)]
            total = total + sum((a * b for a, b in zip(in_world, wrench, strict=True)), 0.0)
    return total
