"""What pyproject.toml requires and builds: packages with oldest versions, extras for what exists, a wheel without studies."""

import re
import tomllib

import pytest

from .sources import PACKAGE, ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
TARGETS = SETTINGS["tool"]["hatch"]["build"]["targets"]
EXTRAS = PROJECT["optional-dependencies"]
GROUPS = {"all", "docs", "learn", "test"}
#: Extras that are installed by name only, because their packages are large or have wheels for few systems.
BY_NAME = {"fmu", "pieces", "qp", "usd"}


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - GROUPS))
def test_an_extra_is_for_something(extra):
    """Where a package of the extra is missing, the error names the extra."""
    asks = re.compile(rf"""kumitate\[{extra}\]|needed\([^\n]*(?:,\n[^\n]*)?"{extra}"[,)]""")
    named = [path for path in PACKAGE.rglob("*.py") if asks.search(path.read_text(encoding="utf-8"))]
    assert named, f"nothing in the package asks for kumitate[{extra}]; take the extra out"


def test_all_extras_are_in_all():
    (everything,) = EXTRAS["all"]
    assert set(re.findall(r"\w+", everything)) - {"kumitate"} == set(EXTRAS) - GROUPS - BY_NAME


def test_the_package_asks_for_extras_that_exist():
    for path in PACKAGE.rglob("*.py"):
        asked = re.findall(r"kumitate\[([\w,]+)\]", path.read_text(encoding="utf-8"))
        assert {extra for text in asked for extra in text.split(",")} <= set(EXTRAS), path


def test_each_package_has_one_oldest_version():
    """scripts/versions tests with these."""
    bounds = {}
    for requirement in [*PROJECT["dependencies"], *(requirement for extra in EXTRAS.values() for requirement in extra)]:
        if not requirement.startswith("kumitate["):
            found = re.fullmatch(r"([\w.-]+)>=([\w.]+)(; .+)?", requirement)
            assert found, f"{requirement}: write it as name>=version, or name>=version; systems"
            assert bounds.setdefault(found[1], found[2]) == found[2]


def test_the_wheel_is_the_package_and_nothing_else():
    assert TARGETS["wheel"] == {"packages": ["src/kumitate", "src/kumitate_problems"]}
    assert not [
        path for path in PACKAGE.rglob("*") if path.is_dir() and path.name in {"study", "studies", "bench", "comparison"}
    ]


def test_the_source_distribution_has_what_tests_read():
    included = TARGETS["sdist"]["include"]
    assert {"src", "tests", "studies", "docs", "examples", "scripts"} <= set(included)
    assert [name for name in included if not (ROOT / name).exists()] == []
