"""Tests of class sizes before a build."""
