"""A controller is a function tau = f(t, q, v). Of plain arithmetic it is compiled into the step; of any Python it is called."""

import numpy as np

import kumitate as km

arm = km.load("pa10")
goal = np.radians([0.0, 60.0, 0.0, 60.0, 0.0, 30.0, 0.0])
stiffness, damping = 400.0, 100.0


def spring(t, q, v):
    """A spring to the goal: plain arithmetic, traced and compiled."""
    return stiffness * (goal - q) - damping * v


def computed_torque(t, q, v):
    """Accelerations towards the goal, by inverse dynamics (it calls the robot, so it is called, not compiled)."""
    return arm.inverse_dynamics(q, v, 16.0 * (goal - q) - 8.0 * v)


for controller in (spring, computed_torque):
    run = km.simulate(arm, controller=controller, duration=2.0, step=1e-3)
    missed = np.degrees(np.abs(run.q[-1] - goal).max())
    print(f"{controller.__name__}: {run.settings['forcing']}, {run.audit.wall_time:.2f} s; missed the goal by {missed:.2f} deg")

# Sampled at 200 Hz and held in between, as on a real robot:
run = km.simulate(arm, controller=computed_torque, sample_time=0.005, duration=2.0)
run.plot("controlled.png", panels=("q", "tau"))
