"""Guarantees counted again from a release, by code that shares nothing with the build."""
