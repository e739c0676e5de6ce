"""The rooms of the house: data flows one way."""

import ast

import pytest

from .sources import PACKAGE, ROOMS, circles, dotted, imports, modules, modules_imported, room, studies, text, title, tree

#: May be imported by everything.
OPEN_TO_ALL = {"errors", "options", "renamed", "version"}
#: Stand above all rooms, and may import these.
TOP = {"", "__main__", "cli", "convert", "gym"}
#: Join the rooms: the package's surface uses them, and the rooms that come after them.
JOINTS = {"calls", "loading", "outputs", "programs", "robot", "run", "runs", "simulation", "world"}

FOLDERS = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__")
#: Rooms in which files still import each other both ways, with the number of such circles. Numbers only fall. Simulate:
#: a batch is made by its simulation, and asks it for starts; a result makes its records of loops when asked.
CIRCLES = {"records": 1, "simulate": 1}


def test_every_folder_is_a_room():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(ROOMS), f"{sorted(folders - set(ROOMS))} are no rooms; add them to ROOMS in order"


def test_imports_come_from_rooms_above():
    faults = []
    for path, (line, module) in ((source, found) for source in modules() for found in imports(source)):
        here, there = room(dotted(path)), room(module)
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


def test_the_package_does_without_its_studies():
    """They are not installed with it; neither imports nor names of modules in strings lead there."""
    faults = []
    for path in (path for path in modules() if "studies" in text(path)):
        nodes = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Constant)]
        named = [(node.lineno, f"names {node.value}") for node in nodes if str(node.value).startswith("studies.")]
        named += [(line, f"imports {module}") for line, module in imports(path) if module.split(".")[0] == "studies"]
        faults += [f"{title(path)}:{line}: {what}" for line, what in named]
    assert not faults, "\n".join(faults)


def test_studies_do_without_their_commands():
    below = [path for path in studies() if path.parent.name != "commands"]
    faults = [title(path) for path in below if any(name.startswith("studies.commands") for _, name in imports(path))]
    assert not faults, f"{faults} import a command"


def _arrows(folder: str) -> dict[str, set[str]]:
    """What every file of a room imports of it, the room's face left out."""
    files = {dotted(path): modules_imported(path) for path in modules() if path.is_relative_to(PACKAGE / folder)}
    face = f"kumitate.{folder}"
    return {name: {other for other in found if other in files and other not in (name, face)} for name, found in files.items()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_of_a_room_do_not_import_each_other_both_ways(folder):
    """Neither by themselves nor through the room's own files, each of which counts alone; imports for types count too."""
    inside = {path.name for path in (PACKAGE / folder).iterdir() if path.is_dir()}
    arrows: dict[str, set[str]] = {}
    for name, found in _arrows(folder).items():
        if name != f"kumitate.{folder}":
            unit = name.split(".")[2]
            arrows.setdefault(unit, set()).update(other.split(".")[2] for other in found if other.split(".")[2] != unit)
    knots = [ring for ring in circles(arrows) if ring & inside]
    assert not knots, f"{folder}: {knots} import each other; move what both need below them"


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_of_a_room_do_not_import_each_other_both_ways(folder):
    found = circles(_arrows(folder))
    assert len(found) <= CIRCLES.get(folder, 0), f"{folder}: {found} import each other; move what both need below them"
