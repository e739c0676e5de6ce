"""The step and what drives it: traced, compiled, and applied to states."""
