"""Keys of a linked release: they are unique, lead somewhere, and tell nothing of the source."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.extensions.linked.declared import SUBJECTS, released_key
from dbt_anonymize.extensions.linked.graph import as_bytes
from dbt_anonymize.extensions.linked.verification.expected import (
    KEY,
    NEW_KEY,
    PLACE,
    SUBJECT,
    ExpectedRecords,
    is_kept,
)
from dbt_anonymize.extensions.linked.verification.linked_release import LinkedRelease
from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.finding import Finding

# Random keys exceed so many standard deviations once in 10^8 tables. Few records never do: there no
# order may be the same, which of twelve random keys is as rare.
_STANDARD_DEVIATIONS = 6
_FEWEST_ORDERED = 12
_REMEDY = "Withdraw it, and build decisions and all tables together again."


def key_findings(release: LinkedRelease, name: str) -> Iterator[Finding]:
    """Check the keys of a linked table of the file by themselves."""
    table, relation = release.linked[name], release.released(name)
    key, parent = released_key(name), table.released_parent
    quoted = quote_name(key)
    records, present, different = release.scratch.row(
        f"select count(*), count({quoted}), count(distinct {quoted}) from {relation}"
    )
    message = f"each of {records:,} records has a key of its own."
    if not records == present == different:
        message = (
            f"each record must have a key of its own; {records - present:,} have none, and "
            f"{present - different:,} that of another one. {_REMEDY}"
        )
    yield _finding(release, f"{name}.{key}", records == different, message)
    over = table.over
    to, of = (release.subjects, "subject") if over == SUBJECTS else (release.released(over), over)
    column = quote_name(parent)
    led_to = f"select {as_bytes(column)} from {to} where {column} is not null"
    (orphans,) = release.scratch.row(
        f"select count(*) from {relation} as rows_ where {column} is null or "
        f"{as_bytes(column)} not in ({led_to})"
    )
    message = "each record leads to a row of the file."
    if orphans:
        message = (
            f"each record must lead to a row of the file ({of}); {orphans:,} lead nowhere. "
            f"{_REMEDY}"
        )
    yield _finding(release, f"{name}.{parent}", not orphans, message)
    (misplaced,) = release.scratch.row(
        f"select count(*) from (select {quoted} as current, lag({quoted}) over (order by rowid) "
        f"as earlier from {relation}) where current < earlier or current is null"
    )
    message = "the rows are in the order of their keys."
    if misplaced:
        message = (
            "the rows must be in the order of their keys, so that their order tells nothing else; "
            f"{misplaced:,} are not. {_REMEDY}"
        )
    yield _finding(release, f"{name}, order of rows", not misplaced, message)


def order_finding(expected: ExpectedRecords, name: str) -> Finding:
    """Require new keys whose order is not that of the source, by its keys or its rows."""
    tests = [_follows(expected, name, order) for order in (KEY, PLACE)]
    largest = max(correlation for correlation, _ in tests)
    message = f"new keys do not follow the source (rank correlation {largest:.2f})."
    holds = not any(follows for _, follows in tests)
    if not holds:
        message = (
            "new keys must be in no order of the source; they follow its keys or rows, of all "
            f"records or of each subject (rank correlation {largest:.2f}), which tells whose they "
            f"are. {_REMEDY}"
        )
    return _finding(expected.release, f"{name}, order of keys", holds, message)


def _follows(expected: ExpectedRecords, name: str, order: str) -> tuple[float, bool]:
    """Return the rank correlation of new keys with an order, and whether they follow it.

    Of random keys its variance is 1 / (n - 1). That of the share of n neighbours of one subject
    whose keys ascend is at most 1 / (4 n).
    """
    records, correlation, neighbours, ascending = expected.release.scratch.row(
        "select count(*), corr(new, old), count(earlier), "
        "count(*) filter (where key > earlier) from (select "
        f"{NEW_KEY} as key, row_number() over (order by {NEW_KEY}) as new, "
        f"row_number() over (order by {order}) as old, "
        f"lag({NEW_KEY}) over (partition by {SUBJECT} order by {order}) as earlier "
        f"from {expected.records[name]} where {is_kept()} and {NEW_KEY} is not null)"
    )
    correlation = abs(correlation or 0)
    deviations = (
        correlation * max(0, records - 1) ** 0.5,
        abs(2 * ascending - neighbours) / max(1, neighbours) ** 0.5,
    )
    is_same = records >= _FEWEST_ORDERED and correlation > 1 - 1e-9
    return correlation, is_same or max(deviations) > _STANDARD_DEVIATIONS


def _finding(release: LinkedRelease, subject: str, holds: bool, message: str) -> Finding:
    return Finding("linked", release.name_of(subject), holds, message)
