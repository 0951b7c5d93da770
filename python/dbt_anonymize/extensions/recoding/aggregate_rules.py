"""Rules about aggregates that are shown for labels: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_anonymize.privacy.registry import counts_in_population
from dbt_anonymize.spec.draft import RawSpec, level_of, mapping
from dbt_anonymize.spec.efforts import is_shorthand
from dbt_anonymize.spec.guarantee_rules import declared_guarantees
from dbt_anonymize.spec.problems import KeyPath, Problem


def _aggregates(draft: RawSpec) -> Iterator[tuple[KeyPath, str, Mapping[str, Any]]]:
    """Yield place, quasi-identifier and content of each level with an aggregate."""
    for number, effort in enumerate(draft.efforts, start=1):
        if not effort:
            continue
        is_short = is_shorthand(effort)
        place: KeyPath = ("efforts", number) if is_short else ("efforts", number, "levels")
        for name, level in mapping(effort if is_short else effort.get("levels")).items():
            if isinstance(level, Mapping):
                yield (*place, name), str(name), level


def _aggregates_fit_the_column(draft: RawSpec) -> Iterator[Problem]:
    """Refuse means of categories, modes of numbers, and aggregates of single values."""
    kinds = {"mean": "interval", "median": "interval", "mode": "categorical"}
    for place, name, shown in _aggregates(draft):
        kind, aggregate = draft.kinds.get(name), shown.get("show")
        if kind and aggregate in kinds and kind != kinds[aggregate]:
            yield Problem(
                (*place, "show"),
                f"must be {'mean or median' if kind == 'interval' else 'mode'} of a column whose "
                f"hierarchy is {kind}",
                "Write that, or the level alone.",
                aggregate,
            )
        if level_of(shown) == 0:
            yield Problem(
                (*place, "level"),
                "must be 1 or more where an aggregate is shown: at level 0 all of a class have the "
                "same value",
                "Raise it, or write 0 alone.",
                "0",
            )


def _aggregates_are_allowed(draft: RawSpec) -> Iterator[Problem]:
    """Refuse aggregates where they would break what the spec promises, once for each effort."""
    efforts = {place[1]: place for place, _, _ in _aggregates(draft)}
    for number, place in efforts.items():
        yield from (
            Problem(place, f"must not show an aggregate {reason}", remedy)
            for reason, remedy in _reasons(draft, number)
        )


def _reasons(draft: RawSpec, number: str | int) -> Iterator[tuple[str, str]]:
    without = "Write the levels alone." if draft.has_external_efforts else None
    if draft.freeze and draft.release_effort == number:
        yield (
            "of a frozen effort: it is of those who are in a class now",
            "Release another effort, or remove freeze.",
        )
    if draft.mapping == "none":
        yield (
            "with mapping none: the vault keeps no members, so nobody could tell whether two "
            "releases of an aggregate give away who joined between them",
            without or "Write mapping: class or token.",
        )
    if draft.quality.get("fit") == "per_split":
        yield (
            "with fit per_split: it is of the whole class, test records included",
            without or "Write fit: once.",
        )
    for place, guarantee in declared_guarantees(draft):
        model = str(place[1])
        if guarantee is not None and (
            model == "differential_privacy" or counts_in_population(model, guarantee)
        ):
            yield (
                f"with the guarantee {model}, which does not hold of it",
                "Write the levels alone, or remove the guarantee.",
            )


RULES = (_aggregates_fit_the_column, _aggregates_are_allowed)
