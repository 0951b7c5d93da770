"""Tests of values that are left out far more often than others."""
