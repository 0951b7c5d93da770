"""Its key of the spec, and a rule about it."""

from dbt_anonymize.spec.problems import Problem
from dbt_anonymize.validation import Strict


class Keys(Strict):
    """Keys of the spec."""

    head_count: str | None = None
    """Name of the column of `<n>_head_count`."""


class Note(Strict):
    """A key of parts of the spec."""

    heads_note: str | None = None
    """Text to remember."""


def _names_no_column(draft):
    if draft.raw.get("head_count") in (draft.roles or {}):
        yield Problem(("head_count",), "must be no column of the source", "Write another name.")


RULES = (_names_no_column,)
