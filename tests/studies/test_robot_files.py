"""The table of robot files."""

from pathlib import Path

from studies.robot_files import files, page

from ..robots import ROBOT_FILES

TABLE = Path(__file__).parents[2] / "docs" / "robot-files.md"
LINK = '<link name="a"><inertial><mass value="1"/><inertia ixx="{}" iyy="1" izz="1"/></inertial></link>'


def test_every_robot_has_its_line():
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in lines] == [str(file.relative_to(ROBOT_FILES)) for file in files(ROBOT_FILES)]


def test_good_faulty_and_refused_files(tmp_path):
    for name, inside in (("good", LINK.format(1)), ("bad", LINK.format(-1)), ("empty", ""), ("wrong", "<link/>")):
        (tmp_path / f"{name}.urdf").write_text(f'<robot name="{name}">{inside}</robot>', encoding="utf-8")
    text = page(tmp_path)
    assert "4 files: 2 load, 1 load and have faults, 1 refused." in text
    assert "| `good.urdf` | loads | 1 | 0 |  | 1 |  |" in text
    assert "- `bad.urdf`: line 1: link 'a'" in text
    assert "| `empty.urdf` | loads | 0 | 0 |" in text
    assert "- `wrong.urdf`: line 1: <link> has no attribute 'name'" in text
