"""Levels of all tables together, as a search finds them."""
