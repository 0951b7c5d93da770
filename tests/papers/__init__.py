"""Pages about papers: the numbers beside published ones, and the data and curves they need."""
