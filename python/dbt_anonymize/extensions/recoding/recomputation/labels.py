"""Labels that cannot be looked up at fixed levels, and what is shown in their place."""

from __future__ import annotations

from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.recomputation.canonical import normalize
from dbt_anonymize.verify.recomputation.expected import SHOWN, Expected
from dbt_anonymize.verify.recomputation.labels import ROOT, Lookup, joined


def labels_of(expected: Expected) -> Lookup:
    """Return the lookup of the labels of an effort, and of the aggregates that it shows of them.

    Labels of a frozen recoding are those of the committed seed; others that differ per record are
    read from the effort, by record key.
    """
    if expected.frozen:
        placed: Lookup = expected.frozen.labels
        return placed
    spec, tables = expected.spec, expected.tables
    effort = spec.numbered_efforts[expected.number]
    key = quote_name(spec.record_key)
    join = f"left join {tables.effort} as effort on rows_.{key} = effort.{key}"
    shown = {SHOWN + name: f"effort.{quote_name(name)}" for name in effort.aggregates}
    base = joined(expected.lookups(effort.levels or {}, "base")) if shown else Lookup("", {})
    if effort.is_full_domain:
        return joined([base, Lookup(join, shown)])
    types = tables.types(f"select * from {tables.effort}")  # noqa: S608
    labels = {
        name: normalize(f"effort.{quote_name(name)}", types[name])
        for name in spec.generalized_columns
    }
    for name in effort.aggregates.keys() & base.columns.keys():
        label = labels[name]
        labels[name] = f"case when {label} = '{ROOT}' then '{ROOT}' else {base.columns[name]} end"
    return Lookup(f"{join} {base.join}", labels | shown)
