"""Rules about guarantees, their columns and their population: see ``rules``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.spec.draft import RawSpec, integer, items, mapping
from dbt_anonymize.spec.problems import KeyPath, Problem, short_repr, unknown


def _guarantees_name_sensitive_columns(draft: RawSpec) -> Iterator[Problem]:
    if not draft.has_all_roles:
        return
    sensitive = [name for name, role in (draft.roles or {}).items() if role == "sensitive"]
    for place, guarantee in (*declared_guarantees(draft), *_effort_guarantees(draft)):
        attribute = guarantee.get("attribute")
        if not isinstance(attribute, str):
            continue
        if attribute not in sensitive:
            rule = "must be a column of role sensitive" + (
                " that is released" if attribute in draft.left_out else ""
            )
            yield unknown((*place, "attribute"), rule, attribute, sensitive, "Sensitive columns")
        elif guarantee.get("distance") == "hierarchical" and attribute not in draft.trees:
            yield Problem(
                (*place, "distance"),
                f"must be equal or ordered where the sensitive column has no hierarchy; {attribute}"
                " has none",
                f"Add a categorical hierarchy to columns.{attribute}, or change the distance.",
                "hierarchical",
            )
        elif guarantee.get("distance") == "hierarchical" and draft.trees[attribute] == 1:
            yield Problem(
                (*place, "distance"),
                "must be equal where the hierarchy of the sensitive column has one level: all of "
                "its values are equally far from each other",
                "Write equal, or add a level between the values and the root.",
                "hierarchical",
            )


def _guarantees_differ(draft: RawSpec) -> Iterator[Problem]:
    """Refuse a second limit of one measure: each measure of an attribute has one column."""
    seen: set[tuple[object, ...]] = set()
    for place, guarantee in declared_guarantees(draft):
        measure = (
            place[1],
            str(guarantee.get("attribute")),
            str(guarantee.get("variant")),
            str(guarantee.get("distance")),
            str(guarantee.get("estimator")),
        )
        if measure in seen:
            yield Problem(
                place, "must not limit the same measure twice", "Keep the stronger one of them."
            )
        seen.add(measure)


def _populations_are_declared(draft: RawSpec) -> Iterator[Problem]:
    has_relation = bool(draft.population.get("ref") or draft.population.get("source"))
    # The source is the population of a sample of records.
    is_sample = bool(draft.sample) and not draft.population and draft.subject is None
    has_size = integer(draft.population.get("size")) is not None
    for place, guarantee in declared_guarantees(draft):
        model = MODELS.get(str(place[1]))
        needed = model.needed_population(guarantee) if model else None
        if needed == "table" and not (has_relation or is_sample):
            yield Problem(
                place,
                "must have a table of the population to count in",
                "Add population: {ref: ...}, with the same quasi-identifiers as the source.",
            )
        if needed == "size" and not has_size:
            yield Problem(
                place,
                "must have the size of the population to estimate from",
                "Add population: {size: ...}, the number of people among whom an attacker looks.",
            )


def _efforts_keep_what_is_counted_in_them(draft: RawSpec) -> Iterator[Problem]:
    effort_guarantees = list(_effort_guarantees(draft))
    for place, guarantee in effort_guarantees:
        if guarantee.get("attacker") == "journalist":
            yield Problem(
                (*place, "attacker"),
                "must be prosecutor where an effort declares it: the population is counted for all",
                "Declare it among the guarantees of the spec, or write prosecutor.",
                "journalist",
            )
    if effort_guarantees and draft.quality.get("fit") == "per_split":
        yield Problem(
            ("quality", "fit"),
            "must be once where an effort has guarantees of its own",
            "Write once, or declare them for all efforts.",
            "per_split",
        )


def less_than_guaranteed(
    place: KeyPath, value: object, draft: RawSpec, remedy: str = "Raise it, or remove it."
) -> Iterator[Problem]:
    """Yield the problem of a class size that is smaller than the guarantees demand."""
    k, required = integer(value), draft.required_k
    if k is not None and required is not None and k < required:
        yield Problem(
            place,
            f"must be at least the k that is guaranteed, {required}",
            remedy,
            short_repr(k),
        )


def declared_guarantees(draft: RawSpec) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield every guarantee of the spec that is a mapping, and its path."""
    yield from _guarantees_in(draft.guarantees, ())


def _effort_guarantees(draft: RawSpec) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    for number, effort in draft.efforts_with_keys:
        yield from _guarantees_in(mapping(effort.get("guarantees")), ("efforts", number))


def _guarantees_in(
    guarantees: Mapping[str, Any], place: KeyPath
) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    for model, declared in guarantees.items():
        if isinstance(declared, Mapping):
            yield (*place, "guarantees", str(model)), declared
        for position, guarantee in enumerate(items(declared), start=1):
            if isinstance(guarantee, Mapping):
                yield (*place, "guarantees", str(model), position), guarantee


RULES = (
    _guarantees_name_sensitive_columns,
    _guarantees_differ,
    _populations_are_declared,
    _efforts_keep_what_is_counted_in_them,
)
