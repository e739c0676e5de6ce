"""Runs whose energy grows by itself end where the audit would see it, whatever moves them."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.errors import DivergenceError
from kumitate.model import Body, Geometry, Joint, Limits, Mechanism, Sphere
from kumitate.simulate.exchange import Exchange
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose

BALLS = 3


def arm(balls: int) -> Mechanism:
    """Three links, each far lighter than the last, with hinges across each other, above free balls."""
    sizes = ((2.0, 0.02), (0.5, 2e-3), (0.1, 1e-4))
    links = tuple(Body(f"link{k}", mass, (0.1, 0.0, 0.0), (I, I, I)) for k, (mass, I) in enumerate(sizes))
    axes, parents = ((0, 1, 0), (0, 1, 0), (1, 0, 0)), ("world", "link0", "link1")
    places = ((0.0, 0.0, 1.0), (0.2, 0.0, 0.0), (0.2, 0.0, 0.0))
    hinges = tuple(
        Joint(f"hinge{k}", "revolute", parent, f"link{k}", axis=axis, limits=(Limits(-2.8, 2.8),), pose=pose(place))
        for k, (parent, axis, place) in enumerate(zip(parents, axes, places, strict=True))
    )
    ball = Geometry(Sphere(0.1))
    others = tuple(Body(f"ball{k}", 1.0, inertia=(4e-3, 4e-3, 4e-3), collisions=(ball,)) for k in range(balls))
    free = tuple(Joint(f"free{k}", "floating", "world", f"ball{k}") for k in range(balls))
    return Mechanism("arm", (*links, *others), (*hinges, *free))


@pytest.mark.parametrize(("balls", "contact"), [(0, None), (1, "rigid"), (BALLS, "rigid")], ids=["alone", "traced", "scene"])
def test_a_controller_that_is_too_stiff_for_its_step_ends_the_run(balls, contact, monkeypatch):
    """Efforts that are held over a step turn the light link round, faster each time, between stops, until steps gain energy.

    They do so by all of what was exchanged before, where heavier robots do by a hundred times as much.
    """
    monkeypatch.setitem(Exchange.follow.__globals__, "MOST", 0.5)

    def stiff(t, q, v):
        return np.append(600.0 * (0.1 - q[:3]) - 20.0 * v[:3], np.zeros(6 * balls))

    sim = MechanismSimulation(arm(balls), controller=stiff, sample_time=1e-3, traced=False, contact=contact)
    assert bool(sim.interaction.steps_itself) == (balls == BALLS)
    q = [0.0, 0.0, 0.0, *(x for k in range(balls) for x in (0.0, 0.0, 0.0, 1.0, 2.0 + k, 0.0, 0.1))]
    with pytest.raises(DivergenceError, match=r"runs away: .* J are gained in the step from t = 0\.0\d+ s") as caught:
        sim.run(q, duration=0.5)
    kept = caught.value.result
    assert 0 < len(kept.time) < 60
    assert np.isfinite(kept.energy.total).all()


def test_what_a_run_exchanges_is_known_from_piece_to_piece():
    kinetic = np.array([0.0, 1.0, 3.0, 2.0, 2.0, 400.0])
    potential = np.array([3.0, 2.0, 0.0, 1.0, 1.0, 1.0])
    whole, parts = Exchange(), Exchange()
    found = whole.follow(kinetic, potential, np.zeros(6), 0.1)
    assert found == (4, 398.0, pytest.approx(398.0 / 6.05))
    assert parts.follow(kinetic[:4], potential[:4], np.zeros(4), 0.1) is None
    assert parts.row == 3
    again = parts.follow(kinetic[3:], potential[3:], np.zeros(3), 0.1)
    assert again == (1, 398.0, pytest.approx(398.0 / 6.05))
    driven = Exchange().follow(kinetic, potential, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 398.0]), 0.1)
    assert driven is None  # by an effort
