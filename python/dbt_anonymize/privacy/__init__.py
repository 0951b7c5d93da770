"""Privacy models as fast checks of equivalence classes, and their coded tables."""
