"""The rooms of the house: data flows one way."""

import ast

import pytest

from .sources import PACKAGE, ROOMS, dotted, imports, modules, room, studies, title, tree

#: May be imported by everything.
OPEN_TO_ALL = {"errors", "options", "renamed", "version"}
#: Stand above all rooms, and may import these.
TOP = {"", "__main__", "cli", "convert", "gym"}
#: Join the rooms: the package's surface uses them, and the rooms that come after them.
JOINTS = {"calls", "loading", "program_keys", "programs", "robot", "run", "runs", "simulation", "slopes"}


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
        if there in JOINTS and here in ROOMS and ROOMS.index(here) < ROOMS.index(there):
            faults.append(f"{place}; only the package itself and rooms after {there} use it")
        elif there not in ROOMS:
            faults.append(f"{place}, which is no room; rooms import from rooms, not from the package's surface")
        elif here not in ROOMS:
            faults.append(f"{place}; {here} stands beside the rooms and imports only errors")
        elif ROOMS.index(there) > ROOMS.index(here):
            faults.append(f"{place}; {there} lies below {here}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("path", modules(), ids=title)
def test_the_package_does_without_its_studies(path):
    """They are not installed with it; neither imports nor names of modules in strings lead there."""
    faults = [f"{title(path)}:{line}: imports {module}" for line, module in imports(path) if module.split(".")[0] == "studies"]
    named = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Constant) and str(node.value).startswith("studies.")]
    assert not faults + [f"{title(path)}:{node.lineno}: names {node.value}" for node in named]


@pytest.mark.parametrize("path", [path for path in studies() if path.parent.name != "commands"], ids=title)
def test_studies_do_without_their_commands(path):
    assert not [module for _, module in imports(path) if module.startswith("studies.commands")]
