"""What a call takes is shown where it is called: by help(), editors, type checkers, and tab completion."""

import inspect
import re
import subprocess
import sys

import pytest

import kumitate as km
from kumitate.simulate import run, simulation
from kumitate.simulate.setup import Setup

from .test_documents import ROOT

PASSED = {
    "simulate": (km.simulate, run.simulate),
    "simulate_batch": (km.simulate_batch, run.simulate_batch),
    "linearize": (km.linearize, km.analysis.linearize),
    "Simulation": (km.Simulation, Setup),
    "Simulation.run": (km.Simulation.run, simulation.MechanismSimulation.run),
}
TYPED = """
import kumitate as km
arm = km.load("pendulum")
km.simulate(arm, duration=1.0, integratr="rk4")
km.simulate_batch(arm, [[0.1]], duration="long")
km.simulate(arm.mechanism, (0.1,), duration=1.0, contact="rigid").page("p.html")
"""


@pytest.mark.parametrize("name", PASSED)
def test_a_call_shows_the_options_that_it_passes_on(name):
    outer, inner = (inspect.signature(function).parameters for function in PASSED[name])
    assert not [part for part in outer.values() if part.kind is part.VAR_KEYWORD]
    options = {key: part for key, part in inner.items() if part.kind is part.KEYWORD_ONLY}
    assert options
    assert {key: outer[key] for key in options} == options


@pytest.mark.parametrize("name", PASSED)
def test_every_parameter_is_described(name):
    thing = PASSED[name][0]
    text = inspect.getdoc(thing.__init__ if inspect.isclass(thing) else thing)
    bare = [key for key in inspect.signature(thing).parameters if key != "self" and not re.search(rf"\b{key}\b[\w, `]*:", text)]
    assert not set(bare) - {"step", "every"}  # of batches, in the entry of the duration


def test_tab_completion_offers_the_public_names_and_nothing_else():
    assert set(dir(km)) == {*km.__all__, "__version__"}


@pytest.mark.slow
def test_type_checkers_know_the_options(tmp_path):
    file = tmp_path / "typed.py"
    file.write_text(TYPED)
    command = [sys.executable, "-m", "mypy", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT).stdout
    assert re.findall(r"typed\.py:(\d+): error", said) == ["4", "5"], said
