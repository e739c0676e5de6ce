"""A mechanism whose numbers are given as parameters moves as one that was built with them, and so do its energies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.analysis import kinetic_energy, momentum, potential_energy
from kumitate.dynamics import Acting, aba_with_loops, crba, joint_forces
from kumitate.kinematics import center_of_mass
from kumitate.model import Mechanism
from kumitate.simulate.parameters import Plant, Variation
from kumitate.simulation import Simulation

from ..mechanisms import agree, cases, closed_cases, random_mechanism, random_ring, random_state, seeds

NAMES = [
    "mass:*", "center_of_mass:*", "moment:*", "inertia:*", "damping:*", "friction:*", "armature:*", "gravity",
]  # fmt: skip
ENTRIES = ["xx", "yy", "zz", "xy", "xz", "yz"]


def other(mechanism: Mechanism, rng: np.random.Generator) -> tuple[Mechanism, dict]:
    """The mechanism built again with random numbers, and the parameters that say the same."""
    given: dict = {"gravity": rng.uniform(1.0, 12.0)}
    bodies = []
    for body in mechanism.bodies:
        mass, factor = rng.uniform(0.3, 3.0), rng.uniform(0.5, 2.0)
        center = np.array(body.center_of_mass) + 0.1 * rng.normal(size=3)
        points = rng.normal(scale=0.2, size=(6, 3))
        inertia = sum(r @ r * np.eye(3) - np.outer(r, r) for r in points)
        bodies.append(replace(body, mass=mass, center_of_mass=center, inertia=factor * inertia))
        given |= {f"mass:{body.name}": mass, f"inertia:{body.name}": factor}
        given |= {f"center_of_mass:{body.name}.{axis}": x for axis, x in zip("xyz", center, strict=True)}
        given |= {f"moment:{body.name}.{e}": inertia["xyz".index(e[0]), "xyz".index(e[1])] for e in ENTRIES}

    def changed(part):
        keys = ["damping", "friction", "armature"] + ["stiffness"] * (part.kind.nq == part.kind.nv)
        values = {key: rng.uniform(0.05, 1.0) for key in keys} if part.kind.nv else {}
        given.update({f"{key}:{part.name}": value for key, value in values.items()})
        return replace(part, **values)

    joints, loops = tuple(map(changed, mechanism.joints)), tuple(map(changed, mechanism.loops))
    size = np.linalg.norm(mechanism.gravity)
    gravity = tuple(given["gravity"] / size * np.array(mechanism.gravity))
    return replace(mechanism, bodies=tuple(bodies), joints=joints, loops=loops, gravity=gravity), given


def names_of(mechanism: Mechanism) -> list[str]:
    """The names of all numbers that the mechanism has."""
    joints = [part for part in (*mechanism.joints, *mechanism.loops) if part.kind.nv]
    springs = ["stiffness:*"] if any(part.kind.nq == part.kind.nv for part in joints) else []
    return [*NAMES, *springs]


@pytest.mark.parametrize(**cases(12))
def test_every_number_acts_as_a_mechanism_built_with_it(make):
    case = make()
    rng = np.random.default_rng(len(case.mechanism.joints))
    built, given = other(case.mechanism, rng)
    variation = Variation.of(Plant(case.mechanism), names_of(case.mechanism))
    rows = np.tile(variation.blank, (3, 1))
    variation.put(
        rows, {name: [value, 0.5 * value, value] if name.startswith("damping") else value for name, value in given.items()}
    )
    seen = variation.at(rows[2].tolist()).mechanism
    acting, want = Acting(seen.gravity), Acting(built.gravity)
    M = np.array(crba(built.base_parameter_tree, case.q), dtype=float)
    condition, scale = float(np.linalg.cond(M)), 1e2
    agree(crba(seen.base_parameter_tree, case.q), M, case.n, scale=scale)
    pages = (
        (lambda m, a: aba_with_loops(m.base_parameter_tree, case.q, case.v, case.tau, a), condition),
        (lambda m, a: [list(force) for force in joint_forces(m.tree, case.q, case.v, case.tau, a)], condition),
        (lambda m, a: kinetic_energy(m.tree, case.q, case.v), 1.0),
        (lambda m, a: potential_energy(m.tree, case.q, m.gravity), 1.0),
        (lambda m, a: center_of_mass(m.tree, case.q), 1.0),
        (lambda m, a: momentum(m.tree, case.q, case.v), 1.0),
    )
    for page, worse in pages:
        agree(page(seen, acting), page(built, want), case.n, scale=scale, condition=worse)
    again = variation.plant_of(rows[2]).mechanism
    np.testing.assert_allclose([body.mass for body in again.bodies], [body.mass for body in built.bodies], rtol=1e-15)
    agree(crba(again.tree, case.q), M, case.n, scale=scale)


@pytest.mark.parametrize(**seeds(2))
def test_rows_of_a_batch_move_as_mechanisms_built_for_each(seed):
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "spherical", "fixed"] if seed else ["prismatic", "universal", "revolute"]
    case = random_state(random_mechanism(rng, kinds, root="floating" if seed else None), rng)
    check_rows(case.mechanism, np.array(case.q), 0.3 * np.array(case.v), seed)


def test_rows_with_loops_move_as_mechanisms_built_for_each():
    ((case, _),) = closed_cases(5, random_ring(5, ["revolute"] * 4 + ["spherical"]), ["h4"])
    check_rows(case.mechanism, np.array(case.q), np.array(case.v), 5)


def check_rows(mechanism: Mechanism, q, v, seed, count=20):
    rng = np.random.default_rng(seed)
    outputs = ["energy", "center_of_mass", "momentum", "body_momenta", "a"] + ([] if mechanism.loops else ["joint_wrenches"])
    options = {"step": 2e-4, "integrator": "rk4", "outputs": outputs}
    sim = Simulation(mechanism, parameters=names_of(mechanism), **options)
    built, given = zip(*(other(mechanism, rng) for _ in range(2)), strict=True)
    batch = sim.batch(
        np.tile(q, (2, 1)), np.tile(v, (2, 1)), parameters={name: [row[name] for row in given] for name in given[0]}
    )
    batch.step(count)
    for k, one in enumerate(built):
        apart = Simulation(one, **options)
        expected = apart.step(apart.start(q, v), count)
        close = {"rtol": 1e-8, "atol": 1e-8}
        np.testing.assert_allclose(batch.q[k], expected.q, **close)
        np.testing.assert_allclose(batch.v[k], expected.v, **close)
        np.testing.assert_allclose(batch.work[k], expected.work, **close)
        for name, value in expected.outputs.items():
            size = max(1.0, np.abs(value).max())
            np.testing.assert_allclose(batch.outputs[name][k], value, rtol=1e-7, atol=1e-7 * size, err_msg=name)
    run, expected = (
        one.run(q, v, duration=4e-3, **extra)
        for one, extra in ((sim, {"parameters": given[1]}), (Simulation(built[1], **options), {}))
    )
    for name in ("kinetic", "potential"):
        np.testing.assert_allclose(getattr(run.energy, name), getattr(expected.energy, name), rtol=1e-9, atol=1e-9)
    assert run.audit.energy_drift == pytest.approx(expected.audit.energy_drift, abs=1e-9)
    np.testing.assert_allclose([body.mass for body in run.mechanism.bodies], [body.mass for body in built[1].bodies])
