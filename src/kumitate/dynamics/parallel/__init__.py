"""ADA in O(log n) rounds for n links, each a batch of one program."""
