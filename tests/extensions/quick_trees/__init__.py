"""Tests of quick trees."""
