"""kumitate export and kumitate doctor."""

import json
import zipfile

import pytest

import kumitate as km
from kumitate.cli import doctor
from kumitate.cli.app import run
from kumitate.model.read import from_json


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def test_the_last_run_and_its_robot_are_written(here, capsys):
    assert run(["simulate", "pendulum", "--duration", "0.05", "--formats", "png"]) == 0
    capsys.readouterr()
    targets = ["motion.csv", "motion.mcap", "robot.urdf", "robot.json"]
    assert run(["export", *(word for name in targets for word in ("--to", name)), "--rate", "1000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["files"] == {name: str(here / name) for name in targets}
    assert (here / "motion.csv").read_text(encoding="utf-8").count("\n") == 52
    assert from_json((here / "robot.json").read_text(encoding="utf-8")).name == "pendulum"


def test_a_robot_is_written_by_its_name(here, capsys):
    assert run(["export", "pa10", "--to", "pa10.urdf"]) == 0
    assert capsys.readouterr().out.split() == ["written", "urdf", "pa10.urdf"]
    assert km.load("pa10.urdf").mechanism.v_names == km.load("pa10").mechanism.v_names


def test_a_scenario_and_a_robot_become_units_of_fmi(here, capsys):
    (here / "fall.yaml").write_text("robot: pendulum\nstart:\n  q: {hinge: 0.4}\noutputs: [energy]\n", encoding="utf-8")
    assert run(["export", "fall.yaml", "--to", "fall.fmu", "--fmi", "3.0"]) == 0
    assert run(["export", "pendulum", "--to", "robot.fmu", "--to", "robot.urdf"]) == 0
    assert capsys.readouterr().out.split() == [
        "written",
        "fmu",
        "fall.fmu",
        "written",
        "fmu",
        "robot.fmu",
        "urdf",
        "robot.urdf",
    ]
    text = zipfile.ZipFile("fall.fmu").read("modelDescription.xml").decode()
    assert 'fmiVersion="3.0"' in text
    assert 'name="start.q.hinge"' in text
    assert 'start="0.4"' in text


def test_functions_become_c(here, capsys):
    assert run(["export", "pendulum", "--functions", "inverse_dynamics,pose:bob", "--to-c", "c", "--real", "float"]) == 0
    assert capsys.readouterr().out.split() == ["written", "C", "in", "c"]
    assert "void pendulum_pose_bob(const float *q, float *result);" in (here / "c" / "pendulum.h").read_text(encoding="utf-8")


def test_files_to_write_have_no_option_for_none(capsys):
    run(["export", "--help"])
    assert "--to" in (text := capsys.readouterr().out)
    assert "--empty-to" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pa10", "--to", "pa10.csv"], "pa10 is a robot, and .csv files are of runs; `kumitate simulate` makes one"),
        (["pa10", "--to", "pa10.step"], "'.step' is not the suffix of a format; runs are written as .csv"),
        (["--to", "x.csv"], "there is no result here yet"),
        (["pa10"], "nothing says what to write: give --to FILE, or --functions NAMES with --to-c FOLDER"),
        (["pa10", "--functions", "step"], "nothing says what to write"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments, words, capsys):
    assert run(["export", *arguments]) == 1
    assert words in " ".join(capsys.readouterr().err.split())


def test_the_doctor_says_what_is_there(here, capsys, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(here / "cache"))
    assert run(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["machine"]["float64 lanes"] in ("2", "4", "8")
    assert "LLVM" in told["machine"]["llvmlite"]
    assert told["cache"]["folder"] == str(here / "cache")
    assert told["cache"]["bytes"] > 0  # of the function that it compiled
    assert told["compiling"]["fault"] is None
    assert told["gpu"]["fault"] is None or "leave out target='cuda'" in told["gpu"]["fault"]
    assert told["extras"]["hdf5"] == {"installed": {"h5py": doctor.version_of("h5py")}, "missing": []}
    assert run(["doctor"]) == 0
    assert "h5py" in capsys.readouterr().out


def test_the_doctor_finds_what_is_wrong(here, capsys, monkeypatch):
    monkeypatch.setenv("KUMITATE_CHROMIUM", str(here / "nowhere"))
    monkeypatch.setenv("KUMITATE_THREADS", "many")
    monkeypatch.setattr(doctor, "requires", lambda name: ["missing-package>=2; extra == 'odd'", "numpy>=2"])

    def broken(self, q):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(km.Robot, "mass_matrix", broken)
    assert run(["doctor"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "fails: RuntimeError: no such instruction" in told
    assert "odd no missing-package missing" in told
    assert "KUMITATE_THREADS is 'many'" in told
    assert "Chromium not found" in told
