"""Limits of what models read."""

# Each category is a column of the matrix that a model sees.
MOST_CATEGORIES = 2000
