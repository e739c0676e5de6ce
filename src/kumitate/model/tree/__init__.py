"""The mechanism as algorithms see it: a tree of moving links, its traversal, and equivalent trees with other inertias."""
