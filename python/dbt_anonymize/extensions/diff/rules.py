"""Rules about tolerances: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.draft import RawSpec, mapping
from dbt_anonymize.spec.problems import Problem


def _tolerances_are_measured(draft: RawSpec) -> Iterator[Problem]:
    """Refuse a tolerance of QF, which a frozen effort has not, so that it would always break."""
    if draft.freeze and mapping(draft.raw.get("tolerance")).get("qf") is not None:
        yield Problem(
            ("tolerance", "qf"),
            "must not be declared where freeze is true: no model is trained then",
            "Remove it.",
        )


RULES = (_tolerances_are_measured,)
