"""Whether the released rows are those of the source: none less, none more, none changed.

The vault leads from classes, or tokens, back to the records of the source; with it every released
row is traced. Without a mapping nothing leads back, and only numbers can be compared.
"""

from __future__ import annotations

import math

from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.labels import ROOT
from dbt_anonymize.verify.recomputation.limits import declared
from dbt_anonymize.verify.relations import Released, as_text, source_relation


def check_suppressed(warehouse: Warehouse, spec: Spec, released: Released) -> Finding:
    """Compare how many records are suppressed with the declared limit, as decimal numbers."""
    ((there,),) = released.rows(f"select count(*) from {released.relation}")  # noqa: S608
    source = source_relation(warehouse, spec.source)
    ((records,),) = warehouse.rows(f"select count(*) from {source}")  # noqa: S608
    allowed = math.floor(declared(spec.suppression_limit) * records)
    holds = 0 < there <= records and records - there <= allowed
    message = (
        f"{there:,} of {records:,} records of the source are released; at most {allowed:,} may be "
        "suppressed"
    )
    remedy = "." if holds else ". The source changed since, or the limit did: build again."
    return Finding("guarantees", "suppression_limit", holds, message + remedy)


def check_origin(warehouse: Warehouse, spec: Spec, released: Released) -> Finding:
    """Trace every released row to the source, through the vault.

    Parameters
    ----------
    warehouse : Warehouse
        With vault, source and hierarchies.
    spec : Spec
        The anonymization.
    released : Released
        Its release, attached to the warehouse.

    Returns
    -------
    Finding
        By class (``cqi``): as many rows as the vault has records, with the same kept values, under
        labels that cover the values of all of them: an interval holds them, a category is theirs in
        the hierarchy, and NULL is under `*`. By token: the same for a record of its person.
    """
    subject = "origin"
    if spec.mapping == "none":
        message = "there is no mapping, so that no released row can be traced to the source."
        return Finding("guarantees", subject, None, message)
    by = _by_class if spec.mapping == "class" else _by_token
    (counts,) = released.rows(by(warehouse, spec, released.relation))
    compared, number, values, labels = (int(count or 0) for count in counts)
    unit = "classes" if spec.mapping == "class" else "records"
    if not number and not values and not labels:
        message = f"all of {compared:,} {unit} are those of the source, traced through the vault."
        return Finding("guarantees", subject, True, message)
    message = (
        "the release must hold the rows of the source; of "
        f"{compared:,} {unit} {number:,} are not in both release and vault with as many records, "
        f"{values:,} have other values than the source, and {labels:,} have labels that do not "
        "cover the values of their records. Release, vault, source or hierarchies were changed "
        "since: build again."
    )
    return Finding("guarantees", subject, False, message)


def _by_class(warehouse: Warehouse, spec: Spec, relation: str) -> str:
    """Query of one row: classes; with another number of records; other values; other labels.

    The values of a class are compared by a sum of hashes, which does not depend on the order of its
    rows.
    """
    vault, source, key = _vault_and_source(warehouse, spec)
    rows = f"{vault} as vault inner join {source} as source on vault.{key} = source.{key}"
    released, traced, outside, trees, joins = [], [], ["false"], [], []
    for number, (name, hierarchy) in enumerate(spec.quasi_identifiers.items()):
        column = quote_name(name)
        released.append(f"min({column}) as label_{number}")
        if hierarchy.kind == "interval":
            lower, upper = quote_name(f"{name}_lower"), quote_name(f"{name}_upper")
            released += [f"min({lower}) as lower_{number}", f"max({upper}) as upper_{number}"]
            traced += [
                f"min(source.{column}) as low_{number}",
                f"max(source.{column}) as high_{number}",
                f"count(*) - count(source.{column}) as missing_{number}",
            ]
            outside.append(
                f"low_{number} < lower_{number} or high_{number} > upper_{number} "
                f"or (high_{number} = upper_{number} and lower_{number} < upper_{number}) "
                f"or (missing_{number} > 0 and label_{number} <> '{ROOT}')"
            )
            continue
        trees.append(
            f", foreign_{number} as (select distinct of_class.class from "  # noqa: S608
            f"(select distinct encode(vault.cqi) as class, {as_text(f'source.{column}')} as value "
            f"from {rows} where vault.cqi is not null) as of_class "
            "inner join released on of_class.class = released.class "
            f"left join ({_covered(warehouse, spec, name)}) as tree "
            f"on of_class.value = tree.value and released.label_{number} = tree.label "
            f"where tree.label is null and released.label_{number} <> '{ROOT}')"
        )
        joins.append(f" left join foreign_{number} on released.class = foreign_{number}.class")
        outside.append(f"foreign_{number}.class is not null")
    same = "released.records = traced.records"
    return (
        "with released as ("  # noqa: S608
        f"select encode(cqi) as class, count(*) as records, {_hash(spec, 'rows_')} as hashes"
        f"{_and(released)} from {relation} as rows_ group by encode(cqi)"
        "), traced as ("
        f"select encode(vault.cqi) as class, count(*) as records, {_hash(spec, 'source')} as hashes"
        f"{_and(traced)} from {rows} where vault.cqi is not null group by encode(vault.cqi)"
        f"){''.join(trees)} select count(*), "
        "sum(case when released.records is distinct from traced.records then 1 else 0 end), "
        f"sum(case when {same} and released.hashes <> traced.hashes then 1 else 0 end), "
        f"sum(case when {same} and ({' or '.join(outside)}) then 1 else 0 end) "
        f"from released full outer join traced on released.class = traced.class{''.join(joins)}"
    )


