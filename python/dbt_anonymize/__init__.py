"""Test-driven anonymization inside the warehouse: the Python companion of the dbt package."""


def __getattr__(name: str) -> object:
    """Give dbt its plugins, and Python what extensions add; who does not ask need not wait."""
    if name == "plugins":
        from dbt_anonymize.vault.dbt_plugin import plugins  # noqa: PLC0415

        return plugins
    if not name.startswith("_"):
        from dbt_anonymize.extension import function  # noqa: PLC0415

        if (found := function(name)) is not None:
            return found
    raise AttributeError(name)
