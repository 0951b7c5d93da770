"""How much an effort loses, by any of the published measures."""
