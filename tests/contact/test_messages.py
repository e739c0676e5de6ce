"""Refusals of scenes name what is at fault, in words that users have written."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.scene import Contact
from kumitate.errors import InputError, ModelError
from kumitate.model import Body, Cylinder, Ellipsoid, Geometry, Joint, Mechanism, Plane, Polygon, Sphere
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import solid, unconnected

from .scenes.places import BRICK


def test_a_polygon_that_keeps_bodies_from_being_a_scene_is_what_is_blamed():
    egg = Body("egg", 1.0, inertia=(4e-3, 4e-3, 4e-3), collisions=(Geometry(Ellipsoid((0.1, 0.1, 0.2))),))
    bodies = unconnected(egg, *(solid(f"ball{k}", Sphere(0.1)) for k in range(3)))
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0))
    contact = Contact(ground=[Geometry(Plane()), Geometry(Polygon(corners))])
    with pytest.raises(ModelError, match=r"(?s)[Pp]olygon.*traced pair by pair, where .*how an Ellipsoid touches"):
        MechanismSimulation(Setup(bodies, contact=contact))


def test_boxes_on_a_polygon_say_what_keeps_them_from_being_a_scene():
    boxes = unconnected(*(solid(f"box{k}", BRICK) for k in range(6)))
    polygon = Contact(ground=[Geometry(Polygon(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0))))])
    sim = MechanismSimulation(Setup(boxes, contact=polygon))
    fault = "'ground': a polygon is not a convex solid"
    assert sim.explain_contact().why.startswith(fault)
    assert any(note.startswith("contact: traced pair by pair") and fault in note for note in sim.notes)
    assert not any("traced" in note for note in MechanismSimulation(Setup(boxes, contact="rigid")).notes)
    asked = MechanismSimulation(Setup(unconnected(solid("box", BRICK)), contact=polygon, side_by_side=True))
    assert not any("traced" in note for note in asked.notes)


def test_motions_beside_one_free_body_are_refused_by_what_makes_it_a_scene():
    table = Body("table", 5.0, inertia=(1.0, 1.0, 1.0), collisions=(Geometry(Cylinder(0.5, 0.1)),))
    joints = (Joint("turn", "revolute", "world", "table", axis=(0, 0, 1)), Joint("free", "floating", "world", "box"))
    turntable = Mechanism("turntable", (table, solid("box", BRICK)), joints)
    with pytest.raises(InputError, match=r"joints follow motions \(turn\), so .* cylinder of 'table' .* touches the box of"):
        MechanismSimulation(Setup(turntable, contact="rigid", motions={"turn": lambda t: 2.0 * t}))


def test_a_batch_of_a_scene_says_which_function_it_cannot_call():
    bricks = unconnected(*(solid(f"brick{k}", BRICK) for k in range(5)))
    sim = MechanismSimulation(Setup(bricks, contact="rigid", controller=lambda t, q, v: np.zeros(30), traced=False))
    with pytest.raises(InputError, match="functions that can be compiled; the controller: called once per step"):
        sim.batch(np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0], (2, 5)))


def test_a_model_that_misses_laws_here_says_so_and_no_other():
    body = km.Body("box", 1.0, inertia=(0.004,) * 3, collisions=(km.Geometry(km.Box((0.2, 0.1, 0.1))),))
    box = km.Mechanism("box", (body,), (km.Joint("free", "floating", "world", "box"),))
    for model, v, said in (("multipoint", 0.0, 0), ("multipoint", 1.0, 1), ("rigid", 1.0, 0)):
        thrown = v * np.array([5.0, -8.0, 6.0, 2.0, 1.0, -3.0])
        run = km.simulate(
            box, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.12], thrown, duration=0.2, step=2e-3,
            contact=km.Contact(model, surface=km.Surface(0.8)),
        )  # fmt: skip
        assert sum("velocities miss its laws" in note for note in run.audit.notes) == said
        assert (run.contact.residual.max() > 0.1) == (said > 0)
