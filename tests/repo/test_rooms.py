"""A room's listing is a table of contents: few files in a folder, few names at its door, no class name for two things."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from .sources import PACKAGE, dotted, modules, title, tree

MOST_MODULES = 16
#: Folders of many files of one kind each: readers, joints, verbs, pictures, examples.
COLLECTIONS = {"cli", "examples/gallery", "model/joints", "model/read", "view"}
#: Larger folders that are still to be cut.
TO_BE_CUT: set[str] = set()

MOST_NAMES = 12
#: Rooms that are languages or catalogues: what they offer is used name by name.
CATALOGUES = {"analysis", "control", "dynamics", "kinematics", "lagrange", "model", "scalar", "spatial"}

FOLDERS = sorted({path.parent for path in modules()} - {PACKAGE})
ROOMS = [path for path in modules() if path.name == "__init__.py" and path.parent.parent == PACKAGE]


@pytest.mark.parametrize("folder", FOLDERS, ids=title)
def test_a_folder_is_a_table_of_contents(folder):
    count = sum(path.name != "__init__.py" for path in folder.glob("*.py"))
    if title(folder) not in COLLECTIONS | TO_BE_CUT:
        assert count <= MOST_MODULES, f"{title(folder)} has {count} modules, over {MOST_MODULES}; sort them into folders"


@pytest.mark.parametrize("path", ROOMS, ids=title)
def test_a_face_is_short(path):
    (names,) = [
        ast.literal_eval(node.value)
        for node in tree(path).body
        if isinstance(node, ast.Assign) and [part.id for part in node.targets if isinstance(part, ast.Name)] == ["__all__"]
    ] or [[]]
    if path.parent.name not in CATALOGUES:
        assert len(names) <= MOST_NAMES, f"{dotted(path)} offers {len(names)} names, over {MOST_NAMES}; offer others by module"


def test_a_class_name_means_one_thing():
    places = defaultdict(list)
    for path in modules():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(title(path))
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert not twice, f"class names for two things: {twice}; rename one of them"
