"""Environments of Gymnasium on batches of one simulation: `Task` says what is learned, `Env` and `VectorEnv` step it.

Importing it registers the environments of `TASKS`, so that `gymnasium.make_vec("kumitate/Anymal-v0", num_envs=1024)` works;
`gymnasium.make_vec("kumitate.gym:kumitate/Anymal-v0", num_envs=1024)` imports it.
"""

from ..errors import InputError

try:
    import gymnasium as _gymnasium  # noqa: F401  only to say what is missing
except ImportError:
    raise InputError("kumitate.gym needs Gymnasium; install it by pip install 'kumitate[gym]'") from None

from .mjcf import task_from_mjcf
from .registration import TASKS, named_task, register
from .task import Start, Task
from .vector import Env, VectorEnv

__all__ = ["TASKS", "Env", "Start", "Task", "VectorEnv", "named_task", "register", "task_from_mjcf"]

register()
