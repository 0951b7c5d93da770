"""Rules about the objective of a search and its bounds: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.extensions.search.measure_names import NEED_TARGET, PROFITABLE, PUBLISHER_PAYOUT
from dbt_anonymize.spec.draft import RawSpec, integer, mapping
from dbt_anonymize.spec.effort_rules import no_quasi_identifier
from dbt_anonymize.spec.problems import KeyPath, Problem, names, short_repr
from dbt_anonymize.spec.tested import KEYS

_CLASSIFICATION_METRIC = "classification_metric"


def _measure_is_known(draft: RawSpec) -> Iterator[Problem]:
    measure = mapping(draft.raw.get("search")).get("measure")
    if measure in NEED_TARGET and draft.target is None:
        yield _measure(
            "must need no target where none is declared",
            f"Write another measure, such as loss, or declare {names(KEYS)}.",
            measure,
        )
    if measure == PUBLISHER_PAYOUT and draft.guarantees.get(PROFITABLE) is None:
        yield _measure(
            "must be another measure without the guarantee profitable, which has the amounts",
            "Declare guarantees.profitable, or search by another measure.",
            measure,
        )
    if measure == _CLASSIFICATION_METRIC and draft.quality.get("outer_share") is not None:
        yield _measure(
            "must not read targets beside quality.outer_share: those of the outer records would "
            "help to find the efforts",
            "Search by another measure, such as loss, or remove outer_share.",
            measure,
        )


def _measure(rule: str, remedy: str, got: object) -> Problem:
    return Problem(("search", "measure"), rule, remedy, short_repr(got))


def _bounds_are_levels(draft: RawSpec) -> Iterator[Problem]:
    if not draft.has_all_roles:
        return
    declared = mapping(mapping(draft.raw.get("search")).get("levels"))
    for name, bounds in declared.items():
        place: KeyPath = ("search", "levels", str(name))
        if name in draft.left_out:
            continue
        if name not in draft.levels:
            yield no_quasi_identifier(place, name, draft)
            continue
        levels = draft.levels[name]
        lowest = integer(mapping(bounds).get("lowest", 0))
        highest = integer(mapping(bounds).get("highest", levels))
        if levels is not None and lowest is not None and highest is not None:
            if max(lowest, highest) > levels:
                yield Problem(
                    place, f"must be levels of its hierarchy, 0 to {levels}", "Lower them."
                )
            elif lowest > highest:
                yield Problem(place, "must have lowest <= highest", "Exchange them.")


RULES = (_measure_is_known, _bounds_are_levels)
