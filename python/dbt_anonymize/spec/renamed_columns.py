"""A column whose key is not the name by which efforts and features know it: one problem, not many.

No source is read to load a spec, so this is found by what the other keys say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt_anonymize.spec.draft import RawSpec
from dbt_anonymize.spec.effort_rules import level_vectors
from dbt_anonymize.spec.problems import Problem, short_repr


def with_renamed_column(problems: Sequence[Problem], raw: Mapping[str, Any]) -> list[Problem]:
    """Return the problems, with one in place of all that follow from a renamed column."""
    draft = RawSpec(raw)
    found = _renamed_column(draft)
    if found is None:
        return list(problems)
    declared, named = found
    rest = [problem for problem in problems if not _follows(problem, declared, named)]
    if len(rest) == len(problems):
        return rest
    places = ["efforts", *["features"] * (named in draft.features)]
    rule = (
        f"must be a column of the source: {' and '.join(places)} name {named}, which is not "
        f"declared, and no effort names {declared}"
    )
    remedy = f"If the source has {named}, call the column so; else name {declared} there."
    return [Problem(("columns", declared), rule, remedy), *rest]


def _renamed_column(draft: RawSpec) -> tuple[str, str] | None:
    """Return the only quasi-identifier that no effort names, and what all name in its place."""
    vectors = [
        vector
        for number, effort in enumerate(draft.efforts, start=1)
        for _, vector in level_vectors(number, effort)
    ]
    named = {str(name) for vector in vectors for name in vector}
    missing, others = draft.levels.keys() - named, named - (draft.roles or {}).keys()
    if len(missing) != 1 or len(others) != 1:
        return None
    (declared,), (other,) = missing, others
    return (declared, other) if all(other in vector for vector in vectors) else None


def _follows(problem: Problem, declared: str, named: str) -> bool:
    """Tell whether a problem is only that the name of a column differs."""
    is_named = problem.got in {named, short_repr(named)} or problem.path[-1:] == (named,)
    return is_named or (
        problem.path[:1] == ("efforts",) and problem.rule.endswith(f"; {declared} is missing")
    )
