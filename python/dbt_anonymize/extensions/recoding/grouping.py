"""Grouped recoding: microaggregation and clustering release what is common to each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import RecodingError
from dbt_anonymize.extensions.recoding.judging import Judge
from dbt_anonymize.extensions.recoding.mdav import mdav
from dbt_anonymize.extensions.recoding.merging import merged_groups
from dbt_anonymize.extensions.recoding.multidimensional import labels_of_parts, mondrian_parts
from dbt_anonymize.extensions.recoding.optimum import optimal_groups
from dbt_anonymize.extensions.recoding.records import Records, Source
from dbt_anonymize.extensions.recoding.released_groups import released_labels
from dbt_anonymize.extensions.recoding.systematic import systematic_clusters
from dbt_anonymize.extensions.recoding.tuples import Category, Number, Tuples
from dbt_anonymize.privacy.grouping import distinct_rows

if TYPE_CHECKING:
    import duckdb

# Most pairs of a group and a distinct record: half an hour or more on one core.
MOST_COMPARED = 200_000_000_000
Method = Literal["mdav", "optimal", "systematic", "mondrian"]


class Options(TypedDict, total=False):
    """Further ways of finding groups: `passes` and `halve` are of systematic clusters alone."""

    passes: int
    halve: bool
    # Groups that break a guarantee are merged with others.
    merge: bool


def grouped_recoding(
    source: Source,
    *,
    method: Method,
    least: int = 1,
    numbers: Literal["mean", "median", "interval"] = "mean",
    p_percent: float = 10,
    categories: Literal["ancestor", "mode"] = "ancestor",
    **options: Unpack[Options],
) -> duckdb.DuckDBPyRelation:
    """Return one row per record: the released labels of its group.

    ``method``: mondrian forms groups that keep the guarantees; the others form groups of ``least``
    records or more by quasi-identifiers alone: mdav; optimal for one interval; systematic. Numbers
    are released as mean, median or interval, categories as the lowest label that covers the group,
    or its mode.
    """
    records = Records.read(source, by_value=source.names)
    if method == "mondrian":
        parts = mondrian_parts(records)
    else:
        parts = groups_of(records, method, least, **options)
    labels, classes = released_labels(
        *(records, parts, labels_of_parts(records, parts)),
        numbers=numbers,
        p_percent=p_percent,
        categories=categories,
    )
    return records.recoded(labels, [parts] * len(labels), classes)


def groups_of(records: Records, method: Method, least: int, **options: Unpack[Options]) -> Ints:
    """Group similar tuples of quasi-identifiers; return the group of each row, from 0."""
    if not len(records):
        return np.zeros(0, dtype=np.int64)
    tuples, tuple_of_row = distinct_tuples(records)
    if method != "optimal":
        check_size(len(tuples), least, method)
    if method == "systematic":
        passes, halve = options.get("passes", 1), options.get("halve", False)
        groups = systematic_clusters(tuples, least, passes=passes, halve=halve)
    else:
        groups = (_optimal_grouping if method == "optimal" else mdav)(tuples, least)
    if options.get("merge"):
        groups = merged_groups(tuples, groups, tuple_of_row, Judge.of(records).violating)
    return groups[tuple_of_row]


def check_size(tuples: int, least: int, method: Method) -> None:
    """Refuse tables that would take hours: each group is compared with all remaining tuples."""
    most = int((MOST_COMPARED * least) ** 0.5)
    if tuples > most:
        raise RecodingError(
            f"{method} compares each group with all that are left, and takes at most {most} "
            f"distinct records where groups have {least}; got {tuples}. Use microaggregation with "
            "method: mondrian, or coarser values."
        )


def distinct_tuples(records: Records) -> tuple[Tuples, Ints]:
    """Return the distinct tuples of quasi-identifiers, and the one of each row.

    They are in the order of the quasi-identifiers: numbers ascending, categories as in their
    hierarchy, NULL last.
    """
    keys = []
    for codes, numbers, leaves in zip(records.codes, records.numbers, records.leaves, strict=True):
        rank = codes if numbers is None else np.unique(numbers, return_inverse=True)[1] + 1
        keys.append(np.where(codes == 0, max(len(leaves), int(rank.max())) + 1, rank))
    first, tuple_of_row = distinct_rows(keys)
    order = np.lexsort([key[first] for key in reversed(keys)])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first, tuple_of_row = first[order], place[tuple_of_row]
    attributes: list[Number | Category] = []
    for codes, numbers, leaves in zip(records.codes, records.numbers, records.leaves, strict=True):
        if numbers is not None and leaves.bounds:
            lower, upper = leaves.bounds
            attributes.append(Number((numbers[first] - lower[0]) / (upper[-1] - lower[0])))
        else:
            null = np.full((leaves.height, 1), -1, dtype=np.int64)
            tree = np.hstack([leaves.labels[: leaves.height], null])
            attributes.append(Category(np.where(codes == 0, len(leaves), codes - 1)[first], tree))
    counts = np.bincount(tuple_of_row, weights=records.table.records).astype(np.int64)
    return Tuples(attributes, counts), tuple_of_row


def _optimal_grouping(tuples: Tuples, k: int) -> Ints:
    (number, *further) = tuples.attributes
    if further or not isinstance(number, Number):
        raise RecodingError(
            "method optimal must have one quasi-identifier, a number or a date; got "
            f"{1 + len(further)}. Use mdav."
        )
    is_value = ~np.isnan(number.numbers)
    groups = np.zeros(len(tuples), dtype=np.int64)
    if is_value.any():
        groups[is_value] = optimal_groups(number.numbers[is_value], tuples.counts[is_value], k)
    if tuples.counts[~is_value].sum() >= k:
        groups[~is_value] = groups[is_value].max(initial=-1) + 1
    return groups
