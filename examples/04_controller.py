"""A controller is a function tau = f(t, q, v): compiled into the step if it is pure, called from Python if it keeps state."""

import numpy as np

import kumitate as km

arm = km.load("pa10")
goal = np.radians([0.0, 60.0, 0.0, 60.0, 0.0, 30.0, 0.0])
stiffness, damping = 400.0, 100.0


def spring(t, q, v):
    """A spring and a damper towards the goal: plain arithmetic, compiled."""
    return stiffness * (goal - q) - damping * v


def computed_torque(t, q, v):
    """Accelerations towards the goal, by inverse dynamics: functions of a robot are compiled, too."""
    return arm.inverse_dynamics(q, v, 16.0 * (goal - q) - 8.0 * v)


class Integral:
    """The same spring with an integral term. It keeps state, so it is called once per step."""

    last, error = 0.0, np.zeros(arm.nv)  # time [s], integral of the error [rad·s]

    def __call__(self, t, q, v):
        self.error, self.last = self.error + (t - self.last) * (goal - q), t
        return spring(t, q, v) + 200.0 * self.error


for name, controller in {"spring": spring, "computed_torque": computed_torque, "integral": Integral()}.items():
    run = km.simulate(arm, controller=controller, duration=2.0, step=1e-3)
    missed = np.degrees(np.abs(run.q[-1] - goal).max())
    print(f"{name}: missed the goal by {missed:.2f} deg in {run.audit.wall_time:.2f} s;", *run.audit.efforts)

# Sampled at 200 Hz and held in between, as on a real robot:
run = km.simulate(arm, controller=computed_torque, sample_time=0.005, duration=2.0)
run.plot("controlled.png", panels=("q", "tau"))
