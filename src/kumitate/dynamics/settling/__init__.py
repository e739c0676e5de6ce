"""Efforts at joints that depend on the motion that they cause: drives at their limits, and stops of joints."""
