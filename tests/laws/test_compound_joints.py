"""A joint of several freedoms moves as the chain of single joints that it stands for, with bodies without mass between."""

from dataclasses import replace

import numpy as np
import pytest

from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.model import Body, Joint, Mechanism

from ..mechanisms import agree, random_case, random_joint, random_state, seeds

#: kind: for each single joint, from the parent on, its kind, its axis (of x, y, z of the kind) and which velocity it is.
CHAINS = {
    "cylindrical": [("prismatic", 2, 1), ("revolute", 2, 0)],
    "universal": [("revolute", 2, 0), ("revolute", 1, 1)],
    "spherical_euler": [("revolute", 2, 0), ("revolute", 1, 1), ("revolute", 2, 2)],
    "planar": [("prismatic", 0, 1), ("prismatic", 1, 2), ("revolute", 2, 0)],
    "floating_euler": [
        ("prismatic", 0, 3), ("prismatic", 1, 4), ("prismatic", 2, 5),
        ("revolute", 2, 0), ("revolute", 1, 1), ("revolute", 0, 2),
    ],
}  # fmt: skip


def resolved(mechanism: Mechanism, name: str) -> tuple[Mechanism, list[int]]:
    """The mechanism with a joint written as its chain of single ones, and where their velocities were before."""
    joint = mechanism.joint(name)
    axes = np.column_stack([np.cross(joint.second_axis, joint.axis), joint.second_axis, joint.axis])
    steps = CHAINS[joint.kind.name]
    joints, bodies, parent = [], [], joint.parent
    for k, (kind, axis, source) in enumerate(steps):
        child = joint.child if k == len(steps) - 1 else f"{name}_{k}"
        if child != joint.child:
            bodies.append(Body(child))
        drive = {key: getattr(joint, key)[source] for key in ("armature", "damping", "friction")}
        placed = {"pose": joint.pose} if k == 0 else {}
        joints.append(Joint(f"{name}_{k}", kind, parent, child, axis=axes[:, axis], **placed, **drive))
        parent = child
    others = [other for other in mechanism.joints if other.name != name]
    position = [other.name for other in mechanism.joints].index(name)
    whole = replace(mechanism, joints=(*others[:position], *joints, *others[position:]), bodies=(*mechanism.bodies, *bodies))
    start = next(link.v_start for link in mechanism.tree.links if link.name == name)
    order = [*range(start), *(start + source for _, _, source in steps), *range(start + len(steps), mechanism.nv)]
    return whole, order


@pytest.mark.row("C-j", "T-2.1")
@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.parametrize(**seeds(4))
def test_a_joint_is_the_chain_of_single_joints_that_it_stands_for(kind, seed):
    rng = np.random.default_rng(seed)
    base = random_case(seed, chain=True).mechanism
    # only kinds without quaternions elsewhere, so that q follows the order of v
    joints = tuple(
        random_joint(rng, j.name, kind if k == len(base.joints) // 2 else "revolute", j.parent, j.child)
        for k, j in enumerate(base.joints)
    )
    mechanism = replace(base, joints=joints)
    case = random_state(mechanism, rng)
    chain, order = resolved(mechanism, joints[len(joints) // 2].name)
    q, v, tau, a = ([values[i] for i in order] for values in (case.q, case.v, case.tau, case.a))
    tree, g = mechanism.tree, mechanism.gravity
    M = np.array(crba(tree, case.q))
    agree(crba(chain.tree, q), M[np.ix_(order, order)], case.n)
    force = np.array(rnea(tree, case.q, case.v, case.a, gravity=g))
    agree(rnea(chain.tree, q, v, a, gravity=g), force[order], case.n, scale=100.0)
    rate = np.array(aba(tree, case.q, case.v, case.tau, Acting(g)))
    agree(aba(chain.tree, q, v, tau, Acting(g)), rate[order], case.n, condition=np.linalg.cond(M))
