"""Rules about details: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.draft import RawSpec
from dbt_anonymize.spec.problems import Problem


def _class_losses_differ_by_record(draft: RawSpec) -> Iterator[Problem]:
    """Refuse losses of classes by name where all classes of an effort lose nearly the same."""
    if any(draft.differs_by_record(effort) for _, effort in draft.efforts_with_keys):
        return
    for place, name in enumerate(draft.details):
        if name == "class_losses":
            yield Problem(
                ("details", place),
                "must be about an effort whose labels differ by record, or be absent",
                "Remove it, or write `details: all` for those that can be measured.",
                name,
            )


RULES = (_class_losses_differ_by_record,)
