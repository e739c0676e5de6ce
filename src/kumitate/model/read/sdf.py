"""Reading SDF, the format of Gazebo (sdformat.org), versions 1.4 to 1.12."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..elements import Frame, Joint
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism, free_name
from .parts import MeshFinder, note_missing, note_weightless, read_quarter_turns
from .sdf_joint import GEARBOX, SdfJoint, read_couplings, read_joint
from .sdf_link import MODEL, SEPARATOR, Frames, SdfLinkReader, kept_apart, read_flag, read_numbers, read_text
from .xml import TEXT, Element, Notes, read_xml

#: The largest depth of files that include one another.
_MOST_INCLUDES = 20
#: What an <include> may say of the model in its own words.
_SAID = ("pose", "static", "placement_frame")


def expand_includes(sdf: Element, path: Path | None, notes: Notes) -> None:
    """Puts included models in the places of all <include> elements of the worlds and models of a file.

    Files are sought as meshes are: `model://name` in the folders of GZ_SIM_RESOURCE_PATH and above the file, others beside it.
    Those that are not at hand are left out with a remark.
    """
    waiting = [(sdf, path, 0)]
    while waiting:
        owner, here, depth = waiting.pop()
        if depth > _MOST_INCLUDES:
            raise owner.error(f"files include one another more than {_MOST_INCLUDES} deep; take the <include> out of one")
        for at, part in enumerate(owner.children):
            if part.tag == "include":
                found = _included(part, here, notes)
                if found is not None:
                    owner.children[at] = found[0]
                    waiting.append((*found, depth + 1))
            elif part.tag in ("world", "model"):
                waiting.append((part, here, depth))


def _included(include: Element, path: Path | None, notes: Notes) -> tuple[Element, Path] | None:
    """The model that an <include> names, and its file; None if it is not at hand."""
    uri = read_text(include, "uri")
    if uri is None:
        raise include.error("<include> has no <uri>; write that of a model's file or folder")
    if (include.get("merge") or "false").lower() in ("true", "1"):
        notes.leave(include, '<include merge="true">: not read; put the elements of that model in its place', uri)
        return None
    places = (folder / rest for folder, rest in MeshFinder(path or Path.cwd() / TEXT).candidates(uri))
    files = (place if place.is_file() else _in_folder(place) if place.is_dir() else None for place in places)
    file = next((file for file in files if file is not None), None)
    if file is None:
        remark = "<include> of files that are not at hand (set GZ_SIM_RESOURCE_PATH to their folder), left out"
        notes.leave(include, remark, uri)
        return None
    sdf, place = read_xml(file, "sdf")
    models = sdf.all("model")
    if len(models) != 1:
        raise include.error(f"<include> of {file}, which has {len(models)} models; files that are included have one")
    (model,) = models
    if (name := read_text(include, "name")) is not None:
        model.attributes["name"] = name
    for tag in _SAID:
        if (said := include.child(tag)) is not None:
            model.children = [part for part in model.children if part.tag != tag]
            if tag == "placement_frame":
                model.attributes[tag] = said.text.strip()
            else:
                model.children.insert(0, said)
    for part in include.children:
        if part.tag not in (*_SAID, "uri", "name"):
            notes.leave(part, f"<{part.tag}> of <include>: not used", uri)
    assert place is not None
    return model, place


def _in_folder(folder: Path) -> Path | None:
    """The file of a model's folder: the last that its model.config names, or model.sdf."""
    config, usual = folder / "model.config", folder / "model.sdf"
    if config.is_file():
        root, _ = read_xml(config, "model")
        named = [(_version(part, part.get("version") or "0"), part.text.strip()) for part in root.all("sdf")]
        files = [folder / name for _, name in sorted(named, reverse=True) if (folder / name).is_file()]
        if files:
            return files[0]
    return usual if usual.is_file() else None


def _version(part: Element, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split("."))
    except ValueError:
        rule = 'which is not a version of SDF; write version="1.9" or the like'
        raise part.error(f"<sdf> has the version {text!r}, {rule}") from None


@dataclass
class SpanningTree:
    """A tree over all links: its joints outward, the joints that close loops, and the root links."""

    joints: list[SdfJoint] = field(default_factory=list)
    loops: list[SdfJoint] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    #: joints of the tree that run from the file's child to the file's parent
    turned: list[SdfJoint] = field(default_factory=list)


