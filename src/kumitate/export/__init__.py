"""What leaves the program as code: units of FMI for the tools of engineers, and C for controllers."""

from .fmu import write_fmu

__all__ = ["write_fmu"]
