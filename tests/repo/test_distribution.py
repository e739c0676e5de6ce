"""What is published: the wheel and the source distribution are whole, say what they need, and work where only that is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from PIL import Image

from ..test_documents import blocks, saved
from .sources import PACKAGE, PROBLEMS, ROOT
from .test_requirements import PROJECT


def run(*command: str | Path, **options) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder of the wheel and the source distribution, made from this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture(scope="module")
def wheel(built) -> dict[str, bytes]:
    return content(*built.glob("*.whl"))


def test_the_wheel_has_every_file_of_the_package(wheel):
    found = {name for name in wheel if name.startswith(("kumitate/", "kumitate_problems/"))}
    there = {
        path for top in (PACKAGE, PROBLEMS) for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == {path.relative_to(PACKAGE.parent).as_posix() for path in there}
    assert {"kumitate/py.typed", "kumitate/view/assets/player.js"} <= found


def test_its_metadata_is_whole(wheel):
    (text,) = (data.decode() for name, data in wheel.items() if name.endswith(".dist-info/METADATA"))
    said = Parser().parsestr(text)
    assert (said["Name"], said["Version"], said["License-Expression"]) == ("kumitate", PROJECT["version"], "Apache-2.0")
    assert said["Requires-Python"] == PROJECT["requires-python"]
    assert said["Summary"] == PROJECT["description"]
    assert said["Description-Content-Type"] == "text/markdown"
    assert said.get_payload().startswith((ROOT / "README.md").read_text(encoding="utf-8")[:200])
    assert set(said.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert said.get_all("License-File") == ["LICENSE"]
    points = next(data.decode() for name, data in wheel.items() if name.endswith("entry_points.txt"))
    assert "kumitate = kumitate.cli:main" in points


def test_the_version_is_one_everywhere():
    text = (PACKAGE / "version.py").read_text(encoding="utf-8")
    assert re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1] == PROJECT["version"]


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("", "usage: scripts/release VERSION"),
        ("1.0.0 && true", "usage: scripts/release VERSION"),
        ("999.0.0", "pyproject.toml has another version"),
        (PROJECT["version"], r"[project.urls] of pyproject.toml has words in capitals; write the addresses"),
    ],
)
def test_a_release_is_refused_before_it_is_complete(version, words):
    done = subprocess.run([ROOT / "scripts" / "release", version], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert words in done.stderr


def test_the_source_distribution_makes_the_same_wheel(built, wheel, tmp_path):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert (unpacked / "tests" / "repo" / "test_distribution.py").exists()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=unpacked)
    assert content(*tmp_path.glob("*.whl")) == wheel


def environment(folder: Path, built: Path, requirements: list[str]) -> Path:
    """The programs of an environment with the wheel and the required packages, which are those installed here; nothing else."""
    venv.create(folder, symlinks=sys.platform != "win32")
    run(sys.executable, "-m", "pip", "--python", folder, "install", "--no-deps", "--no-index", *built.glob("*.whl"))
    (site,) = folder.rglob("site-packages")
    for name in needed(requirements):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            if not (site / top).exists() and top != "__pycache__":
                (site / top).symlink_to(found.locate_file(top))
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def needed(lines: list[str]) -> set[str]:
    """The names of the required distributions and of all that these require, extras apart."""
    found: set[str] = set()
    waiting = list(lines)
    while waiting:
        line = waiting.pop()
        name = re.match(r"[\w.-]+", line)[0].lower()
        if "extra ==" not in line and "python_version <" not in line and "sys_platform ==" not in line and name not in found:
            found.add(name)
            waiting += requires(name) or []
    return found


def settings_of(programs: Path, folder: Path) -> dict[str, str]:
    """The variables of a process that finds these programs and keeps all it writes in the folder."""
    return {"PATH": str(programs), "KUMITATE_CACHE": str(folder / "cache"), "HOME": str(folder)}


def test_it_works_where_only_its_requirements_are(built, tmp_path):
    """The command simulates and draws the page; the doctor finds LLVM, and every extra missing."""
    clean = environment(tmp_path / "env", built, PROJECT["dependencies"])
    settings = settings_of(clean, tmp_path)
    command = [clean / "kumitate", "simulate", "pendulum", "--duration", "0.1", "--json"]
    told = json.loads(run(*command, cwd=tmp_path, env=settings))
    assert set(told["files"]) == {"result.npz", "page.html"}
    doctor = json.loads(run(clean / "python", "-m", "kumitate", "doctor", "--json", cwd=tmp_path, env=settings))
    assert doctor["compiling"]["fault"] is None
    assert not Path(doctor["machine"]["installed in"]).is_relative_to(ROOT)
    extras = set(PROJECT["optional-dependencies"]) - {"all", "test"}
    assert {name for name, found in doctor["extras"].items() if found["missing"]} == extras


def test_start_leads_to_a_figure_where_only_what_it_installs_is(built, tmp_path):
    """The robot and the code of docs/start.md, as written, in an environment with the extras that its installation names."""
    page = ROOT / "docs" / "start.md"
    named = re.search(r'^pip install "\./kumitate\[([\w,]+)\]"$', page.read_text(encoding="utf-8"), re.MULTILINE)
    assert named
    extras = [line for extra in named[1].split(",") for line in PROJECT["optional-dependencies"][extra]]
    programs = environment(tmp_path / "env", built, [*PROJECT["dependencies"], *extras])
    for name, text in saved(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "first.py").write_text("\n".join(blocks(page)), encoding="utf-8")
    told = run(programs / "python", "first.py", cwd=tmp_path, env=settings_of(programs, tmp_path))
    assert "pendulum" in told
    with Image.open(tmp_path / "first.png") as figure:
        assert min(figure.size) > 400
    assert (tmp_path / "first.html").stat().st_size > 10_000
