"""Rigid contact by the method of Sugihara and Nakamura (S 3)."""

from .multipoint import multipoint

__all__ = ["multipoint"]
