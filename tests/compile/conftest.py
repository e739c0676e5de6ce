"""Compiler tests: `--update-golden` rewrites the files they compare with; compiled code is kept in a folder of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files of tests/compile")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the golden file of a name, or writes that file."""
    update = request.config.getoption("--update-golden", default=False)

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if update:
            GOLDEN.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        written = file.read_text(encoding="utf-8") if file.exists() else ""
        assert text == written, f"{name} has changed; review it, then run pytest tests/compile --update-golden"

    return compare


@pytest.fixture(scope="package", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("KUMITATE_CACHE")
    os.environ["KUMITATE_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["KUMITATE_CACHE"]
    else:
        os.environ["KUMITATE_CACHE"] = before
