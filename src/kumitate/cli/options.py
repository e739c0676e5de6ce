"""The options that several verbs share, and those that fields of a dataclass describe."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter

from ..model.read import readable
from ..options import entries_of

RobotName = Annotated[str, Parameter(help=f"A robot file ({readable()}) or a name that `kumitate robots` lists.")]
FloatingBase = Annotated[bool, Parameter(negative="", show_default=False, help="Let the root body float freely.")]
FixInertia = Annotated[
    bool,
    Parameter(
        negative="", show_default=False, help="Replace inertias that are physically impossible by the nearest possible ones."
    ),
]
Gif = Annotated[bool, Parameter(negative="", show_default=False, help="Draw an animated GIF too.")]
Formats = Annotated[str, Parameter(help="File formats of graphs and snapshots, separated by commas: pdf, png, eps, svg.")]
Out = Annotated[Path | None, Parameter(help="Folder to write to; ./kumitate-runs/NAME by default.")]
AsJson = Annotated[
    bool,
    Parameter(
        name="--json", negative="", show_default=False, help="Print one JSON object, and nothing else on standard output."
    ),
]

_Verb = TypeVar("_Verb", bound=Callable[..., None])
#: What is written on the command line, by how a field's type begins; all else is a text.
_WRITTEN = {"float": float, "int": int, "bool": bool}


def takes_fields(kind: Any, *names: str, **written: str) -> Callable[[_Verb], _Verb]:
    """A decorator of a verb whose `**options` are fields of a dataclass, with its meanings and defaults; only those given come.

    Args:
        names: of the fields; `written`: how lists among them are written.
    """
    known = {one.name: one for one in fields(kind)}
    meanings: dict[str, str] = {}
    for told_by in kind.__mro__[:-1]:
        for described, entry in entries_of(inspect.getdoc(told_by) or ""):
            meanings |= {name: " ".join(entry.partition(":")[2].split()) for name in described - set(meanings)}

    def option(name: str) -> inspect.Parameter:
        default = known[name].default
        shown = (lambda _: default) if default not in (None, (), MISSING) else False
        told = f"{meanings[name][:1].upper()}{meanings[name][1:]} {written.get(name, '')}".replace("*", r"\*")
        of = _WRITTEN.get(known[name].type.partition(" ")[0], str)  # type: ignore[union-attr]
        annotation = Annotated[of | None, Parameter(help=told, show_default=shown)]  # type: ignore[valid-type]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    def shown(verb: _Verb) -> _Verb:
        signature = inspect.signature(verb, eval_str=True)
        own = [part for part in signature.parameters.values() if part.kind is not part.VAR_KEYWORD]
        verb.__signature__ = signature.replace(parameters=[*own, *map(option, names)])  # type: ignore[attr-defined]
        return verb

    return shown
