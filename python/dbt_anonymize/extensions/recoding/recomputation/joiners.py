"""Check that aggregates of classes do not tell of those who are new, beside all that were shown."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dbt_anonymize.verify.recomputation.tables import Tables

# With fewer, each of two would know the other.
_FEWEST = 3


def shown_anew(tables: Tables, members: str, key: str) -> str:
    """Return the query of the members of classes that show something new.

    ``members`` are records with ``class``, ``key`` and ``holder``; ``key`` is the record key of the
    effort.
    """
    return (
        f"(select * from {members} as members where key in "
        f"(select {tables.text(key)} from {tables.effort} where equivalence_class in "
        f"(select equivalence_class from {tables.aggregates} where is_new)))"
    )


def newcomers(tables: Tables, members: str) -> str:
    """Return the query of the members who are new.

    Nobody of them was in a class with an aggregate, in any release with which the build compared:
    neither she nor her record.
    """
    earlier = (
        f"(select * from {tables.aggregated} where release <= "
        f"(select max(compared_releases) from {tables.aggregates}))"
    )
    return (
        f"(select * from {members} as members "
        f"where key not in (select record_key from {earlier} as earlier) "
        f"and coalesce({tables.text('holder')} not in "
        f"(select person from {earlier} as earlier where person is not null), true))"
    )


def classes_with_few(tables: Tables, members: str, new: str) -> int:
    """Count the classes of members with fewer than three who are new."""
    ((classes,),) = tables.rows(
        f"select count(*) from (select distinct class from {members} as members) as shown "
        f"left join (select class, count(distinct holder) as holders from {new} as new "
        f"group by class) as counted using (class) where coalesce(holders, 0) < {_FEWEST}"
    )
    return int(classes)
