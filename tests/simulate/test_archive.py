"""A result comes back from its file as it was, and a file that cannot be read says why."""

from __future__ import annotations

import json
import re
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate.model import Body, Joint, Limits, Mechanism
from kumitate.model.files import os, replacing
from kumitate.model.read.json import to_json
from kumitate.records.archive import load, save, write_carried
from kumitate.records.audit import Audit, LimitPassed, limits_passed, quaternion_error
from kumitate.records.record import Energy, Record
from kumitate.spatial import pose

SUFFIXES = [".h5", ".hdf5", ".npz"]
ARRAYS = ("time", "q", "v", "a", "tau", "center_of_mass", "momentum")
SETTINGS = {"step": 1e-3, "integrator": "rk4", "深さ": [1, None]}


def mechanism() -> Mechanism:
    rod = {"mass": 1.0, "center_of_mass": (0, 0, 0.5), "inertia": (1 / 12, 1 / 12, 0.0)}
    return Mechanism(
        "two links on a float",
        (Body("base", 2.0, inertia=(0.1, 0.1, 0.1)), Body("upper", **rod), Body("lower", **rod)),
        (
            Joint("free", "floating", "world", "base"),
            Joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0), limits=(Limits(-1.0, 1.0, velocity=2.0),)),
            Joint("elbow", "revolute", "upper", "lower", pose(xyz=(0, 0, 1.0)), axis=(0, 1, 0)),
        ),
    )


def result(n: int = 50, settings: dict | None = None) -> Record:
    rng = np.random.default_rng(4)
    made = mechanism()
    q = rng.normal(size=(n, made.nq))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    v, a, tau = rng.normal(size=(3, n, made.nv))
    audit = Audit(1e-9, 0.5, 1e-15, (LimitPassed("shoulder", 0.5, 0.02),), notes=("a note: θ",), steps=n, wall_time=0.1)
    return Record(
        made, np.linspace(0, 1, n), q, v, a, tau, Energy(*rng.normal(size=(3, n))), rng.normal(size=(n, 3)),
        rng.normal(size=(n, 6)), audit, SETTINGS if settings is None else settings,
    )  # fmt: skip


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("n", [0, 1, 50])
def test_a_result_comes_back_bit_by_bit(tmp_path, suffix, n):
    made = result(n)
    back = load(save(made, tmp_path / f"run{suffix}"))
    for name in ARRAYS:
        assert np.array_equal(getattr(back, name), getattr(made, name))
    assert all(np.array_equal(x, y) for x, y in zip(back.energy, made.energy, strict=True))
    assert (back.audit, back.settings) == (made.audit, made.settings)
    assert to_json(back.mechanism) == to_json(made.mechanism)
    assert [path.name for path in tmp_path.iterdir()] == [f"run{suffix}"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_file_is_known_by_its_contents_not_its_name(tmp_path, suffix):
    save(result(), tmp_path / f"run{suffix}").rename(tmp_path / "renamed.data")
    assert len(load(tmp_path / "renamed.data")) == 50


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_killed_save_leaves_the_old_file(tmp_path, suffix, monkeypatch):
    target = save(result(), tmp_path / f"run{suffix}")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save(result(3), target)
    assert len(load(target)) == 50
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes by fork")
def test_killed_saves_leave_one_temporary_file_at_most_and_the_next_save_none(tmp_path):
    target = tmp_path / "run.npz"
    for _ in range(5):
        if (child := os.fork()) == 0:
            os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            with replacing(target) as temporary:
                temporary.write_bytes(b"half")
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert len(list(tmp_path.iterdir())) == 1
    (left,) = tmp_path.iterdir()
    process, digits = re.fullmatch(r"\.run\.(\d+)-([0-9a-f]{12})\.npz", left.name).groups()
    machine = "0000" if not digits.startswith("0000") else "1111"
    others = [
        f".run.{os.getppid()}-{digits}.npz", f".run.{process}-{machine}{digits[4:]}.npz",  # alive; of another machine
        f".other.{process}-{digits}.npz", f".run.{process}-{digits}.h5", f".run.{'9' * 40}-{digits}.npz",
    ]  # fmt: skip
    for name in others:
        (tmp_path / name).write_bytes(b"written by somebody else")
    save(result(3), target)
    assert {path.name for path in tmp_path.iterdir()} == {*others, "run.npz"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_path_with_a_zero_byte_is_refused(tmp_path, suffix):
    for write in (save, lambda run, path: write_carried({}, "", path)):
        with pytest.raises(InputError, match=r"r\\x00\.(h5|hdf5|npz)': a path has no zero byte"):
            write(result(3), str(tmp_path / f"r\0{suffix if write is save else '.npz'}"))


def test_a_file_written_in_parts_is_whole_or_absent(tmp_path):
    def half_written() -> None:
        with replacing(tmp_path / "new.txt") as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_written()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("keep", [0.02, 0.5, 0.98])
def test_a_truncated_file_is_an_input_error(tmp_path, suffix, keep):
    target = save(result(), tmp_path / f"run{suffix}")
    data = target.read_bytes()
    target.write_bytes(data[: int(keep * len(data))])
    with pytest.raises(InputError, match=f"run{suffix}.*damaged"):
        load(target)


def test_foreign_and_missing_files_are_input_errors(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "table.csv").write_text("time,q\n0,1\n")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.zeros(3)
    for name in ("table.csv", "other.npz", "other.h5", "missing.h5"):
        with pytest.raises(InputError, match=name):
            load(tmp_path / name)


def test_a_pickle_inside_is_refused(tmp_path):
    np.savez(tmp_path / "bad.npz", header=np.array([object()], dtype=object))
    with pytest.raises(InputError, match="damaged"):
        load(tmp_path / "bad.npz")


@pytest.mark.parametrize("change", [{"version": 2}, {"version": "x"}, {"format": "other"}])
def test_a_newer_or_other_format_is_an_input_error(tmp_path, change):
    target = save(result(), tmp_path / "run.npz")
    with np.load(target) as file:
        entries = dict(file)
    entries["header"] = np.array(json.dumps({**json.loads(str(entries["header"])), **change}))
    np.savez(target, **entries)
    with pytest.raises(InputError, match="kumitate"):
        load(target)


@pytest.mark.parametrize(
    ("entry", "value"), [("q", np.zeros((50, 2))), ("mechanism", np.array("{}")), ("audit", np.array("["))]
)
def test_entries_that_do_not_fit_are_input_errors(tmp_path, entry, value):
    target = save(result(), tmp_path / "run.npz")
    with np.load(target) as file:
        entries = dict(file)
    np.savez(target, **{**entries, entry: value})
    with pytest.raises(InputError, match=r"run\.npz.*damaged"):
        load(target)


def test_bad_targets_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"\.h5, \.hdf5 or \.npz"):
        save(result(), tmp_path / "run.mat")
    with pytest.raises(InputError, match="folder"):
        save(result(), tmp_path / "absent" / "run.npz")
    with pytest.raises(InputError, match="plain data"):
        save(result(settings={"controller": print}), tmp_path / "run.npz")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"pip install .*\.npz"):
        save(result(), tmp_path / "run.h5")
    assert not list(tmp_path.iterdir())


