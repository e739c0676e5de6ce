"""The equations of motion are Lagrange's: from the energies alone, by exact derivatives of their programs."""

import numpy as np
import pytest

from kumitate.analysis import kinetic_energy, potential_energy
from kumitate.dynamics import passive_force, rnea
from kumitate.programs import MASS_MATRIX
from kumitate.scalar import evaluate, trace
from kumitate.scalar.derivatives import gradient, hessian

from ..mechanisms import agree, random_mechanism, random_state, seeds

#: Kinds whose velocities are the rates of their coordinates.
HOLONOMIC = ["revolute", "prismatic", "cylindrical", "universal", "spherical_euler", "planar", "fixed", "floating_euler"]


@pytest.mark.row("C-crb", "C-uv", "C-mj", "N-inv")
@pytest.mark.parametrize(**seeds(6))
def test_lagranges_equations_of_the_energies(seed):
    """M = ∂²T/∂v²; M a + (∂²T/∂v∂q) v − ∂(T − U)/∂q + damping and friction = tau."""
    rng = np.random.default_rng(seed)
    kinds = [*rng.choice(HOLONOMIC, 2).tolist(), "revolute"]
    case = random_state(random_mechanism(rng, kinds, chain=True), rng)
    m, n = case.mechanism, case.mechanism.nv

    def lagrangian(x):
        q, v = [x[i] for i in range(n)], [x[n + i] for i in range(n)]
        return kinetic_energy(m.tree, q, v) - potential_energy(m.tree, q, m.gravity)

    program = trace(lagrangian, {"x": 2 * n}, "lagrangian")
    first = np.array(evaluate(gradient(program, "x"), [*case.q, *case.v]))
    second = np.array(evaluate(hessian(program, "x"), [*case.q, *case.v])).reshape(2 * n, 2 * n)
    M, mixed = second[n:, n:], second[n:, :n]
    for page in MASS_MATRIX.values():
        agree(page(m.tree, case.q), M, case.n)
    passive = [f for link in m.tree.links for f in passive_force(link, link.velocities(case.v))]
    tau = M @ case.a + mixed @ case.v - first[:n] + passive
    agree(rnea(m.tree, case.q, case.v, case.a, gravity=m.gravity), tau, case.n, scale=100.0)
