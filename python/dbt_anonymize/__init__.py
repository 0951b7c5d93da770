"""Test-driven anonymization inside the warehouse: the Python companion of the dbt package."""


def __getattr__(name: str) -> object:
    """Give dbt its plugins, and Python a project; whoever does not ask need not wait for them."""
    if name == "plugins":
        from dbt_anonymize.vault.dbt_plugin import plugins  # noqa: PLC0415

        return plugins
    if name == "open":
        from dbt_anonymize.api import open_project  # noqa: PLC0415

        return open_project
    raise AttributeError(name)