def spanning_tree(links: Sequence[str], joints: Sequence[SdfJoint], first: str | None) -> SpanningTree:
    """Breadth first from the world and from each root, in the file's order: the first joint that names a child is its joint.

    A link that is not a child is attached by one of its own joints, reversed, if that leads to links that are in the tree
    already; otherwise it is a root, `first` before all others.
    """
    tree = SpanningTree()
    carried = {WORLD}
    children = {joint.child for joint in joints}
    outward: dict[str, list[SdfJoint]] = {}
    for joint in joints:
        outward.setdefault(joint.parent, []).append(joint)

    def grow(start: str) -> None:
        carried.add(start)
        waiting = [start]
        for body in waiting:
            for joint in outward.get(body, ()):
                if joint.child not in carried:
                    carried.add(joint.child)
                    tree.joints.append(joint)
                    waiting.append(joint.child)

    grow(WORLD)
    candidates = [link for link in links if link not in children]
    if first in candidates:
        candidates = [first, *candidates]  # type: ignore[list-item]
    while True:
        inward = next((joint for joint in joints if joint.child in carried and joint.parent not in carried), None)
        root = next((link for link in [*candidates, *links] if link not in carried), None)
        if inward is not None:
            tree.joints.append(inward.backward())
            tree.turned.append(inward)
            grow(inward.parent)
        elif root is not None:
            tree.roots.append(root)
            grow(root)
        else:
            break
    used = {joint.key for joint in tree.joints}
    tree.loops.extend(joint for joint in joints if joint.key not in used)
    return tree


#: The reasons for not reading some elements; all others are unknown.
_UNREAD = {
    "<plugin>": "programs for simulators, not used",
    "<sensor>": "sensors are not simulated",
    "<light>": "lights are not used",
    "<physics>": "settings of another simulator, not used",
    **dict.fromkeys(
        ("<surface>", "<friction>", "<bounce>", "<soft_contact>", "<collide_without_contact>", "<ode>", "<bullet>"),
        "contact settings of another simulator, not used; km.Contact has surfaces",
    ),
    "<self_collide>": "not used; the simulation says what touches",
    "<axis>": "of joints that move about no axis of their own (ball, fixed), not used",
    "<axis2>": "of joints with one axis, not used",
    "<script>": "materials of another viewer, not drawn",
    "<gravity>": "not used for single links",
    "<submesh>": "parts of meshes are not picked; the whole is drawn",
    "<ambient>": "shading of another viewer; the diffuse colour is drawn",
    **dict.fromkeys(("<specular>", "<emissive>", "<cast_shadows>"), "shading of another viewer, not drawn"),
    "<allow_auto_disable>": "settings of another simulator, not used",
    "<enable_wind>": "wind is not simulated",
    **dict.fromkeys(("text in <sdf>", "text in <model>"), "stands between the elements, where SDF has none, not used"),
}

#: What the format demands of every world, although it says nothing of its models.
_DEMANDED = ("atmosphere", "physics", "scene")

#: The versions that this reader was written for.
_VERSIONS = ((1, 4), (1, 12))

#: The largest depth of nested models.
_DEEPEST = 50


@dataclass
class _Content:
    """The content of the models of a file: elements by key, with the scope in which their names are resolved."""

    links: dict[str, tuple[Element, str]] = field(default_factory=dict)
    joints: dict[str, tuple[Element, str]] = field(default_factory=dict)
    frames: dict[str, Element] = field(default_factory=dict)
    static: list[str] = field(default_factory=list)


