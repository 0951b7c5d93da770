"""Where every released value comes from, proved over the SQL that is compiled.

Nothing of sqlglot's own lineage is used: it is silent about filters, subqueries and whole rows.
What is here follows every value and every clause itself, over the forms of SQL that it knows, and
rejects whatever else comes.
"""

from dbt_anonymize.verify.lineage.check import check_lineage, lineage_findings
from dbt_anonymize.verify.lineage.compiled import Models, Node, compile_models

__all__ = ["Models", "Node", "check_lineage", "compile_models", "lineage_findings"]
