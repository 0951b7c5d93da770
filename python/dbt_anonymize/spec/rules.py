"""Rules between the keys of a spec.

Rules read a spec that may be wrong elsewhere and skip what is malformed: the type check reports it,
so that one run shows every error once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt_anonymize.extension import rules
from dbt_anonymize.spec import (
    column_rules,
    effort_rules,
    guarantee_rules,
    release_rules,
    sample_rules,
    target_rules,
)
from dbt_anonymize.spec.draft import RawSpec
from dbt_anonymize.spec.left_out import without_left_out
from dbt_anonymize.spec.problems import Problem
from dbt_anonymize.spec.quality_rules import quality_violations

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
    draft = RawSpec(without_left_out(raw))
    return [problem for rule in (*_RULES, *rules()) for problem in rule(draft)]


_RULES: tuple[Callable[[RawSpec], Iterator[Problem]], ...] = (
    *column_rules.RULES,
    *effort_rules.RULES,
    *guarantee_rules.RULES,
    *release_rules.RULES,
    *sample_rules.RULES,
    *target_rules.RULES,
    quality_violations,
)
