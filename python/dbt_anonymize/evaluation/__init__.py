"""Train models on every effort of an anonymization and score them on the untouched source.

Importing this package imports nothing: its functions are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt_anonymize.evaluation.outer import evaluate_outer
    from dbt_anonymize.evaluation.run import evaluate

__all__ = ["evaluate", "evaluate_outer"]


def __getattr__(name: str) -> object:
    """Import a function."""
    if name not in __all__:
        raise AttributeError(name)
    module = {"evaluate": "run", "evaluate_outer": "outer"}[name]
    return getattr(import_module(f"{__name__}.{module}"), name)
