"""One document of what was measured about a release, by the criteria that regulators ask for."""
