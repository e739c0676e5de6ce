"""Contact models, one per file: they give the impulses of a step (rigid bodies) or forces at any time (springs and dampers)."""

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import InputError, did_you_mean
from ...model.values import shown
from ...renamed import of_papers
from ..forces import ForceModel
from ..impulse.problem import Problem, Solved
from .penalty import Penalty
from .rigid import rigid

__all__ = ["FORCE_MODELS", "IMPULSE_MODELS", "Penalty", "check_model", "rigid"]

#: Models that change velocities once per step, by name; `kumitate.papers` adds another.
IMPULSE_MODELS: dict[str, Callable[[Problem], Solved]] = {"rigid": rigid}
#: Models that are continuous forces, by name: each is made from options and the mass of the mechanism [kg].
FORCE_MODELS: dict[str, Callable[[Mapping[str, float], float], ForceModel]] = {"penalty": Penalty.of}


def check_model(name: Any, options: Mapping[str, Any], *, scene: bool = True) -> None:
    """Refuses an unknown model, and options for a model that does not have any.

    Raises:
        InputError: listing the known names. Models of continuous forces check their options themselves.
    """
    known = [*IMPULSE_MODELS, *FORCE_MODELS]
    if not isinstance(name, str) or name not in known:
        raise InputError(f"there is no contact model {shown(name)}; there are {', '.join(known)}{of_papers(name)}")
    if not options or name in FORCE_MODELS:
        return
    if name != "rigid":
        raise InputError(
            f"{name} contact has no option {next(iter(options))!r}; it does not have any. Leave `options` out, or use a "
            f"model that has options: {', '.join(FORCE_MODELS)}"
        )
    for option in options:
        if option != "sleeping":
            raise InputError(
                f"rigid contact has no option {shown(option)}{did_you_mean(option, ['sleeping'], lead=', ')}; it has only "
                "'sleeping', for scenes of many bodies. Leave `options` out, or use a model that has options: "
                f"{', '.join(FORCE_MODELS)}"
            )
    if options["sleeping"] not in (0, 1):
        raise InputError(
            f"rigid contact: sleeping is {shown(options['sleeping'])}; it must be 1 (bodies sleep) or 0 (they do not)"
        )
    if not scene:
        raise InputError(
            "rigid contact has the option 'sleeping' only where steps go through lists of what is near, and this contact is "
            "traced pair by pair (`explain_contact()` says why). Leave it out"
        )
