"""Tables of other tools as efforts."""
