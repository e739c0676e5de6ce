"""Pushing a body: a wrench [n; f] acts on a body by name, in the axes of the world, about the world's origin."""

import numpy as np

import kumitate as km

rod = km.load("free_rod")  # floats without gravity, from z = 0 to 1 m
q, v = rod.neutral(), np.zeros(rod.nv)


def push(t, q, v):
    """3 N along x for the first half second, falling to zero, at the height of the mass centre: it must not turn the rod."""
    f = np.array([3.0 * np.cos(np.pi * min(t, 0.5)), 0.0, 0.0])
    point = rod.center_of_mass(q)
    return [*np.cross(point, f), *f]


run = km.simulate(rod, q, v, duration=2.0, wrenches={"rod": push})
linear = run.momentum[-1, 3:]
print("momentum", linear, "N·s; the push was", 3.0 / np.pi, "N·s")
print("spin", run.v[-1, :3], "rad/s; work", run.audit.work, "J is the energy", run.energy.total[-1], "J")

# The accelerations that wrenches give, without simulating: 1 N·m about y.
print("acceleration", rod.forward_dynamics(q, v, np.zeros(6), wrenches={"rod": [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]}))
