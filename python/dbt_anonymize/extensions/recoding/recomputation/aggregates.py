"""Check that aggregates shown for labels are correct, and reveal no single value."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dbt_anonymize.extensions.recoding.recomputation.joiners import (
    classes_with_few,
    newcomers,
    shown_anew,
)
from dbt_anonymize.extensions.recoding.recomputation.means import (
    Numbers,
    judge_means,
    unit_of_numbers,
)
from dbt_anonymize.extensions.recoding.recomputation.modes import judge_modes
from dbt_anonymize.literals import quote_name
from dbt_anonymize.validation import ShownLevel
from dbt_anonymize.verify.recomputation.expected import SHOWN, Expected
from dbt_anonymize.verify.recomputation.labels import Generalization
from dbt_anonymize.verify.recomputation.tables import Tables


def wrong_aggregates(expected: Expected) -> int:
    """Count the classes that show neither their label nor an allowed aggregate of their records.

    Classes are those of labels, which are computed anew.
    """
    wrong = 0
    tables, key = expected.tables, quote_name(expected.spec.record_key)
    for name, declared in expected.spec.numbered_efforts[expected.number].aggregates.items():
        generalization = expected.generalizations[name]
        members = _members(expected, name)
        shown = f"(select * from {members} as members where not is_covered)"
        wrong += _differently_shown(expected, members)
        wrong += _judge(tables, shown, generalization, declared)
        if tables.aggregated and tables.aggregates:
            anew = shown_anew(tables, shown, key)
            new = newcomers(tables, anew)
            wrong += classes_with_few(tables, anew, new)
            wrong += _judge(tables, new, generalization, declared, is_label=False)
    return wrong


def _judge(
    tables: Tables,
    members: str,
    generalization: Generalization,
    declared: ShownLevel,
    *,
    is_label: bool = True,
) -> int:
    if declared.show == "mode":
        return judge_modes(tables, members, is_label=is_label)
    numbers = Numbers(members, unit_of_numbers(generalization))
    share = declared.least_percent / 100
    return judge_means(tables, numbers, declared.show, share, is_label=is_label)


def _members(expected: Expected, name: str) -> str:
    """Return the query of the records of a sample, with value, label and bounds of a column."""
    spec, tables = expected.spec, expected.tables
    generalization = expected.generalizations[name]
    value, shown = f"source.{quote_name(name)}", f"rows_.{quote_name(SHOWN + name)}"
    label, key = f"rows_.{quote_name(name)}", quote_name(spec.record_key)
    labels = ", ".join(f"rows_.{quote_name(one)}" for one in spec.quasi_identifiers)
    columns = f"{tables.text(value)} as v, {shown} as label"
    if generalization.is_interval:
        lower, upper = (f"rows_.{quote_name(bound)}" for bound in generalization.columns[1:])
        columns = (
            f"cast({value} as double) as v, try_cast({shown} as double) as label, "
            f"cast({lower} as double) as lo, cast({upper} as double) as hi"
        )
    return (
        f"(select row({labels}) as class, {tables.text(f'source.{key}')} as key, "
        f"source.{quote_name(spec.person_column)} as holder, {columns}, {shown} as shown, "
        f"{shown} is not distinct from {label} as is_covered "
        f"from {expected.sampled} as rows_ "
        f"inner join {expected.source} as source on rows_.{key} = source.{key})"
    )


def _differently_shown(expected: Expected, members: str) -> int:
    """Count the classes whose records do not all show the same."""
    ((classes,),) = expected.tables.rows(
        f"select count(*) from (select class from {members} as members group by class "
        "having count(distinct shown) <> 1) as classes"
    )
    return int(classes)
