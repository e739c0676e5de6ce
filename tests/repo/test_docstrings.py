"""What the package offers says what it means, and the examples in its docstrings are true."""

import doctest
import importlib
import inspect

import pytest

import kumitate

from .sources import dotted, sources, text, title

PACKAGES = [path for path in sources() if path.name == "__init__.py"]


def test_modules_say_what_they_are():
    modules = {path: importlib.import_module(dotted(path)) for path in sources() if path.name != "__main__.py"}
    bare = [title(path) for path, module in modules.items() if not (module.__doc__ or "").strip()]
    assert not bare, f"{bare} have no docstring"


def test_everything_offered_has_a_docstring():
    faults = []
    for path in PACKAGES:
        module = importlib.import_module(dotted(path))
        if bare := [name for name in getattr(module, "__all__", []) if _needs_words(getattr(module, name))]:
            faults.append(f"{dotted(path)} offers {bare} without a docstring")
    assert not faults, "\n".join(faults)


#: Run by the tests of docs/held-points.md: it takes a run of a robot that is held.
ELSEWHERE = {"held_motion"}


@pytest.mark.parametrize("name", kumitate.__all__)
def test_what_kumitate_itself_offers_has_an_example(name):
    """Of a class, itself or one of its methods; errors and constants need none."""
    thing = getattr(kumitate, name)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)) or name in ELSEWHERE:
        return
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return
    parts = [thing, *(getattr(thing, part) for part in dir(thing) if inspect.isclass(thing) and not part.startswith("_"))]
    assert any(">>>" in (inspect.getdoc(part) or "") for part in parts), f"kumitate.{name}: show it in an example"


@pytest.mark.parametrize("path", [path for path in sources() if path.name != "__main__.py" and ">>>" in text(path)], ids=title)
def test_examples_in_docstrings_run(path):
    result = doctest.testmod(importlib.import_module(dotted(path)), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def _needs_words(thing):
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return False
    words = (thing.__doc__ or "").strip()
    # a dataclass without a docstring is given its signature as one
    return not words or (inspect.isclass(thing) and words.startswith(f"{thing.__name__}("))
