"""The scenarios of the documents and the example can be read, and the parameters are all in the table."""

import re
from pathlib import Path

import pytest

import kumitate as km
from kumitate.scenario.parameters import KINDS
from kumitate.scenario.scenario import KEYS
from kumitate.scenario.setup import LAWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.yaml")), ids=lambda path: path.name)
def test_examples_are_scenarios(path):
    scenario = km.read_scenario(path)
    assert len(scenario) == 3 * 2 * 64
    assert str(path.relative_to(ROOT)) in path.read_text(encoding="utf-8")


def test_the_scenario_of_the_page_can_be_read(tmp_path):
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "scenario.yaml").write_text(block)
    assert len(km.read_scenario(tmp_path / "scenario.yaml")) == 3 * 4 * 100


def test_the_page_names_all_keys_laws_and_parameters():
    for name in (*KEYS, *LAWS):
        assert f"`{name}" in PAGE, name
    for kind in KINDS:
        assert f"`{kind.name}:" in PAGE or f"`{kind.name}`" in PAGE, kind.name
