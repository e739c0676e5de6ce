"""The study of how fast sweeps are: what it counts, and the page that it prints. Its times are reported, not judged."""

import os

import pytest

from studies.sweep_rate import Rate, Rates, measured, page

from ..repo.sources import ROOT


def test_rates_are_parts_of_so_many_kernels():
    rates = Rates("arm", 100, 4, kernel=Rate(10.0, 20.0), sweep=Rate(30.0, 15.0))
    assert rates.of_clock == pytest.approx(30.0 / 40.0)
    assert rates.of_processor == pytest.approx(15.0 / 20.0)


def test_a_short_sweep_is_measured_and_printed(monkeypatch):
    monkeypatch.setenv("KUMITATE_THREADS", "2")
    rates = measured(8, 1)
    assert os.environ["KUMITATE_THREADS"] == "2"
    assert rates.runs == 8
    assert min(*rates.kernel, *rates.sweep) > 0.0
    printed, kept = page([rates]).splitlines(), (ROOT / "docs" / "sweep-rate.md").read_text(encoding="utf-8").splitlines()
    assert printed[:3] == kept[:3]
    assert [line for line in kept if line.startswith("| robot")] == [line for line in printed if line.startswith("| robot")]
