"""Commands of this extension."""
