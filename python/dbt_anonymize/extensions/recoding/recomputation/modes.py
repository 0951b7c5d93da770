"""Check that modes of released groups are correct and reveal no single value."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dbt_anonymize.extensions.recoding.recomputation.covering import covers
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.labels import Generalization
from dbt_anonymize.verify.recomputation.tables import Tables


def wrong_modes(tables: Tables, spec: Spec, source: str, generalization: Generalization) -> int:
    """Count the classes whose category is neither a label over all their values nor a mode."""
    name, key = quote_name(generalization.name), quote_name(spec.record_key)
    columns = ", ".join(f"effort.{quote_name(c)}" for c in spec.generalized_columns)
    value = f"rows_.{name}"
    is_covered = covers(generalization, value)
    members = (
        f"(select row({columns}) as class, rows_.{quote_name(spec.person_column)} as holder, "
        f"{tables.text(value)} as v, effort.{name} as label, "
        f"({is_covered}) is true as is_covered from {source} as rows_ "
        f"inner join {tables.effort} as effort on rows_.{key} = effort.{key})"
    )
    return judge_modes(tables, members)


def judge_modes(tables: Tables, members: str, *, is_label: bool = True) -> int:
    """Count the classes whose label is neither of all their records nor a mode.

    ``members`` are records with ``class``, ``holder``, value ``v``, ``label``, and ``is_covered``
    where the label is one. A mode is a value of the class that no other outnumbers; a class with
    NULL has none. It is allowed if without the records of any one holder (subject, or record) the
    others still have two values. Without ``is_label`` members are a part of the class, and only
    this counts.
    """
    # The number of records with a value, and their holder if there is only one.
    counted = (
        "(select class, v, max(label) as label, count(*) as n, "
        "case when count(distinct holder) = 1 then any_value(holder) end as sole "
        f"from {members} as members group by class, v)"
    )
    alone = (
        "(select class, max(n) as n from (select class, sole, count(*) as n "
        f"from {counted} as counted where sole is not null group by class, sole) as soles "
        "group by class)"
    )
    judged = (
        "(select counted.class, count(*) as different, max(n) as most, "
        "max(n) filter (where v = label) as own, count(*) filter (where v is null) as missing "
        f"from {counted} as counted group by class)"
    )
    covered = (
        "(select class, bool_and(is_covered) as is_covered "
        f"from {members} as members group by class)"
    )
    is_wrong = "(missing = 0 and different - coalesce(alone.n, 0) >= 2) is not true"
    if is_label:
        is_wrong = f"not is_covered and ({is_wrong} or (own = most) is not true)"
    ((wrong,),) = tables.rows(
        f"select count(*) from {judged} as judged inner join {covered} as covered using (class) "
        f"left join {alone} as alone using (class) where {is_wrong}"
    )
    return int(wrong)
