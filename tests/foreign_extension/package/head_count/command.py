"""The command ``dbt-anonymize head-count``."""

import typer


def head_count(name: str) -> None:
    """Print what somebody else counts."""
    typer.echo(f"counted {name}")
