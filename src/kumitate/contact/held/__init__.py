"""Points held on surfaces: their equations, and the two ways to solve these together with the dynamics."""
