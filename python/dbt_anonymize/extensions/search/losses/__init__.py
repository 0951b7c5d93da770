"""Measures of information loss that a search minimizes, with bounds by which it skips nodes."""
