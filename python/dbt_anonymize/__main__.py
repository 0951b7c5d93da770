"""`python -m dbt_anonymize` is `dbt-anonymize`."""

from dbt_anonymize.cli import app

app(prog_name="dbt-anonymize")
