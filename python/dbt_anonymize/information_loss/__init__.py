"""Information loss of an effort, by any of the published measures."""

# The measure of efforts that no model tests.
LOSS = "loss"
