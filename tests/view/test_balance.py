"""Figures of balance, momenta and powers: what is on them."""

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError

pytest.importorskip("matplotlib")

from kumitate.analysis import support_polygon
from kumitate.records.readings import balance_of
from kumitate.view.figures import balance_figure, momentum_figure, plot_balance, plot_momentum, plot_power, power_figure

FOOT = np.array([(0.3, 0.2, 0.0), (0.3, -0.2, 0.0), (-0.3, -0.2, 0.0), (-0.3, 0.2, 0.0), (0.0, 0.0, 0.0)])


@pytest.fixture(scope="module")
def run() -> km.Run:
    return km.simulate(km.load("pa10"), duration=0.5, step=2e-3, controller=lambda t, q, v: -20.0 * v)


def test_the_balance_is_drawn_with_polygon_and_margin(run):
    drawn = balance_figure(run, FOOT)
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == [
        "(a) Ground, seen from above", "(b) Along x", "(c) Along y", "(d) Margin to the polygon's edge, negative outside",
    ]  # fmt: skip
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [
        "support polygon", "center of mass", "zero-moment point", "start", "end",
    ]  # fmt: skip
    plan, *_, margin = drawn.axes
    assert (plan.get_xlabel(), plan.get_ylabel(), margin.get_xlabel()) == ("x [m]", "y [m]", "Time [s]")
    zmp = balance_of(run).zmp
    curves = {line.get_label(): line for line in plan.lines}
    np.testing.assert_allclose(curves["zero-moment point"].get_xydata(), zmp[:, :2])
    np.testing.assert_allclose(curves["center of mass"].get_xydata(), run.center_of_mass[:, :2])
    assert len(curves["support polygon"].get_xydata()) == 5  # four corners, and back; the point inside is not one
    np.testing.assert_allclose(margin.lines[0].get_ydata(), support_polygon(FOOT).margin(zmp))
    assert all(low <= x <= high for x, (low, high) in zip(FOOT[0], (plan.get_xlim(), plan.get_ylim()), strict=False))


def test_without_contacts_there_is_no_polygon(run):
    assert len(balance_figure(run).axes) == 3


def test_momenta_and_powers_have_their_units(run):
    momenta = momentum_figure(run)
    assert [axes.get_ylabel() for axes in momenta.axes] == ["[kg·m²/s]", "[kg·m/s]", "[N·m]", "[N]"]
    sources, drives = power_figure(run).axes
    assert [line.get_label() for line in sources.lines] == ["drives", "gravity", "total"]  # nothing damps, nothing springs
    assert {axes.get_ylabel() for axes in (sources, drives)} == {"[W]"}
    total = sources.lines[0].get_ydata() + sources.lines[1].get_ydata()
    np.testing.assert_allclose(sources.lines[2].get_ydata(), total, atol=1e-9)


def test_files_are_written(run, tmp_path):
    for name, path in (
        ("b.png", plot_balance(run, tmp_path / "b.png", FOOT)),
        ("m.pdf", plot_momentum(run, tmp_path / "m.pdf")),
    ):
        assert path == tmp_path / name
        assert path.stat().st_size > 1000
    assert plot_power(run, tmp_path / "p.png").exists()
    with pytest.raises(InputError, match="written as"):
        plot_power(run, tmp_path / "p.gif")


def test_in_free_flight_the_center_of_mass_is_drawn_alone():
    ball = km.Mechanism(
        "ball", (km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1)),), (km.Joint("free", "floating", "world", "ball"),)
    )  # fmt: skip
    flight = km.simulate(ball, duration=0.2)
    plan, *_ = balance_figure(flight, FOOT).axes
    assert np.isnan({line.get_label(): line for line in plan.lines}["zero-moment point"].get_xydata()).all()
