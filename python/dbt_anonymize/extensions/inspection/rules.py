"""Rules between the keys that inspect models, and between them and the columns."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.draft import RawSpec, mapping
from dbt_anonymize.spec.problems import Problem, names, short_repr, unknown
from dbt_anonymize.spec.quality_rules import absent_beside_silhouette


def _scores_are_of_records(draft: RawSpec) -> Iterator[Problem]:
    yield from absent_beside_silhouette(draft, "groups", "importance")


def _a_grid_has_two_features(draft: RawSpec) -> Iterator[Problem]:
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


def _groups_are_columns(draft: RawSpec) -> Iterator[Problem]:
    """Check the columns by which quality is reported."""
    groups = draft.quality.get("groups")
    levels = mapping(groups) or dict.fromkeys(groups if isinstance(groups, list) else (), 0)
    roles = draft.roles or {}
    for name, level in levels.items():
        place = ("quality", "groups", str(name))
        if roles and roles.get(name) not in {"quasi_identifier", "sensitive", "insensitive"}:
            known = [n for n, role in roles.items() if role not in {"identifier", "dropped"}]
            rule = "must be a quasi-identifier, or a sensitive or insensitive column"
            yield unknown(place, rule, name, known, "Declared columns")
            continue
        highest = draft.levels.get(name) if roles.get(name) == "quasi_identifier" else 0
        if isinstance(level, int) and highest is not None and level > highest:
            yield Problem(
                place,
                f"must be a level of the column, 0 to {highest}",
                "Lower it." if highest else "Write 0: only a quasi-identifier has a hierarchy.",
                short_repr(level),
            )


RULES = (_scores_are_of_records, _groups_are_columns, _a_grid_has_two_features)
