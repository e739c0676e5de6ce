"""The laws of contact, one page each: the traced schedule runs the pages, the schedule over lists applies them."""

from .cone import CONE, onto_cone, onto_disc

__all__ = ["CONE", "onto_cone", "onto_disc"]
