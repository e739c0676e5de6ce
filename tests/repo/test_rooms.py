"""A room's listing is a table of contents: a sentence a folder, few names at its door, no class name for two things."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict

import pytest

from .sources import PACKAGE, ROOT, dotted, modules, title, tree

MOST_NAMES = 12
#: Rooms that are languages or catalogues: what they offer is used name by name.
CATALOGUES = {"analysis", "control", "dynamics", "kinematics", "lagrange", "model", "scalar", "spatial"}

FOLDERS = sorted({path.parent for path in modules()} - {PACKAGE})
ROOMS = [path for path in modules() if path.name == "__init__.py" and path.parent.parent == PACKAGE]


@pytest.mark.parametrize("folder", FOLDERS, ids=title)
def test_a_folder_says_its_concept(folder):
    """Its face begins with a sentence about what is in it."""
    assert ast.get_docstring(tree(folder / "__init__.py")), f"{title(folder)}/__init__.py: say in a sentence what is in it"


def test_rooms_keep_to_their_budgets():
    told = subprocess.run([sys.executable, ROOT / "scripts" / "size"], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr


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
