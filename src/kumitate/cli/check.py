"""kumitate check"""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import asdict
from typing import Any

from ..model.read import names_file
from .options import AsJson, FixInertia, FloatingBase, RobotName
from .report import complain, print_json

#: How many elements are named for each fault; --json names all.
_NAMED = 8
_WIDTH = 110


def check(
    robot: RobotName, /, *, floating_base: FloatingBase = False, fix_inertia: FixInertia = False, as_json: AsJson = False
) -> int:
    """Check a robot file or a mechanism for faults, with a remedy for each; the exit code is 1 for errors."""
    from ..diagnose.check import check as look
    from ..diagnose.check import check_file

    if names_file(robot):
        mechanism, findings = check_file(robot, floating_base=floating_base, fix_inertia=fix_inertia)
    else:
        from .. import load

        mechanism = load(robot, floating_base=floating_base, fix_inertia=fix_inertia).mechanism
        findings = look(mechanism)
    levels = Counter(finding.level for finding in findings)
    code = 1 if levels["error"] else 0
    if as_json:
        counts = {f"{level}s": levels[level] for level in ("error", "warning", "note")}
        name = None if mechanism is None else mechanism.name
        print_json({"name": name, "source": robot, **counts, "findings": [_plain(finding) for finding in findings]})
        return code
    for finding in findings:
        complain(_told(finding), what=finding.level)
    counted = ", ".join(f"{levels[level]} {level}{'s' * (levels[level] != 1)}" for level in ("error", "warning", "note"))
    print(f"{robot}: {counted if findings else 'no faults found'}")
    return code


def _plain(finding: Any) -> dict[str, Any]:
    return {**asdict(finding), "where": [{"name": name, "detail": detail} for name, detail in finding.where]}


def _told(finding: Any) -> str:
    """A fault as lines of text: what, where, and the remedy."""
    shown = [f"{name} ({detail})" if detail else name for name, detail in finding.where[:_NAMED]]
    more = len(finding.where) - len(shown)
    named = ", ".join(shown) + (f", and {more} more" if more else "")
    lines = [f"[{finding.topic}] {finding.what}"]
    lines += textwrap.wrap(named, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    lines += [f"    → {finding.remedy}"] if finding.remedy else []
    return "\n".join(lines)
