"""The table of MJCF files of other packages."""

from pathlib import Path

from studies.formats_page import page

TABLE = Path(__file__).parents[2] / "docs" / "formats.md"
GOOD = (
    '<mujoco><option timestep="0.01"/><worldbody><light/><body name="b"><joint name="j" axis="0 1 0" damping="2"/>'
    '<geom size=".1" pos="1 0 0"/></body></worldbody></mujoco>'
)


def test_a_file_that_is_read_and_one_that_mujoco_refuses(tmp_path):
    (tmp_path / "good.xml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "wrong.xml").write_text('<mujoco><worldbody colour="1"/></mujoco>', encoding="utf-8")
    text = page({"own": tmp_path})
    (row,) = [line for line in text.splitlines() if line.startswith("| `")]
    name, bodies, freedom, loops, couplings, difference, numbers = (part.strip() for part in row.strip("|").split("|"))
    assert (name, bodies, freedom, loops, couplings, numbers) == ("`good.xml`", "1", "1", "", "", "1, 2")
    assert float(difference) < 1e-12
    assert "\n1. " in text
    assert {"cameras, lights, textures and skins: not drawn"} < {line.partition(". ")[2] for line in text.splitlines()}
    assert "- own `wrong.xml`: XML Error: Schema violation: unrecognized attribute: 'colour'" in text


def test_all_files_agree_to_a_billionth():
    rows = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) > 100
    assert max(float(row.split("|")[6]) for row in rows) < 1e-9
