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
    """Return the problems, with one in place of all that follow from a renamed column.

    It is the only quasi-identifier that no effort names; all name the same other in its place.
    """
    draft = RawSpec(raw)
    numbered = enumerate(draft.efforts, start=1)
    vectors = [set(vector) for effort in numbered for _, vector in level_vectors(*effort)]
    in_efforts = set().union(*vectors)
    missing, others = draft.levels.keys() - in_efforts, in_efforts - (draft.roles or {}).keys()
    if len(missing) != 1 or len(others) != 1 or not all(others <= vector for vector in vectors):
        return list(problems)
    (declared,), (named,) = missing, others
    rule = (
        f"must be a column of the source: efforts{' and features' * (named in draft.features)} "
        f"name {named}, which is not declared, and no effort names {declared}"
    )
    remedy = f"If the source has {named}, call the column so; else name {declared} there."
    rest = [problem for problem in problems if not _follows(problem, declared, named)]
    return [Problem(("columns", declared), rule, remedy), *rest]


def _follows(problem: Problem, declared: str, named: str) -> bool:
    """Tell whether a problem is only that the name of a column differs."""
    is_named = problem.got in {named, short_repr(named)} or problem.path[-1:] == (named,)
    return is_named or problem.rule.endswith(f"for every quasi-identifier; {declared} is missing")
