"""Modules of examples that pages of docs named are found by their old names, with a warning."""

import importlib
import sys

import pytest


@pytest.mark.parametrize("name", ["humanoid", "humanoid_runs", "legged"])
def test_the_old_name_is_the_same_module(name, monkeypatch):
    for module in [module for module in sys.modules if module.startswith("kumitate.study")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.warns(FutureWarning, match=r"Import kumitate\.examples"):
        old = importlib.import_module(f"kumitate.study.{name}")
    assert old is importlib.import_module(f"kumitate.examples.{name}")
