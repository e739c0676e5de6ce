"""Inverse kinematics in time: a step of a humanoid that keeps its feet while a hand goes round, beside pink."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import kumitate as km
from kumitate.inverse_kinematics import CenterOfMassGoal, PoseGoal, PostureGoal
from kumitate.measure.timing import Contender, Effort, by_turns, thread_seconds

from .contract import SubjectCase, agreement
from .pinocchio_peer import Pinocchio
from .report import Row

__all__ = ["LedPosture"]

#: Steps of one turn of the hand and their length [s], the circle's radius [m], the weight of the posture, a wish.
STEPS, STEP, RADIUS, WISH = 100, 0.01, 0.06, 1e-4


@dataclass(frozen=True)
class LedPosture(SubjectCase):
    """A humanoid's hand on a circle, its feet held and its center of mass over them, within the limits of its joints.

    Attributes:
        hand, feet: the bodies that are led.
        bent: the angles of the joints at first, by part of their names [rad].
        at_most: the target for our seconds a step, with new targets.
        tolerance: how far apart, as part of the height, the hands are when they have gone round [1].
    """

    hand: str
    feet: tuple[str, str]
    bent: tuple[tuple[str, float], ...]
    at_most: float
    tolerance: float = 1e-2
    peer: str = "pink"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"led_posture_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"a step of inverse kinematics in time of {self.subject.title}"

    def rows(self, effort: Effort) -> Iterator[Row]:
        robot = km.Robot(self.subject.mechanism)
        q0 = robot.neutral()
        for part, angle in self.bent:
            for joint in robot.mechanism.joints:
                if part in joint.name:
                    q0[robot.mechanism.q_names.index(joint.name)] = angle
        places = {place: robot.pose(q0, place) for place in (*self.feet, self.hand)}
        center = robot.center_of_mass(q0)
        angles = 2.0 * np.pi * np.arange(1, STEPS + 1) / STEPS
        circle = RADIUS * np.array([np.sin(angles), 0.0 * angles, 1.0 - np.cos(angles)]).T
        turns = [places[self.hand] + np.block([[np.zeros((3, 3)), shift[:, None]], [np.zeros((1, 4))]]) for shift in circle]
        held = [*(PoseGoal(foot, places[foot]) for foot in self.feet), CenterOfMassGoal(center), PostureGoal(q0, weight=WISH)]
        ends: dict[str, np.ndarray] = {}
        goals = [[PoseGoal(self.hand, turn), *held] for turn in turns]
        moving = km.DifferentialIK(robot, goals[0])

        def ours() -> None:
            q = q0
            for aims in goals:
                q = moving.step(q, STEP, aims).q
            ends["ours"] = robot.pose(q, self.hand)[:3, 3]

        contenders = {"ours": Contender(ours, STEPS)}
        if importlib.util.find_spec("pink") is not None:
            contenders["peer"] = Contender(self._pink(q0, places, center, turns, ends), STEPS)
        for contender in contenders.values():
            contender.run()
        agree = agreement(self.name, ends["ours"], ends["peer"], self.tolerance) if "peer" in ends else None
        timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        yield Row(
            self.name, "step", timings["ours"], "pink, by DAQP", timings.get("peer"), at_most=self.at_most, agreement=agree,
            remarks="both called from Python, with a new target of the hand in every step",
        )  # fmt: skip

    def _pink(
        self, q0: np.ndarray, places: dict[str, np.ndarray], center: Any, turns: list[np.ndarray], ends: dict[str, np.ndarray]
    ) -> Callable[[], None]:
        """A call that makes the same motion by pink."""
        pink, pin = (importlib.import_module(name) for name in ("pink", "pinocchio"))
        theirs = Pinocchio(self.subject)
        model, start = theirs.model, theirs.positions(q0[None])[0]
        tasks = {place: pink.tasks.FrameTask(place, position_cost=1.0, orientation_cost=1.0) for place in places}
        for place, task in tasks.items():
            task.set_target(pin.SE3(places[place]))
        over, wish = pink.tasks.ComTask(cost=1.0), pink.tasks.PostureTask(cost=WISH**0.5)
        over.set_target(np.asarray(center))
        wish.set_target(start)
        hand, all_tasks, targets = tasks[self.hand], [*tasks.values(), over, wish], [pin.SE3(turn) for turn in turns]

        def run() -> None:
            configuration = pink.Configuration(model, model.createData(), start)
            for target in targets:
                hand.set_target(target)
                configuration.integrate_inplace(pink.solve_ik(configuration, all_tasks, STEP, solver="daqp"), STEP)
            ends["peer"] = configuration.get_transform_frame_to_world(self.hand).translation

        return run
