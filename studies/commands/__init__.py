"""The studies as commands, one file each: `scripts/study NAME`."""
