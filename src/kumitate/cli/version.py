"""kumitate version"""

from __future__ import annotations

from ..version import __version__
from .options import AsJson
from .report import print_json


def version(*, as_json: AsJson = False) -> None:
    """Print the version."""
    if as_json:
        print_json({"kumitate": __version__})
    else:
        print(__version__)
