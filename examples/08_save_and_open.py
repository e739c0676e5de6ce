"""Save a complete run to a file (mechanism, motion, audit), and open it without simulating again."""

import numpy as np

import kumitate as km

km.simulate(km.load("planar_tree"), duration=3.0).save("tree.h5")  # or .npz, which needs no h5py

run = km.open("tree.h5")
print(run)
print("settings:", run.settings)

elbow = run.joint("joint2")  # the columns of one joint: q, v, a, tau
fastest = int(np.argmax(np.abs(elbow.v[:, 0])))
print(f"joint2 turns fastest at {run.time[fastest]:.3f} s, with {np.degrees(elbow.v[fastest, 0]):.0f} deg/s")

# Every column has a name, for tables in other programs.
columns = ["time", *run.mechanism.q_names]
np.savetxt("tree.csv", np.column_stack([run.time, run.q]), delimiter=",", header=",".join(columns), comments="")
run.plot("tree.pdf", panels=("q", "center_of_mass", "energy"), degrees=False)
