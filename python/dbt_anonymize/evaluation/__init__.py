"""Train models on every effort of an anonymization and score them on the untouched source.

Importing this package is cheap: scikit-learn, pandas and dbt are imported when they are needed.
"""

from dbt_anonymize.evaluation.outer import evaluate_outer
from dbt_anonymize.evaluation.run import evaluate

__all__ = ["evaluate", "evaluate_outer"]
