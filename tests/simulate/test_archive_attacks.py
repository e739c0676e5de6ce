"""Result files that promise more than they hold, or point elsewhere, are refused before anything is read or allocated;
and a disk that fills up while a result is saved leaves the old file and the program as they were."""

import io
import json
import os
import struct
import subprocess
import sys
import textwrap
import zipfile

import h5py
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.records.archive import load, save


@pytest.fixture(scope="module")
def result():
    return km.simulate(km.load("pendulum"), duration=0.02)


@pytest.fixture
def saved(result, tmp_path):
    return {suffix: save(result, tmp_path / f"run{suffix}") for suffix in (".h5", ".npz")}


def refused(path, *words):
    with pytest.raises(InputError) as caught:
        load(path)
    for part in (str(path), *words):
        assert part in str(caught.value)


# --- HDF5 ---------------------------------------------------------------------------------------------------------------------
def replaced(path, name, **options):
    """The file with another data set in the place of one."""
    with h5py.File(path, "r+") as file:
        old = file[name][()] if options.pop("keep", False) else None
        del file[name]
        file.create_dataset(name, **({} if old is None else {"data": old}), **options)


@pytest.mark.parametrize("name", ["time", "q", "energy/total", "momentum"])
def test_data_that_was_never_written_is_not_read(saved, name):
    """A few kB of file, 10 GB of zeros."""
    replaced(saved[".h5"], name, shape=(1_250_000_000, 1), dtype="f8", chunks=(1024, 1))
    assert saved[".h5"].stat().st_size < 50_000
    refused(saved[".h5"], f"{name!r} is in chunks", "h5repack", "run the simulation again")


def test_data_in_one_piece_that_was_never_written_is_not_read(saved):
    replaced(saved[".h5"], "q", shape=(1_250_000_000, 1), dtype="f8")
    refused(saved[".h5"], "'q' promises 10000000000 bytes of shape (1250000000, 1), which the file does not hold")


def test_compressed_data_is_not_read(saved):
    replaced(saved[".h5"], "q", data=np.zeros((10_000_000, 1)), compression="gzip", chunks=True)
    refused(saved[".h5"], "'q' is in chunks")


def test_data_in_other_files_is_not_read(saved, tmp_path):
    (tmp_path / "secret").write_bytes(np.arange(21.0).tobytes())
    replaced(saved[".h5"], "energy/total", shape=(21,), dtype="f8", external=[(str(tmp_path / "secret"), 0, 168)])
    refused(saved[".h5"], "'energy/total' takes its data from other files, which are not read")


def test_data_mapped_from_other_files_is_not_read(saved, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.arange(21.0)
    layout = h5py.VirtualLayout(shape=(21,), dtype="f8")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", shape=(21,))
    with h5py.File(saved[".h5"], "r+") as file:
        del file["energy/total"]
        file.create_virtual_dataset("energy/total", layout)
    refused(saved[".h5"], "'energy/total' takes its data from other files, which are not read")


@pytest.mark.parametrize("name", ["time", "energy", "energy/total", "header", "mechanism"])
@pytest.mark.parametrize("kind", ["external", "soft"])
def test_links_are_not_followed(saved, tmp_path, name, kind):
    other = tmp_path / "other.h5"
    other.write_bytes(saved[".h5"].read_bytes())
    with h5py.File(saved[".h5"], "r+") as file:
        del file[name]
        file[name] = h5py.ExternalLink(str(other), f"/{name}") if kind == "external" else h5py.SoftLink(f"/copy/{name}")
    refused(saved[".h5"], "is a link to elsewhere, which is not followed")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("header", {"data": np.zeros(3)}, "where one text is expected"),
        ("settings", {"shape": (10**10,), "dtype": h5py.string_dtype(), "chunks": (1024,)}, "'settings' is in chunks"),
        ("settings", {"shape": (), "dtype": "S1000000000"}, "where one text is expected"),
        ("q", {"data": np.array([b"ab"] * 21)}, "'q' is of type |S2, where numbers are expected"),
        ("q", {"data": np.zeros((21, 1), complex)}, "where numbers are expected"),
        ("q", {"dtype": h5py.Empty("f8").dtype, "data": h5py.Empty("f8")}, "where numbers are expected"),
        ("q", {"data": np.zeros((20, 1))}, "q of a result has shape (20, 1)"),
        ("time", {"data": np.zeros(21)}, "the times of a result do not increase"),
        ("settings", {"data": "[]"}, "the settings are not a dictionary"),
        ("audit", {"data": "[]"}, "is damaged"),
        ("audit", {"data": "[" * 100_000}, "is damaged"),
        ("mechanism", {"data": "{}"}, "is damaged"),
    ],
)
def test_entries_of_another_kind_are_refused(saved, name, options, words):
    replaced(saved[".h5"], name, **options)
    refused(saved[".h5"], words)


def test_a_group_in_the_place_of_data_is_refused(saved):
    with h5py.File(saved[".h5"], "r+") as file:
        del file["q"]
        file.create_group("q")
    refused(saved[".h5"], "'q' is not a data set")


# --- npz ----------------------------------------------------------------------------------------------------------------------
def npy(header: str, content: bytes = b"", version: int = 1) -> bytes:
    raw = header.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(raw)) + raw + content


