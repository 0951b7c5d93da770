"""Line at the end of a run without the package that hides cells."""

from __future__ import annotations

from importlib.util import find_spec


def untested() -> str | None:
    """Return that no cells were hidden, or None where the package is installed."""
    if find_spec("pytauargus"):
        return None
    return "NOT TESTED: secondary suppression. Install dbt-anonymize[tables] (pytauargus)."
