"""Simulations that `kumitate simulate` reads from a file: a scenario, a run of a sweep, or a result to run again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from ..scenario import Scenario

_RESULTS = (".h5", ".hdf5", ".npz")


def described(source: str, run: int | None, controller: str | None) -> tuple[str, Scenario] | None:
    """The scenario that a path names, and a name for its folder; None for robots.

    Args:
        source: a scenario's file, a sweep's folder, or a result's file.
        run: of a sweep.
        controller: the functions that a result or a sweep may call, "FILE.py:FUNCTION".

    Raises:
        InputError: if the file is refused, or an option does not fit it.
    """
    from ..scenario import names_scenario, read_scenario, scenario_of
    from ..sweeps.folder import is_sweep, opened_scenario

    path = Path(source)
    is_result = path.suffix.lower() in _RESULTS
    if controller is not None and not (is_result or is_sweep(path)):
        raise InputError(f"--controller {controller}: is for results and runs of sweeps; write it in a scenario")
    if is_result:
        from .. import open as reopen

        if run is not None:
            raise InputError(f"--run {run}: is for sweeps, and {source} is a result; leave it out")
        result = reopen(path)
        return f"{result.mechanism.name}-again", scenario_of(result, controller=controller)
    if names_scenario(source):
        scenario, name = read_scenario(source), path.stem
    elif is_sweep(path):
        scenario, name = opened_scenario(path, controller), path.resolve().name
    elif run is not None:
        raise InputError(f"--run {run}: is for sweeps, and {source} is neither a scenario's file nor a sweep's folder")
    else:
        return None
    if scenario.design is None and run is None:
        return name, scenario
    if run is None:
        raise InputError(
            f"{source}: describes {len(scenario)} runs; add --run 0 for the first of them, or use `kumitate sweep`"
        )
    return f"{name}-run{run}", scenario.of_run(run)


def refuse_options(source: str, options: Mapping[str, Any]) -> None:
    """Refuses options that the file says itself.

    Raises:
        InputError: naming the first that was given.
    """
    for name, value in options.items():
        option = ("no-" if value is False else "") + name.replace("_", "-")
        raise InputError(f"--{option} is for robots; {source} says it itself. Change the file, or leave the option out")
