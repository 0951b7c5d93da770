"""Rules about a source that is built in parts: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.draft import RawSpec, text, unknown_column
from dbt_anonymize.spec.problems import Problem

# What says in the records from which state of their partition they are.
PARTITION_DIGEST = "partition_digest"


def _partitions_are_of_a_column(draft: RawSpec) -> Iterator[Problem]:
    name, roles = _partition_by(draft), draft.roles
    if name is None or roles is None:
        return
    if name == draft.record_key or roles.get(name) in {"identifier", "masked"}:
        yield Problem(
            ("partition_by",),
            "must not be the record key or an identifier: a partition of one record is none",
            "Name a column that many records share, such as a month.",
            name,
        )
    elif name not in roles:
        yield unknown_column(("partition_by",), name, draft)
    for column in roles:
        if column.casefold() == PARTITION_DIGEST:
            yield Problem(
                ("columns", column),
                f"must not be {PARTITION_DIGEST} beside partition_by: we add a column of this name",
                "Rename the column in a model before.",
                column,
            )


def _partitions_have_records_of_their_own(draft: RawSpec) -> Iterator[Problem]:
    """Refuse a subject: its number is made anew of all partitions together."""
    name = _partition_by(draft)
    if name is not None and draft.subject is not None:
        yield Problem(
            ("partition_by",),
            "must not be declared beside a subject: people are numbered over all partitions, so "
            "that those which are there would have other numbers",
            "Remove it, or the subject.",
            name,
        )


def _partition_by(draft: RawSpec) -> str | None:
    return text(draft.raw.get("partition_by"))


RULES = (_partitions_are_of_a_column, _partitions_have_records_of_their_own)
