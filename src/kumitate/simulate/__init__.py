"""Simulation: integrators, the step, the run, the result and its file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..renamed import former_names

if TYPE_CHECKING:
    from ..records.audit import Audit
    from ..records.readings import CouplingRecord, LoopRecord
    from ..records.record import Energy, JointMotion, Record
    from .integrators import INTEGRATORS, Integrator
    from .run import simulate
    from .setup import Experiment, Setup

__all__ = [
    "INTEGRATORS", "Audit", "CouplingRecord", "Energy", "Experiment", "Integrator", "JointMotion", "LoopRecord", "Record",
    "Setup", "simulate",
]  # fmt: skip

_LATER = {
    "INTEGRATORS": ".integrators", "Audit": "..records.audit", "CouplingRecord": "..records.readings",
    "Energy": "..records.record", "Integrator": ".integrators", "JointMotion": "..records.record",
    "LoopRecord": "..records.readings", "Record": "..records.record", "simulate": ".run", "Setup": ".setup",
    "Experiment": ".setup",
}  # fmt: skip
_former = former_names(__name__, {"results": "kumitate.records", "Result": "Record"})


def __getattr__(name: str) -> Any:
    """Loads a name on first use: `import kumitate` needs only the checks of this package."""
    if name in _LATER:
        return getattr(import_module(_LATER[name], __name__), name)
    return _former(name)
