"""Python's garbage collector while a procedure is read."""

from __future__ import annotations

import gc

import pytest

from kumitate.errors import ProcedureError
from kumitate.procedure import procedure
from kumitate.procedure.machine import written


@procedure
def _half(x: float) -> float:
    return 0.5 * x


def test_the_collector_is_off_while_a_procedure_is_read_and_then_as_before():
    found = []

    def typed():
        found.append(gc.isenabled())
        return _half.typed

    assert gc.isenabled()
    written(typed)
    assert gc.isenabled()
    gc.disable()
    try:
        written(typed)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert found == [False, False]


def test_the_collector_is_on_again_after_a_procedure_that_cannot_be_read():
    def typed():
        raise ProcedureError("outside the subset")

    with pytest.raises(ProcedureError):
        written(typed)
    assert gc.isenabled()
