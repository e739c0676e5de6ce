"""The page docs/robot-files.md: what kumitate makes of every robot file of example-robot-data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kumitate.diagnose.check import Finding, check_file

__all__ = ["files", "page"]

_HEAD = """\
# Robot files

What kumitate makes of every URDF and SDF file of
[example-robot-data](https://github.com/Gepetto/example-robot-data), as `kumitate check FILE` tells it.
Printed by `scripts/study robot-files`.

Warnings and notes are counted by what they are about: a file with many faulty links has one warning. Degrees of freedom are
those of the tree, before loops take theirs, with the root fixed. Faults that keep a robot from being simulated stand below.
"""


def files(folder: Path) -> list[Path]:
    """The robot files below a folder."""
    return sorted([*folder.rglob("*.urdf"), *folder.rglob("*.sdf")])


def page(folder: Path) -> str:
    """The text of docs/robot-files.md for the robots below a folder."""
    rows, faults = [], []
    verdicts: Counter[str] = Counter()
    for file in files(folder):
        name = file.relative_to(folder)
        mechanism, findings = check_file(file)
        errors = [finding for finding in findings if finding.level == "error"]
        verdict = "refused" if mechanism is None else "has faults" if errors else "loads"
        verdicts[verdict] += 1
        sizes = ("", "", "", "") if mechanism is None else (
            str(len(mechanism.bodies)), str(mechanism.nv), str(len(mechanism.loops) or ""),
            f"{sum(body.mass for body in mechanism.bodies):.4g}",
        )  # fmt: skip
        told = ", ".join(_counted(findings))
        rows.append(f"| `{name}` | {verdict} | " + " | ".join(sizes) + f" | {told} |")
        faults += [f"- `{name}`: {_short(error, file)}" for error in errors]
    words = (("loads", "load"), ("has faults", "load and have faults"), ("refused", "refused"))
    total = ", ".join(f"{verdicts[verdict]} {said}" for verdict, said in words)
    columns = ("file", "verdict", "bodies", "degrees of freedom", "loops", "mass [kg]", "warnings and notes")
    head = f"| {' | '.join(columns)} |\n" + "|---" * len(columns) + "|"
    parts = [_HEAD, f"{sum(verdicts.values())} files: {total}.\n", head, *rows]
    parts += ["\n## Faults\n", *faults] if faults else []
    return "\n".join(parts) + "\n"


def _counted(findings: list[Finding]) -> Iterator[str]:
    topics = Counter(finding.topic for finding in findings if finding.level != "error")
    for topic, count in topics.items():
        yield topic if count == 1 else f"{topic} ×{count}"


def _short(error: Finding, file: Path) -> str:
    names = ", ".join(f"`{name}`" for name, _ in error.where[:4]) + (", …" if len(error.where) > 4 else "")
    return error.what.replace(f"{file}:", "line ") + (f" ({len(error.where)}: {names})" if names else "")
