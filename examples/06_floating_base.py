"""A four-legged robot from its URDF file, floating freely: dropped with moving legs, its center of mass falls like a stone.

The file is one of example-robot-data (pip install example-robot-data), or the one named on the command line.
"""

import sys
import warnings
from importlib.metadata import files

import numpy as np

import kumitate as km

if len(sys.argv) > 1:
    path = sys.argv[1]
else:
    path = next(file for file in files("example-robot-data") or () if file.name == "anymal.urdf").locate()

with warnings.catch_warnings(record=True) as warned:  # nothing in a file is dropped without a warning
    warnings.simplefilter("always")
    robot = km.load(path, floating_base=True)
print(robot, f"{robot.mass:.1f} kg;", len(warned), "warnings")

q, v = robot.neutral(), np.zeros(robot.nv)  # q = (qx, qy, qz, qw, x, y, z, joints), v = (ω, v, joints), in the base's axes
q[4:7] = 0.0, 0.0, 3.0
v[6:] = 2.0  # rad/s, every joint of a leg
run = km.simulate(robot, q, v, duration=0.7)

center, time = run.center_of_mass, run.time
speed = run.momentum[0, 3:] / robot.mass
stone = center[0] + np.outer(time, speed) + 0.5 * np.outer(time**2, (0.0, 0.0, -9.81))
print("the center of mass is off the parabola by", np.abs(center - stone).max(), "m")
run.page("dropped.html")
