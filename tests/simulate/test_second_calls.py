"""A call like one before: few files and few changes of room between what a user types and the machine code."""

import sys
from pathlib import Path

import kumitate as km
from tests.simulate.test_contact_results import hopper

PACKAGE = Path(km.__file__).parent
#: Rooms of numbers and vectors, which all others use.
EVERYWHERE = ("scalar", "spatial")


def passed(work) -> tuple[set[str], int]:
    """The files of the package whose functions run in `work`, and how often a function calls one of another room."""
    files: set[str] = set()
    rooms: list[str] = []
    changes = 0

    def look(frame, event, _):
        nonlocal changes
        path = Path(frame.f_code.co_filename)
        if not path.is_relative_to(PACKAGE):
            return
        if event == "call":
            parts = path.relative_to(PACKAGE).parts
            files.add("/".join(parts))
            changes += bool(rooms) and rooms[-1] != parts[0] and parts[0] not in EVERYWHERE
            rooms.append(parts[0])
        elif event == "return" and rooms:
            rooms.pop()

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files, changes


def test_a_second_run_with_contact_passes_few_files():
    robot, q = km.Robot(hopper()), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.1]

    def run() -> None:
        km.simulate(robot, q, duration=0.1, contact="rigid")

    run()
    run()
    files, changes = passed(run)
    assert len(files) <= 35, sorted(files)
    assert changes <= 40
