"""Losses of classes, on the tables of the properties."""
