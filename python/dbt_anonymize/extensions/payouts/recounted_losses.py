"""Losses of the labels of each class, by SQL of its own."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.recomputation.counts import Classes
from dbt_anonymize.verify.recomputation.labels import ROOT, Generalization


def losses_of_classes(
    classes: Classes,
    generalizations: Mapping[str, Generalization],
    vectors: Sequence[Mapping[str, int]],
) -> NDArray[Any]:
    """Return the loss of each class, 0 to 1, in the order of the classes.

    It is the logarithm of the number of combinations of leaves that the labels cover, relative to
    that of all. ``vectors`` are the levels that records may have (none: all); a label that covers
    different leaves at several of them counts with the most.
    """
    keys = ", ".join(classes.keys)
    covered = np.zeros(len(classes.sizes()))
    domain = 0.0
    for name, generalization in generalizations.items():
        levels = {vector[name] for vector in vectors} or range(generalization.hierarchy.levels + 1)
        share, join = _share(classes, generalization, sorted(levels))
        # A label of no level counts as everything.
        shares = classes.tables.numbers(
            f"select cast(coalesce(max({share}), 1) as double) as counted "
            f"from {classes.relation} {join} group by {keys} order by {keys}"
        )["counted"]
        ((leaves,),) = classes.tables.rows(f"select count(*) from {generalization.relation}")
        covered += np.log(np.maximum(shares * leaves, 1.0))
        domain += float(np.log(leaves))
    return covered / domain if domain else covered


def _share(
    classes: Classes, generalization: Generalization, levels: Sequence[int]
) -> tuple[str, str]:
    """Return SQL of the share of the hierarchy that the label of a row covers, and its join."""
    label, relation = f"rows_.{quote_name(generalization.name)}", generalization.relation
    if generalization.is_interval:
        kind = classes.tables.types(f"select lower_bound from {relation}")["lower_bound"]

        def number(bound: str) -> str:
            is_time = kind.upper().startswith(("DATE", "TIMESTAMP"))
            return f"epoch({bound})" if is_time else f"cast({bound} as double)"

        lower, upper = (f"rows_.{quote_name(name)}" for name in generalization.columns[1:])
        whole = f"{number('max(upper_bound)')} - {number('min(lower_bound)')}"
        width = f"({number(upper)} - {number(lower)}) / (select {whole} from {relation})"
        return f"case when {label} = '{ROOT}' then 1 else {width} end", ""
    named = (quote_name(f"level_{level}") if level else "value" for level in levels)
    counted = " union all ".join(
        f"select {classes.tables.text(column)} as label, count(*) as leaves from {relation} "
        f"group by {classes.tables.text(column)}"
        for column in named
    )
    join = (
        "left join (select label as the_label, max(leaves) as covered_leaves "
        f"from ({counted}) as counted group by label) as tree on {label} = tree.the_label"
    )
    whole = f"(select count(*) from {relation})"
    share = f"cast(tree.covered_leaves as double) / {whole}"
    return f"case when {label} = '{ROOT}' then 1 else {share} end", join
