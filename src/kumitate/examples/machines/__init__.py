"""Machines of the gallery with kinematics in closed form: the delta robot and the excavator."""
