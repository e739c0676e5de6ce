"""What contact adds to the energy of bodies on surfaces that stand is in the audit, by both ways of contact."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Capsule, Cylinder, Geometry, Joint, Mechanism, Sphere
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import solid

from .with_others import G, R, run, ways


@pytest.mark.parametrize(
    ("others", "integrator"), [(0, "auto"), (0, "midpoint"), (2, "auto")], ids=["traced", "midpoint", "scene"]
)
def test_the_energy_of_eulers_disc_rises_by_no_more_than_the_audit_says(others, integrator):
    """A thin disc in steady precession at 0.25 rad, Ω² = 4 g / (R sin α): steps of 1 ms add to its energy."""
    tilt, thick = 0.25, 0.002
    disc = Body("disc", 1.0, inertia=(R * R / 4, R * R / 4, R * R / 2), collisions=(Geometry(Cylinder(R, thick)),))
    bodies = (disc, *(solid(f"far{k}", Sphere(R)) for k in range(others)))
    free = tuple(Joint(f"free{k}", "floating", "world", body.name) for k, body in enumerate(bodies))
    height = R * np.sin(tilt) + 0.5 * thick * np.cos(tilt)
    q = [np.sin(tilt / 2), 0.0, 0.0, np.cos(tilt / 2), 0.0, 0.0, height]
    q += [x for k in range(others) for x in (0.0, 0.0, 0.0, 1.0, 50.0 + k, 0.0, R)]
    v = [0.0, np.sqrt(4.0 * G * np.sin(tilt) / R), *[0.0] * (4 + 6 * others)]
    sim = MechanismSimulation(
        Setup(Mechanism("disc", bodies, free), contact=Contact(surface=Surface(10.0)), integrator=integrator)
    )
    found = sim.run(q, v, duration=0.3)
    account, energy = found.audit.contact, found.energy.total
    assert account.gains > 100
    assert account.gained > 5e-4
    assert (energy - energy[0]).max() <= account.gained + 2.0 * found.audit.energy_drift


@ways
def test_a_fast_stick_that_rebounds_without_loss_gains_what_the_audit_says(others):
    """It turns by 0.1 rad in the step of its impact, for which its levers are those of the start."""
    stick = Body("stick", 1.0, inertia=(1 / 12, 1 / 12, 1e-3), collisions=(Geometry(Capsule(0.02, 1.0)),))
    contact, v = Contact(surface=Surface(0.3, restitution=1.0)), [0.0, 20.0, 0.0, 0.0, 0.0, 0.0]
    found = run([stick], [(0.0, 0.0, 0.8)], v, contact, 0.3, others, step=5e-3)
    rises = found.contact.work > 1e-3
    assert rises.any()
    assert (found.contact.gained[rises] > 1e-3).all()
    assert found.audit.contact.gained == pytest.approx(found.contact.gained[rises].sum(), rel=1e-2)
