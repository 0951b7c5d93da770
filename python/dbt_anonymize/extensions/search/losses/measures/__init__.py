"""One module per measure that a search can minimize, called like it."""
