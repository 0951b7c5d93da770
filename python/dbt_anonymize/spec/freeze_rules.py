"""Rules about a frozen effort: see ``rules``."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.draft import Draft
from dbt_anonymize.spec.problems import Problem


def _one_effort_is_frozen(draft: Draft) -> Iterator[Problem]:
    if draft.freeze and draft.release_effort is None:
        yield Problem(
            ("release", "effort"),
            "must be the number of the frozen effort where freeze is true: nothing is chosen then",
            f"Run `dbt-anonymize freeze {draft.name or '<name>'}`, which writes both.",
        )


def _frozen_labels_are_of_levels(draft: Draft) -> Iterator[Problem]:
    """Refuse a recoding, which chooses the labels of each record by what all records are."""
    number = draft.release_effort
    if not draft.freeze or number is None or not 0 < number <= len(draft.efforts):
        return
    recoding = (draft.efforts[number - 1] or {}).get("recoding", "full_domain")
    if recoding != "full_domain":
        yield Problem(
            ("freeze",),
            "must be false where the released effort is recoded: new records would give the "
            "others new labels",
            "Release an effort with levels, or remove it and let every build recode.",
            str(recoding),
        )


RULES = (_one_effort_is_frozen, _frozen_labels_are_of_levels)
