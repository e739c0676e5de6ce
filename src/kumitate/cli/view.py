"""kumitate view"""

from __future__ import annotations

from threading import Event
from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError
from .contact_options import ContactModel, Friction, Restitution, asked, held, start_on
from .named_values import start_by_name
from .options import FixInertia, FloatingBase, Hold, RobotName, StartQ
from .report import complain

__all__ = ["view"]


def view(
    robot: RobotName,
    /,
    *,
    step: Annotated[float, Parameter(help="Time step of the integrator [s].")] = 1e-3,
    floating_base: FloatingBase = False,
    fix_inertia: FixInertia = False,
    q: StartQ = None,
    contact: ContactModel = None,
    friction: Friction = None,
    restitution: Restitution = None,
    height: Annotated[
        float | None, Parameter(help="Initial height of the lowest point above the floor [m], with --contact.")
    ] = None,
    hold: Hold = False,
    host: Annotated[
        str, Parameter(help="Address to serve at; 0.0.0.0 lets everybody in the network use the page.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to serve at, or the next free one.")] = 8080,
    dark: Annotated[bool, Parameter(help="A dark page.", negative="")] = False,
) -> None:
    """Play a mechanism live in a browser: sliders, play, pause, step, reset; drag bodies with the mouse. Ctrl-C ends it."""
    from .. import load
    from ..simulation import Simulation

    if not 0.0 < step < float("inf"):
        raise InputError(f"--step {step}: must be a time above 0 s")
    machine = load(robot, floating_base=floating_base, fix_inertia=fix_inertia)
    mechanism = machine.mechanism
    q0, v0 = start_by_name(machine, q)
    touching = asked(contact, friction=friction, restitution=restitution, height=height)
    q0 = start_on(touching, mechanism, q0, floating=floating_base, typed=q or "", height=height)
    if hold:
        machine = held(machine, q0, touching)
    simulation = Simulation(machine, start=(q0, v0), step=step, contact=touching)
    with simulation.view(host=host, port=port, dark=dark) as live:
        complain(f"{live.url} shows {mechanism.name}; Ctrl-C ends it", what="note")
        Event().wait()
