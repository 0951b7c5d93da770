"""The search for identifiers where others read: in cells, in names, in bytes."""
