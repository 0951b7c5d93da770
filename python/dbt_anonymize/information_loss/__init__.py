"""Information loss of an effort, by any of the published measures."""
