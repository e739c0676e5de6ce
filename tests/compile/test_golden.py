"""What the compiler makes of small mechanisms, as text under review, and how many operations each method takes.

A change shows in the diff of tests/compile/golden; `pytest tests/compile --update-golden` rewrites it.
"""

from __future__ import annotations

import json

import pytest

import kumitate as km

METHODS = {
    "aba": ("forward_dynamics", {"method": "aba"}),
    "crba": ("mass_matrix", {"method": "crba"}),
    "rnea": ("inverse_dynamics", {}),
}


@pytest.mark.parametrize("name", ["pendulum", "planar_3r"])
def test_listing_of_forward_dynamics(golden, name):
    golden(f"forward_dynamics_{name}.txt", km.load(name).compile("forward_dynamics", method="aba").source() + "\n")


def test_operations(golden):
    counts = {
        name: {method: km.load(name).compile(function, **options).operations for method, (function, options) in METHODS.items()}
        for name in km.samples()
    }
    golden("operations.json", json.dumps(counts, indent=2, sort_keys=True) + "\n")
