"""The drive of a mechanism: functions, constants and the inputs that they read, in one array u that steps take."""
