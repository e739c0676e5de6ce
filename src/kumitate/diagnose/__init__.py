"""What is wrong with a mechanism or with the file it comes from, and what to do about it."""

from .check import Finding, check, check_file

__all__ = ["Finding", "check", "check_file"]
