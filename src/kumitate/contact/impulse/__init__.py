"""Contact by impulses: the contact problem of a step, its solvers, and the step itself."""
