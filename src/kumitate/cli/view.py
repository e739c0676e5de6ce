"""kumitate view"""

from __future__ import annotations

from threading import Event
from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError
from .options import RobotName
from .placing import AS_IT_IS, Placing
from .report import complain


def view(
    robot: RobotName,
    /,
    *,
    step: Annotated[float, Parameter(help="Time step of the integrator [s].")] = 1e-3,
    placing: Annotated[Placing, Parameter(name="*")] = AS_IT_IS,
    host: Annotated[
        str, Parameter(help="Address to serve at; 0.0.0.0 lets everybody in the network use the page.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to serve at, or the next free one.")] = 8080,
    dark: Annotated[bool, Parameter(help="A dark page.", negative="")] = False,
) -> None:
    """Play a mechanism live in a browser: sliders, play, pause, step, reset; drag bodies with the mouse. Ctrl-C ends it."""
    from ..simulation import Simulation

    if not 0.0 < step < float("inf"):
        raise InputError(f"--step {step}: must be a time above 0 s")
    machine, q, v, contact = placing.placed(robot)
    simulation = Simulation(machine, start=(q, v), step=step, contact=contact)
    with simulation.view(host=host, port=port, dark=dark) as live:
        complain(f"{live.url} shows {machine.name}; Ctrl-C ends it", what="note")
        Event().wait()
