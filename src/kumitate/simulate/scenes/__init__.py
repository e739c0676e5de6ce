"""Scenes of many bodies in a run: their steps, and the robots and quantities in them."""
