"""Nothing in a robot file is ignored: every element, attribute and text of 74 real files is used, or a warning names it.

The readers ask each XML element for its attributes, children and text, and elements remember what they were asked for. Here
the files are walked once more, and what nobody asked for must be what the warnings say, item by item and count by count. That
what was asked for is used too, and not only asked for, is shown by changing it: the mechanism or a warning must change.
"""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import Mechanism
from kumitate.model.read import read_sdf, read_urdf, sdf, to_json, urdf
from kumitate.model.read.xml import Element
from kumitate.spatial import pose

from ..robots import ROBOT_FILES

FILES = sorted([*ROBOT_FILES.rglob("*.urdf"), *ROBOT_FILES.rglob("*.sdf")])


def name_of(file: Path) -> str:
    return str(file.relative_to(ROBOT_FILES))


def read(content: str | Path, kind: str, **options) -> tuple[Element, Mechanism, list[str]]:
    """The elements of a file after it was read, the mechanism, and the warnings."""
    reader, module = (read_sdf, sdf) if kind == ".sdf" else (read_urdf, urdf)
    roots: list[Element] = []
    original = module.read_xml

    def keep(*arguments):
        element, path = original(*arguments)
        roots.append(element)
        return element, path

    with warnings.catch_warnings(record=True) as caught, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "read_xml", keep)
        warnings.simplefilter("always")
        mechanism = reader(content, fix_inertia=True, **options)
    assert all(issubclass(item.category, KumitateWarning) for item in caught)
    return roots[0], mechanism, [str(item.message) for item in caught]


@cache
def original(file: Path) -> tuple[Element, list[str]]:
    """The elements of a file after it was read, and the warnings."""
    root, _, messages = read(file, file.suffix)
    return root, messages


def walk(element: Element) -> Iterator[Element]:
    """All elements below one, in the order of the file."""
    yield element
    for part in element.children:
        yield from walk(part)


# --- what nobody asked for is warned of -----------------------------------------------------------------------------------
def leftovers(element: Element) -> Iterator[tuple[str, int]]:
    """What no reader asked for, below an element that one asked for: what a warning must call it, and its line."""
    names = [name for name in element.attributes if not name.startswith("xmlns")]  # those are words of XML, not of the model
    unread = [name for name in names if name not in element._read]
    if unread:
        yield f"attribute{'s' if len(unread) > 1 else ''} {', '.join(unread)} of <{element.tag}>:", element.line
    if element.raw_text.strip() and not element._text_read:
        yield f"text in <{element.tag}>:", element.line
    read_tags = {part.tag for part in element.children if part._visited}
    for part in element.children:
        if part.left is not None:
            assert f"<{part.tag}>" in part.left
            yield part.left, part.line
        elif part._visited:
            yield from leftovers(part)
        else:
            yield f"{'further ' if part.tag in read_tags else ''}<{part.tag}>:", part.line


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_what_is_not_used_is_warned_of(file):
    root, messages = original(file)
    expected: dict[str, list[int]] = {}
    for what, line in leftovers(root):
        expected.setdefault(what, []).append(line)
    for what, lines in expected.items():
        told = [message for message in messages if message.startswith(f"{file}: {what}")]
        assert len(told) == 1, f"{what} in lines {lines} is named by {len(told)} warnings"
        counted = re.search(r"\(×(\d+): ", told[0])
        assert (int(counted[1]) if counted else 1) == len(lines), told[0]
        assert f"line {lines[0]}" in told[0]


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_walk_meets_all_that_another_parser_meets(file):
    """Else the walk above could miss what our own parser has lost."""
    root, _ = original(file)
    theirs = [item for item in ElementTree.parse(file).iter() if isinstance(item.tag, str)]
    ours = list(walk(root))
    assert [item.tag.split(":")[-1] for item in ours] == [item.tag.split("}")[-1] for item in theirs]
    assert sum(len([key for key in item.attributes if ":" not in key]) for item in ours) == sum(
        len([key for key in item.attrib if "}" not in key]) for item in theirs
    )
    texts = Counter(piece for item in theirs for piece in _pieces(item))
    assert Counter(word for item in ours for word in item.raw_text.split()) == texts


def _pieces(item: ElementTree.Element) -> Iterator[str]:
    yield from (item.text or "").split()
    for part in item:
        yield from (part.tail or "").split()


# --- what somebody asked for is used ----------------------------------------------------------------------------------------
def used(root: Element) -> Iterator[tuple[int, str, str, str, str]]:
    """What was asked for: the element's number, its tag, the attribute ("" for text), the value, and what it is of."""
    numbers = {id(element): number for number, element in enumerate(walk(root))}

    def below(element: Element, of: str) -> Iterator[tuple[int, str, str, str, str]]:
        for name, value in element.attributes.items():
            if name in element._read and not name.startswith("xmlns"):
                yield numbers[id(element)], element.tag, name, value, of
        if element.raw_text.strip() and element._text_read:
            yield numbers[id(element)], element.tag, "", element.raw_text, of
        for part in element.children:
            if part._visited and part.left is None:
                yield from below(part, f"{of}/{part.tag}")

    return below(root, root.tag)


#: Values that say the same as nothing at all, by attribute: URDF's defaults, and SDF's.
DEFAULTS = {
    "xyz": "0 0 0", "rpy": "0 0 0", "scale": "1 1 1", "damping": "0", "friction": "0", "lower": "0", "upper": "0", "ixy": "0",
    "ixz": "0", "iyz": "0", "version": "1.0", "spring_reference": "0", "spring_stiffness": "0", "multiplier": "1",
    "offset": "0",
}  # fmt: skip


