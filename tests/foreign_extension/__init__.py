"""An extension of somebody else: a package of Python and a package of dbt."""
