"""Verbs that were removed from the command: for one release each names its replacement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NoReturn

from cyclopts import Parameter

from ..errors import InputError

#: They are studies now, which are not installed with the package.
MOVED = ("bench", "compare", "contact-table", "levels", "partitions")


def moved(verb: str) -> Callable[..., NoReturn]:
    """The function of a verb that is a study now: it says so and fails, whatever its options are."""

    told = f"kumitate {verb}: is a study now; from a checkout of kumitate run scripts/study {verb}"

    def refuse(*_: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> NoReturn:
        raise InputError(told)

    refuse.__doc__ = told
    return refuse
