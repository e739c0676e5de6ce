"""Semantic descriptions of robots (SRDF): named postures, groups of joints, pairs of bodies that need no collision check."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, did_you_mean, first_of
from ..bounds import joint_columns
from ..convert import DRAKE, PINOCCHIO, UNIT_VECTORS, Layout
from ..edits import joints_between
from ..elements import Joint
from ..mechanism import WORLD, Mechanism
from .xml import Element, Notes, read_xml


class VirtualJoint(NamedTuple):
    """The joint of the robot's root according to the file: of `kind`, from the frame `parent` to the body `child`."""

    name: str
    kind: str
    parent: str
    child: str


class EndEffector(NamedTuple):
    """A tool: the group of its joints, the body that carries it, and the group that moves that body, if said."""

    name: str
    group: str
    parent: str
    parent_group: str | None = None


@dataclass(frozen=True)
class Srdf:
    """The content of an SRDF file for a mechanism.

    Attributes:
        name: of the robot there.
        mechanism: that it was read for.
        poses: coordinates by joint, in our order of components, of each named posture; joints that it leaves out are missing.
        groups: the moving joints of each group, in the mechanism's order.
        disabled_collisions: pairs of bodies that need not be checked for collision, in alphabetical order, and the reason.
        passive_joints: joints that no drive moves.
        virtual_joints: joints of the root; kept as written.
        end_effectors: tools; kept as written.
    """

    name: str
    mechanism: Mechanism = field(repr=False)
    poses: Mapping[str, Mapping[str, tuple[float, ...]]]
    groups: Mapping[str, tuple[str, ...]]
    disabled_collisions: Mapping[tuple[str, str], str] = field(repr=False)
    passive_joints: tuple[str, ...] = ()
    virtual_joints: tuple[VirtualJoint, ...] = ()
    end_effectors: tuple[EndEffector, ...] = ()

    def q(self, pose: str, start: Any = None) -> np.ndarray:
        """The coordinates (nq) of a named posture.

        Args:
            pose: its name.
            start: coordinates (nq) of the joints that the posture leaves out; neutral by default.

        Raises:
            InputError: if there is no such posture, or `start` has another shape.
        """
        if pose not in self.poses:
            known = ", ".join(repr(name) for name in self.poses) or "none"
            raise InputError(f"{self.name}: there is no pose {pose!r} in the file; there are {known}")
        joints = self.mechanism.joints
        q = np.array([x for joint in joints for x in joint.kind.neutral()] if start is None else start, dtype=float)
        if q.shape != (self.mechanism.nq,):
            raise InputError(f"{self.name}: start has the shape {q.shape}; it must be ({self.mechanism.nq},)")
        for joint, _, columns, _ in joint_columns(self.mechanism):
            q[columns] = self.poses[pose].get(joint.name, q[columns])
        return q


#: The name of the root joint in files for Pinocchio, which do not declare it.
_ROOT_JOINT = "root_joint"
#: The largest depth of nested groups.
_DEEPEST = 100
#: The tolerance of the length of quaternions.
_PRINTED = 1e-3


def read_srdf(path_or_text: str | os.PathLike[str], mechanism: Mechanism, *, skip_unknown: bool = False) -> Srdf:
    """Reads an SRDF file for a mechanism.

    Postures are stored by joint names. Joints of several coordinates are read in the order of Pinocchio and MoveIt (a free one
    x y z, then the quaternion x y z w; a planar one x y and the angle, or its cosine and sine) and converted to our order. The
    joint that a <virtual_joint> declares, or "root_joint", is the mechanism's joint on the world. Postures of the same
    name for several groups are combined to one.

    Args:
        path_or_text: a path, or the XML itself (a string that starts with `<`).
        mechanism: the robot that the file is about.
        skip_unknown: whether joints and links that the mechanism does not have are left out with a warning instead of an error,
            for files of a larger robot.

    Raises:
        ModelError: with file and line, if the file breaks a rule of XML or SRDF, or if its postures, passive joints or
            collision pairs name joints or links that the mechanism does not have.

    Warns:
        KumitateWarning: once for each kind of thing that is left out or not used, with the names of the elements.

    >>> from kumitate.model.samples import sample
    >>> text = '<robot name="p"><group_state name="up" group="all"><joint name="hinge" value="3.1"/></group_state></robot>'
    >>> read_srdf(text, sample("pendulum").build()).q("up").tolist()
    [3.1]
    """
    robot, _ = read_xml(path_or_text, "robot")
    return _Reader(robot, mechanism, skip_unknown=skip_unknown).srdf()


