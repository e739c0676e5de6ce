"""Small modules with names that say something, and faces with an honest list of what each offers."""

import ast
import importlib
import re

import pytest

from .sources import ROOT, dotted, modules, sources, title, tree

LONGEST = 700
EMPTY_NAMES = {"base", "common", "core", "helper", "helpers", "misc", "util", "utils"}
#: Work that is left over belongs in a list of work, not in the code.
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")


@pytest.mark.parametrize("path", sources(), ids=title)
def test_a_module_is_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{title(path)} has {lines} lines, over {LONGEST}; a concept a module"


@pytest.mark.parametrize("path", sources(), ids=title)
def test_names_say_what_is_inside(path):
    assert not EMPTY_NAMES & set(dotted(path).split(".")), f"{title(path)}: name it after what it holds"


@pytest.mark.parametrize("path", sources(), ids=title)
def test_nothing_is_left_over(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        assert not LEFT_OVER.search(line), f"{title(path)}:{number}: {line.strip()}"


@pytest.mark.parametrize("path", sources(), ids=title)
def test_all_is_sorted_and_true(path):
    """Faces have a list (below); in other modules what begins with no underscore is offered, and a list says it again."""
    names = _all_of(path)
    if names is None:
        return
    assert len(names) == len(set(names)), f"{title(path)}: __all__ repeats a name"
    # constants, then classes, then the rest, as ruff sorts them
    assert names == sorted(names, key=lambda name: (_rank(name), name)), f"{title(path)}: __all__ is not sorted"
    module = importlib.import_module(dotted(path))
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{title(path)}: __all__ names {missing}, which do not exist"


@pytest.mark.parametrize("path", [path for path in sources() if path.name == "__init__.py"], ids=title)
def test_a_package_lists_all_that_it_offers(path):
    """What its `__init__` imports from its modules or defines is in `__all__`, unless its name begins with an underscore."""
    names = _all_of(path)
    hidden = {name for name in _bound(path) if not name.startswith("_")} - set(names or ())
    assert not hidden, f"{title(path)} offers {sorted(hidden)}, which __all__ does not list"


def test_a_class_below_physics_has_a_name_of_its_own():
    """What `scalar` and `compile` call a class stands for nothing else in the package."""
    places = {}
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(title(path))
    below = ("compile/", "scalar/")
    shared = {name: found for name, found in places.items() if len(found) > 1 and any(p.startswith(below) for p in found)}
    assert not shared, f"classes of one name: {shared}"


def test_the_licence_is_named():
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def _all_of(path):
    for node in tree(path).body:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
            return ast.literal_eval(node.value)
    return None


def _bound(path):
    """The names that a file defines, or imports from its own modules, outside of functions."""
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and node.level == 1:
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _rank(name):
    return 0 if name.isupper() else 1 if name[:1].isupper() else 2
