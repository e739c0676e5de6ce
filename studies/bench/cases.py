"""The benchmarks, as data, and how they are run."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from kumitate.errors import InputError
from kumitate.measure.timing import Effort, machine

from .cassie import Cassie
from .closed_loops import ClosedDynamics, ClosedSteps
from .comparisons import Dynamics, PythonCall, Steps
from .contact import ContactSteps
from .contract import Case
from .derivatives import DynamicsDerivatives
from .environment import EnvironmentSteps
from .few_bricks import FewBricks
from .four_bars import FourBars
from .inertia_matrix import InertiaMatrix
from .led_postures import LedPosture
from .limits import StepsWithLimits
from .loop_derivatives import LoopDerivatives
from .mujoco_peer import MuJoCo
from .parameters import ParameterSteps
from .parameters_found import ParametersFound
from .peers import PEERS, peer_versions
from .pinocchio_peer import Pinocchio
from .planned_motions import PlannedGait, PlannedMotion
from .planning import Planning
from .postures import PosesReached
from .recorded_states import RecordedStates
from .report import Report, Row
from .robots_with_shapes import RobotsWithShapes
from .scene_compilation import SceneCompilation
from .scenes import Scenes
from .second_derivatives import SecondDerivatives
from .simulation import LoopSteps, Rollouts, SecondRun, SingleRun
from .standing import CassieStanding, Standing
from .start import Compilation, FirstPage, FirstRun, ImportTime, Loading
from .step_slopes import StepSlopes
from .subjects import RandomChain, RobotFile
from .sweeping import SweepRate
from .touching import TouchingPairs

__all__ = ["CASES", "run"]

UR5 = RobotFile("ur5", "the arm UR5", "ur_description/urdf/ur5_robot.urdf")
PANDA = RobotFile("panda", "the arm Panda, its fingers locked", "panda_description/urdf/panda.urdf", locked="finger")
HYQ = RobotFile("hyq", "the quadruped HyQ", "hyq_description/robots/hyq_no_sensors.urdf", floating=True)
TALOS = RobotFile("talos_reduced", "the humanoid Talos, reduced", "talos_data/robots/talos_reduced.urdf", floating=True)
TALOS_ARM = RobotFile("talos_arm", "the left arm of Talos", "talos_data/robots/talos_reduced.urdf", moving="arm_left")
G1 = RobotFile("g1", "the humanoid G1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", floating=True)
CHAIN = RandomChain("chain20", "a random chain of 20 links in space", 20)
LONG_CHAIN = RandomChain("chain500", "a random chain of 500 links in space", 500)
FOUR_BAR = FourBars("four_bar", "a planar four-bar linkage", 1)
LADDER = FourBars("ladder8", "a planar row of 8 four-bar linkages", 8)
TILTED = FourBars("ladder8_tilted", "a row of 8 four-bar linkages in a plane askew in space", 8, tilted=True)
LONG_LADDER = FourBars("ladder32", "a planar row of 32 four-bar linkages", 32)

#: Every case by its name. The targets are the project's own: how many times a peer's speed, or how many seconds.
CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Dynamics(PANDA, one=12.0, batch=50.0),
        Dynamics(HYQ, one=17.0, batch=35.0),
        Dynamics(TALOS, one=14.0, batch=36.0),
        Dynamics(CHAIN, one=6.2, batch=29.0),
        # so long a chain thrown about at random is ill-conditioned: both lose digits
        Dynamics(LONG_CHAIN, one=4.5, batch=12.0, inverse=4.5, states=128, tolerance=1e-6),
        Steps(PANDA, one=8.0, batch=40.0),
        ClosedDynamics(FOUR_BAR, one=15.0, batch=70.0),
        ClosedDynamics(LADDER, one=6.0, batch=25.0),
        ClosedDynamics(TILTED, one=6.0, batch=25.0),
        ClosedDynamics(LONG_LADDER, one=8.0, states=256),
        ClosedDynamics(Cassie(), one=10.0, batch=60.0, states=128),
        ClosedSteps(FOUR_BAR, one=2.0),
        ContactSteps(one=2.0, batch=8.0, at_most={"standing": (5e-6, 1.2e-6), "falling": (5e-6, 2e-6)}),
        Scenes(),
        FewBricks(),
        RecordedStates(),
        RobotsWithShapes(),
        SceneCompilation(),
        TouchingPairs(),
        Standing("g1", faster=6.0, at_most=4e-6),
        Standing("anymal", faster=6.0, at_most=2e-6, why=", as MuJoCo's feet creep apart by its soft friction"),
        CassieStanding(at_most=4e-6),
        Planning(at_most=0.01),
        PlannedMotion(TALOS_ARM, "arm_left_7_link", at_most=0.6e-3),
        PlannedGait(at_most=0.01),
        Rollouts(PANDA),
        ParameterSteps(PANDA),
        SingleRun(PANDA),
        SweepRate(),
        EnvironmentSteps("anymal", at_most=25e-6),
        LoopSteps(),
        StepsWithLimits(PANDA),
        StepsWithLimits(HYQ),
        FirstRun(at_most=0.02),
        FirstPage(cold=5.0, second=1.5),
        SecondRun(),
        DynamicsDerivatives(UR5, one=9.0, batch=30.0),
        DynamicsDerivatives(PANDA, one=6.0, batch=20.0),
        DynamicsDerivatives(HYQ, one=3.5, batch=14.0),
        DynamicsDerivatives(TALOS, one=3.0, batch=10.0),
        DynamicsDerivatives(CHAIN, one=2.0, batch=6.5),
        LoopDerivatives(FOUR_BAR, one=10.0, batch=40.0),
        LoopDerivatives(Cassie(), one=4.0, batch=15.0, tolerance=1e-2),
        StepSlopes(one=30e-6, batch=8e-6),
        SecondDerivatives(TALOS, one=60e-6, batch=15e-6),
        PosesReached(PANDA, one=20e-6, batch=3e-6),
        LedPosture(
            G1,
            "left_wrist_yaw_link",
            ("left_ankle_roll_link", "right_ankle_roll_link"),
            (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3), ("elbow", 0.5)),
            at_most=50e-6,
        ),
        ParametersFound(at_most=10.0),
        PythonCall(PANDA, at_least=4.0),
        Compilation(PANDA, total=0.3),
        Compilation(TALOS, total=2.0),
        Compilation(LONG_CHAIN, llvm=0.2),
        ImportTime(at_most=0.35),
        Loading(at_most=0.3),
        *(InertiaMatrix(subject, at_least=2.0) for subject in (PANDA, HYQ, CHAIN, TALOS)),
    )
}


def run(names: Sequence[str] = (), *, effort: Effort | None = None, progress: Callable[[float], None] | None = None) -> Report:
    """Measures some cases, or all.

    Args:
        names: of the cases, in any order; all of them by default.
        effort: how much to spend.
        progress: called with the fraction done, 0 to 1.

    Raises:
        InputError: for an unknown name, with the names there are.
        KumitateError: if results differ from a peer's: nothing is then timed.
    """
    cases = [_case(name) for name in names] or list(CASES.values())
    effort = effort or Effort()
    rows: list[Row] = []
    for done, case in enumerate(cases):
        if progress is not None:
            progress(done / len(cases))
        if not case.missing:
            rows.extend(case.rows(effort))
        gc.collect()  # Pinocchio's data of a long chain fill gigabytes
    if progress is not None:
        progress(1.0)
    return Report(machine() | peer_versions(), tuple(rows), tuple(_notes(cases)), effort.rounds)


def _case(name: str) -> Case:
    if name not in CASES:
        near = get_close_matches(name, CASES, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"there is no benchmark {name!r}; {hint}The benchmarks are {', '.join(CASES)}")
    return CASES[name]


def _notes(cases: Sequence[Case]) -> list[str]:
    """What is not installed, and what is not measured for it."""
    notes = []
    for package in sorted({case.missing for case in cases if case.missing}):
        without = ", ".join(case.name for case in cases if case.missing == package)
        notes.append(f"{package} is not installed: {without} not measured")
    installed = {"Pinocchio": Pinocchio.installed(), "MuJoCo": MuJoCo.installed()}
    for peer in (name for name, is_there in installed.items() if not is_there):
        without = ", ".join(case.name for case in cases if case.peer == peer and not case.missing)
        if without:
            notes.append(f"{peer} (package {PEERS[peer]}) is not installed: our own times only in {without}")
    return notes
