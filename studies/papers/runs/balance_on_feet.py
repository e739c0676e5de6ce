"""Balance with feet that may lift: the strategies of thesis 6.3 on a floor (chapter 6's further work)."""

from collections.abc import Mapping

from kumitate.examples.catalogue import Example, Plate
from kumitate.records.record import Record

from ..on_feet import LAWS, Drives, run
from ..on_feet_account import plate, said

STRATEGY = LAWS["combined"]


def balance() -> Record:
    """Six seconds on the floor, pushed from 1.0 to 1.1 s; the audit describes the motion."""
    result = run(STRATEGY, name="balance_on_feet")
    return result.noted(*said(STRATEGY, result))


def plates(result: Record) -> Mapping[str, Plate]:
    """As figures 6.8 and 6.6, compared with the same robot with eq. 6.6 alone, and with undriven joints."""
    turned = LAWS["rotation"]
    limp = Drives(on=False)
    combined = {"eq. 6.6 alone": run(LAWS["combined, eq. 6.6 alone"]), "limp": run(STRATEGY, limp)}
    rotation = {"eq. 6.6 alone": run(LAWS["rotation, eq. 6.6 of the reaction alone"]), "limp": run(turned, limp)}
    return {"rotation-extension": plate(STRATEGY, result, combined), "rotation": plate(turned, run(turned), rotation)}


EXAMPLE = Example(
    name="balance_on_feet",
    title="Balance on feet that may lift: pushed at the right shoulder",
    rows=("T-f4", "T-6.4", "T-6.3"),
    summary=(
        "The lower body after HOAP-2 stands on a floor that holds no foot, and is pushed at the right shoulder with 10 N from "
        "1.0 to 1.1 s. Rotation-extension keeps it standing: the toes of its left foot carry while the heel lifts by some "
        "millimetres, and both soles are down again a second later. With the joints' springs alone it falls, and limp it falls "
        "before the push. docs/balance.md says what pushes, delays and noise it bears."
    ),
    run=balance,
    plates=plates,
)