def changed(path, entries, compression=zipfile.ZIP_STORED):
    """The archive with some entries replaced."""
    with zipfile.ZipFile(path) as file:
        all_entries = {name: file.read(name) for name in file.namelist()} | {f"{k}.npy": v for k, v in entries.items()}
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in all_entries.items():
            file.writestr(name, content)


HEADER = "{{'descr': '{0}', 'fortran_order': False, 'shape': {1}, }}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (npy(HEADER.format("<f8", "(1250000000, 1)")), "'q' promises float64 of shape (1250000000, 1), and has 0 bytes"),
        (npy(HEADER.format("<f8", f"({10**17}, {10**17})")), "promises float64"),
        (npy(HEADER.format("<f8", "(21, 1)"), b"\0" * 168, version=2), None),
        (npy(HEADER.format("<f8", "(21, 1)"), b"\0" * 160), "and has 160 bytes"),
        (npy(HEADER.format("<U500000000", "()")), "'q' promises"),
        (npy(HEADER.format("|O", "(21, 1)"), b"\x80\x04."), "is not an array of numbers or a text"),
        (npy(HEADER.format("<f8", "(21, 1)").replace("False", "__import__('os').abort()")), "is not an array of numbers"),
        (npy("{" * 60_000), "is not an array of numbers"),
        (npy("(" * 60_000 + ")" * 5_000), "is not an array of numbers"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (21, 1), }".replace("'", '"""')), "is not an array of numbers"),
        (npy("-" * 60_000 + "1"), "is not an array of numbers"),
        (npy("'\\N{" + "x" * 100), "is not an array of numbers"),
        (npy("\0"), "is not an array of numbers"),
        (b"", "is not an array of numbers"),
        (b"\x93NUMPY", "is not an array of numbers"),
        (b"\x93NUMPY\x03\x00\xff\xff\xff\xff", "is not an array of numbers"),
    ],
)
def test_headers_of_arrays_promise_no_more_than_there_is(saved, content, words):
    changed(saved[".npz"], {"q": content})
    if words is None:
        assert not load(saved[".npz"]).q.any()
    else:
        refused(saved[".npz"], words)


def test_archives_that_unpack_to_more_than_they_are_are_refused(saved):
    big = io.BytesIO()
    np.save(big, np.zeros((10_000_000, 1)))
    changed(saved[".npz"], {"q": big.getvalue()}, zipfile.ZIP_DEFLATED)
    assert saved[".npz"].stat().st_size < 200_000
    refused(saved[".npz"], "its entries are compressed, which those of results are not")


def test_entries_that_lie_over_one_another_are_refused(saved):
    """Directory entries cost 50 bytes each; all of them may name the same megabyte."""
    changed(saved[".npz"], {"q": npy(HEADER.format("<f8", "(131072,)"), b"\0" * 2**20)})
    with zipfile.ZipFile(saved[".npz"], "a") as file:
        first = file.getinfo("q.npy")
        for name in ("v", "a", "tau"):
            info = file.getinfo(f"{name}.npy")
            info.header_offset, info.file_size, info.compress_size = first.header_offset, first.file_size, first.file_size
        file._didModify = True  # so that the directory is written again
    refused(saved[".npz"], "its entries promise", "more than the file has")


def test_arrays_in_the_order_of_fortran_are_read(saved, result):
    file = io.BytesIO()
    np.save(file, np.asfortranarray(np.arange(21 * 6.0).reshape(21, 6)))
    changed(saved[".npz"], {"momentum": file.getvalue()})
    assert np.array_equal(load(saved[".npz"]).momentum, np.arange(21 * 6.0).reshape(21, 6))


# --- what is not a file -------------------------------------------------------------------------------------------------------
def test_pipes_and_folders_do_not_hold_it_up(tmp_path):
    os.mkfifo(tmp_path / "pipe.h5")
    refused(tmp_path / "pipe.h5", "is not a regular file but a pipe; give the path of a file")
    refused(tmp_path, "cannot be read (Is a directory); check the path")


def test_contact_of_another_size_is_refused(tmp_path):
    ball = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(km.Geometry(km.Sphere(0.1)),))
    one = km.Mechanism("one", (ball,), (km.Joint("slide", "prismatic", "world", "ball"),))
    path = km.simulate(one, [0.1], duration=0.01, contact="rigid").save(tmp_path / "run.h5")
    assert load(path).contact.force.shape == (11, 1, 3)
    replaced(path, "contact/gap", data=np.zeros((11, 3)))
    refused(path, "gap of the contact has the shape (11, 3), where (11, 1) is expected")


# --- disks that are full ------------------------------------------------------------------------------------------------------
FULL = """
    import json, resource, sys
    import kumitate as km
    run = km.simulate(km.load("pendulum"), duration=2.0)
    before = open(sys.argv[1], "rb").read()
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))  # writes beyond fail, as on a full disk
    try:
        run.save(sys.argv[1])
        said = ""
    except km.InputError as error:
        said = str(error)
    print(json.dumps({"said": said, "kept": open(sys.argv[1], "rb").read() == before}))
"""


@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_a_full_disk_is_said_and_leaves_the_old_file_and_the_program(suffix, saved):
    """With HDF5 writing to the disk itself, the program died at its end by a segmentation fault."""
    path = saved[suffix]
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FULL), path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["kept"]
    assert answer["said"].startswith(f"{path}: cannot be written (File too large); the old file is unchanged. Free some space")
    assert sorted(item.name for item in path.parent.iterdir()) == ["run.h5", "run.npz"]
    assert len(load(path)) == 21
