"""Sub-chains of hybrid modelling: their joint-space equations, and where a mechanism is split into them."""
