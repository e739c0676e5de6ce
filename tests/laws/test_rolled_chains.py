"""Chains rolled up to loops compute what the same chains link by link compute, on floats and compiled."""

from dataclasses import replace

import numpy as np
import pytest

from kumitate import analysis, dynamics, kinematics, papers
from kumitate.dynamics import Acting, Wrenches
from kumitate.model import KINDS
from kumitate.model.tree import traversal
from kumitate.model.tree.traversal import rolled_runs
from kumitate.robot import Robot

from ..mechanisms import Case, agree, random_mechanism, random_state

LINKS = 9
MOVING = [name for name, kind in KINDS.items() if kind.nv]


@pytest.fixture
def rolling(monkeypatch):
    """Rolls up chains of three links and more, from the time it is called on."""

    def start() -> None:
        monkeypatch.setattr(traversal, "ROLL_FROM_LINKS", 4)
        monkeypatch.setattr(traversal, "ROLL_AT_LEAST", 3)

    return start


def chain(kind: str, *, branched: bool = False) -> Case:
    """A chain of like joints with other constants each; `branched` puts it between a floating base and two arms."""
    rng = np.random.default_rng(sum(map(ord, kind)) + branched)
    if not branched:
        return random_state(random_mechanism(rng, [kind] * LINKS, chain=True), rng)
    m = random_mechanism(rng, [kind] * LINKS, chain=True, root="floating")
    arms = random_mechanism(rng, ["revolute", "universal", "prismatic"], chain=True)
    names = {f"b{i}": f"a{i}" for i in range(3)}
    joints = [
        replace(j, name=f"arm{i}", parent=f"b{LINKS - 1}" if i != 1 else "b2", child=names[j.child])
        for i, j in enumerate(arms.joints)
    ]
    bodies = [replace(body, name=names[body.name]) for body in arms.bodies]
    return random_state(replace(m, joints=(*m.joints, *joints), bodies=(*m.bodies, *bodies)), rng)


def everything(case: Case) -> dict[str, np.ndarray]:
    """All pages at one state, on floats, with wrenches on a body inside the chain, on its last one, and on a frame."""
    m, q, v = case.mechanism, case.q, case.v
    tree, g, inner = m.tree, m.gravity, m.frames[LINKS // 2].name
    place = tree.places[inner]
    given = {name: [1.0, -2.0, 3.0, -4.0, 5.0, 6.0] for name in (inner, m.bodies[3].name, m.bodies[-1].name)}
    external = Wrenches(tree, given)
    found = {
        "aba": dynamics.aba(tree, q, v, case.tau, Acting(g)),
        "rnea": dynamics.rnea(tree, q, v, case.a, gravity=g),
        "aba with wrenches": dynamics.aba(tree, q, v, case.tau, Acting(g, wrenches=external)),
        "rnea with wrenches": dynamics.rnea(tree, q, v, case.a, gravity=g, wrenches=external),
        "aba implicit": dynamics.aba(tree, q, v, case.tau, Acting(g, implicit_step=0.01)),
        "crba": dynamics.crba(tree, q),
        "unit_vector": papers.unit_vector(tree, q),
        "jacobian_inertia": papers.jacobian_inertia(tree, q),
        "center_of_mass": kinematics.center_of_mass(tree, q),
        "jacobian": kinematics.jacobian(tree, q, place),
        "jacobian_rate": kinematics.jacobian_rate(tree, q, v, place),
        "velocity": kinematics.world_velocity(tree, q, v, place),
        "pose": kinematics.place_pose(tree, kinematics.link_poses(tree, q), place).matrix(),
        "kinetic_energy": analysis.kinetic_energy(tree, q, v),
        "potential_energy": analysis.potential_energy(tree, q, g),
        "momentum": analysis.momentum(tree, q, v),
    }
    return {name: np.array(values, dtype=float) for name, values in found.items()}


@pytest.mark.row("T-aba", "N-inv")
@pytest.mark.parametrize(
    ("kind", "branched"), [*((kind, False) for kind in MOVING), *((kind, True) for kind in ("revolute", "spherical", "planar"))]
)
def test_rolled_up_on_floats(kind, branched, rolling):
    case = chain(kind, branched=branched)
    assert not rolled_runs(case.mechanism.tree)
    expected = everything(case)
    rolling()
    assert rolled_runs(case.mechanism.tree)
    found = everything(case)
    condition = np.linalg.cond(expected["crba"])
    for name, values in expected.items():
        factor = condition if name.startswith("aba") else 1.0
        agree(found[name], values, case.n, scale=100.0, condition=factor)


@pytest.mark.parametrize(
    ("kind", "branched"),
    [("revolute", False), ("revolute", True), ("universal", False), ("spherical", False), ("planar", True)],
)  # fmt: skip
def test_rolled_up_and_compiled(kind, branched, rolling):
    case = chain(kind, branched=branched)
    m = case.mechanism
    expected = everything(case)
    rolling()
    robot = Robot(m)
    q, v, tau, a = (np.tile(values, (11, 1)) for values in (case.q, case.v, case.tau, case.a))
    names = (m.frames[LINKS // 2].name, m.bodies[3].name, m.bodies[-1].name)
    wrenches = {name: np.array([1.0, -2.0, 3.0, -4.0, 5.0, 6.0]) for name in names}
    condition = np.linalg.cond(expected["crba"])
    found = {
        "aba": robot.forward_dynamics(q, v, tau),
        "rnea": robot.inverse_dynamics(q, v, a),
        "aba with wrenches": robot.forward_dynamics(q, v, tau, wrenches=wrenches),
        "rnea with wrenches": robot.inverse_dynamics(q, v, a, wrenches=wrenches),
        "crba": robot.mass_matrix(q),
        "center_of_mass": robot.center_of_mass(q),
        "momentum": robot.momentum(q, v),
        "kinetic_energy": robot.energy(q, v).kinetic,
        "jacobian": robot.jacobian(q, m.frames[LINKS // 2].name),
        "pose": robot.pose(q, m.frames[LINKS // 2].name),
    }
    for name, values in found.items():
        factor = condition if name.startswith("aba") else 1.0
        for row in values:
            agree(row, expected[name], case.n, scale=100.0, condition=factor)
