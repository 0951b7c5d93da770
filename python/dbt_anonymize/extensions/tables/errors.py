"""The error of tables of counts and sums."""

from __future__ import annotations

from dbt_anonymize.errors import AnonymizeError


class TableError(AnonymizeError, ValueError):
    """A table of counts or sums cannot be read, protected or audited as declared."""


class UnknownLabelError(TableError):
    """A table with labels that its hierarchies do not give."""


class NotAdditiveError(TableError):
    """A table whose totals are no sums, since people are in several cells."""
