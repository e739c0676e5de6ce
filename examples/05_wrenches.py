"""Push a body: a wrench [n; f] acts on a body given by name, in the axes of the world, about the origin of the body's frame."""

import numpy as np

import kumitate as km

rod = km.load("free_rod")  # 1 m long; floats without gravity. The origin of its frame is its lower end
q, v = rod.neutral(), np.zeros(rod.nv)
q[4:7] = 0.4, -0.3, 1.0  # where that end is [m]


def push(t, q, v):
    """A force at the center of mass, along x: 3 N at the start, 0 after half a second. It does not turn the rod."""
    f = np.array([3.0 * np.cos(np.pi * min(t, 0.5)), 0.0, 0.0])
    lever = rod.center_of_mass(q) - rod.pose(q, "rod")[:3, 3]  # from the body's origin to the point where the force acts
    return [*np.cross(lever, f), *f]


run = km.simulate(rod, q, v, duration=2.0, wrenches={"rod": push})
linear = run.momentum[-1, 3:]
print("momentum", linear, "N·s; the push was", 3.0 / np.pi, "N·s")
print("spin", run.v[-1, :3], "rad/s; work", run.audit.work, "J is the energy", run.energy.total[-1], "J")

# Accelerations due to wrenches, without simulating: 1 N·m about y.
print("acceleration", rod.forward_dynamics(q, v, np.zeros(6), wrenches={"rod": [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]}))
