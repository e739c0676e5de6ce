"""Joints that follow a function of time: what they follow, and the states at which they may begin."""
