"""What pyproject.toml requires: each package with its oldest version, each extra for something that exists."""

import re
import tomllib

import pytest

from .sources import PACKAGE, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
GROUPS = {"all", "test"}


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - GROUPS))
def test_an_extra_is_for_something(extra):
    """Where a package of the extra is missing, the error names the extra."""
    named = [path for path in PACKAGE.rglob("*.py") if f"kumitate[{extra}]" in path.read_text(encoding="utf-8")]
    assert named, f"nothing in the package asks for kumitate[{extra}]; take the extra out"


def test_all_extras_are_in_all():
    (everything,) = EXTRAS["all"]
    assert set(re.findall(r"\w+", everything)) - {"kumitate"} == set(EXTRAS) - GROUPS


def test_the_package_asks_for_extras_that_exist():
    for path in PACKAGE.rglob("*.py"):
        asked = re.findall(r"kumitate\[([\w,]+)\]", path.read_text(encoding="utf-8"))
        assert {extra for text in asked for extra in text.split(",")} <= set(EXTRAS), path


def test_each_package_has_one_oldest_version():
    """scripts/versions tests with these."""
    bounds = {}
    for requirement in [*PROJECT["dependencies"], *(requirement for extra in EXTRAS.values() for requirement in extra)]:
        if not requirement.startswith("kumitate["):
            found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
            assert found, f"{requirement}: write it as name>=version"
            assert bounds.setdefault(found[1], found[2]) == found[2]
