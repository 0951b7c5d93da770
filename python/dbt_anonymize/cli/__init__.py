"""The command `dbt-anonymize`: a module for each of its commands."""

from dbt_anonymize.cli.main import app

__all__ = ["app"]
