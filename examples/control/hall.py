"""A hall: an arm that holds still, ten objects of meshes on a conveyor, and a quadruped that walks past.

Leaves hall.html. Needs pip install 'kumitate[robots,mesh]'.
"""

import warnings
from pathlib import Path

import numpy as np
import trimesh

import kumitate as km

warnings.simplefilter("ignore", km.KumitateWarning)  # what the robots' files have beyond a simulation
world = km.World("hall")
finger = km.PositionDrive(kp=1000.0, kd=5.0, limit=30.0)
panda = km.load("panda").with_drives({"panda_finger_joint1": finger, "panda_finger_joint2": finger})
arm = world.add(panda, name="arm", q=[0.0, 0.3, 0.0, -2.0, 0.0, 2.3, 0.8, 0.04, 0.04])
world.add(km.box((2.0, 0.4, 0.1), mass=20.0), at=(0.6, -0.8, 0.3), name="conveyor", fixed=True)
world.surface("conveyor", friction=0.6, belt=(0.4, 0.0, 0.0))
for k in range(10):
    part = trimesh.creation.icosphere(1, 0.04) if k % 2 else trimesh.creation.box((0.05, 0.06, 0.04))
    part.export(f"part{k}.stl")
    world.add(f"part{k}.stl", mass=0.2, at=(-0.2 + 0.12 * k, -0.8, 0.42), name=f"part{k}")

file = next(Path(panda.mechanism.source).parents[2].glob("anymal_b*/robots/anymal.urdf"))
bent = {f"{leg}_{joint}": sign * angle for leg, sign in zip(("LF", "RF", "LH", "RH"), (1, 1, -1, -1), strict=True)
        for joint, angle in (("HFE", 0.7), ("KFE", -1.4))}  # fmt: skip
dog = km.load(file, floating_base=True)
names = [joint.name for joint in dog.mechanism.joints if joint.kind.nv == 1]
dog = dog.with_drives(dict.fromkeys(names, km.PositionDrive(kp=300.0, kd=8.0)))
q, _ = dog.state(bent)
q = km.on_ground(dog, q)
world.add(dog, name="anymal", at=(0.0, 1.0, 0.0), q=q)
world.ground(friction=0.8)

usual = np.array([bent.get(name, 0.0) for name in names])
lifted = np.array([0.0 if name.endswith("HAA") else 0.4 * np.sign(bent[name]) for name in names])
thighs = np.array([float(name.endswith("HFE")) for name in names])
late = np.array([0.0 if name[:2] in ("LF", "RH") else np.pi for name in names])


def walking(t, q, v):
    """A trot: diagonal legs together, each lifted forward for half of the time, and turned backward on the floor."""
    up, ahead = np.sin(4.0 * np.pi * t + late), np.cos(4.0 * np.pi * t + late)
    back = 0.2 * km.where(t < 0.5, 2.0 * t, 1.0) * ahead
    return usual + lifted * km.where(up > 0.0, up, 0.0) + thighs * back


law = km.control.computed_torque(arm.robot, arm.start[0], kp=[400.0] * 7 + [0.0] * 2, kd=[40.0] * 7 + [0.0] * 2)
world.control("arm", law, target=[0.04, 0.04])
world.control("anymal", target=walking)

run = world.simulate(duration=2.0, outputs=["pose:part0", "force:part1/conveyor"])
speed, load = run["part0"].v[-1, 3], run.outputs["force:part1/conveyor"][-1, 2]
print(f"the conveyor carries part 0 at {speed:.6f} m/s and bears part 1 with {load:.6f} N")
moved, place = np.abs(run["arm"].q - run["arm"].q[0]).max(), run["anymal"].position
print(f"the arm moved by {moved:.3g} rad; ANYmal walked {place[-1, 0] - place[0, 0]:.2f} m, {place[-1, 2]:.3f} m high")
batch = world.simulation().batch(3)
batch.step(20)
print(f"a batch of {len(batch)} halls: {batch.q.shape}, {batch.lost.sum()} lost")
run.page("hall.html")