def says_nothing(tag: str, name: str, value: str, of: str) -> bool:
    """Whether it is the same to leave this out, by rule."""
    if not value.strip():
        return True
    if of == "robot/joint/axis":
        return numbers(value) == [1.0, 0.0, 0.0]
    default = DEFAULTS.get(name or tag)
    if default is not None and numbers(value) is not None:
        return numbers(value) == numbers(default)
    if tag == "pose":
        return numbers(value) == [0.0] * 6
    return value.strip().lower() == "false"


def no_difference(tag: str, name: str, of: str, root: Element, number: int) -> bool:
    """Whether a changed value makes no difference, by rule: what needs no name is named, or what is round is turned."""
    element = list(walk(root))[number]
    if tag == "material" and name == "name":  # a colour of its own needs no name
        return any(part.tag == "color" for part in element.children)
    if of.endswith("inertial/origin") and name == "rpy":  # the axes of a sphere, or of nothing, are any axes
        tensor = next(
            part for item in walk(root) for part in item.children if part.tag == "inertia" and element in item.children
        )
        values = {key: float(value) for key, value in tensor.attributes.items()}
        off = any(values.get(key, 0.0) for key in ("ixy", "ixz", "iyz"))
        return not off and values["ixx"] == values["iyy"] == values["izz"]
    if tag == "xyz":  # the length of an axis is nothing
        return not np.any(np.cross(numbers(element.raw_text), numbers(altered(element.raw_text))))
    if tag == "use_parent_model_frame":
        return keeps_direction(next(item for item in walk(root) if element in item.children), root)
    return False


def keeps_direction(axis: Element, root: Element) -> bool:
    """Whether the axis of a joint in SDF has the same components in the child link as in the model."""
    joint = next(item for item in walk(root) if item.tag == "joint" and axis in item.children)
    child = next(part.raw_text.strip() for part in joint.children if part.tag == "child")
    link = next(item for item in walk(root) if item.tag == "link" and item.attributes["name"] == child)
    where = next(numbers(part.raw_text) for part in link.children if part.tag == "pose")
    direction = np.array(next(numbers(part.raw_text) for part in axis.children if part.tag == "xyz"))
    turned = np.array(pose((0, 0, 0), where[3:]).matrix(), dtype=float)[:3, :3].T @ direction
    return bool(np.allclose(turned, direction, atol=1e-12))


def numbers(text: str) -> list[float] | None:
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return None


def altered(value: str) -> str:
    """Another value of the same form: another first number, a longer word."""
    words = value.split()
    found = numbers(value)
    if not found:
        return {"true": "false", "false": "true"}.get(value.strip().lower(), f"{value.strip()}_x")
    return " ".join([repr(found[0] + 0.37), *words[1:]])


@cache
def sample(seed: int) -> tuple[tuple[Path, int, str], ...]:
    """Some of what the readers asked for: of each kind (tags from the root on, and attribute) a few, out of all files."""
    rng = np.random.default_rng(seed)
    kinds: dict[tuple[str, str, str], list[tuple[Path, int, str]]] = {}
    for file in FILES:
        root, _ = original(file)
        for number, _, name, _, of in used(root):
            kinds.setdefault((file.suffix, of, name), []).append((file, number, name))
    picked = [found[int(k)] for found in kinds.values() for k in rng.permutation(len(found))[:2]]
    return tuple(sorted(picked))


SEED = 20240229
PARTS = 8


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_asked_for_is_used(part):
    """The sample in consecutive parts, as neighbours share a file."""
    picks = sample(SEED)
    length = -(-len(picks) // PARTS)
    mine = picks[part * length : (part + 1) * length]
    assert mine
    for file, number, name in mine:
        root, _ = original(file)
        kinds = {(place, key): (tag, value, of) for place, tag, key, value, of in used(root)}
        tag, value, of = kinds[number, name]
        if no_difference(tag, name, of, root, number):
            continue
        told = f"{name_of(file)}, seed {SEED}: {of} {name}={value!r}"
        assert differs(file, number, name, altered(value)), f"{told} altered"
        if not says_nothing(tag, name, value, of):
            assert differs(file, number, name, None), f"{told} left out"


def differs(file: Path, number: int, name: str, value: str | None) -> bool:
    """Whether a change has an effect on what is read, with the root fixed or afloat."""
    return any(changed(file, option, number, name, value) != unchanged(file, option) for option in (False, True))


@cache
def unchanged(file: Path, floating_base: bool) -> object:
    return changed(file, floating_base)


def changed(file: Path, floating_base: bool, number: int = -1, name: str = "", value: str | None = None) -> object:
    """What is read of a file where one attribute or text has another value (None: is left out)."""
    tree = ElementTree.parse(file)
    for index, item in enumerate(tree.iter()):
        if index == number:
            if not name:
                item.text = value
            elif value is None:
                del item.attrib[name]
            else:
                item.attrib[name] = value
    try:
        _, mechanism, messages = read(
            ElementTree.tostring(tree.getroot(), encoding="unicode"), file.suffix, floating_base=floating_base
        )
    except ModelError as error:
        return str(error)
    return to_json(mechanism), messages


def test_the_sample_is_large_enough():
    assert len(sample(SEED)) >= 150
    assert {file.suffix for file, _, _ in sample(SEED)} == {".urdf", ".sdf"}
