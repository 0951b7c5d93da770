"""Train models on every effort of an anonymization and score them on the untouched source.

Importing this package imports nothing: its functions are imported on first use.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt_anonymize.evaluation.outer import evaluate_outer
    from dbt_anonymize.evaluation.run import evaluate

__all__ = ["evaluate", "evaluate_outer"]


def __getattr__(name: str) -> object:
    """Import a function."""
    if name == "evaluate":
        from dbt_anonymize.evaluation.run import evaluate  # noqa: PLC0415

        return evaluate
    if name == "evaluate_outer":
        from dbt_anonymize.evaluation.outer import evaluate_outer  # noqa: PLC0415

        return evaluate_outer
    raise AttributeError(name)
