"""Notes of an example on hybrid modelling: with the thesis's sub-chains the motion is the same as of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kumitate.compile import Kernel
from kumitate.dynamics import Acting
from kumitate.dynamics.hybrid import hybrid
from kumitate.model.tree.subchains import parts_by_names
from kumitate.records.record import Record
from kumitate.scalar import trace

__all__ = ["hybrid_apart", "hybrid_note"]

#: The stride of the samples of a result that are compared.
EVERY = 10


def hybrid_apart(result: Record, partition: Sequence[Sequence[str]]) -> float:
    """The largest difference of v̇ by hybrid modelling from the result's accelerations, as part of the largest of these.

    Args:
        result: of a mechanism that nothing but its joints' efforts drives.
        partition: the sub-chains, by names of joints.
    """
    m = result.mechanism

    def page(q: Any, v: Any, tau: Any) -> list[Any]:
        return hybrid(m.tree, q, v, tau, Acting(m.gravity), partition=parts_by_names(m.tree, partition))

    kernel = Kernel(trace(page, {"q": m.nq, "v": m.nv, "tau": m.nv}, f"hybrid_{m.name}"))
    found = kernel(result.q[::EVERY], result.v[::EVERY], result.tau[::EVERY])
    return float(np.abs(found - result.a[::EVERY]).max() / np.abs(result.a).max())


def hybrid_note(result: Record, partition: Sequence[Sequence[str]]) -> str:
    """The same as a sentence for the audit of a run."""
    split = " + ".join(str(len(part)) for part in partition)
    return (
        f"hybrid modelling with sub-chains of {split} joints (thesis 4.2.3) gives the accelerations of this motion, which are "
        f"by articulated bodies, to {hybrid_apart(result, partition):.1g} of the largest"
    )
