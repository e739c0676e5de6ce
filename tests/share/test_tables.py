"""A run as a table: the same numbers in memory, as CSV and as Parquet, each column with the unit of its values."""

from __future__ import annotations

import csv

import numpy as np
import pandas
import pyarrow.parquet
import pytest

import kumitate as km
from kumitate.errors import InputError


@pytest.fixture(scope="module")
def run() -> km.Run:
    """A thrown ball with a hinge and a slider on it, with an output of two indices."""
    bodies = tuple(km.Body(name, 1.0, inertia=(0.1, 0.1, 0.1)) for name in ("ball", "arm", "hand"))
    joints = (
        km.Joint("free", "floating", "world", "ball"),
        km.Joint("hinge", "revolute", "ball", "arm"),
        km.Joint("slider", "prismatic", "arm", "hand"),
    )
    mechanism = km.Mechanism("thrown", bodies, joints)
    v = np.random.default_rng(2).normal(size=8)
    return km.Simulation(km.Robot(mechanism), start=([0, 0, 0, 1, *[0.0] * 5], v), outputs=["pose:hand"]).run(duration=0.02)


def test_every_number_has_its_column_and_unit(run):
    table = run.to_pandas()
    assert len(table) == len(run)
    joined = {
        "time [s]": run.time,
        "q.free.qw": run.q[:, 3],
        "q.free.z [m]": run.q[:, 6],
        "q.hinge [rad]": run.joint("hinge").q[:, 0],
        "v.free.wx [rad/s]": run.v[:, 0],
        "v.slider [m/s]": run.joint("slider").v[:, 0],
        "a.hinge [rad/s²]": run.joint("hinge").a[:, 0],
        "a.free.vz [m/s²]": run.a[:, 5],
        "tau.hinge [N·m]": run.joint("hinge").tau[:, 0],
        "tau.slider [N]": run.joint("slider").tau[:, 0],
        "energy.kinetic [J]": run.energy.kinetic,
        "center_of_mass.z [m]": run.center_of_mass[:, 2],
        "momentum.angular.y [kg·m²/s]": run.momentum[:, 1],
        "momentum.linear.x [kg·m/s]": run.momentum[:, 3],
        "output.pose:hand.1.3": run.outputs["pose:hand"][:, 1, 3],
    }
    for title, values in joined.items():
        np.testing.assert_array_equal(table[title], values)
    count = 1 + run.mechanism.nq + 3 * run.mechanism.nv + 3 + 3 + 6 + 16
    assert table.shape == (len(run), count)
    assert not table.columns.duplicated().any()


def test_files_hold_the_same_bits(run, tmp_path):
    table = run.to_pandas()
    parquet = run.export(tmp_path / "run.parquet")
    pandas.testing.assert_frame_equal(pandas.read_parquet(parquet), table, check_exact=True)
    fields = pyarrow.parquet.read_schema(parquet)
    assert fields.field("a.slider [m/s²]").metadata == {b"unit": "m/s²".encode()}
    with open(run.export(tmp_path / "run.CSV"), encoding="utf-8", newline="") as file:
        titles, *rows = csv.reader(file)
    assert titles == list(table.columns)
    np.testing.assert_array_equal(np.array(rows, dtype=float), table.to_numpy())


def test_contact_is_summed_by_body(tmp_path):
    ball = km.Body("ball", 2.0, inertia=(0.008, 0.008, 0.008), collisions=(km.Geometry(km.Sphere(0.1)),))
    mechanism = km.Mechanism("ball", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    resting = km.simulate(mechanism, [0, 0, 0, 1, 0, 0, 0.1], duration=0.05, contact="rigid")
    table = resting.to_pandas()
    np.testing.assert_allclose(table["contact_force.ball.z [N]"][5:], 2.0 * 9.81, rtol=1e-6)  # it carries the weight
    assert {"contact.residual [m/s]", "contact.penetration [m]"} <= set(table)


def test_other_suffixes_are_refused(run, tmp_path):
    with pytest.raises(InputError, match=r"run\.xlsx: runs are exported as \.csv, \.parquet.*; '\.xlsx' is not one of these"):
        run.export(tmp_path / "run.xlsx")
    with pytest.raises(InputError, match=r"run\.csv: \.csv files have no option 'rate'; they have none"):
        run.export(tmp_path / "run.csv", rate=10)
