"""Tests of reading a project without dbt."""
