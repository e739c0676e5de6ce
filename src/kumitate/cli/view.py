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
    vary: Annotated[str, Parameter(help='Parameters to change on the page, "name, ...": gravity, mass:hand.')] = "",
    **options: Any,
) -> None:
    """Play a mechanism live in a browser: sliders, slow motion, plots, bodies to drag with the mouse. Ctrl-C ends it."""
    from ..simulation import Simulation

    def made() -> Simulation:
        _, scenario = asked(robot, {"step": step, **options})
        names = [name for part in vary.split(",") if (name := part.strip())]
        return Simulation(scenario.setup.made(equal_steps=True, parameters=names))

    simulation = made()
    with simulation.view(host=host, port=port, dark=dark, reload=made) as live:
        complain(f"{live.url} shows {simulation.robot.name}; Ctrl-C ends it", what="note")
        Event().wait()