class _Reader:
    """Reads one file for one mechanism."""

    def __init__(self, robot: Element, mechanism: Mechanism, *, skip_unknown: bool):
        self.robot, self.mechanism, self.skip_unknown = robot, mechanism, skip_unknown
        self.notes = Notes(robot.source)
        self.joints = {joint.name: joint for joint in mechanism.joints}
        self.carriers = {joint.child: joint for joint in mechanism.joints}
        #: Names of joints in the file without coordinates here.
        self.closing = {loop.name for loop in mechanism.loops} | {coupling.name for coupling in mechanism.couplings}
        self.bodies = dict.fromkeys((WORLD, *self.carriers))
        keys = ("name", "type", "parent_frame", "child_link")
        self.virtual = tuple(VirtualJoint(*(part.need(key) for key in keys)) for part in robot.all("virtual_joint"))
        self.groups: dict[str, list[Element]] = {}
        self.members: dict[str, set[str]] = {}
        for group in robot.all("group"):
            self.groups.setdefault(group.need("name"), []).append(group)

    def srdf(self) -> Srdf:
        """The content of the file."""
        robot = self.robot
        robot.get("version")
        name = robot.get("name") or self.mechanism.name
        groups = {group: self._members(group, ()) for group in self.groups}
        moving = {group: tuple(name for name in self.joints if name in members) for group, members in groups.items()}
        effectors = []
        for element in robot.all("end_effector"):
            name_of, group, parent = (element.need(key) for key in ("name", "group", "parent_link"))
            if group not in self.groups or parent not in self.bodies:
                remark = "<end_effector> of a group or link that is not there, kept as it is written"
                self.notes.add(remark, name_of, element.line)
            effectors.append(EndEffector(name_of, group, parent, element.get("parent_group")))
        passive = [self._joint(element, "<passive_joint>") for element in robot.all("passive_joint")]
        poses, pairs = self._poses(), self._pairs()
        self.notes.add_unread(robot, {})
        self.notes.warn()
        names = tuple(joint.name for joint in passive if joint is not None and joint.kind.nv)
        return Srdf(name, self.mechanism, poses, moving, pairs, names, self.virtual, tuple(effectors))

    # --- references -------------------------------------------------------------------------------------------------------
    def _found(self, name: str) -> Joint | None:
        """The joint of this name, or the root joint if the file means that."""
        if name in self.joints:
            return self.joints[name]
        declared = {joint.name: joint.child for joint in self.virtual}
        if name not in declared and name != _ROOT_JOINT:
            return None
        roots = [joint for joint in self.mechanism.joints if joint.parent == WORLD]
        return next((joint for joint in roots if len(roots) == 1 or joint.child == declared.get(name)), None)

    def _joint(self, element: Element, where: str) -> Joint | None:
        """The joint that an element names; None for what is left out."""
        name = element.need("name")
        found = self._found(name)
        if found is None and name in self.closing:
            self.notes.add(f"{where} of joints that close loops or couple others, not used", name, element.line)
        elif found is None:
            self._unknown(element, "joint", name, tuple(self.joints), where)
        return found

    def _unknown(self, element: Element, what: str, name: str, known: Sequence[str], where: str) -> None:
        """Raises, or leaves a note."""
        if self.skip_unknown:
            self.notes.add(f"{where} of {what}s that {self.mechanism.name!r} does not have, left out", name, element.line)
            return
        # prefixes differ between files of one robot
        same = [other for other in known if name.endswith(f"/{other}")]
        hint = f"did you mean {same[0]!r}?" if same else did_you_mean(name, known, f"they are {first_of(known)}.")
        raise element.error(
            f"{where} names the {what} {name!r}, which {self.mechanism.name!r} does not have; {hint} If the file is for a "
            "larger robot, read it with skip_unknown=True"
        )

    # --- groups -----------------------------------------------------------------------------------------------------------
    def _members(self, group: str, above: tuple[str, ...]) -> set[str]:
        """The names of the moving joints of a group and of the groups in it; computed once."""
        if group in self.members:
            return self.members[group]
        found: list[Joint | None] = []
        names: set[str] = set()
        for element in self.groups[group]:
            for tag, find in (("joint", self._found), ("link", self.carriers.get)):
                for part in element.all(tag):
                    found.append(find(part.need("name")))
                    if found[-1] is None and not (tag == "joint" and part.need("name") in self.closing):
                        remark = f"groups name {tag}s that the mechanism does not have, left out"
                        self.notes.add(remark, part.need("name"), part.line)
            for part in element.all("chain"):
                found += self._chain(part)
            for part in element.all("group"):
                names |= self._inner(part, (*above, group))
        names |= {joint.name for joint in found if joint is not None and joint.kind.nv}
        self.members[group] = names
        return names

    def _inner(self, part: Element, above: tuple[str, ...]) -> set[str]:
        """The members of a group inside others."""
        inner = part.need("name")
        if inner in above:
            raise part.error(f"group {inner!r} contains itself ({' → '.join((*above, inner))}); take it out")
        if len(above) > _DEEPEST:
            raise part.error(
                f"group {inner!r} is more than {_DEEPEST} groups deep in {above[0]!r}; take some out of the others"
            )
        if inner in self.groups:
            return self._members(inner, above)
        self.notes.add("groups name groups that the file does not have, left out", inner, part.line)
        return set()

    def _chain(self, element: Element) -> list[Joint]:
        """The joints between two links, through their common ancestor."""
        ends = element.need("base_link"), element.need("tip_link")
        if not self.bodies.keys() >= set(ends):
            self.notes.add("chains between links that the mechanism does not have, left out", " … ".join(ends), element.line)
            return []
        return joints_between(self.carriers, *ends)

    def _pairs(self) -> dict[tuple[str, str], str]:
        pairs: dict[tuple[str, str], str] = {}
        for element in self.robot.all("disable_collisions"):
            names, reason = [element.need(key) for key in ("link1", "link2")], element.get("reason") or ""
            unknown = [name for name in names if name not in self.bodies]
            for name in unknown:
                self._unknown(element, "link", name, tuple(self.bodies), f"<{element.tag}>")
            if not unknown:
                pairs.setdefault((min(names), max(names)), reason)
        return pairs

    # --- postures ---------------------------------------------------------------------------------------------------------
    def _poses(self) -> dict[str, dict[str, tuple[float, ...]]]:
        poses: dict[str, dict[str, tuple[float, ...]]] = {}
        lines: dict[tuple[str, str], int] = {}
        for state in self.robot.all("group_state"):
            name, group = state.need("name"), state.get("group")
            if group not in self.groups:
                self.notes.add("<group_state> of no group that the file has, read as one of the whole robot", name, state.line)
            pose = poses.setdefault(name, {})
            for element in state.all("joint"):
                joint = self._joint(element, f"<group_state> {name!r}")
                values = element.numbers("value", len(element.need("value").split()))
                if joint is not None and joint.kind.nv == 0:
                    self.notes.add("<group_state> of joints that are fixed here, not used", joint.name, element.line)
                elif joint is not None:
                    q = self._coordinates(element, joint, values)
                    if pose.setdefault(joint.name, q) != q:
                        raise element.error(
                            f"pose {name!r} has two values of joint {joint.name!r}, {q} here and {pose[joint.name]} in line "
                            f"{lines[name, joint.name]}; keep one, or give the poses different names"
                        )
                    lines[name, joint.name] = element.line
        return poses

    def _coordinates(self, element: Element, joint: Joint, values: tuple[float, ...]) -> tuple[float, ...]:
        """The coordinates of a joint from an element, in our order."""
        kind = joint.kind
        # Pinocchio's free joint is MoveIt's too; Drake's planar joint is
        layouts = [layout for table in (PINOCCHIO, DRAKE) for layout in table.get(kind.name, {}).values()]
        layouts = layouts or [Layout(kind.coordinates, kind.velocities)]
        fitting = [layout for layout in layouts if len(layout.q) == len(values)]
        if not fitting:
            takes = " or ".join(dict.fromkeys(f"({', '.join(layout.q)})" for layout in layouts))
            raise element.error(f"joint {joint.name!r} has {len(values)} values, {values}; a {kind.name} joint takes {takes}")
        named = dict(zip(fitting[0].q, values, strict=True))
        for unit in (names for names in UNIT_VECTORS if names[0] in named):
            off = abs(1.0 - math.hypot(*(named[name] for name in unit)))
            if off > _PRINTED:
                raise element.error(
                    f"joint {joint.name!r}: ({', '.join(unit)}) of {values} is {off:.3g} off unit length; the values must be "
                    f"({', '.join(fitting[0].q)}), in this order"
                )
        own = fitting[0].our_coordinates(np.array(values), kind.coordinates)
        return tuple(float(x) for x in kind.normalized(own.tolist()))
