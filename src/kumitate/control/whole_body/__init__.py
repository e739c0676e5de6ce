"""Whole-body control: goals, contacts and limits of effort in one quadratic program at each instant."""

from .controller import Tracked, WholeBodyController
from .page import StandingPoint

__all__ = ["StandingPoint", "Tracked", "WholeBodyController"]
