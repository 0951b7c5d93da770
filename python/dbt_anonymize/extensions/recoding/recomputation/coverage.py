"""Check that the labels of a recoding cover the values of their records."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_anonymize.extensions.recoding.recomputation.covering import covers
from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.recomputation.expected import Expected


def uncovered(expected: Expected) -> int:
    """Count the records with labels in the effort that its recoding cannot give.

    Local recoding: all labels and bounds of a record are those of one round. Cell suppression: each
    is that of the base level, or the root; of an aggregate only the bounds. Other recodings, and
    frozen ones: each covers the value of the record, and is a label of the hierarchy or a union of
    leaves. `wrong_means`, `wrong_modes` and `wrong_aggregates` judge other labels.
    """
    effort = expected.spec.numbered_efforts[expected.number]
    key, joins = quote_name(expected.spec.record_key), []
    if effort.levels is not None and not expected.frozen:
        lookups = list(expected.lookups(effort.levels, "base"))
        joins = [lookup.join for lookup in lookups]
        cells = []
        for lookup, generalization in zip(lookups, expected.generalizations.values(), strict=True):
            known = {n: sql for n, sql in lookup.columns.items() if n not in effort.aggregates}
            same = _all_equal(known)
            root = _all_equal(generalization.root)
            cells.append(f"(({same}) or ({root}))")
        condition = " and ".join(cells)
    elif expected.frozen or not effort.vectors:
        condition = " and ".join(
            covers(
                generalization,
                f"rows_.{quote_name(name)}",
                has_means=effort.has_means,
                has_modes=effort.has_modes,
            )
            for name, generalization in expected.generalizations.items()
        )
    else:
        rounds = []
        for number, levels in enumerate(effort.vectors):
            lookups = list(expected.lookups(levels, f"round_{number}"))
            joins += [lookup.join for lookup in lookups]
            same = " and ".join(_all_equal(lookup.columns) for lookup in lookups)
            rounds.append(f"({same})")
        condition = " or ".join(rounds)
    tables = expected.tables
    ((records,),) = tables.rows(
        f"select count(*) from {expected.source} as rows_ "  # noqa: S608
        f"left join {tables.effort} as effort on rows_.{key} = effort.{key} "
        f"{' '.join(joins)} where ({condition}) is not true"
    )
    return int(records)


def _all_equal(columns: Mapping[str, str]) -> str:
    """Return the condition that an effort has these values in its columns."""
    return (
        " and ".join(f"effort.{quote_name(name)} = {sql}" for name, sql in columns.items())
        or "true"
    )
