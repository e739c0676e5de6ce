"""The command of the studies: `scripts/study NAME`."""

from __future__ import annotations

from kumitate.cli.app import command, run_command

__all__ = ["app", "run"]

_STUDIES = {
    "bench": "Time kumitate against Pinocchio and MuJoCo, where they are installed.",
    "compare": "Compare Lagrange, ABA, ADA and hybrid modelling: the thesis's tables and figures.",
    "contact-table": "Run contact models on problems with known answers, and compare with what was expected.",
    "formats": "Write docs/formats.md and docs/parallel-robots.md: files of other packages, what is read, and how they move.",
    "gym": "Time environments for learning, and the share of Python in it.",
    "levels": "Measure ADA in parallel rounds against articulated bodies, over chains of 10 to 10 000 links.",
    "papers": "Run what the papers describe, row by row, with the figures of each run.",
    "parallel-bench": "Time programs on published robots with closed loops, with results as JSON.",
    "partitions": "Find the best partition of a mechanism into sub-chains for hybrid modelling.",
    "random-scenes": "Throw random bodies and robots into bins, and count the steps that keep the laws of contact.",
    "robot-files": "Write docs/robot-files.md: what kumitate makes of every robot file of example-robot-data.",
    "sweep-rate": "Measure how much of the kernel's own rate a sweep keeps.",
    "webassembly": "Measure steps as WebAssembly in Node and Chromium, beside machine code: sizes and times.",
    "work-precision": "Draw error against processor time for kumitate and other programs, on problems whose end is known.",
    "rows": "Write docs/rows.md: the example, tests and figures of every row of the papers.",
}

app = command(
    "scripts/study",
    "Run a study: a comparison with other programs, or a table of the papers. docs/studies.md lists what they printed.",
    _STUDIES,
    package="studies.commands",
)


def run(arguments: list[str]) -> int:
    """Run one study. Returns the exit code, as `kumitate.cli.app.run` does."""
    return run_command(app, arguments)
