"""The tasks that ship, a module each: its function `task` makes one."""

__all__: list[str] = []
