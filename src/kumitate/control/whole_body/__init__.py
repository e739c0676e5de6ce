"""Whole-body control: goals, contacts and limits of effort in one quadratic program at each instant."""

from .contact_point import ContactPoint
from .controller import Tracked, WholeBodyController

__all__ = ["ContactPoint", "Tracked", "WholeBodyController"]
