"""Provenance: from which columns of seeds and dbt sources each column of the source is made."""
