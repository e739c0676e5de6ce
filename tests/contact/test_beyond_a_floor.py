"""Contact of one or many bodies beyond a floor: what once diverged, never compiled, or gained energy without a word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Geometry, Sphere
from kumitate.procedure import machine
from kumitate.simulate.run import simulate
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import at, solid, unconnected

BRICK = Body("b", 1.0, inertia=(0.0033, 0.0045, 0.0055), collisions=(Geometry(Box((0.2, 0.16, 0.12))),))


def reported(run) -> float:
    """How much the energy may have risen by what the audit says [J]: gains of contact, and errors of steps of either sign."""
    return run.audit.contact.gained + 2.0 * run.audit.energy_drift


def test_what_elastic_bricks_gain_is_reported_and_of_order_one():
    """An impact is off by up to m g h v. Three bricks are thrown alike, e = 1: they gain 1 %, a quarter of it in a quarter."""
    rng = np.random.default_rng(2)
    bricks = unconnected(*(replace(BRICK, name=f"brick{k}") for k in range(3)))
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    q = np.array([[*turn, 10.0 * k, 0.0, 0.3] for k in range(3)])
    v = np.tile(rng.normal(size=6) * [3.0, 3.0, 3.0, 1.0, 1.0, 1.0], (3, 1))
    rises = []
    for step in (1e-3, 2.5e-4):
        contact = Contact(surface=Surface(0.5, restitution=1.0))
        run = simulate(bricks, q.ravel(), v.ravel(), duration=0.4, step=step, contact=contact)
        energy = run.energy.total
        rises.append(float((energy - energy[0]).max() / energy[0]))
        assert rises[-1] * energy[0] <= reported(run)
    assert 1e-3 < rises[0] < 0.015
    assert rises[1] < 0.3 * rises[0]


@pytest.mark.parametrize("others", [0, 3], ids=["traced", "scene"])
def test_a_fast_top_on_a_smooth_floor_keeps_its_energy(others):
    """400 rad/s for a second: within 1e-5 at 1 ms, of order two, and reported. Balls that lie elsewhere make it a scene."""
    tip, ball = Geometry(Sphere(0.01), pose((0.0, 0.0, -0.1))), solid("ball", Sphere(0.05))
    top = Body("top", 0.5, inertia=(6e-4, 6e-4, 5e-4), collisions=(tip,))
    world = unconnected(top, *(replace(ball, name=f"ball{k}") for k in range(others)))
    q = [0.0, np.sin(0.15), 0.0, np.cos(0.15), 0.0, 0.0, 0.1 * np.cos(0.3) + 0.01]
    q += [x for k in range(others) for x in (0.0, 0.0, 0.0, 1.0, 5.0, k, 0.05)]
    missed = []
    for step in (1e-3, 5e-4):
        contact = Contact(surface=Surface(0.0))
        sim = MechanismSimulation(Setup(world, contact=contact, step=step, side_by_side=not others))
        assert bool(sim.interaction.of_many_bodies) == (others > 0)
        run = sim.run(q, [0.0, 0.0, 400.0, *(0.0,) * (3 + 6 * others)], duration=1.0)
        rise = run.energy.total - run.energy.total[0]
        missed.append(np.abs(rise).max() / run.energy.total[0])
        assert rise.max() <= reported(run)
    assert missed[0] < 1e-5
    assert missed[1] < 0.35 * missed[0]


def test_boxes_that_start_deep_in_the_floor_are_pushed_out_slowly():
    """9 cm deep: at 0.5 m/s, not shot up by a spring."""
    with pytest.warns(UserWarning, match=r"overlap at the start, by up to 0\.09 m; they are pushed apart at 0\.5 m/s"):
        run = simulate(unconnected(BRICK), at((0.0, 0.0, -0.03)), duration=0.5, contact="rigid")
    assert run.q[:, 6].max() < 0.06 + 0.5**2 / (2.0 * 9.81) + 1e-3
    assert run.v[:, 5].max() <= 0.5 + 1e-9


def test_more_bodies_compile_nothing_more(monkeypatch):
    """After three bodies of each kind, a scene of forty is made of the same code."""
    shapes = [Box((0.2, 0.16, 0.12)), Sphere(0.08)]

    def thrown(count: int) -> None:
        bodies = unconnected(*(solid(f"body{k}", shapes[k % 2]) for k in range(count)))
        run = simulate(
            bodies, at(*((0.3 * (k % 6), 0.3 * (k // 6), 0.1) for k in range(count))), duration=0.05, contact="rigid"
        )
        assert np.isfinite(run.q).all()

    thrown(6)

    def refused(*_: object) -> None:
        raise AssertionError("more bodies were compiled")

    monkeypatch.setattr(machine, "Machine", refused)
    monkeypatch.setattr(machine, "optimized_object", refused)
    thrown(40)
