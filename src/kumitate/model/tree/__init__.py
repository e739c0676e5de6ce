"""The mechanism as algorithms see it: a tree of moving links, how it is walked, and trees that move like it."""
