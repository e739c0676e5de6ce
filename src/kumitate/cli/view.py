"""kumitate view"""

from __future__ import annotations

from threading import Event
from typing import Annotated, Any

from cyclopts import Parameter

from .asked import PLACING, TypedOptions, asked
from .options import RobotName, flag, takes_fields
from .report import complain


@takes_fields(*PLACING, of=(TypedOptions,))
def view(
    robot: RobotName,
    /,
    *,
    step: Annotated[float, Parameter(help="Time step of the integrator [s].")] = 1e-3,
    host: Annotated[
        str, Parameter(help="Address to serve at; 0.0.0.0 lets everybody in the network use the page.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to serve at, or the next free one.")] = 8080,
    dark: Annotated[bool, flag("A dark page.")] = False,
    **options: Any,
) -> None:
    """Play a mechanism live in a browser: sliders, play, pause, step, reset; drag bodies with the mouse. Ctrl-C ends it."""
    from ..simulation import Simulation

    _, scenario = asked(robot, {"step": step, **options})
    simulation = Simulation(scenario.setup.made(equal_steps=True))
    with simulation.view(host=host, port=port, dark=dark) as live:
        complain(f"{live.url} shows {simulation.robot.name}; Ctrl-C ends it", what="note")
        Event().wait()
