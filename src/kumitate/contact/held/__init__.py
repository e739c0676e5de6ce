"""Points held on surfaces: their equations, and two ways to solve them together with the dynamics."""
