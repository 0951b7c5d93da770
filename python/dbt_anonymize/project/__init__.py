"""A dbt project: its folders, profile and warehouse, and what is generated in it."""
