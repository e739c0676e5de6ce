"""Dynamics of one state, and of a batch of states in one call."""

import numpy as np

import kumitate as km
import kumitate.papers

arm = km.load("pa10")
rng = np.random.default_rng(1)
q, v = arm.random_state(rng)  # (7,), (7,): rad, rad/s
tau = rng.normal(size=arm.nv)  # (7,): N·m

# Inverse dynamics is the inverse of forward dynamics, and both satisfy M a + h = tau.
a = arm.forward_dynamics(q, v, tau)
M, h = arm.mass_matrix(q), arm.bias_forces(q, v)
print("inverse of forward dynamics:", np.abs(arm.inverse_dynamics(q, v, a) - tau).max())
print("M a + h - tau:              ", np.abs(M @ a + h - tau).max())
print(
    "three methods for M:        ",
    [float(np.linalg.norm(arm.mass_matrix(q, method=method) - M)) for method in ("unit_vector", "jacobian")],
)

# The velocity of the flange by the Jacobian: angular part first, world axes.
J = arm.jacobian(q, "link7")  # (6, 7)
print("J v - velocity:             ", np.abs(J @ v - arm.velocity(q, v, "link7")).max())

# A batch has leading axes, and each instruction computes several states.
many_q, many_v = rng.uniform(-3, 3, (10_000, 7)), rng.normal(size=(10_000, 7))
many_a = arm.forward_dynamics(many_q, many_v, np.zeros(7))
print("a batch:", many_a.shape, "- energies:", arm.energy(many_q, many_v).total.shape)
