"""Contact by impulses: the problem that a step poses, its solvers, and the step that they make (rigid, multipoint)."""
