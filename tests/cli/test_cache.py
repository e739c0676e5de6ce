"""kumitate cache: what compiled code and which meshes are kept, and how they are let go."""

import json

import pytest

import kumitate as km
from kumitate.cli.app import run
from kumitate.compile.disk import KINDS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def told(capsys, *arguments):
    assert run(["cache", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_compiled_kernel_is_shown_and_cleared(folder, capsys):
    robot = km.load("pendulum")
    robot.compile("energy").code(1)
    sizes = [path.stat().st_size for path in folder.iterdir()]
    counts = {"entries": len(sizes), "kernels": 1, "meshes": 0, "bytes": sum(sizes), "deleted": 0, "limit": 1e9, "fault": None}
    expected = {"folder": str(folder), **counts}
    assert told(capsys) == expected
    assert told(capsys, "clear") == expected | {"entries": 0, "kernels": 0, "bytes": 0, "deleted": len(sizes)}
    assert list(folder.iterdir()) == []


def test_nothing_else_is_touched(folder, capsys):
    (folder / "letter.o").write_text("mine")
    (folder / f"{'a' * 64}.o").write_bytes(b"1234")
    (folder / f"{'b' * 64}k3j.part").write_bytes(b"12")
    for kind in KINDS[1:]:
        (folder / f"{'d' * 64}{kind}").write_bytes(b"123")
    said = told(capsys)
    assert (said["entries"], said["kernels"], said["meshes"]) == (len(KINDS) + 1, 1, 1)
    assert told(capsys, "clear")["deleted"] == len(KINDS) + 1
    assert [path.name for path in folder.iterdir()] == ["letter.o"]


def test_a_folder_that_is_not_there_is_empty(folder, capsys, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(folder / "none"))
    assert told(capsys)["entries"] == 0
    assert told(capsys, "clear")["deleted"] == 0


def test_people_read_it_too(folder, capsys):
    (folder / f"{'c' * 64}.o").write_bytes(bytes(2500))
    assert run(["cache"]) == 0
    said = capsys.readouterr().out
    assert str(folder) in said
    assert "2.5 kB of at most 1.0 GB" in said
    assert "not used" not in said


def test_it_is_said_why_a_folder_is_not_used(folder, capsys):
    folder.chmod(0o777)
    assert "can be written to by others" in told(capsys)["fault"]
    assert run(["cache"]) == 0
    said = capsys.readouterr().out
    assert "not used" in said
    assert "mode 0777" in said


def test_without_a_home_there_is_nothing(monkeypatch, capsys):
    monkeypatch.setattr("kumitate.cli.cache.cache_folder", lambda: None)
    assert (told(capsys)["entries"], told(capsys)["fault"]) == (0, "there is no home folder")
    assert run(["cache", "clear"]) == 0
    assert "no home folder" in capsys.readouterr().out


def test_an_unknown_action_is_refused(folder, capsys):
    assert run(["cache", "clean"]) == 2
    assert "clear" in capsys.readouterr().err
