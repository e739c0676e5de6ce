"""Settings for all tests: no display, and property-based tests that print how to repeat a failure."""

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

# Compiling a kernel inside an example takes long the first time only: a deadline would fail at random.
settings.register_profile("kumitate", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kumitate")
