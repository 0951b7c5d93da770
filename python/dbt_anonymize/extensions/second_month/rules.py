"""Rules about a frozen effort: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.spec.draft import RawSpec, mapping
from dbt_anonymize.spec.guarantee_rules import declared_guarantees
from dbt_anonymize.spec.problems import Problem

_PRIVATE = "differential_privacy"
# Condition and remedy in messages about waiting records.
_WAITING = "where new records wait (release.joiners, by default of a frozen effort)"
_PUBLISH = (
    "Write release: {joiners: publish}, and read docs/extensions/second_month.md on what that "
    "shows."
)


def _is_frozen(draft: RawSpec) -> bool:
    """Tell whether an effort of records is frozen; a table refuses ``freeze`` itself."""
    return draft.freeze and not draft.raw.get("table")


def _one_effort_is_frozen(draft: RawSpec) -> Iterator[Problem]:
    if _is_frozen(draft) and draft.release_effort is None:
        yield Problem(
            ("release", "effort"),
            "must be the number of the frozen effort where freeze is true: nothing is chosen then",
            f"Run `dbt-anonymize freeze {draft.name or '<name>'}`, which writes both.",
        )


def _holds_back_joiners(draft: RawSpec) -> bool:
    """Tell whether new records wait until their class keeps its promises."""
    models = [str(place[1]) for place, _ in declared_guarantees(draft)]
    default = "publish" if _PRIVATE in models else "wait"
    return _is_frozen(draft) and (draft.release.get("joiners") or default) != "publish"


def _joiners_can_wait(draft: RawSpec) -> Iterator[Problem]:
    """Refuse waiting where it cannot be judged whether a group keeps the guarantees by itself."""
    declared = draft.release.get("joiners")
    models = [(place, str(place[1])) for place, _ in declared_guarantees(draft)]
    number = draft.release_effort or 0
    if 0 < number <= len(draft.efforts):
        own = mapping((draft.efforts[number - 1] or {}).get("guarantees"))
        models += [
            (("efforts", number, "guarantees", name), name)
            for name, parameters in own.items()
            if parameters
        ]
    if declared == "wait" and not draft.freeze:
        yield Problem(
            ("release", "joiners"),
            "must be publish without freeze: from other labels of the others one sees who is new",
            f"Run `dbt-anonymize freeze {draft.name or '<name>'}`, or remove it.",
            "wait",
        )
        return
    if not _holds_back_joiners(draft):
        return
    if draft.subject is not None:
        yield Problem(
            ("subject",), f"must not be declared {_WAITING}: they are counted by record", _PUBLISH
        )
    if draft.consent is not None:
        yield Problem(
            ("consent",),
            f"must not be declared {_WAITING}: who withdraws it would stay until others leave",
            _PUBLISH,
        )
    if draft.mapping == "none":
        yield Problem(
            ("mapping",),
            f"must be class or token {_WAITING}: the vault must remember who was released",
            _PUBLISH if draft.has_external_efforts else f"Write mapping: class. {_PUBLISH}",
            "none",
        )
    if draft.raw.get("relinking") is not None:
        yield Problem(
            ("relinking",),
            f"must not be declared {_WAITING}: a class also shows people who have left",
            _PUBLISH,
        )
    for place, model in models:
        if model in MODELS and not MODELS[model].JUDGES_PARTS:
            yield Problem(
                place,
                f"must not be declared {_WAITING}: it does not judge a group by itself",
                _PUBLISH,
            )


RULES = (
    _one_effort_is_frozen,
    _joiners_can_wait,
)
