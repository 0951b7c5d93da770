"""Publishing a release: one at a time, audited, renamed into place."""
