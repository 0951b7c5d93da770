"""What must hold between the keys of a spec.

Rules read a spec that may be wrong elsewhere and skip what is malformed: the type check reports it,
so that one run shows every error once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt_anonymize.spec import (
    column_rules,
    differential_privacy_rules,
    effort_rules,
    freeze_rules,
    guarantee_rules,
    partition_rules,
    release_rules,
    sample_rules,
)
from dbt_anonymize.spec.draft import Draft, mapping
from dbt_anonymize.spec.problems import Problem, did_you_mean, names, shown
from dbt_anonymize.spec.quality_rules import choice_violations, quality_violations

# The measure of information loss that depends on what models predict.
TARGET_MEASURE = "classification_metric"
# Type of the pydantic error that stands for all problems found here.
BROKEN_RULES = "broken_rules"


def violations(raw: Mapping[str, Any]) -> list[Problem]:
    """Return every rule between keys that a spec, as read from YAML, breaks.

    Examples
    --------
    >>> columns = {"id": {"role": "insensitive"}}
    >>> [problem.rule for problem in violations({"record_key": "id", "columns": columns})]
    ['must not repeat the record key', 'must hold at least one quasi-identifier']
    """
    draft = Draft.read(raw)
    return [problem for rule in _RULES for problem in rule(draft)]


def _quality_is_measurable(draft: Draft) -> Iterator[Problem]:
    if not draft.quality:
        return
    yield from quality_violations(draft.quality, draft.roles or {})
    if draft.release_effort is None:
        yield from choice_violations(draft.quality, draft.choose)
    others = [*mapping(draft.quality.get("further_targets")), draft.quality.get("time")]
    for number, name in enumerate(draft.features, start=1):
        if name in others:
            yield Problem(
                ("features", number),
                "must not be predicted, nor the time until an event",
                "Remove it from features or from quality.",
                name,
            )
    for name in [draft.target, *others]:
        if isinstance(name, str) and name in draft.masks:
            yield Problem(
                ("columns", name, "mask"),
                "must not mask what models predict, or the time until an event",
                "Remove the mask, or predict something else.",
            )
    if draft.target is not None and draft.target in others:
        yield Problem(
            ("quality",), "must not name the target again", "Name another column.", draft.target
        )
    if draft.quality.get("fit") == "per_split" and any(
        effort is not None and effort.get("recoding", "full_domain") != "full_domain"
        for effort in draft.efforts
    ):
        yield Problem(
            ("quality", "fit"),
            "must be once where an effort is recoded: its levels differ per record and are not "
            "declared, so they cannot be found again for the training records alone",
            "Write fit: once, or efforts with levels.",
            "per_split",
        )


def _a_search_reads_no_outer_target(draft: Draft) -> Iterator[Problem]:
    if draft.quality.get("outer_share") is not None and draft.search_measure == TARGET_MEASURE:
        yield Problem(
            ("search", "measure"),
            "must not read targets beside quality.outer_share: those of the outer records would "
            "help to find the efforts",
            "Search by another measure, such as loss, or remove outer_share.",
            TARGET_MEASURE,
        )


def _a_grid_has_two_features(draft: Draft) -> Iterator[Problem]:
    grid = draft.quality.get("decision_grid")
    if not isinstance(grid, list) or len(grid) != 2:
        return
    if grid[0] == grid[1] or not set(map(str, grid)) <= set(draft.features):
        yield Problem(
            ("quality", "decision_grid"),
            "must name two different features",
            f"Features are {names(list(draft.features))}.",
            names(list(map(str, grid))),
        )


def _groups_are_columns(draft: Draft) -> Iterator[Problem]:
    """Check the columns by which quality is reported."""
    groups = draft.quality.get("groups")
    levels = mapping(groups) or dict.fromkeys(groups if isinstance(groups, list) else (), 0)
    roles = draft.roles or {}
    for name, level in levels.items():
        place = ("quality", "groups", str(name))
        if roles and roles.get(name) not in {"quasi_identifier", "sensitive", "insensitive"}:
            known = [n for n, role in roles.items() if role not in {"identifier", "dropped"}]
            yield Problem(
                place,
                "must be a quasi-identifier, or a sensitive or insensitive column",
                did_you_mean(str(name), known, f"Declared columns are {names(known)}."),
                shown(name),
            )
            continue
        highest = draft.levels.get(name) if roles.get(name) == "quasi_identifier" else 0
        if isinstance(level, int) and highest is not None and level > highest:
            yield Problem(
                (*place,),
                f"must be a level of the column, 0 to {highest}",
                "Lower it." if highest else "Write 0: only a quasi-identifier has a hierarchy.",
                shown(level),
            )


_RULES: tuple[Callable[[Draft], Iterator[Problem]], ...] = (
    *column_rules.RULES,
    *effort_rules.RULES,
    *guarantee_rules.RULES,
    *release_rules.RULES,
    *freeze_rules.RULES,
    *sample_rules.RULES,
    *partition_rules.RULES,
    *differential_privacy_rules.RULES,
    _quality_is_measurable,
    _groups_are_columns,
    _a_grid_has_two_features,
    _a_search_reads_no_outer_target,
)
