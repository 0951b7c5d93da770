"""Rules about efforts: see ``rules``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_anonymize.spec.draft import RawSpec, items, level_of
from dbt_anonymize.spec.efforts import is_shorthand
from dbt_anonymize.spec.guarantee_rules import less_than_guaranteed
from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, short_repr


def _efforts_name_the_quasi_identifiers(draft: RawSpec) -> Iterator[Problem]:
    if not draft.has_all_roles:
        return
    for number, effort in enumerate(draft.efforts, start=1):
        for place, levels in level_vectors(number, effort):
            yield from _levels_problems(place, levels, draft)


def level_vectors(number: int, effort: object) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield every mapping of quasi-identifiers to levels of an effort, and its path."""
    if not isinstance(effort, Mapping):
        return
    if is_shorthand(effort):
        yield ("efforts", number), effort
        return
    if isinstance(effort.get("levels"), Mapping):
        yield ("efforts", number, "levels"), effort["levels"]
    for position, levels in enumerate(items(effort.get("rounds")), start=1):
        if isinstance(levels, Mapping):
            yield ("efforts", number, "rounds", position), levels


def _levels_problems(
    place: KeyPath, vector: Mapping[str, Any], draft: RawSpec
) -> Iterator[Problem]:
    yield from (
        Problem(
            place,
            f"must name a level for every quasi-identifier; {name} is missing",
            f"Add a level of {name} (0: values as they are), or {_search(draft)}.",
        )
        for name in draft.levels
        if name not in vector
    )
    for name, level in vector.items():
        if name not in draft.levels:
            yield no_quasi_identifier((*place, name), name, draft)
            continue
        levels, level_number = draft.levels[name], level_of(level)
        if levels is not None and level_number is not None and level_number > levels:
            yield Problem(
                (*place, name),
                f"must be a level of its hierarchy, 0 to {levels}",
                f"Lower it; {levels} is the root.",
                short_repr(level),
            )


def no_quasi_identifier(place: KeyPath, name: str, draft: RawSpec) -> Problem:
    """Return the problem of a name that is none of the quasi-identifiers."""
    known = f"Quasi-identifiers are {names(draft.levels)}."
    remedy = did_you_mean(name, draft.levels, known)
    return Problem(place, "must be a quasi-identifier", remedy, str(name))


def _efforts_differ(draft: RawSpec) -> Iterator[Problem]:
    for number, effort in enumerate(draft.efforts, start=1):
        if not effort:
            continue
        if any(
            levels and all(level_of(level) == 0 for level in levels.values())
            for place, levels in level_vectors(number, effort)
            if "rounds" not in place and effort.get("recoding") != "cell_suppression"
        ):
            yield Problem(
                ("efforts", number),
                "must generalize something: level 0 everywhere is the untouched source",
                "Remove it; the baseline is always computed as effort 0.",
            )
        elif effort in draft.efforts[: number - 1]:
            other = draft.efforts.index(effort) + 1
            yield Problem(
                ("efforts", number), f"must differ from effort {other}", "Remove one of them."
            )


def _efforts_demand_at_least_k(draft: RawSpec) -> Iterator[Problem]:
    for number, effort in draft.efforts_with_keys:
        place, remedy = ("efforts", number, "k"), f"Raise it, remove it, or {_search(draft)}."
        yield from less_than_guaranteed(place, effort.get("k"), draft, remedy)


def _search(draft: RawSpec) -> str:
    return f"let `dbt-anonymize search {draft.name or '<name>'}` find efforts"


RULES = (
    _efforts_name_the_quasi_identifiers,
    _efforts_differ,
    _efforts_demand_at_least_k,
)
