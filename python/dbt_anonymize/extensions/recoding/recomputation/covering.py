"""Conditions that labels of a recoding cover a value, and are labels that it may give."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.verify.recomputation.labels import ROOT, Generalization


def covers(
    tree: Generalization, value: str, *, has_means: bool = False, has_modes: bool = False
) -> str:
    """Return the condition that label and bounds of a row of ``effort`` cover a value.

    With ``has_means`` only the bounds of an interval are judged; with ``has_modes`` a category
    may be any leaf too.
    """
    label = f"effort.{quote_name(tree.name)}"
    raw = f"{label} = {tree.text(value)}"
    if not tree.is_interval:
        levels = (quote_name(f"level_{n}") for n in range(1, tree.hierarchy.levels + 1))
        labels = " union all ".join(
            f"select {tree.text('value')} as key, {tree.text(column)} as label from {tree.relation}"
            for column in levels
        )
        is_label = f"({tree.text(value)}, {label}) in ({labels})"
        if has_modes:
            leaves = f"select {tree.text('value')} from {tree.relation}"
            is_label = f"({is_label} or {label} in ({leaves}))"
        return f"({label} = '{ROOT}' or ({value} is not null and ({raw} or {is_label})))"
    lower, upper = (f"effort.{quote_name(name)}" for name in tree.columns[1:])
    is_label = is_hierarchy_label(tree)
    if has_means:
        is_label = " and ".join(
            f"{bound} in (select {end} from {tree.relation})"
            for bound, end in ((lower, "lower_bound"), (upper, "upper_bound"))
        )
    whole = " and ".join(
        f"{bound} = (select {end} from {tree.relation})"
        for bound, end in ((lower, "min(lower_bound)"), (upper, "max(upper_bound)"))
    )
    return (
        f"(({label} = '{ROOT}' and {whole}) or ({value} = {lower} and {value} = {upper} "
        f"and {raw}) or ({value} >= {lower} and {value} < {upper} and ({is_label})))"
    )


def is_hierarchy_label(tree: Generalization) -> str:
    """Return the condition that an interval of ``effort`` has a label of its hierarchy.

    Or joins leaves: a union of neighbouring ones is written as their ends.
    """
    label, lower, upper = (f"effort.{quote_name(name)}" for name in tree.columns)
    spans = " union ".join(tree.spans(level) for level in range(1, tree.hierarchy.levels + 1))
    is_merged = _is_merged(tree, label, lower, upper)
    return f"({label}, {lower}, {upper}) in ({spans}) or {is_merged}"


def _is_merged(tree: Generalization, label: str, lower: str, upper: str) -> str:
    """Return the condition of a union of leaves, labelled by its ends or by joined labels.

    Labels of leaves that are no intervals are joined: 05-09 and 10 to 05-10, 2024-Q1 and
    2024-Q3 to 2024-Q1 - 2024-Q3.
    """
    ends = []
    for group, (bound, end) in enumerate(((lower, "lower_bound"), (upper, "upper_bound")), 1):
        leaf = _side(tree.text("level_1"), group)
        texts = f"select {end}, unnest([{tree.text(end)}, {leaf}]) from {tree.relation}"
        ends.append(f"({bound}, {_side(label, group)}) in ({texts})")
    is_interval = f"({label} similar to '\\[.*, .*\\)' and {' and '.join(ends)})"
    first, last = (
        f"(select {tree.text('min(level_1)')} from {tree.relation} where {end} = {bound})"
        for bound, end in ((lower, "lower_bound"), (upper, "upper_bound"))
    )
    return f"({is_interval} or {label} in ({', '.join(_joined_labels(first, last))}))"


def _side(label: str, number: int) -> str:
    """Return SQL of the lower (1) or upper (2) end of a label [lower, upper), else empty."""
    parts = quote_text(r"^\[(.*?), (.*)\)$")
    return f"regexp_extract({label}, {parts}, {number})"


def _joined_labels(first: str, last: str) -> Iterator[str]:
    """Yield SQL of the joined labels of two leaves, NULL where the form does not apply."""
    number = quote_text("[0-9]+(-[0-9]+|[+])?")
    are_numbers = " and ".join(f"{leaf} similar to {number}" for leaf in (first, last))
    end = f"case when {last} like '%+' then '+' else '-' || regexp_extract({last}, '[0-9]+$') end"
    yield f"case when {are_numbers} then regexp_extract({first}, '^[0-9]+') || {end} end"
    upper = _side(last, 2)
    yield f"case when {first} = '0' and {upper} <> '' then '[0, ' || {upper} || ')' end"
    yield f"{first} || ' - ' || {last}"
