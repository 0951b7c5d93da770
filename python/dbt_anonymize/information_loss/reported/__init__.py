"""One module per measure that is reported only, called like it."""
