"""XML for model files: elements that record their line and what was read of them; no entities, no document types.

Built on expat directly, because the standard element tree forgets line numbers. A document type declaration is refused before
it can have an effect: model files do not need one, and it may define entities that expand without bound.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ...errors import ModelError, warn
from ..files import file_bytes
from ..values import LARGEST

#: The source of elements that are given as text.
TEXT = "<text>"


#: Limits from here on mean that there is no limit, as SDF says; URDF has no word for them, and many programs do not read "inf".
UNLIMITED = 1e16
#: Files of more elements are refused.
_MOST_ELEMENTS = 1_000_000


@dataclass(eq=False, slots=True)
class Element:
    """One element of a file.

    Attributes, children and text are read by name; `unread` lists the others, so that nothing is dropped silently.

    Attributes:
        tag, attributes, children: as in the file; `raw_text` is all text between its tags, in one piece.
        source, line: its place in the file.
        left: the reason why the element is not used; None if it is.
    """

    tag: str
    attributes: dict[str, str]
    source: str
    line: int
    children: list[Element] = field(default_factory=list)
    raw_text: str = ""
    left: str | None = None
    _read: set[str] = field(default_factory=set, repr=False)
    _visited: bool = field(default=False, repr=False)
    _text_read: bool = field(default=False, repr=False)

    # --- saying where ---------------------------------------------------------------------------------------------------
    def error(self, message: str) -> ModelError:
        """The error that this element breaks a rule."""
        return ModelError(f"{self.source}:{self.line}: {message}")

    @contextmanager
    def located(self) -> Iterator[None]:
        """Adds this element's place to errors raised inside, unless they name one in the file already."""
        try:
            yield
        except ModelError as error:
            if str(error).startswith(f"{self.source}:"):
                raise
            raise self.error(str(error)) from None

    # --- reading --------------------------------------------------------------------------------------------------------
    @property
    def text(self) -> str:
        """The text of the element, with its blanks."""
        self._text_read = True
        return self.raw_text

    def get(self, name: str) -> str | None:
        """An attribute, without blanks around it; None if it is not there."""
        self._read.add(name)
        value = self.attributes.get(name)
        return None if value is None else value.strip()

    def need(self, name: str) -> str:
        """An attribute that must be there and not be empty."""
        value = self.get(name)
        if not value:
            raise self.error(f'<{self.tag}> has {"an empty" if value == "" else "no"} attribute {name!r}; write {name}="…"')
        return value

    def numbers(self, name: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """`count` finite numbers of an attribute; `default` if it is not there (None: it must be)."""
        text = self.get(name) if default is not None else self.need(name)
        if not text and default is not None:
            return default
        assert text is not None
        return self.parsed(f"{name}={text!r}", name, text, count)

    def parsed(self, said: str, name: str, text: str, *counts: int) -> tuple[float, ...]:
        """The finite numbers in a text of this element, `said` in messages, of the attribute `name` or ""; one of `counts`."""
        values = tuple(self._number(name, word) for word in text.split())
        if len(values) not in counts:
            wanted = " or ".join(map(str, counts))
            raise self.error(f"<{self.tag}> {said} has {len(values)} numbers; it must have {wanted}, with blanks between")
        if not all(map(math.isfinite, values)):
            raise self.error(f"<{self.tag}> {said} is not finite; write finite numbers")
        if max(map(abs, values), default=0.0) > LARGEST:
            raise self.error(f"<{self.tag}> {said} is larger than {LARGEST:g}; check the number and its unit (SI)")
        return values

    def number(self, name: str, default: float | None = None) -> float:
        """One finite number of an attribute; `default` if it is not there (None: it must be)."""
        return self.numbers(name, 1, None if default is None else (default,))[0]

    def bound(self, name: str) -> float | None:
        """One number of an attribute; None if it is missing, infinite or 1e16 and more, which mean the same for a limit."""
        text = self.get(name)
        return self.limit(f"{name}={text!r}", name, text, "attribute") if text else None

    def limit(self, said: str, name: str, text: str, what: str) -> float | None:
        """A limit in a text of this element, which is that of an attribute or of the element: `what`; else as of `parsed`."""
        value = self._number(name, text)
        if math.isnan(value):
            raise self.error(f"<{self.tag}> {said} is not a number; write one, or leave the {what} out")
        return value if abs(value) < UNLIMITED else None

    def _number(self, name: str, word: str) -> float:
        try:
            if "_" in word:  # Python's digit grouping, which other programs do not read
                raise ValueError
            return float(word)
        except ValueError:
            remedy = "write it with digits, a point and an exponent"
            if "$" in word:
                remedy = "the file is a xacro source: expand it first (xacro robot.urdf.xacro > robot.urdf)"
            elif "," in word:
                remedy = "write a decimal point, and blanks between numbers"
            raise self.error(f"<{self.tag}>{' ' * bool(name)}{name}: {word!r} is not a number; {remedy}") from None

    def child(self, tag: str) -> Element | None:
        """The first child of this tag. Further ones stay unread."""
        part = next((part for part in self.children if part.tag == tag), None)
        if part is not None:
            part._visited = True
        return part

    def has(self, tag: str) -> bool:
        """Whether there is a child of this tag; this does not count as reading it."""
        return any(part.tag == tag for part in self.children)

    def need_child(self, tag: str) -> Element:
        """The first child of this tag, which must be there."""
        part = self.child(tag)
        if part is None:
            name = self.attributes.get("name")
            raise self.error(f"<{self.tag}>{f' {name!r}' if name else ''} has no <{tag}>; add it")
        return part

    def all(self, tag: str) -> list[Element]:
        """The children of this tag."""
        found = [part for part in self.children if part.tag == tag]
        for part in found:
            part._visited = True
        return found

    def unread(self) -> Iterator[tuple[str, str, int]]:
        """What was not read in this element and in its children that were: what it is, a name near it, and its line.

        Declarations of namespaces (xmlns) belong to XML, not to the model, and are skipped; so are elements with `left`.
        """
        waiting = [(self, "")]
        while waiting:
            element, owner = waiting.pop()
            name = element.attributes.get("name") or element.attributes.get("reference") or owner
            keys = [key for key in element.attributes if key not in element._read and not key.startswith("xmlns")]
            if keys:
                yield f"attribute{'s' * (len(keys) > 1)} {', '.join(keys)} of <{element.tag}>", name, element.line
            if not element._text_read and element.raw_text.strip():
                yield f"text in <{element.tag}>", name, element.line
            first = {part.tag for part in element.children if part._visited}
            for part in element.children:
                if not part._visited and part.left is None:
                    near = part.attributes.get("name") or part.attributes.get("reference") or name
                    yield f"{'further ' * (part.tag in first)}<{part.tag}>", near, part.line
            waiting.extend((part, name) for part in reversed(element.children) if part._visited and part.left is None)


def read_xml(path_or_text: str | os.PathLike[str], root: str) -> tuple[Element, Path | None]:
    """The root element of an XML file, or of a text (a string that starts with `<`), and the file's path.

    A `ModelError` if there is no such file, it is empty or malformed, has a document type, or a tag other than `root`.
    """
    if isinstance(path_or_text, str) and path_or_text.lstrip("\ufeff \t\r\n").startswith("<"):
        # given to expat as UTF-8, whatever encoding the text declares: it is decoded already
        return parsed_xml(path_or_text.lstrip("\ufeff \t\r\n").encode(errors="surrogatepass"), TEXT, root), None
    source = os.fspath(path_or_text)
    if not source.strip():
        raise ModelError("the name of the model file is empty; give a path, or XML text that starts with '<'")
    data, path = file_bytes(source)
    return parsed_xml(data, source, root), path


def parsed_xml(data: bytes, source: str, root: str) -> Element:
    """The root element of XML; `source` is the file for messages. Errors as in `read_xml`."""
    if not data.strip():
        raise ModelError(f"{source}: the file is empty; a <{root}> is expected")
    element = _parse(data, source)
    if element.tag != root:
        raise element.error(f"the root element is <{element.tag}>; a file of this kind starts with <{root}>")
    element._visited = True
    return element


def _parse(data: bytes, source: str) -> Element:
    parser = expat.ParserCreate("UTF-8" if source == TEXT else None)
    elements: list[Element] = []  # all, the first of them the root
    open_elements: list[Element] = []
    texts: list[list[str]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(elements) >= _MOST_ELEMENTS:
            raise ModelError(
                f"{source}:{parser.CurrentLineNumber}: the file has more than {_MOST_ELEMENTS} elements, which no model needs; "
                "leave out what is not part of the model"
            )
        elements.append(element := Element(tag, attributes, source, parser.CurrentLineNumber))
        if open_elements:
            open_elements[-1].children.append(element)
        open_elements.append(element)
        texts.append([])

    def end(tag: str) -> None:
        # joined once: comments and children cut a text into any number of pieces
        open_elements.pop().raw_text = "".join(texts.pop())

    def refuse(name: str, *rest: object) -> None:
        raise ModelError(
            f"{source}:{parser.CurrentLineNumber}: the file declares a document type or entities (<!DOCTYPE {name}>), which "
            "model files do not need and which can be used to exhaust memory or read other files; remove the declaration"
        )

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda characters: texts[-1].append(characters)
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ModelError(
            f"{source}:{error.lineno}: malformed XML at column {error.offset + 1}: {expat.ErrorString(error.code)}; "
            "close every element and quote every attribute"
        ) from None
    except (LookupError, ValueError) as error:  # of the codec that the file names
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{source}:1: the file declares an encoding that cannot be read ({error}); use UTF-8") from None
    return elements[0]


#: How many elements are named for each remark; the others are counted.
_SHOWN = 3


class Notes:
    """Remarks on one file: `add` them while reading, `warn` at the end.

    Attributes:
        source: the file.
        mistakes: errors of single elements, so far.
        faults: data that had to be replaced to read the file; functions that would compute with it raise them.
    """

    def __init__(self, source: str):
        self.source = source
        self.faults: list[str] = []
        self.mistakes: list[ModelError] = []
        self._places: dict[str, list[str]] = {}

    def add(self, remark: str, name: str = "", line: int | None = None) -> None:
        """Adds a remark on the element `name` in `line`."""
        where = "" if line is None else f"line {line}"
        self._places.setdefault(remark, []).append(f"{name} in {where}" if name and where else name or where)

    def shows(self, remark: str) -> bool:
        """Whether another element of this remark would be named, rather than only counted."""
        return len(self._places.get(remark, ())) < _SHOWN

    def fault(self, message: str, line: int | None = None) -> None:
        """Adds a fault of the element in `line`, which restricts the use of the mechanism."""
        self.faults.append(f"{self.source}:{line}: {message}" if line is not None else f"{self.source}: {message}")

    @contextmanager
    def catching(self, where: str = "") -> Iterator[None]:
        """Collects the error of an element for `check`, so that all mistakes are told at once; `where` comes before it."""
        try:
            yield
        except ModelError as error:
            self.mistakes.append(ModelError(f"{where}{error}") if where else error)

    def mistake(self, message: str) -> None:
        """Adds the message of a mistake in the file, for `check`."""
        self.mistakes.append(ModelError(f"{self.source}: {message}"))

    def check(self) -> None:
        """Raises the first of the mistakes, if there are any, with the messages of the others."""
        if self.mistakes:
            first, *others = self.mistakes
            first.others = tuple(map(str, others))
            note_others(first)
            raise first

    def leave(self, element: Element, remark: str, name: str = "") -> None:
        """Adds a remark that an element and its content are not used; `name`: its own by default."""
        element.left = remark
        self.add(remark, name or element.attributes.get("name", ""), element.line)

    def add_unread(self, root: Element, reasons: Mapping[str, str]) -> None:
        """Adds a remark for each kind of thing in a file that was not read; `reasons` by its name, such as "<gazebo>"."""
        for what, name, line in root.unread():
            unknown = "only the first is read" if what.startswith("further ") else "not known here, not used"
            self.add(f"{what}: {reasons.get(what, unknown)}", name, line)

    def warn(self) -> None:
        """Issues one warning for each remark, with the number of elements and the first of their names and lines."""
        for remark, places in self._places.items():
            told = [place for place in dict.fromkeys(places) if place]
            shown = ", ".join(told[:_SHOWN]) + (", …" if len(told) > _SHOWN else "")
            told_of = ": ".join(part for part in (f"×{len(places)}" if len(places) > 1 else "", shown) if part)
            warn(f"{self.source}: {remark}" + (f" ({told_of})" if told_of else ""))


def note_others(error: ModelError) -> None:
    """Says in an error's notes that there are others, and how they are listed."""
    if error.others:
        error.add_note(f"There are {len(error.others)} more mistakes in the file; `kumitate check` lists them all")
