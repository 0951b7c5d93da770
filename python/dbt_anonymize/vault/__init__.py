"""The custodian's side: what leads back from a release to people, and the record of who used it."""
