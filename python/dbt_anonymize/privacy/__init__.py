"""Privacy models as fast checks of equivalence classes, and what they count."""
