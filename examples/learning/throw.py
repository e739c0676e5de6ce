"""Throws a ball to the floor, with the spin and the speed with which it is at a target after it has bounced.

    python examples/learning/throw.py

The gradient goes back through the bounce. Needs pip install 'kumitate[learn]'.
"""

import torch

import kumitate as km
import kumitate.torch as kt

ball = km.Body("ball", 0.6, inertia=(0.004, 0.004, 0.004), collisions=(km.Geometry(km.Sphere(0.12)),))
throw = km.Mechanism("throw", (ball,), (km.Joint("free", "floating", "world", "ball"),))
floor = km.Contact("rigid", surface=km.Surface(0.6, restitution=0.75))
sim = km.Simulation(throw, contact=floor, step=2e-3, integrator="semi_implicit_euler")

start = torch.tensor([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]], dtype=torch.float64)  # upright, 1 m above the floor
target = torch.tensor([2.5, 0.8], dtype=torch.float64)
down = torch.full((1, 1), -1.0, dtype=torch.float64)
chosen = torch.tensor([[0.0, 0.0, 0.0, 1.0, 0.0]], dtype=torch.float64, requires_grad=True)  # spin, then speed across
optimizer = torch.optim.LBFGS([chosen], max_iter=30, line_search_fn="strong_wolfe")


def loss() -> torch.Tensor:
    optimizer.zero_grad()
    q, _ = kt.rollout(sim, start, torch.cat([chosen, down], dim=1), {}, steps=400, every=50)
    missed = (q[0, -1, 4:6] - target).square().sum() + 1e-9 * chosen.square().sum()
    missed.backward()
    return missed


optimizer.step(loss)
q, _ = kt.rollout(sim, start, torch.cat([chosen, down], dim=1), {}, steps=400, every=50)
print(
    "spin [rad/s]", [round(x, 2) for x in chosen[0, :3].tolist()], "speed [m/s]", [round(x, 3) for x in chosen[0, 3:].tolist()]
)
print("heights [m]", [round(x, 3) for x in q[0, :, 6].tolist()])
print(f"at {q[0, -1, 4]:.4f}, {q[0, -1, 5]:.4f} m, {(q[0, -1, 4:6] - target).norm():.1e} m from the target")
