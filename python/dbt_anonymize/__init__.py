"""Test-driven anonymization inside the warehouse: the Python companion of the dbt package."""


def __getattr__(name: str) -> object:
    """Load the plugins of dbt and the functions of extensions on first use."""
    if name == "plugins":
        from dbt_anonymize.vault.dbt_plugin import plugins  # noqa: PLC0415

        return plugins
    if not name.startswith("_"):
        from dbt_anonymize.extension import function  # noqa: PLC0415

        if (extension_function := function(name)) is not None:
            return extension_function
    raise AttributeError(name)
