"""The models that an anonymization has: the names of their templates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dbt_anonymize.project.steps import Step
from dbt_anonymize.project.templating import expression
from dbt_anonymize.relations import MODELS, Relation
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.details import chosen_details


def context_of(spec: Spec) -> dict[str, Any]:
    """Return the context of the registry's expressions; without efforts nothing is evaluated."""
    is_evaluated = bool(spec.efforts) and not spec.is_frozen
    return {"spec": spec, "quality": spec.quality if is_evaluated else None}


def relations_of(spec: Spec, steps: Collection[Step] = ()) -> list[Relation]:
    """Return the relations of a spec, with all that efforts may have; ``steps`` run as commands."""
    context, details = {**context_of(spec), "steps": steps}, chosen_details(spec.details)
    return [
        relation
        for name, relation in MODELS.items()
        if relation.per
        or ((not relation.detail or name in details) and expression(relation.condition)(context))
    ]


def models_of(
    relation: Relation, spec: Spec, context: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name of each model of a relation that is not of efforts, and its context.

    A relation with ``each`` has a model for each name of that mapping, which ``part`` is in its
    context.
    """
    own = f"{spec.name}_{relation.name}"
    if relation.each is None:
        yield own, context
        return
    for name in getattr(spec, relation.each):
        yield f"{own}_{name}", {**context, "part": name}


def relations_of_effort(context: Mapping[str, Any]) -> list[Relation]:
    """Return the relations of one effort, whose ``number`` and ``effort`` the context has."""
    return [
        relation
        for relation in MODELS.values()
        if relation.per and expression(relation.condition)(context)
    ]


def template_of(relation: Relation, context: Mapping[str, Any]) -> str:
    """Return the template of a relation's model: its own, or that of an extension in its place."""
    others = (name for condition, name in relation.replaced if expression(condition)(context))
    return next(others, relation.name)


def undeclared_details(spec: Spec) -> list[str]:
    """Return the relations of details that a spec could have and does not declare."""
    declared = _parts_of(spec)
    possible = _parts_of(spec.model_copy(update={"details": "all"}))
    return [part for part in possible if part not in declared]


def _parts_of(spec: Spec) -> list[str]:
    """Return the relations of a spec without its efforts, by their part of the name."""
    return [relation.name for relation in relations_of(spec) if not relation.per]


def before_release(spec: Spec) -> list[str]:
    """Return the relations that are built before anything is published: all measurements.

    Otherwise a release could be published although the build fails.
    """
    measured = (part for part in _parts_of(spec) if MODELS[part].reader not in {"vault", "release"})
    return [name for part in measured for name, _ in models_of(MODELS[part], spec, {})]


def read_first(spec: Spec) -> str:
    """Return the relations to read first and their purpose, for dbt docs."""
    order = sorted(
        (read_for, part) for part in _parts_of(spec) if (read_for := MODELS[part].read_for)
    )
    parts = [f"`{spec.name}_{part}` ({purpose})" for (_, purpose), part in order]
    return f"Read in this order: {', '.join(parts)}."
