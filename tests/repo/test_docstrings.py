"""What the package offers says what it means, and the examples in its docstrings are true."""

import doctest
import importlib
import inspect

import pytest

from .sources import dotted, sources, title

PACKAGES = [path for path in sources() if path.name == "__init__.py"]


@pytest.mark.parametrize("path", sources(), ids=title)
def test_a_module_says_what_it_is(path):
    module = importlib.import_module(dotted(path)) if path.name != "__main__.py" else None
    assert module is None or (module.__doc__ or "").strip(), f"{title(path)} has no docstring"


@pytest.mark.parametrize("path", PACKAGES, ids=title)
def test_everything_offered_has_a_docstring(path):
    module = importlib.import_module(dotted(path))
    bare = [name for name in getattr(module, "__all__", []) if _needs_words(getattr(module, name))]
    assert not bare, f"{dotted(path)} offers {bare} without a docstring"


@pytest.mark.parametrize("path", [path for path in sources() if path.name != "__main__.py"], ids=title)
def test_examples_in_docstrings_run(path):
    if ">>>" not in path.read_text(encoding="utf-8"):
        return
    result = doctest.testmod(importlib.import_module(dotted(path)), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def _needs_words(thing):
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return False
    words = (thing.__doc__ or "").strip()
    # a dataclass without a docstring is given its signature as one
    return not words or (inspect.isclass(thing) and words.startswith(f"{thing.__name__}("))