def test_settings_may_hold_numbers_of_numpy(tmp_path):
    target = save(result(settings={"step": np.float32(0.5), "q": np.arange(2)}), tmp_path / "run.npz")
    assert load(target).settings == {"step": 0.5, "q": [0, 1]}


def test_the_columns_of_a_joint():
    made = result()
    free, elbow = made.joint("free"), made.joint("elbow")
    pairs = [(free.q, made.q[:, :7]), (free.tau, made.tau[:, :6]), (elbow.q, made.q[:, 8:9]), (elbow.a, made.a[:, 7:8])]
    assert all(np.array_equal(x, y) for x, y in pairs)
    assert len(made) == 50
    assert "two links" in repr(made)
    with pytest.raises(InputError, match="shoulder"):
        made.joint("knee")
    with pytest.raises(ValueError):
        made.q[0, 0] = 1.0


def test_a_result_of_the_wrong_shape_is_refused():
    made = result()
    with pytest.raises(InputError, match=r"tau .*\(50, 8\)"):
        replace(made, tau=made.tau[:, :2])


def test_limits_are_reported_with_joint_time_and_excess():
    made = mechanism()
    time = np.linspace(0, 2, 21)
    q, v = np.zeros((21, made.nq)), np.zeros((21, made.nv))
    q[:, 3], q[:, 7], v[:, 6] = 1.0, time, 1.0
    assert limits_passed(made, time, q, v, np.zeros_like(v)) == (LimitPassed("shoulder", time[11], 1.0),)
    v[3, 6] = -2.5
    assert limits_passed(made, time, q, v, np.zeros_like(v))[1] == LimitPassed("shoulder", time[3], 0.5, "velocity")
    assert quaternion_error(made, q) == 0.0
    q[5, 3] = 1.25
    assert quaternion_error(made, q) == 0.25


def test_the_audit_reads_as_lines_and_comes_back_from_a_dict():
    audit = result().audit
    text = "\n".join(audit.lines())
    assert all(part in text for part in ("1e-09 J", "shoulder", "θ", "50 steps"))
    assert Audit.from_dict(json.loads(json.dumps(audit.as_dict()))) == audit
