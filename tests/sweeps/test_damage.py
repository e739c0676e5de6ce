"""Damaged folders of sweeps: whatever changed in a file is noticed, said in the package's own words, and computed again."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.sweeps.folder import _digest

from .makers import rows, written

SEED = 20261123


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A scenario of 40 runs in ten blocks, the folder of its sweep, and its rows."""
    folder = tmp_path_factory.mktemp("swept")
    scenario = written(folder, text=written(folder).read_text().replace("count: 80", "count: 20"))
    return scenario, folder / "out", rows(km.sweep(scenario, folder / "out"))


def flipped(content, bit):
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def zeroed(content, at):
    return content[:at] + bytes(40) + content[at + 40 :]


def damages(content):
    """The bytes of a file with one bit changed, at places that are drawn and at both ends; with bytes that are zero; cut."""
    rng, bits = np.random.default_rng(SEED), 8 * len(content)
    places = {*range(0, 64, 7), *range(bits - 800, bits, 13), *rng.integers(bits, size=200).tolist()}
    yield from (flipped(content, bit) for bit in sorted(places))
    starts = (int(at) for at in rng.integers(len(content) - 40, size=20))
    yield from (changed for at in starts if (changed := zeroed(content, at)) != content)
    yield from (content[: int(size)] for size in (0, 3, 11, len(content) // 2, len(content) - 1))


def test_every_flipped_bit_of_a_part_is_said_with_the_file_and_the_remedy(swept):
    out, scenario = swept[1], km.read_scenario(swept[0])
    part = sorted(out.glob("parts/*.parquet"))[1]
    content = part.read_bytes()
    try:
        for changed in damages(content):
            part.write_bytes(changed)
            with pytest.raises(InputError, match=r"block-000001\.parquet: is damaged .* sweep into the folder again"):
                _ = km.Sweep(out, scenario).table
    finally:
        part.write_bytes(content)


def test_damaged_parts_are_computed_again_and_others_are_not(swept):
    scenario, out, expected = swept
    parts = sorted(out.glob("parts/*.parquet"))
    contents = [part.read_bytes() for part in parts]
    parts[0].write_bytes(flipped(contents[0], 8 * (len(contents[0]) // 3)))
    parts[2].write_bytes(zeroed(contents[2], len(contents[2]) // 2))
    told = []
    assert rows(km.sweep(scenario, out, progress=told.append)) == expected
    assert told[-1].fresh == 16
    assert [part.read_bytes() for part in parts[3:]] == contents[3:]
    assert rows(km.open_sweep(out)) == expected


def test_a_damaged_manifest_is_said_and_written_again_by_the_same_sweep_alone(swept, tmp_path):
    scenario, out, expected = swept
    manifest = out / "sweep.json"
    content = manifest.read_bytes()
    try:
        for changed in list(damages(content))[::5]:
            manifest.write_bytes(changed)
            with pytest.raises(InputError, match=r"sweep\.json: is "):
                km.open_sweep(out)
        with pytest.raises(InputError, match=r"sweep\.json: is "):
            km.sweep(written(tmp_path, duration=0.3), out)
        told = []
        assert rows(km.sweep(scenario, out, progress=told.append)) == expected
        assert told[-1].fresh == 0
        assert manifest.read_bytes() == content
    finally:
        manifest.write_bytes(content)


@pytest.mark.parametrize("entry", ["mechanism", "scenario", "digest", "version", "format"])
@pytest.mark.parametrize("value", [None, 3, [], {}, "text"])
def test_entries_of_a_wrong_type_are_refused_even_with_their_own_digest(swept, tmp_path, entry, value):
    found = json.loads((swept[1] / "sweep.json").read_text())
    found[entry] = value
    if entry != "digest":
        found["digest"] = _digest({key: kept for key, kept in found.items() if key != "digest"})
    (tmp_path / "sweep.json").write_text(json.dumps(found))
    with pytest.raises(km.KumitateError, match="sweep"):
        km.open_sweep(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns(["work"]),
        lambda table: table.set_column(0, "run", pyarrow.array([7] * len(table))),
        lambda table: table.set_column(7, table.column_names[7], pyarrow.array(["text"] * len(table))),
        lambda table: table.replace_schema_metadata({"kumitate-sweep": "another"}),
    ],
    ids=["a column less", "other runs", "another type", "another sweep"],
)
def test_parts_from_before_digests_are_read_and_refused_where_they_do_not_fit(swept, tmp_path, change):
    """A folder as version 0.2 left it: no digests in the parts, and 1 for its version."""
    _, out, expected = swept
    found = json.loads((out / "sweep.json").read_text())
    old = {**{key: value for key, value in found.items() if key != "digest"}, "version": 1}
    old["digest"] = _digest(old)
    (tmp_path / "parts").mkdir()
    (tmp_path / "sweep.json").write_text(json.dumps(old))
    for part in out.glob("parts/*.parquet"):
        table = pyarrow.parquet.read_table(part).replace_schema_metadata({"kumitate-sweep": old["digest"]})
        pyarrow.parquet.write_table(table, tmp_path / "parts" / part.name)
    assert rows(km.open_sweep(tmp_path)) == expected
    pyarrow.parquet.write_table(change(table), tmp_path / "parts" / part.name)
    with pytest.raises(InputError, match=f"{part.name}: is damaged"):
        _ = km.open_sweep(tmp_path).table
    (tmp_path / "parts" / part.name).write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(InputError, match=f"{part.name}: is damaged"):
        _ = km.open_sweep(tmp_path).table
