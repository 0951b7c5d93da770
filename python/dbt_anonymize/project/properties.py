"""Descriptions of the relations of a spec, from the registry."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.information_loss import MEASURES
from dbt_anonymize.project.about import requirement
from dbt_anonymize.project.descriptions import effort_description
from dbt_anonymize.project.models import (
    context_of,
    models_of,
    read_first,
    relations_of,
    relations_of_effort,
)
from dbt_anonymize.project.steps import Step
from dbt_anonymize.project.templating import expression, text
from dbt_anonymize.relations import GROUPS, MODELS, Relation
from dbt_anonymize.spec import Spec

_LOOP = re.compile(r"([\w, ]+) in (.+)")
Context = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of a relation; a key is unique and never NULL."""

    name: str
    type: str
    text: str
    is_key: bool = False


@dataclass(frozen=True)
class RelationDescription:
    """A relation of a spec; ``number`` is that of its effort."""

    relation: Relation
    name: str
    text: str
    columns: tuple[Column, ...]
    for_custodians: bool = False


def description_context(spec: Spec) -> dict[str, Any]:
    """Return the context of texts and columns of the registry."""
    return {
        **context_of(spec),
        "confidence": f"{100 * spec.quality.confidence:g}" if spec.quality else "",
        "people": "subjects" if spec.subject else "records",
        "loss_measures": MEASURES,
        "effort_description": effort_description,
        "required": ", ".join(map(requirement, spec.guarantees.resolved)),
        "read_first": read_first(spec),
    }


def describe_all(spec: Spec, steps: Collection[Step] = ()) -> Iterator[RelationDescription]:
    """Yield the relations of a spec, those of each effort together."""
    context = description_context(spec)
    relations = relations_of(spec, steps)
    for per, group in itertools.groupby(relations, key=lambda relation: relation.per):
        if per is None:
            yield from (
                describe(relation, name, own)
                for relation in group
                for name, own in models_of(relation, spec, context)
            )
            continue
        for number, effort in spec.built_efforts.items() if spec.efforts else ():
            of_effort = {**context, "number": number, "effort": effort}
            for relation in relations_of_effort(of_effort):
                yield describe(relation, f"{spec.name}_{relation.name}_{number}", of_effort)


def column_names(spec: Spec, name: str) -> list[str]:
    """Return the columns of a relation of a spec, in order."""
    description = describe(MODELS[name], "", description_context(spec))
    return [column.name for column in description.columns]


def describe(relation: Relation, name: str, context: Context) -> RelationDescription:
    """Return a relation with the columns that it has in a context."""
    values = {key: expression(value)(context) for key, value in (relation.values or {}).items()}
    return RelationDescription(
        relation,
        name,
        text(relation.text)(context).strip(),
        tuple(_columns(relation.columns, _UNSET | {**context, **values})),
        bool(expression(relation.custodians)(context)),
    )


# Values that relations may set for the groups of columns that they use.
_UNSET = dict.fromkeys(
    ("numbers", "has_modes", "aggregates", "midpoints", "with_levels", "with_shares", "trees")
)


def _columns(items: Iterable[Any], context: Context) -> Iterator[Column]:
    for item in items:
        if isinstance(item, str):
            yield from _columns(GROUPS[item], context)
        elif "key" in item:
            for column in _columns(GROUPS[item["key"]], context):
                yield Column(column.name, column.type, column.text, is_key=True)
        elif "columns" in item:
            for inner in _contexts(item, context):
                yield from _columns(item["columns"], inner)
        else:
            ((name, (kind, description, *options)),) = item.items()
            if not options or expression(options[0]["if"])(context):
                yield Column(text(name)(context), kind, text(description)(context))


def _contexts(group: Mapping[str, Any], context: Context) -> Iterator[Context]:
    """Yield the context of each turn of a loop (or the only one) where its condition holds."""
    turns: Iterable[Context] = [context]
    if "each" in group:
        names, source = _LOOP.fullmatch(group["each"]).groups()  # type: ignore[union-attr]
        turns = (
            {**context, **_bound(names.split(", "), value), "index": index}
            for index, value in enumerate(expression(source)(context), start=1)
        )
    condition = expression(group.get("if", "true"))
    return (turn for turn in turns if condition(turn))


def _bound(names: list[str], value: Any) -> dict[str, Any]:
    return dict(zip(names, value, strict=True)) if len(names) > 1 else {names[0]: value}
