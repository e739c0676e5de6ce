"""Simulate a sample arm, and show its motion: graphs, snapshots, a page with 3D playback."""

import kumitate as km

arm = km.load("pa10")
print(arm, "-", f"{arm.mass:.2f} kg")

# From the sample's start, (0, 45, 10, 0, 0, 0, 0) deg at rest; or give q and v: km.simulate(arm, q, v, ...)
run = km.simulate(arm, duration=3.0, step=1e-3)
print(*run.audit.lines(), sep="\n")

run.plot("pa10.pdf")  # angle, velocity, acceleration, torque, energy; or PNG, EPS, SVG
run.snapshots("pa10-snapshots.png")
run.page("pa10.html")  # one file: 3D playback and graphs on one timeline, opens from disk
