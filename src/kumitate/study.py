"""The old name of `kumitate.examples`, kept for one release for the modules that pages of docs have named."""

import sys
import warnings
from importlib import import_module

warnings.warn(
    "kumitate.study: the module was split up; examples and their robots are in kumitate.examples, best_partition is "
    "km.best_partition, and benchmarks are in the folder studies of a checkout. Import kumitate.examples",
    FutureWarning,
    stacklevel=2,
)
for _name in ("humanoid", "humanoid_runs", "legged"):
    sys.modules[f"{__name__}.{_name}"] = import_module(f"kumitate.examples.{_name}")
