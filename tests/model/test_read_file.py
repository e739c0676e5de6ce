"""Files are read by what their suffix has in one table: a new format is one entry, and messages and help list it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kumitate as km
from kumitate.cli.options import RobotName
from kumitate.errors import InputError
from kumitate.model.read import READERS, read_file, readable, to_json


def read_names(path: str | Path, *, floating_base: bool = False, fix_inertia: bool = False) -> km.Mechanism:
    """A format of one line: the name of a sample."""
    return km.load(Path(path).read_text(encoding="utf-8").strip()).mechanism


def test_a_new_format_is_one_entry(tmp_path, monkeypatch):
    file = tmp_path / "robot.NAME"
    file.write_text("pa10\n", encoding="utf-8")
    with pytest.raises(
        InputError,
        match=r"'\.name' cannot be read; kumitate reads \.urdf, \.sdf, \.xml, \.xacro, \.yaml and kumitate's own \.json",
    ):
        km.load(file)
    monkeypatch.setitem(READERS, ".name", read_names)
    assert km.load(file).mechanism == km.load("pa10").mechanism
    assert readable() == ".urdf, .sdf, .xml, .xacro, .yaml, kumitate's own .json and .name"


def test_own_files_say_themselves_how_the_root_is_held(tmp_path):
    file = tmp_path / "pendulum.json"
    text = to_json(km.load("pendulum").mechanism)
    file.write_text(text, encoding="utf-8")
    assert to_json(read_file(file)) == text
    with pytest.raises(InputError, match=r"pendulum\.json: floating_base is for robot files"):
        read_file(file, floating_base=True)


@pytest.mark.parametrize("suffix", READERS)
def test_help_and_docstrings_list_every_suffix(suffix):
    (parameter,) = RobotName.__metadata__
    for text in (parameter.help, km.load.__doc__, read_file.__doc__):
        assert suffix in text