def _by_token(warehouse: Warehouse, spec: Spec, relation: str) -> str:
    """Query of one row: records; without a person; with other values; under other labels."""
    vault, source, key = _vault_and_source(warehouse, spec)
    covered, joins = ["true"], []
    for number, (name, hierarchy) in enumerate(spec.quasi_identifiers.items()):
        column, label = f"source.{quote_name(name)}", f"rows_.{quote_name(name)}"
        if hierarchy.kind == "interval":
            lower, upper = (f"rows_.{quote_name(f'{name}_{end}')}" for end in ("lower", "upper"))
            covered.append(
                f"(({column} is null and {label} = '{ROOT}') or ({column} >= {lower} "
                f"and ({column} < {upper} or {column} = {lower})))"
            )
            continue
        joins.append(
            f" left join ({_covered(warehouse, spec, name)}) as tree_{number} "
            f"on {as_text(column)} = tree_{number}.value and {label} = tree_{number}.label"
        )
        covered.append(f"({label} = '{ROOT}' or tree_{number}.label is not null)")
    same = [
        f"source.{quote_name(name)} is not distinct from rows_.{quote_name(name)}"
        for name in spec.kept_columns
    ]
    is_known = "source.token is not null"
    is_same = " and ".join([is_known, *same])
    return (
        "with matched as ("  # noqa: S608
        f"select rows_.records, max(case when {is_known} then 1 else 0 end) as is_known, "
        f"max(case when {is_same} then 1 else 0 end) as is_same, "
        f"max(case when {is_same} and {' and '.join(covered)} then 1 else 0 end) as is_covered "
        # A source has no columns `token` and `records`: they are names of ours.
        f"from (select *, row_number() over () as records from {relation}) as rows_ "
        f"left join (select vault.token, source.* "
        f"from {vault} as vault inner join {source} as source on vault.{key} = source.{key}) "
        f"as source on encode(rows_.token) = encode(source.token){''.join(joins)} "
        "group by rows_.records"
        ") select count(*), sum(1 - is_known), sum(is_known - is_same), sum(is_same - is_covered) "
        "from matched"
    )


def _covered(warehouse: Warehouse, spec: Spec, name: str) -> str:
    """Query of the labels of each value of a categorical hierarchy, its own text among them."""
    hierarchy = spec.quasi_identifiers[name]
    tree = warehouse.relation_of_ref(hierarchy.ref)
    value = as_text("value")
    labels = ["value", *(f"level_{level}" for level in range(1, hierarchy.levels + 1))]
    return " union ".join(
        f"select {value} as value, {as_text(label)} as label from {tree}"  # noqa: S608
        for label in labels
    )


def _vault_and_source(warehouse: Warehouse, spec: Spec) -> tuple[str, str, str]:
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    source = source_relation(warehouse, spec.source)
    return str(vault), str(source), quote_name(spec.record_key)


def _hash(spec: Spec, rows: str) -> str:
    if not spec.kept_columns:
        return "0"
    # Texts: whether a number is kept as an integer or as a decimal says nothing.
    columns = ", ".join(f"cast({rows}.{quote_name(name)} as varchar)" for name in spec.kept_columns)
    return f"sum(cast(hash({columns}) as hugeint))"


def _and(columns: list[str]) -> str:
    return "".join(f", {column}" for column in columns)
