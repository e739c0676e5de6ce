"""Small modules with names that say something, and faces with an honest list of what each offers."""

import ast
import importlib
import re

from .sources import ROOT, dotted, modules, sources, text, title, tree

LONGEST = 700
EMPTY_NAMES = {"base", "common", "core", "helper", "helpers", "misc", "util", "utils"}
#: Work that is left over belongs in a list of work, not in the code.
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")


def test_modules_are_short():
    lines = {path: len(text(path).splitlines()) for path in sources()}
    faults = [f"{title(path)} has {n} lines, over {LONGEST}; a concept a module" for path, n in lines.items() if n > LONGEST]
    assert not faults, "\n".join(faults)


def test_names_say_what_is_inside():
    faults = [path for path in sources() if EMPTY_NAMES & set(dotted(path).split("."))]
    assert not faults, "\n".join(f"{title(path)}: name it after what it holds" for path in faults)


def test_nothing_is_left_over():
    faults = [
        f"{title(path)}:{number}: {line.strip()}"
        for path in sources()
        for number, line in enumerate(text(path).splitlines(), start=1)
        if LEFT_OVER.search(line)
    ]
    assert not faults, "\n".join(faults)


def test_lists_of_names_are_sorted_and_true():
    """Faces have a list (below); in other modules what begins with no underscore is offered, and a list says it again."""
    faults = []
    for path in sources():
        names = _all_of(path)
        if names is None:
            continue
        if len(names) != len(set(names)):
            faults.append(f"{title(path)}: __all__ repeats a name")
        # constants, then classes, then the rest, as ruff sorts them
        if names != sorted(names, key=lambda name: (_rank(name), name)):
            faults.append(f"{title(path)}: __all__ is not sorted")
        module = importlib.import_module(dotted(path))
        if missing := [name for name in names if not hasattr(module, name)]:
            faults.append(f"{title(path)}: __all__ names {missing}, which do not exist")
    assert not faults, "\n".join(faults)


def test_packages_list_all_that_they_offer():
    """What an `__init__` imports from its modules or defines is in `__all__`, unless its name begins with an underscore."""
    faults = []
    for path in (path for path in sources() if path.name == "__init__.py"):
        if hidden := {name for name in _bound(path) if not name.startswith("_")} - set(_all_of(path) or ()):
            faults.append(f"{title(path)} offers {sorted(hidden)}, which __all__ does not list")
    assert not faults, "\n".join(faults)


def test_a_class_below_physics_has_a_name_of_its_own():
    """What `scalar` and `compile` call a class stands for nothing else in the package."""
    places = {}
    for path in (path for path in modules() if "class " in text(path)):
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
    for node in tree(path).body if "__all__" in text(path) else ():
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
