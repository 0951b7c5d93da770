"""Test-driven anonymization inside the warehouse: the Python companion of the dbt package."""
