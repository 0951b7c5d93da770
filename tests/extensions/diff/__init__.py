"""Tests of the comparison of releases."""
