"""Simulation: integrators, the step, the run, the result and its file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..renamed import former_names

if TYPE_CHECKING:
    from ..results.audit import Audit
    from ..results.loop_records import CouplingRecord, LoopRecord
    from ..results.result import Energy, JointMotion, Result
    from .integrators import INTEGRATORS, Integrator
    from .run import simulate
    from .setup import Experiment, Setup

__all__ = [
    "INTEGRATORS", "Audit", "CouplingRecord", "Energy", "Experiment", "Integrator", "JointMotion", "LoopRecord", "Result",
    "Setup", "simulate",
]  # fmt: skip

_LATER = {
    "INTEGRATORS": ".integrators", "Audit": "..results.audit", "CouplingRecord": "..results.loop_records",
    "Energy": "..results.result", "Integrator": ".integrators", "JointMotion": "..results.result",
    "LoopRecord": "..results.loop_records", "Result": "..results.result", "simulate": ".run", "Setup": ".setup",
    "Experiment": ".setup",
}  # fmt: skip
_former = former_names(__name__, {"readings": "kumitate.results.readings", "results": "kumitate.results"})


def __getattr__(name: str) -> Any:
    """Loads a name on first use: `import kumitate` needs only the checks of this package."""
    if name in _LATER:
        return getattr(import_module(_LATER[name], __name__), name)
    return _former(name)
