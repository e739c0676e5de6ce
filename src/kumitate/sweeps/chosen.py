"""The integrator that "auto" takes for each run of a block whose numbers of the model differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis import fastest_rate
from ..scenario.parameters import ScenarioParameter
from ..scenario.setup import Described
from ..simulate.integrators import SemiImplicitEuler
from ..simulate.stepping.interaction import EXPLICIT

#: Kinds of parameters that make passive forces stiff.
_PASSIVE = ("damping", "friction", "stiffness")


def chosen_integrators(
    setup: Described, parameters: Sequence[ScenarioParameter], values: Sequence[Sequence[Any]]
) -> list[str | None]:
    """For each run the name of the integrator with which it shares a step; None for a run that cannot share any.

    Args:
        setup: that the runs share.
        parameters: that vary, and their values, a row for each run.
    """
    name = setup.integrator
    varied = [k for k, one in enumerate(parameters) if one.of_model]
    if name != "auto" or not varied or not _resists(setup, [parameters[k] for k in varied]):
        return [name] * len(values)
    q, v = setup.start

    def stiff(own: Described) -> bool:
        return fastest_rate(own.mechanism, q, v)[0] * setup.step >= EXPLICIT

    known, shared = {}, stiff(setup)
    for row in values:
        key = tuple(row[k] for k in varied)
        if key not in known:
            own = setup
            for k in varied:
                own = parameters[k].put(own, row[k])
            known[key] = stiff(own)
    # with contact, explicit steps between contacts have no name of their own
    otherwise = SemiImplicitEuler.name if not shared else "rkf45" if setup.contact is None else None
    return ["auto" if known[tuple(row[k] for k in varied)] == shared else otherwise for row in values]


def _resists(setup: Described, varied: Sequence[ScenarioParameter]) -> bool:
    """Whether joints have damping, friction or springs, in any run."""
    joints = (*setup.mechanism.joints, *setup.mechanism.loops)
    own = any(any(getattr(joint, key)) for joint in joints for key in _PASSIVE)  # type: ignore[arg-type]
    return own or any(one.kind.name in _PASSIVE for one in varied)
