"""The options that several verbs share, and those that fields of a dataclass describe."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, TypeVar, get_origin, get_type_hints

from cyclopts import Parameter

from ..model.read import readable
from ..options import entries_of

RobotName = Annotated[str, Parameter(help=f"A robot file ({readable()}) or a name that `kumitate robots` lists.")]
Formats = Annotated[str, Parameter(help="File formats of graphs and snapshots, separated by commas: pdf, png, eps, svg.")]
Out = Annotated[Path | None, Parameter(help="Folder to write to; ./kumitate-runs/NAME by default.")]


def flag(told: str, name: str | None = None) -> Parameter:
    """What an option is that is given or not."""
    return Parameter(name=name, negative="", show_default=False, help=told)


FloatingBase = Annotated[bool, flag("Let the root body float freely.")]
FixInertia = Annotated[bool, flag("Replace inertias that are physically impossible by the nearest possible ones.")]
Gif = Annotated[bool, flag("Draw an animated GIF too.")]
AsJson = Annotated[bool, flag("Print one JSON object, and nothing else on standard output.", "--json")]

_Verb = TypeVar("_Verb", bound=Callable[..., None])
#: What is written on the command line, by how a field's type begins; all else is a text.
_WRITTEN = {"float": float, "int": int, "bool": bool}


def takes_fields(*names: str, of: Sequence[type]) -> Callable[[_Verb], _Verb]:
    """A decorator of a verb whose `**options` are fields of dataclasses, with their meanings; only those that are given come.

    Args:
        names: of the fields; `of`: the dataclasses, the first of which has a field counts.
    """
    known = {one.name: one for kind in reversed(of) for one in fields(kind)}
    hints = get_type_hints(of[0], include_extras=True)
    meanings: dict[str, str] = {}
    for told_by in (part for kind in of for part in kind.__mro__[:-1]):
        for described, entry in entries_of(inspect.getdoc(told_by) or ""):
            meanings |= {name: " ".join(entry.partition(":")[2].split()) for name in described - set(meanings)}

    def option(name: str) -> inspect.Parameter:
        annotation = hints.get(name)
        if get_origin(annotation) is not Annotated:
            default = known[name].default
            shown = (lambda _: default) if default not in (None, (), False, MISSING) else False
            told = f"{meanings[name][:1].upper()}{meanings[name][1:]}".replace("*", r"\*")
            of_type = _WRITTEN.get(known[name].type.partition(" ")[0], str)  # type: ignore[union-attr]
            negative = "" if default is False else None
            annotation = Annotated[of_type | None, Parameter(help=told, show_default=shown, negative=negative)]  # type: ignore[valid-type]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    def shown(verb: _Verb) -> _Verb:
        signature = inspect.signature(verb, eval_str=True)
        own = [part for part in signature.parameters.values() if part.kind is not part.VAR_KEYWORD]
        verb.__signature__ = signature.replace(parameters=[*own, *map(option, names)])  # type: ignore[attr-defined]
        return verb

    return shown
