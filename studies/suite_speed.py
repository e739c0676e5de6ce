"""How fast Gymnasium's suite steps here, in MuJoCo's own batch, and in Gymnasium: a table of docs/learning-speed.md."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gymnasium
import numpy as np

from kumitate.gym import TASKS, VectorEnv
from kumitate.gym.tasks.suite import ASSETS, SUITE
from kumitate.measure.timing import thread_seconds

__all__ = ["COLUMNS", "Compared", "compare", "compare_all", "table"]

#: Steps of an environment before those that are timed, and how often each is timed: the fastest counts.
WARM, ROUNDS = 30, 3
#: Environments of Gymnasium's `SyncVectorEnv`.
FEW = 8
#: What is compared, by the name of its column.
COLUMNS = ("here", "here, one", "mujoco.batch", "mujoco.batch, implicitfast", "Gymnasium")
#: Steps of one environment a second and worker as EnvPool has published them: its one figure of these tasks, of Ant-v3 with
#: MuJoCo 2, its frames divided by Ant's frame skip of 5, on an AMD Ryzen 9 5950X, with as many environments as workers and with
#: more ("async"): github.com/sail-sg/envpool, benchmark/README.md, envpool 0.6.0; Weng et al. 2022, arXiv:2206.10558.
ENVPOOL = {"ant": (25_725.25 / 5, 34_500.65 / 5)}
#: Without the forces of contact among what is observed and rewarded.
_FORCES = {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0}


@dataclass(frozen=True)
class Compared:
    """A task of the suite.

    Attributes:
        name: of it; `what`: is left out; `count`: of environments.
        rates: steps of one environment per second, by column.
        ours, theirs: order of the integrator, contact, and whether links of the robot touch each other.
    """

    name: str
    what: str
    count: int
    rates: dict[str, float]
    ours: str
    theirs: str

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def compare(name: str, *, count: int, steps: int, forces: bool = True) -> Compared:
    """Times a task under the same random actions, without early ends, one after the other in every round."""
    options: dict[str, Any] = {} if forces else dict(_FORCES)
    if SUITE[name].terminate_when_unhealthy and SUITE[name].healthy_z_range[0] > 0.0:
        options["terminate_when_unhealthy"] = False
    mujoco, theirs = importlib.import_module("mujoco"), gymnasium.make(TASKS[name].id.removeprefix("kumitate/")).unwrapped
    model, skip = theirs.model, SUITE[name].frame_skip  # type: ignore[attr-defined]
    low, high = theirs.action_space.low, theirs.action_space.high  # type: ignore[attr-defined]
    actions = np.random.default_rng(0).uniform(low, high, (steps, max(count, FEW), len(low))).astype(np.float32)
    ours, one = (VectorEnv(name, number, copy=False, **options) for number in (count, 1))
    few = gymnasium.make_vec(theirs.spec.id, FEW, "sync", **(options if forces else {}))  # type: ignore[union-attr]
    for envs in (ours, one, few):
        envs.reset(seed=0)
    fast = mujoco.MjModel.from_xml_path(str(ASSETS / SUITE[name].file))
    fast.opt.integrator = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    batches = [_batch(mujoco, each, count, skip) for each in (model, fast)]
    calls: dict[str, tuple[int, Callable[[np.ndarray], Any]]] = {
        "here": (count, ours.step), "here, one": (1, one.step), "mujoco.batch": (count, batches[0]),
        "mujoco.batch, implicitfast": (count, batches[1]), "Gymnasium": (FEW, few.step),
    }  # fmt: skip
    best = dict.fromkeys(calls, np.inf)
    for round_ in range(ROUNDS + 1):
        for column, (number, call) in calls.items():
            begin = thread_seconds()
            for k in range(steps if round_ else WARM):
                call(actions[k % steps, :number])
            if round_:
                best[column] = min(best[column], (thread_seconds() - begin) / (steps * number))
    few.close()
    simulation = ours.task.simulation
    touches = getattr(simulation.interaction, "contact", None) is not None
    order = 1 if touches or simulation.setup.integrator != "rk4" else 4
    rates = {column: float(1.0 / seconds) for column, seconds in best.items()}
    what = "" if forces else "without forces"
    return Compared(name, what, count, rates, f"{order}, {'rigid' if touches else 'no contact'}", _theirs(model))


def _batch(mujoco: Any, model: Any, count: int, skip: int) -> Callable[[np.ndarray], None]:
    """Steps of `mujoco.batch` on one thread, from the file's posture."""
    batch = importlib.import_module("mujoco.batch").Batch(model, count, 1)
    rng = np.random.default_rng(1)
    batch.qvel[:] += 0.01 * rng.normal(size=batch.qvel.shape)
    ctrl = batch.bind("ctrl")

    def step(actions: np.ndarray) -> None:
        ctrl[:] = actions
        batch.step(nstep=skip)

    return step


def _theirs(model: Any) -> str:
    """What MuJoCo computes by its file: its Runge-Kutta method has the number 1."""
    moving, kinds, masks = np.flatnonzero(model.geom_bodyid), model.geom_contype, model.geom_conaffinity
    touches = bool((kinds[:, None] & masks[None, :]).any())
    among = bool((kinds[moving, None] & masks[None, moving]).any())
    return f"{4 if model.opt.integrator == 1 else 1}, {'soft' + ', links too' * among if touches else 'no contact'}"


def compare_all(
    names: Sequence[str], *, count: int, steps: int, progress: Callable[[float], None] | None = None
) -> list[Compared]:
    """Tasks of the suite; where forces of contact are observed, also without them."""
    wanted = [(name, forces) for name in names for forces in (True, False) if forces or "cfrc_ext" in SUITE[name].observed]
    found = []
    for k, (name, forces) in enumerate(wanted):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(compare(name, count=count, steps=steps, forces=forces))
        if progress is not None:
            progress((k + 1) / len(wanted))
    return found


def table(found: Sequence[Compared]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows."""
    columns = ["task", *COLUMNS, "EnvPool, published", "× mujoco.batch", "× implicitfast", "order, contact here", "in its file"]
    rows = [
        [
            " ".join(filter(None, (item.name, item.what))), *(f"{item.rates[column]:,.0f}" for column in COLUMNS),
            " to ".join(f"{rate:,.0f}" for rate in ENVPOOL.get(item.name, ())) or "–",
            *(f"{item.rates['here'] / item.rates[column]:.1f}" for column in COLUMNS[2:4]), item.ours, item.theirs,
        ]
        for item in found
    ]  # fmt: skip
    return columns, rows
