"""Checks of what is released: `dbt-anonymize verify` runs them, none trusts the build."""
