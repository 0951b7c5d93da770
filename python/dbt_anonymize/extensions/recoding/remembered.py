"""The check ``aggregates`` of `verify`: no two that were released tell who joined between them."""

from __future__ import annotations

from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding

# Of two who joined together, each would compute the other's value.
_FEWEST = 3
# Of every two classes of different releases: who is in one alone, and whether both show the same.
# So many people as a class must have may not be in one of other labels as well.
_PAIRS = """
with entries as (
    select release, cqi, record_key, coalesce(person, record_key) as holder, aggregates
    from {relation}
),
sizes as (
    select release, cqi, max(aggregates) as aggregates, count(distinct holder) as holders
    from entries
    group by release, cqi
),
shared as (
    select
        one.release as earlier, one.cqi as earlier_cqi, other.release as later,
        other.cqi as later_cqi, count(distinct one.holder) as earlier_holders,
        count(distinct other.holder) as later_holders
    from entries as one
    inner join entries as other
        on one.record_key = other.record_key and one.release < other.release
    group by one.release, one.cqi, other.release, other.cqi
),
pairs as (
    select
        one.holders - shared.earlier_holders as gone,
        other.holders - shared.later_holders as joined,
        one.cqi <> other.cqi and shared.later_holders >= {most} as are_shared,
        one.aggregates <> other.aggregates as differ
    from shared
    inner join sizes as one on shared.earlier = one.release and shared.earlier_cqi = one.cqi
    inner join sizes as other on shared.later = other.release and shared.later_cqi = other.cqi
)
select
    (select count(*) from sizes),
    (
        select count(*) from pairs
        where ({differing} < {fewest} or are_shared) and (gone + joined > 0 or differ)
    )
"""


def check_remembered(warehouse: Warehouse, spec: Spec) -> list[Finding]:
    """Compare the aggregates of all releases that the vault remembers, two by two."""
    if spec.mapping == "none":
        return []
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    relation = vault.incorporate(path={"identifier": f"{spec.name}_aggregated"}, type="table")
    if warehouse.find(relation) is None:
        return []
    differing = "greatest(gone, joined)" if spec.subject else "gone + joined"
    fewest = max(spec.largest_k, _FEWEST)
    most = max(effort.k or spec.largest_k for effort in spec.numbered_efforts.values())
    sql = _PAIRS.format(relation=relation, differing=differing, fewest=fewest, most=most)
    ((classes, close),) = warehouse.rows(sql)
    message = (
        f"no two of {pluralized(int(classes), 'class', 'classes')} that ever showed a mean, median "
        f"or mode differ by fewer than {fewest}, or share {most} people under other labels."
    )
    if close:
        message = (
            "no two classes that showed a mean, median or mode may differ by fewer than "
            f"{fewest}, or share {most} people under other labels, unless both showed the same of "
            f"the same people, or a value follows; pairs that do: {close:,}. Take the later "
            "releases back, and restore the vault from a backup."
        )
    return [Finding("aggregates", relation.identifier, holds=not close, message=message)]
