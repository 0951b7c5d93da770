"""Records that are raised, hidden or left out, so that nobody is found by several known ones."""
