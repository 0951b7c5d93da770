"""The check ``aggregates`` of `verify`: of all that was shown, nobody's value follows."""

from __future__ import annotations

from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding

# With fewer, each of two would know the other.
_FEWEST = 3
# Of each class: how many people had not been in one of an earlier release.
_CLASSES = """
with entries as (
    select
        release, cqi, coalesce(person, record_key) as holder,
        min(release) over (partition by record_key) as first_of_record,
        min(release) over (partition by coalesce(person, record_key)) as first_of_holder
    from {relation}
),
classes as (
    select
        release, cqi,
        count(distinct case when least(first_of_record, first_of_holder) = release then holder end)
            as newcomers
    from entries
    group by release, cqi
)
select count(*), count(case when newcomers < {fewest} then 1 end) from classes
"""


def check_remembered(warehouse: Warehouse, spec: Spec) -> list[Finding]:
    """Count who is new in each class that the vault remembers to have shown an aggregate."""
    if spec.mapping == "none":
        return []
    relation = warehouse.find_in_vault(spec.name, "aggregated")
    if relation is None:
        return []
    sql = _CLASSES.format(relation=relation, fewest=_FEWEST)
    ((classes, telling),) = warehouse.rows(sql)
    shown = pluralized(int(classes), "class", "classes")
    message = (
        f"each of {shown} that ever showed a mean, median or mode had {_FEWEST} people or more of "
        "whom none was shown before."
    )
    if telling:
        message = (
            "each class that ever showed a mean, median or mode must have had "
            f"{_FEWEST} people or more of whom none was shown before, since from several of them "
            f"the values of the others may follow; {telling:,} of {shown} had not. Take the later "
            "releases back, and restore the vault from a backup."
        )
    return [Finding("aggregates", relation.identifier, holds=not telling, message=message)]
