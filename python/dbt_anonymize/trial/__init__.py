"""Trial: draft, search and evaluation of a table, of which nothing is written."""
