"""Assembly and disassembly of articulated bodies: the parts that `ada`, `dca` and `hybrid` share."""
