"""The rows: every system and method of the five papers that kumitate sets out to reproduce, each under a short id."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from kumitate.errors import InputError

__all__ = ["PAPERS", "ROWS", "Row", "row"]

#: The papers, by the letter that rows and comments cite them with.
PAPERS = {
    "T": "J. Takahashi, Numeric-symbolic hybrid modeling for constrained multibody systems (thesis, Tokyo City Univ., 2012)",
    "C": "Inertia matrix of a link system by the composite rigid body method (article on the C library RoKi, 2023)",
    "S": "T. Sugihara, Y. Nakamura, Computation of contact force for multibody system based on multipoint rigid contact model",
    "Y": "K. Yoshida, Robot dynamics (lecture notes, Utsunomiya University, 2017)",
    "N": "J. Nishiguchi et al., Iterative calculation method for constraint motion by extended Newton-Euler method",
}


@dataclass(frozen=True)
class Row:
    """One thing that a paper describes.

    Attributes:
        id: short and lasting, as tests and examples name it: "T-3.1".
        what: in a line.
        paper: a key of `PAPERS`.
        section: of the paper: chapter, table, equations; empty where the row is ours.
        claims: what the paper claims of it, and what is met, where that is not simply that it works.
    """

    id: str
    what: str
    paper: str
    section: str = ""
    claims: str = ""


def row(identity: str) -> Row:
    """The row of this id.

    Raises:
        InputError: if it does not exist; the message suggests similar ids.
    """
    for entry in ROWS:
        if entry.id == identity:
            return entry
    alike = difflib.get_close_matches(identity, [entry.id for entry in ROWS], n=3)
    raise InputError(f"there is no row {identity!r}" + (f"; there is {', '.join(alike)}" if alike else ""))


ROWS: tuple[Row, ...] = (
    # spatial algebra and joints
    Row("T-A", "Spatial vectors, transforms, inertias and cross products", "T", "appendix A"),
    Row("T-2.1", "Joint models: subspaces of motion, of active and of constraint forces", "T", "tables 2.1, 2.2, eq. 2.5-2.10"),
    Row("C-j", "Joints of 0 to 6 degrees of freedom in one inertia-matrix routine", "C"),
    Row("T-fb", "Floating base by z-y-x Euler angles and by a unit quaternion", "T", "3.4, eq. 3.31-3.34"),
    Row("T-f3", "Spherical joints by Euler angles or by quaternion, cost and singularity", "T", "8.2 items 2, 3"),
    # forward and inverse dynamics
    Row("N-inv", "Recursive Newton-Euler inverse dynamics with tip force and viscous friction", "N", "eq. 2-10; T eq. 7.2"),
    Row("C-crb", "Inertia matrix by the composite rigid body method", "C"),
    Row("C-uv", "Inertia matrix and bias by the unit vector method", "C", "N eq. 33; T 1.1.3"),
    Row("C-mj", "Inertia matrix from the link Jacobians", "C"),
    Row("T-lag", "Lagrange's equations: symbolic M, c, g", "T", "4.2.1"),
    Row("T-aba", "ABA, the articulated-body algorithm", "T", "2.2.2, eq. 2.23-2.34"),
    Row("T-dca", "DCA, the divide-and-conquer algorithm", "T", "2.2.3, eq. 2.35-2.46"),
    Row("T-ada", "ADA, the assembly-disassembly algorithm, with every joint's constraint force", "T", "2.2.1, eq. 2.11-2.22"),
    Row(
        "T-2.3",
        "The methods compared, in a table that the program makes itself",
        "T",
        "table 2.3",
        "The table says that Lagrange's method gives closed chains and joint forces by multipliers: met, "
        '`joint_wrenches(method="lagrange")`. It calls DCA constraint-oriented (COR), the text (2.2.3, eq. 2.35) '
        "joint-oriented (JOR): ours is that of the text. It says that ABA and DCA give no joint forces: both do.",
    ),
    Row("T-f2", "ADA in parallel: levels side by side", "T", "8.2 item 2"),
    # linkages
    Row("T-3.1", "Planar 3R serial chain", "T", "3.1.1"),
    Row("T-3.2", "Planar branched tree", "T", "3.1.2"),
    Row("T-3.3", "Planar 4R closed loop", "T", "3.1.3"),
    Row("T-3.4", "The closed loop through its singular posture", "T", "3.3"),
    Row("T-3.5", "Free rigid body, six degrees of freedom", "T", "3.4"),
    Row("T-sing", "Redundant constraints of closed planar loops in three dimensions", "T", "3.1.3, 3.3"),
    # hybrid modelling
    Row("T-4.1", "Planar 7R arm, split 4 + 3", "T", "4.4.1"),
    Row("T-4.2", "Three-dimensional arm of 6 links on a floating base, split 3 + 3", "T", "4.4.2"),
    Row(
        "T-4.3",
        "Computation time of planar chains: Lagrange, ADA, hybrid",
        "T",
        "4.5.1",
        "For 7 links the hybrid method takes 0.60 of ADA's time and 0.50 of Lagrange's. Prepared, as in the thesis: 0.24 of "
        "ADA's, met; 1.60 of Lagrange's, missed, as its equations are simplified too, equal parts computed once. Dense blocks: "
        "0.38, met; 0.51, missed by a hair, 0.45 of the operations ([comparison](comparison.md)).",
    ),
    Row("T-4.4", "Computation time of three-dimensional chains on a floating base: ADA, hybrid", "T", "4.5.2"),
    Row("T-f1", "The best partition of a mechanism, found by the program", "T", "8.2 item 1"),
    # the simulator
    Row("T-1.2", "Four parts: solver, controller, model, user interface", "T", "1.1.2, fig. 1.2"),
    Row("T-5.1", "The flow: simulate or re-open, integrate, compute outputs, draw", "T", "5.1"),
    Row("T-5.2", "Outputs: data, EPS and PDF graphs, GIF; external forces; fifth-order splines", "T", "5.2"),
    Row("T-5.3", "Analyses: zero-moment point, center of mass, momentum, energy", "T", "5.2, table 5.1"),
    Row("T-PA10", "Seven-joint arm PA-10 in free fall", "T", "5.3"),
    # balance control
    Row("T-6.0", "Push force from center of mass and center of pressure", "T", "6.2, eq. 6.5"),
    Row("T-6.1", "Reaction null space of any model and base", "T", "6.1, eq. 6.1-6.9"),
    Row("T-6.2", "Ten-joint lower body after HOAP-2, both feet fixed", "T", "6.3"),
    Row("T-6.3", "Upper-body rotation strategy", "T", "6.3.1, eq. 6.6, 6.7"),
    Row("T-6.4", "Combined rotation-extension strategy", "T", "6.3.2, eq. 6.10-6.13"),
    Row("T-f4", "Lifting feet, two-legged virtual loop, real-robot readiness", "T", "8.2 item 4"),
    # virtual closed loop
    Row("T-7.1", "Planar 4R arm without control", "T", "7.2.1"),
    Row("T-7.2", "Open chain held as a parallel four-bar linkage", "T", "7.2.2, eq. 7.3-7.9"),
    Row("T-7.3", "Open chain held as a slider-crank", "T", "7.2.3, eq. 7.15"),
    Row("T-7.4", "Four-bar linkage through its singular posture", "T", "7.3.1"),
    Row("T-7.5", "Slider-crank to its singular posture, and resting there", "T", "7.3.2"),
    Row("T-f5", "The same control on floating bases and in three dimensions", "T", "8.2 item 5"),
    # rigid contact
    Row("S-1", "Contact of points with polygons; line and surface contact as sets of vertices", "S", "2.1"),
    Row("S-2", "Impact model with restitution, least squares where contacts are redundant", "S", "3.1, eq. 13-19"),
    Row("S-3", "Unilaterality, static and kinetic friction", "S", "3.2, eq. 24-28"),
    Row("S-4", "The loop of ten steps", "S", "3.3"),
    Row("S-5", "A small humanoid walking, falling down, jumping", "S", "4"),
    # analytical mechanics and penalty contact
    Row("Y-8", "Euler-Lagrange from energies, dissipation and forces the user writes", "Y", "8, table 1"),
    Row("Y-8a", "Two-link arm in absolute and in relative angles", "Y", "eq. 8.2, 8.3"),
    Row("Y-9", "Generalised forces by the Jacobian of the positions", "Y", "9, eq. 9.3"),
    Row("Y-wip", "Wheeled inverted pendulum, free and balanced", "Y", "8.3, 9.4, code 4"),
    Row("Y-stick", "Bouncing stick with penalty contact", "Y", "10, code 5"),
    Row("Y-fall", "Falling wheeled inverted pendulum", "Y", "11, codes 6, 7"),
    # constrained motion
    Row("N-1", "Tip held on a surface, with friction, by calls of inverse dynamics alone", "N", "2, 3, eq. 14-37"),
    Row("N-2", "Three-link arm in seven cases", "N", "5"),
    Row("N-f", "Several points held at once", "N"),
)
