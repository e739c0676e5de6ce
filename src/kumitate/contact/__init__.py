"""Contact: shapes against shapes, points held on surfaces, contact models and friction."""
