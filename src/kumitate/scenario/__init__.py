"""Scenarios: files that describe simulations and sweeps, and what becomes of them."""

from .scenario import Scenario, names_scenario, read_scenario, scenario_of

__all__ = ["Scenario", "names_scenario", "read_scenario", "scenario_of"]
