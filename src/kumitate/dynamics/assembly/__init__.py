"""Assembly and disassembly of articulated bodies: what `ada`, `dca` and `hybrid` share."""
