"""The environments that ship, by name, and how Gymnasium comes to know them."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from gymnasium.envs import registration

from ..errors import InputError, did_you_mean

if TYPE_CHECKING:
    from .task import Task


class Registered(NamedTuple):
    """An environment that ships."""

    id: str  # by which Gymnasium makes it
    max_episode_steps: int  # after which an episode is cut off
    family: str = ""  # the module in `tasks` that makes it and others


#: By name; the function `task` of the module of that name in `tasks` makes it, or that of its family's, from the name.
TASKS = {
    "cart_pole": Registered("kumitate/CartPole-v0", 500), "acrobot": Registered("kumitate/Acrobot-v0", 500),
    "cassie": Registered("kumitate/Cassie-v0", 500, "cassie"),
    "cassie_standing": Registered("kumitate/CassieStanding-v0", 500, "cassie"),
    "cassie_walking": Registered("kumitate/CassieWalking-v0", 500), "anymal": Registered("kumitate/Anymal-v0", 1000, "walking"),
    "anymal_rough": Registered("kumitate/AnymalRough-v0", 500), "g1": Registered("kumitate/G1-v0", 1000, "walking"),
    "half_cheetah": Registered("kumitate/HalfCheetah-v5", 1000, "suite"),
    "hopper": Registered("kumitate/Hopper-v5", 1000, "suite"), "walker2d": Registered("kumitate/Walker2d-v5", 1000, "suite"),
    "swimmer": Registered("kumitate/Swimmer-v5", 1000, "suite"), "ant": Registered("kumitate/Ant-v5", 1000, "suite"),
    "humanoid": Registered("kumitate/Humanoid-v5", 1000, "suite"),
    "humanoid_standup": Registered("kumitate/HumanoidStandup-v5", 1000, "suite"),
    "reacher": Registered("kumitate/Reacher-v5", 50, "suite"), "pusher": Registered("kumitate/Pusher-v5", 100, "suite"),
    "inverted_pendulum": Registered("kumitate/InvertedPendulum-v5", 1000, "suite"),
    "inverted_double_pendulum": Registered("kumitate/InvertedDoublePendulum-v5", 1000, "suite"),
}  # fmt: skip


def named_task(task: Task | str, **options: Any) -> Task:
    """A task, or that of a name, made once for each set of options that can be compared by their hashes.

    Raises:
        InputError: for an unknown name, options of a task that is made already, or if the task needs what is not installed.
    """
    if not isinstance(task, str):
        if options:
            raise InputError(f"{task.name}: {', '.join(options)} are options of a task that is made already; give them to it")
        return task
    if task not in TASKS:
        raise InputError(f"there is no task {task!r}{did_you_mean(task, TASKS, lead=', ')}; there are {', '.join(TASKS)}")
    try:
        hash(tuple(options.values()))
    except TypeError:  # such as contact with a dictionary in it
        return _make(task, **options)
    return _made(task, **options)


def _make(name: str, **options: Any) -> Task:
    family = TASKS[name].family
    make = import_module(f".tasks.{family or name}", __package__).task
    task: Task = make(name, **options) if family else make(**options)
    task._maker = partial(named_task, name, **options)
    return task


_made = cache(_make)


def register() -> None:
    """Registers the environments of `TASKS` with Gymnasium; those that it knows already are left as they are."""
    for name, (identity, most, _) in TASKS.items():
        if identity not in registration.registry:
            entries: dict[str, Any] = {
                "entry_point": "kumitate.gym.vector:Env",
                "vector_entry_point": "kumitate.gym.vector:VectorEnv",
            }
            registration.register(identity, **entries, max_episode_steps=most, kwargs={"task": name})
