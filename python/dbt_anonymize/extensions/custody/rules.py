"""Rules about re-linking: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.draft import RawSpec, mapping
from dbt_anonymize.spec.guarantee_rules import less_than_guaranteed
from dbt_anonymize.spec.problems import Problem


def _relinking_has_a_way_back(draft: RawSpec) -> Iterator[Problem]:
    declared = draft.raw.get("relinking")
    if declared is None:
        return
    if draft.mapping == "none":
        yield Problem(
            ("relinking",),
            "must not be declared with mapping none, which stores no way back to people",
            "Remove it." if draft.has_external_efforts else "Remove it, or write mapping: class.",
        )
    yield from less_than_guaranteed(("relinking", "k"), mapping(declared).get("k"), draft)


RULES = (_relinking_has_a_way_back,)
