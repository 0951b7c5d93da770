"""Train models on every effort of an anonymization and score them on the untouched source.

Importing this package imports nothing: its functions are imported on first use.
"""

from importlib import import_module
from typing import Any

_MODULES = {"evaluate": "run", "evaluate_outer": "outer"}


def __getattr__(name: str) -> Any:
    """Import a function."""
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
