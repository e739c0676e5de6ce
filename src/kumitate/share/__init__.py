"""What leaves the program: files of robots and of runs for other programs, and what notebooks display."""

from .robot_sharing import RobotSharing

__all__ = ["RobotSharing"]
