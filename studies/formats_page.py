"""The page docs/formats.md: what is read of the MJCF files of other packages, and how far the dynamics are MuJoCo's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import Mechanism
from kumitate.model.read import read_mjcf

from .formats import agreement

__all__ = ["page"]

_HEAD = """\
# MJCF files of other packages

What kumitate reads of every MJCF file of {names}, and how far its dynamics agree with MuJoCo's. Printed by
`scripts/study formats`.

The agreement is the largest relative difference of inertia matrix, bias forces and accelerations in some random states, with
MuJoCo's constraints (contact, limits, dry friction, equalities) switched off, and with them what is reported as not simulated.
The numbers of the last column are those of the list below; files that MuJoCo itself refuses stand at the end.
"""


def page(folders: Mapping[str, Path], states: int = 3) -> str:
    """The text of docs/formats.md for the files below these folders, by the name of their package."""
    remarks: dict[str, int] = {}
    parts, refused = [_HEAD.format(names=", ".join(folders))], []
    for package, folder in folders.items():
        rows = []
        for file in sorted(folder.rglob("*.xml")):
            try:
                mechanism, told = _read(file)
            except ModelError as error:
                refused.append(f"- {package} `{file.relative_to(folder)}`: {_reason(str(error), file)}")
                continue
            numbers = sorted(remarks.setdefault(remark, len(remarks) + 1) for remark in sorted(told))
            row = (
                f"`{file.relative_to(folder)}`",
                *_sizes(mechanism),
                f"{agreement(file, mechanism, states=states).worst:.0e}",
            )
            rows.append(f"| {' | '.join(row)} | {', '.join(map(str, numbers))} |")
        columns = ("file", "bodies", "degrees of freedom", "loops", "couplings", "difference", "not simulated")
        parts += [f"\n## {package}\n", f"| {' | '.join(columns)} |\n" + "|---" * len(columns) + "|", *rows]
    parts += ["\n## Not simulated, or not used\n", *(f"{number}. {remark}" for remark, number in remarks.items())]
    parts += ["\n## Refused by MuJoCo\n", *refused] if refused else []
    return "\n".join(parts) + "\n"


def _read(file: Path) -> tuple[Mechanism, set[str]]:
    """The mechanism, and the remarks of the reader without the names of elements."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mechanism = read_mjcf(file)
    said = [str(item.message).removeprefix(f"{file}: ") for item in told if issubclass(item.category, KumitateWarning)]
    return mechanism, set(_general(said))


def _general(remarks: list[str]) -> Iterator[str]:
    for remark in remarks:
        options = re.match(r"[\w, ]+ of <option>: (.*)", remark)
        if options is not None:
            yield f"values of <option>: {options[1]}"
        elif not remark.startswith("MuJoCo says"):
            yield re.sub(r" \((?:×\d+: )?[^()]*(?: in line \d+|…|\w)\)$", "", remark)


def _sizes(mechanism: Mechanism) -> tuple[str, ...]:
    counts = len(mechanism.bodies), mechanism.nv, len(mechanism.loops) or "", len(mechanism.couplings) or ""
    return tuple(map(str, counts))


def _reason(message: str, file: Path) -> str:
    said = message.split("MuJoCo refuses the file: ")[-1].split(". Correct what it names")[0]
    said = said.replace(f"{file.parent}/", "").removeprefix(f"{file}: ")
    return re.sub(r"'/[^']*/([^/']+)'", r"'\1'", said)
