"""Simulation: integrators, the step, the run, the result and its file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .integrators import INTEGRATORS, Integrator
    from .results.audit import Audit
    from .results.result import Energy, JointMotion, Result
    from .run import simulate

__all__ = ["INTEGRATORS", "Audit", "Energy", "Integrator", "JointMotion", "Result", "simulate"]

_LATER = {
    "INTEGRATORS": ".integrators", "Audit": ".results.audit", "Energy": ".results.result", "Integrator": ".integrators",
    "JointMotion": ".results.result", "Result": ".results.result", "simulate": ".run",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads a name on first use: `import kumitate` needs only the checks of this package."""
    if name in _LATER:
        return getattr(import_module(_LATER[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
