"""Lagrange's equations of mechanisms: from the energies alone, against articulated bodies; and as equations to read."""

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.dynamics import Acting, Wrenches, aba, crba
from kumitate.errors import InputError
from kumitate.lagrange import lagrange, of_mechanism
from kumitate.model import Body, Joint, Loop, Mechanism
from kumitate.model.samples import SAMPLES
from kumitate.robot import Robot
from kumitate.scalar import trace
from kumitate.spatial import pose

from ..mechanisms import MOVING, agree, cases, random_case, random_mechanism, random_state, seeds

QUATERNIONS = ("spherical", "floating")


@pytest.mark.row("T-lag")
@pytest.mark.parametrize(**cases(12))
def test_lagranges_accelerations_are_those_of_articulated_bodies(make):
    """Trees of all kinds of joints, quaternions too, with springs' kin: damping, friction, armatures, external wrenches."""
    case = make()
    m = case.mechanism
    rng = np.random.default_rng(7)
    pushed = {name: rng.normal(size=6).tolist() for name in [body.name for body in m.bodies[::2]] + [m.frames[0].name]}
    condition = float(np.linalg.cond(np.array(crba(m.tree, case.q))))
    for tree, wrenches in ((m.tree, None), (m.base_parameter_tree, Wrenches(m.base_parameter_tree, pushed))):
        a = lagrange(tree, case.q, case.v, case.tau, Acting(m.gravity, wrenches=wrenches))
        expected = aba(tree, case.q, case.v, case.tau, Acting(m.gravity, wrenches=wrenches))
        agree(a, expected, case.n, scale=100.0, condition=condition)
        assert np.abs(np.array(a) - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.row("T-lag")
@pytest.mark.parametrize("kind", MOVING)
def test_every_kind_of_joint_alone_and_under_another(kind):
    """γ of the quaternion kinds shows in the first link alone: without it a spinning body would keep ω, not its momentum."""
    for chain in ([kind], ["revolute", kind], [kind, kind]):
        rng = np.random.default_rng(len(chain))
        case = random_state(random_mechanism(rng, chain, chain=True, passive=False), rng)
        m = case.mechanism
        a = lagrange(m.tree, case.q, case.v, case.tau, Acting(m.gravity))
        agree(a, aba(m.tree, case.q, case.v, case.tau, Acting(m.gravity)), case.n, scale=100.0, condition=100.0)


@pytest.mark.row("T-lag")
@pytest.mark.parametrize(**seeds(2))
def test_traced_and_compiled_it_gives_what_it_gives_on_floats(seed):
    case = random_case(seed, root="floating" if seed else None)
    m = case.mechanism
    program = trace(
        lambda q, v, tau: lagrange(m.tree, q, v, tau, Acting(m.gravity)), {"q": m.nq, "v": m.nv, "tau": m.nv}, "lagrange"
    )
    compiled = Kernel(program)(*(np.array(part) for part in (case.q, case.v, case.tau)))
    condition = float(np.linalg.cond(np.array(crba(m.tree, case.q))))
    expected = lagrange(m.tree, case.q, case.v, case.tau, Acting(m.gravity))
    agree(compiled, expected, case.n, scale=100.0, condition=condition)


def test_long_chains_are_refused_and_loops_are_not_written_down():
    rng = np.random.default_rng(0)
    long = random_mechanism(rng, ["revolute"] * 70, chain=True)
    with pytest.raises(InputError, match=r"70 links.*aba"):
        lagrange(long.tree, [0.0] * 70, [0.0] * 70, [0.0] * 70, Acting(long.gravity))
    chain = SAMPLES["planar_3r"].build()
    tip = Loop("tip", "revolute", "world", "link3", pose((1.0, 0.0, 0.0)), pose((0.0, 0.0, 1.0)), axis=(0.0, 1.0, 0.0))
    closed = Mechanism("closed", chain.bodies, chain.joints, (tip,))
    with pytest.raises(InputError, match="closed: tip close loops"):
        of_mechanism(closed)


# --- equations to read ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "planar_3r", "planar_tree"])
def test_the_equations_of_a_mechanism_are_its_dynamics(name):
    """Two roads: A and b shortened by SymPy and solved by NumPy; the robot's articulated bodies."""
    import sympy

    robot = Robot(SAMPLES[name].build())
    n = robot.nv
    system = of_mechanism(robot.mechanism)
    found = system.equations(seconds=30.0)
    tau = sympy.symbols(f"tau_1:{n + 1}")
    q, v = system.names.q, system.names.rates
    numbers = sympy.lambdify([v, q, tau], [found.A, found.b + found.F])
    rng = np.random.default_rng(1)
    for _ in range(3):
        x, w, t = rng.normal(size=(3, n))
        A, right = numbers(w, x, t)
        expected = robot.forward_dynamics(x, w, t)
        assert np.allclose(np.linalg.solve(A, right)[:, 0], expected, rtol=1e-11, atol=1e-11)
        assert np.allclose(system.compile(inputs=tau)(x, w, t), expected, rtol=1e-11, atol=1e-11)


def test_damping_springs_friction_and_armatures_stand_in_the_equations():
    rod = Body("rod", 2.0, (0.0, 0.0, -0.5), (0.1, 0.2, 0.1))
    drive = {"damping": 0.3, "armature": 0.05, "stiffness": 4.0, "rest": 0.2, "friction": 0.1}
    robot = Robot(Mechanism("sprung", (rod,), (Joint("hinge", "revolute", "world", "rod", axis=(0.0, 1.0, 0.0), **drive),)))
    system = of_mechanism(robot.mechanism, efforts=False)
    x, w = np.array([0.7]), np.array([-0.4])
    assert np.allclose(system.compile()(x, w), robot.forward_dynamics(x, w, np.zeros(1)), rtol=1e-12)


def test_the_double_pendulum_reads_as_in_books():
    latex = of_mechanism(SAMPLES["double_pendulum"].build()).latex()
    assert r"3 + 2 \cos q_{2} & 1 + \cos q_{2}" in latex
    assert "19.62" in latex  # a decimal rather than 981/50
    assert r"\tau_{2}" in latex


@pytest.mark.parametrize("kind", QUATERNIONS)
def test_quaternions_are_refused_with_a_way_out(kind):
    rng = np.random.default_rng(0)
    mechanism = random_mechanism(rng, [kind], chain=True)
    with pytest.raises(InputError, match=rf"'j0', a {kind} joint.*_euler"):
        of_mechanism(mechanism)


def test_the_command_prints_latex(capsys):
    from kumitate.cli.equations import equations

    equations("double_pendulum", seconds=10.0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("% q_{1}")
    assert "shoulder" in lines[0]
    assert lines[-1].startswith(r"\begin{bmatrix}")
