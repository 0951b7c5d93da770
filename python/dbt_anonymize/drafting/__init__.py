"""From a table to the draft of a spec: facts of its columns, roles, hierarchies, efforts."""
