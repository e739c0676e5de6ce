"""What leaves the program: files of runs for other programs, and what notebooks display."""

from ..renamed import former_names
from .contract import RunWithRobot

__all__ = ["RunWithRobot"]

__getattr__ = former_names(__name__, {"RobotSharing": "kumitate.robot.Robot"})
