"""Robots on legs: gaits, plans of the center of mass, whole-body inverse kinematics, pushes."""