def read_sdf(
    path_or_text: str | os.PathLike[str], *, floating_base: bool = False, fix_inertia: bool = False, keep_angles: bool = False
) -> Mechanism:
    """The mechanism of an SDF file: of its model, or of all models of its world, which are free unless they are static.

    Models that the file includes are read too, if they are at hand.

    The tree is built breadth first from the root link; the first joint that names a link as its child is its joint, and every
    other joint becomes a `Loop`; gearboxes and <mimic> become `Coupling`s. Bodies have the frames of the links; the frames of
    joints that differ from those of their children are frames of the mechanism, with the names of the joints. Elements of
    nested models are named `model::name`.

    Args:
        path_or_text: a path, or the XML itself (a string that starts with `<`).
        floating_base: whether the root link of a file without a world is free to move; it is fixed otherwise. Poses in the
            file are those at zero coordinates in both cases.
        fix_inertia: whether physically impossible inertias are replaced by the nearest possible ones.
        keep_angles: whether angles within 1e-10 rad of a quarter turn are kept as written, not read as one.

    Raises:
        ModelError: with file and line, if the file breaks a rule of XML, of SDF or of mechanics.

    Warns:
        KumitateWarning: once for each kind of thing that is not simulated, not known, not physical though usable, or not found.

    >>> read_sdf('<sdf version="1.7"><model name="stick"><link name="stick"><inertial/></link></model></sdf>').joints[0].name
    'fixed_base'
    """
    sdf, path = read_xml(path_or_text, "sdf")
    notes, content = Notes(sdf.source), _Content()
    with sdf.located():
        version = sdf.need("version")
        frames = Frames(_version(sdf, version))
        if not _VERSIONS[0] <= frames.version <= _VERSIONS[1]:
            notes.add(f"version {version} of SDF is not known here (known: 1.4 to 1.12), read like the nearest", line=sdf.line)
        expand_includes(sdf, path, notes)
        if not keep_angles:
            read_quarter_turns(sdf, notes)
        world = sdf.child("world")
        name, first = _collect(sdf, world, frames, content)
        reader = SdfLinkReader(frames, notes, static=content.static, fix_inertia=fix_inertia)
        bodies, specs = [], []
        for key, (link, scope) in content.links.items():
            with notes.catching():
                bodies.append(reader.body(link, key, scope))
        gearboxes = {key: item for key, item in content.joints.items() if item[0].get("type") == GEARBOX}
        for key, (element, scope) in content.joints.items():
            with notes.catching():
                specs += [] if key in gearboxes else [read_joint(element, key, scope, frames, notes)]
        notes.check()
        tree = spanning_tree(list(content.links), specs, first)
        joints = _bases(sdf, tree, frames, content, floating_base=floating_base, in_world=world is not None)
        for spec in tree.joints:
            between, own = spec.joined(frames, free_name(spec.key, content.links))
            bodies.extend(between)
            joints.extend(own)
        gravity = None if world is None else world.child("gravity")
        _note_tree(tree, content, notes)
        loops = tuple(spec.loop(frames) for spec in tree.loops)
        taken = {body.name for body in bodies}
        named = [
            Frame(key, body, frames.relative(key, body, element))
            for key, element in content.frames.items()
            for body in [frames.carrier(key, element)]
        ]
        named += [frame for spec in tree.joints for frame in spec.frame(frames) if frame.name not in taken]
        note_weightless(bodies, joints, {key: element.line for key, (element, _) in content.joints.items()}, notes)
        mechanism = Mechanism(
            name, tuple(bodies), tuple(joints), loops, tuple(named),
            (0.0, 0.0, -9.81) if gravity is None else read_numbers(gravity, 3),  # type: ignore[arg-type]
            source=None if path is None else str(path), faults=tuple(notes.faults),
            no_contact=tuple(kept_apart(reader.masks, joints)),
        )  # fmt: skip
        mechanism = replace(mechanism, couplings=read_couplings(mechanism, specs, gearboxes, frames, notes))
    notes.add_unread(sdf, _UNREAD)
    note_missing(reader.meshes.values(), "GZ_SIM_RESOURCE_PATH to the folder that holds the model", notes)
    notes.warn()
    return mechanism


# --- gathering the elements -------------------------------------------------------------------------------------------------
def _collect(sdf: Element, world: Element | None, frames: Frames, content: _Content) -> tuple[str, str | None]:
    """Collects all models of the file; returns the mechanism's name, and the key of the link that should be its root."""
    owner = sdf if world is None else world
    models = owner.all("model")
    if not models:
        missing = "; the files that it includes are not at hand" * any(part.tag == "include" for part in owner.children)
        raise owner.error(f"<{owner.tag}> has no <model>{missing}; add one")
    alone = len(models) == 1 and not (world is not None and (world.all("joint") or world.all("frame")))
    if world is not None:
        world.get("name")  # which the format demands; a world of one model is called like the model
        for part in world.children:
            if part.tag in _DEMANDED:
                part.left = "demanded by the format"
    if alone:
        return models[0].need("name"), _collect_model(models[0], "", MODEL, WORLD, frames, content)
    if world is None:
        lines = ", ".join(f"{model.get('name')!r} (line {model.line})" for model in models)
        raise models[1].error(f"the file has {len(models)} models outside a world: {lines}; keep one, or put them in a <world>")
    first = [
        _collect_model(model, f"{model.need('name')}{SEPARATOR}", model.need("name"), WORLD, frames, content)
        for model in models
    ]
    _collect_parts(world, "", WORLD, frames, content)
    return world.get("name") or WORLD, first[0]


