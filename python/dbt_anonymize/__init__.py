"""Test-driven anonymization inside the warehouse: the Python companion of the dbt package."""


def __getattr__(name: str) -> object:
    """Give dbt its plugins when it asks for them; whoever does not ask need not wait for dbt."""
    if name == "plugins":
        from dbt_anonymize.vault.dbt_plugin import plugins  # noqa: PLC0415

        return plugins
    raise AttributeError(name)
