"""The rooms of the house: data flows one way."""

import pytest

from .sources import PACKAGE, ROOMS, dotted, imports, modules, room, title

#: May be imported by everything.
OPEN_TO_ALL = {"errors", "renamed"}
#: Stand above all rooms, and may import these.
TOP = {"", "__main__", "cli"}
#: Join the rooms: nothing but the package's surface uses them.
JOINTS = {"programs", "robot", "run"}


def test_every_folder_is_a_room():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(ROOMS), f"{sorted(folders - set(ROOMS))} are no rooms; add them to ROOMS in order"


@pytest.mark.parametrize("path", modules(), ids=title)
def test_imports_come_from_rooms_above(path):
    here = room(dotted(path))
    faults = []
    for line, module in imports(path):
        there = room(module)
        place = f"{title(path)}:{line}: imports {module}"
        if here in TOP or there == here or there in OPEN_TO_ALL:
            continue
        if there in JOINTS and here not in JOINTS:
            faults.append(f"{place}; only the package itself and cli use {there}")
        elif there not in ROOMS:
            faults.append(f"{place}, which is no room; rooms import from rooms, not from the package's surface")
        elif here not in ROOMS:
            faults.append(f"{place}; {here} stands beside the rooms and imports only errors")
        elif ROOMS.index(there) > ROOMS.index(here):
            faults.append(f"{place}; {there} lies below {here}")
    assert not faults, "\n".join(faults)