def _collect_model(model: Element, scope: str, key: str, base: str, frames: Frames, content: _Content) -> str | None:
    """Collects one model and those inside it; returns the key of its canonical link."""
    if scope.count(SEPARATOR) > _DEEPEST:
        raise model.error(f"models are nested more than {_DEEPEST} deep; take some out of their models")
    links = [frames.key(scope, link.need("name")) for link in model.all("link")]
    inner = [frames.key(scope, part.need("name")) for part in model.all("model")]
    named = model.get("canonical_link")
    placement = model.get("placement_frame")
    # the first link, or else that of the first model inside
    canonical = frames.key(scope, named) if named else next(iter([*links, *inner]), None)
    if canonical is None:
        raise model.error(f"model {model.get('name')!r} has no <link>; add one")
    frames.add(key, scope, model, base=base, carrier=canonical, placement=frames.key(scope, placement) if placement else None)
    if read_flag(model, "static"):
        content.static.append(scope)
    for part, inner_key in zip(model.all("model"), inner, strict=True):
        _collect_model(part, f"{inner_key}{SEPARATOR}", inner_key, key, frames, content)
    for part, link in zip(model.all("link"), links, strict=True):
        frames.add(link, scope, part, base=key)
        content.links[link] = part, scope
    _collect_parts(model, scope, key, frames, content)
    return frames.carrier(canonical, model)


def _collect_parts(owner: Element, scope: str, key: str, frames: Frames, content: _Content) -> None:
    """Collects the joints and frames of a model, or of the world."""
    for joint in owner.all("joint"):
        name = frames.key(scope, joint.need("name"))
        if frames.version < (1, 7) and name in content.links:  # joints had no frames then, and might have the names of links
            name += "_joint"
        child = frames.key(scope, joint.need_child("child").text.strip())
        frames.add(name, scope, joint, base=child, carrier=child)
        content.joints[name] = joint, scope
    for frame in owner.all("frame"):
        name = frames.key(scope, frame.need("name"))
        attached = frame.get("attached_to")
        fixed_to = frames.key(scope, attached) if attached else key
        frames.add(name, scope, frame, base=fixed_to, carrier=fixed_to)
        content.frames[name] = frame


# --- putting together -------------------------------------------------------------------------------------------------------
def _bases(
    sdf: Element, tree: SpanningTree, frames: Frames, content: _Content, *, floating_base: bool, in_world: bool
) -> list[Joint]:
    """The joints that connect the roots to the world, at their poses in the file: those of models in a world are free."""
    static = [any(content.links[root][1].startswith(scope) for scope in content.static) for root in tree.roots]
    if floating_base and all(static):
        raise sdf.error(
            "floating_base was asked for, but the file itself holds the model to the world (by a joint or <static>); "
            "take that out of the file, or read it without floating_base"
        )
    joints = []
    for root, held in zip(tree.roots, static, strict=True):
        kind = "floating" if (floating_base or in_world) and not held else "fixed"
        name = f"{kind}_base" if len(tree.roots) == 1 else f"{kind}_base_{root}"
        where = frames.relative(root, WORLD, content.links[root][0])
        joints.append(Joint(free_name(name, content.joints), KINDS[kind], WORLD, root, where))
    return joints


# --- saying what was not used -----------------------------------------------------------------------------------------------
def _note_tree(tree: SpanningTree, content: _Content, notes: Notes) -> None:
    for spec in tree.turned:
        remark = "joints that the tree runs through from child to parent, with their axes turned about"
        notes.add(remark, spec.key, spec.element.line)
    scopes = Counter(content.links[root][1] for root in tree.roots)
    for root in tree.roots:
        element, scope = content.links[root]
        if scopes[scope] > 1 and not any(scope.startswith(held) for held in content.static):
            notes.add("links that no joint carries, each joined to the world by itself", root, element.line)
