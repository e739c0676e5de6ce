"""Writing and reading mechanisms as JSON, exactly: kumitate's own format, also used in result files.

The objects of the file are the dataclasses of `model`, field by field by name; fields at their defaults are left out.
A pose is {"xyz": [x, y, z], "rotation": three rows}; a joint's kind is its name, or an object with its parameters for those of
`PARAMETRIC`: {"kind": "distance", "length": metres}. Numbers are written so that they are read back with the same bits.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError, ModelError
from ...spatial import Transform, pose
from ..drives import DRIVES, Control, Drive
from ..elements import Body, Coupling, Frame, Joint, Limits, Loop, NamedState
from ..files import file_text
from ..joints import KINDS, PARAMETRIC, Closure, Line
from ..mechanism import Mechanism
from ..shapes import SHAPES, Geometry, Shape
from ..values import shown
from .xml import Notes

VERSION = 1

#: The class of the content of a field, or of the items of its list.
_PARTS: dict[str, type] = {
    "bodies": Body, "joints": Joint, "loops": Loop, "frames": Frame, "visuals": Geometry, "collisions": Geometry,
    "limits": Limits, "couplings": Coupling, "starts": NamedState,
}  # fmt: skip
#: The classes by kind of what an object with an entry "kind" is, by the field that it stands in.
_KINDS: dict[str, Mapping[str, type]] = {"shape": SHAPES, "drive": DRIVES, "kind": PARAMETRIC}
#: Fields that may be infinite, which JSON can only express as a text.
_LIMITS = {field.name for field in fields(Limits)} | {"limit"}


def to_json(mechanism: Mechanism) -> str:
    """The mechanism as JSON; `from_json` returns it with exactly the same numbers.

    Raises:
        ModelError: if it has joints of a kind that is not in `KINDS` or `PARAMETRIC`, or shapes of one that is not in `SHAPES`,
            which readers would not know; or a line whose force is a function.
    """
    for loop in mechanism.loops:
        if isinstance(loop.kind, Line) and loop.kind.force is not None:
            raise ModelError(
                f"{mechanism.name}: the force of the line {loop.name!r} is a function, which JSON cannot express; write the "
                "mechanism without it, or with stiffness and damping, and add the line again in Python"
            )
    return json.dumps({"kumitate": VERSION, **_encode(mechanism)}, allow_nan=False, ensure_ascii=False)


def from_json(text: str, source: str = "<text>") -> Mechanism:
    """The mechanism of a text written by `to_json`. Poses come back as matrices.

    Args:
        text: the JSON; source: its file, for messages.

    Raises:
        ModelError: if the text is not JSON, is of another version, or breaks a rule of mechanisms; with the file and the line,
            or the place of the element in the file (mechanism.bodies[0]). Its `others` are the faults of other elements.
    """
    if not text.strip():
        raise ModelError(f"{source}: not valid JSON: the file is empty; a mechanism as kumitate writes it is expected")
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_constant=_NoNumber)
    except json.JSONDecodeError as error:
        raise ModelError(
            f"{source}:{error.lineno}: not valid JSON at column {error.colno}: {error.msg}; close every bracket and quote "
            "every name"
        ) from None
    except ValueError as error:
        raise ModelError(f"{source}: not valid JSON: {error}") from None
    except RecursionError:
        raise ModelError(f"{source}: {_DEEP}") from None
    if not isinstance(content, dict) or "kumitate" not in content:
        raise ModelError(
            f'{source}: the JSON is not a mechanism of kumitate: it has no entry "kumitate" with the version; robot '
            "files end in .urdf or .sdf"
        )
    version = content.pop("kumitate")
    if version != VERSION:
        raise ModelError(
            f"{source}: the mechanism is of format version {version!r}; this program reads version {VERSION}, take the program "
            "that wrote it"
        )
    notes = Notes(source)
    try:
        mechanism = _build(Mechanism, content, "mechanism", notes)
    except RecursionError:
        raise ModelError(f"{source}: {_DEEP}") from None
    notes.check()
    return mechanism  # type: ignore[no-any-return]


def read_json(path: str | Path, *, floating_base: bool = False, fix_inertia: bool = False) -> Mechanism:
    """The mechanism of a file in kumitate's own format, which contains the root joint; inertias are used as they are.

    Raises:
        ModelError: as `from_json`; InputError: if `floating_base` is set.
    """
    if floating_base:
        raise InputError(f"{path}: floating_base is for robot files; kumitate's own say themselves how the root is held")
    return from_json(file_text(path), str(path))


#: The message for nesting deeper than any mechanism needs.
_DEEP = "its lists and objects stand too deep in one another; a mechanism needs less than 10 levels. Write it as kumitate does"


# --- writing ----------------------------------------------------------------------------------------------------------------
def _encode(value: Any) -> Any:
    if isinstance(value, Transform):
        return {"xyz": _encode(tuple(value.translation)), "rotation": [_encode(tuple(row)) for row in value.rotation.matrix()]}
    if isinstance(value, Closure):
        name = value.name
        if KINDS.get(name) == value:
            return name
        if PARAMETRIC.get(name) is not type(value):
            raise ModelError(f"joints of kind {name!r} cannot be written: the kind is neither in KINDS nor in PARAMETRIC")
        given = ((f.name, getattr(value, f.name)) for f in fields(value))  # type: ignore[arg-type]
        return {"kind": name, **{key: _encode(part) for key, part in given if part is not None}}
    if is_dataclass(value):
        named: dict[str, Any] = {"kind": _kind_of(value)} if isinstance(value, Shape | Drive) else {}
        return named | {f.name: _encode(getattr(value, f.name)) for f in fields(value) if not _is_default(f, value)}
    if isinstance(value, tuple | list):
        return [_encode(item) for item in value]
    if isinstance(value, str | int | None):
        return value
    number = float(value)
    return number if math.isfinite(number) else repr(number)  # JSON has no word for infinite limits


def _kind_of(part: Shape | Drive) -> str:
    what, kinds = ("shape", SHAPES) if isinstance(part, Shape) else ("drive", DRIVES)
    if kinds.get(part.kind) is not type(part):  # type: ignore[attr-defined]
        raise ModelError(
            f"a {what} of kind {part.kind!r} cannot be written: {type(part).__name__} is not the class of this kind in "
            f"{what.upper()}S and no reader would know it. Add it to kumitate.model.{what}s.{what.upper()}S"
        )
    return part.kind


def _is_default(field: Any, value: Any) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return default is not MISSING and repr(getattr(value, field.name)) == repr(default)  # by text: −0.0 is not 0.0


# --- reading ----------------------------------------------------------------------------------------------------------------
def _build(kind: type, content: Any, where: str, notes: Notes) -> Any:
    """An object of a dataclass from its fields, at a place in the file; None if it has mistakes, which are noted."""
    before, built = len(notes.mistakes), None
    with notes.catching(f"{notes.source}: {where}: "):
        if not isinstance(content, Mapping):
            raise ModelError(f"{shown(content)} stands where an object with the fields of {kind.__name__} is expected")
        known = {field.name: field for field in fields(kind)}
        for name in content:
            if name not in known:
                notes.mistake(f"{where}: {kind.__name__} has no field {name!r}; its fields are {', '.join(known)}")
        for name, field in known.items():
            if field.default is MISSING and field.default_factory is MISSING and name not in content:
                called = f" {content['name']!r}" if "name" in content else ""
                notes.mistake(f"{where}: {kind.__name__}{called} needs the field {name!r}; add it")
        values = {name: _decode(name, part, f"{where}.{name}", notes) for name, part in content.items()}
        try:
            built = kind(**values) if len(notes.mistakes) == before else None
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"{error}; the fields of {kind.__name__} are numbers, texts or lists of them") from None
        for name in ("axis", "second_axis") if built is not None else ():
            axis = values.get(name)  # of unit length as written: normalising it again may change the last bit
            if axis is not None and abs(math.hypot(*axis) - 1.0) < 4.0 * sys.float_info.epsilon:
                object.__setattr__(built, name, tuple(map(float, axis)))
    return built


def _decode(name: str, content: Any, where: str, notes: Notes) -> Any:
    if name in _PARTS:
        if isinstance(content, list):
            return tuple(_build(_PARTS[name], part, f"{where}[{i}]", notes) for i, part in enumerate(content))
        notes.mistake(f"{where}: {shown(content)} stands where a list is expected")
        return ()
    if name == "control":
        return _build(Control, content, where, notes)
    if name in ("shape", "drive") or (name == "kind" and isinstance(content, Mapping)):
        kinds = _KINDS[name]
        kind = content.get("kind") if isinstance(content, Mapping) else None
        if isinstance(kind, str) and kind in kinds:
            return _build(kinds[kind], {key: part for key, part in content.items() if key != "kind"}, where, notes)
        remedy = f"its kind must be one of {', '.join(kinds)}"
        if name == "kind":
            calls = ", ".join(f'{{"kind": "{key}", …}}' for key in kinds)
            remedy = f"write the name of one without parameters, or {calls}"
        notes.mistake(f"{where}: {shown(content)} is not a {name}; {remedy}")
        return None
    if name in _LIMITS and content in ("inf", "-inf"):
        return float(content)
    try:
        if not name.startswith("pose"):
            return _plain(content)
        if not isinstance(content, Mapping) or not {"xyz", "rotation"} <= content.keys():
            raise ModelError(f'a pose is {{"xyz": [3 numbers], "rotation": [3 rows]}}, not {shown(content)}')
        return pose(content["xyz"], matrix=content["rotation"])
    except ModelError as error:
        notes.mistake(f"{where}: {error}")
        return None


def _plain(content: Any) -> Any:
    if isinstance(content, list):
        return tuple(map(_plain, content))
    if isinstance(content, _NoNumber) or (isinstance(content, float) and not math.isfinite(content)):
        raise ModelError(f'{content} is not a JSON number; write a finite number, or "inf" for no limit')
    return content


class _NoNumber(str):
    """A word that Python writes for numbers that JSON does not have: NaN, Infinity."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON text; repeated names are refused, since one entry would be lost."""
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        name = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"an object has the entry {name!r} twice; keep one")
    return content
