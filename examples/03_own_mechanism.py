"""Build a mechanism in Python: a pendulum on a cart, released close to the upright position."""

import numpy as np

import kumitate as km

cart = km.Body("cart", mass=2.0, visuals=(km.Geometry(km.Box((0.4, 0.2, 0.15))),))
pole = km.Body(
    "pole",
    mass=0.5,
    center_of_mass=(0.0, 0.0, 0.5),  # in the pole's own frame, whose z runs along it
    inertia=(0.5 / 12, 0.5 / 12, 1e-4),  # about the center of mass
    visuals=(km.Geometry(km.Capsule(0.02, 1.0), km.pose((0.0, 0.0, 0.5))),),
)
rail = km.Joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0), damping=0.5, limits=km.Limits(lower=-1.0, upper=1.0))
hinge = km.Joint("hinge", "revolute", "cart", "pole", km.pose((0.0, 0.0, 0.075)), axis=(0, 1, 0))

robot = km.load(km.Mechanism("cart_pole", (cart, pole), (rail, hinge)))
print(robot.mechanism.q_names, robot.mechanism.v_names)

run = km.simulate(robot, q=[0.0, np.radians(5.0)], duration=4.0)
print("energy and work balance to", run.audit.energy_drift, "J; work of the damping", run.audit.work, "J")
run.animate("cart-pole.gif")
