"""Rules about what would void differential privacy: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_anonymize.spec.draft import RawSpec, mapping
from dbt_anonymize.spec.guarantee_rules import declared_guarantees
from dbt_anonymize.spec.problems import Problem, short_repr

MODEL = "differential_privacy"
_RELEASED = {"sensitive", "insensitive", "masked"}
_UNDER = f"under {MODEL}"


def _declared_parameters(draft: RawSpec) -> Mapping[str, Any] | None:
    """Return the parameters of the guarantee, or of the first if a list declares several."""
    declaration = draft.guarantees.get(MODEL)
    if isinstance(declaration, (list, tuple)) and declaration:
        declaration = declaration[0]
    return mapping(declaration) if declaration is not None else None


def _all_released_columns_make_classes(draft: RawSpec) -> Iterator[Problem]:
    for name, role in (draft.roles or {}).items():
        if role in _RELEASED:
            yield Problem(
                ("columns", name, "role"),
                f"must not be {role} {_UNDER}: what is released as it is can tell a person apart",
                "Make it a quasi-identifier (a target at level 0), an identifier or dropped.",
                str(role),
            )


def _one_record_is_one_person(draft: RawSpec) -> Iterator[Problem]:
    if draft.subject is not None:
        yield Problem(
            ("subject",),
            f"must not be declared {_UNDER}, which holds for one record of each person",
            "Make one record per person in a model before, with her key as the record key.",
            draft.subject,
        )


def _nothing_else_suppresses(draft: RawSpec) -> Iterator[Problem]:
    for place, guarantee in declared_guarantees(draft):
        if place[1] not in {"k_anonymity", MODEL}:
            yield Problem(
                place,
                f"must not be declared {_UNDER}: its suppression depends on more than the size of "
                "a class",
                "Remove it.",
            )
        elif place[1] == MODEL and len(place) > 2 and place[2] != 1:
            yield Problem(
                place, "must be declared once", "Remove all others.", short_repr(guarantee)
            )
    for number, effort in draft.efforts_with_keys:
        for key in ("guarantees", "sample"):
            if effort.get(key) is not None:
                yield Problem(
                    ("efforts", number, key),
                    f"must not be declared for one effort {_UNDER}, which covers the whole release",
                    "Remove it.",
                )
    if draft.sample:
        yield Problem(
            ("sample",),
            f"must not be declared {_UNDER}, which draws a sample of its own",
            f"Remove it; guarantees.{MODEL}.beta is its share.",
        )
    if draft.suppression_limit != 1:
        yield Problem(
            ("suppression_limit",),
            f"must be 1 {_UNDER}: a limit would let the data decide whether there is a release",
            "Write 1.",
            short_repr(draft.suppression_limit),
        )


def _the_data_choose_nothing(draft: RawSpec) -> Iterator[Problem]:
    if draft.release_effort is None:
        yield Problem(
            ("release", "effort"),
            f"must be a number {_UNDER}: a choice by QF looks at the data, and is not paid for",
            "Write release: {effort: 1}, or the number of another effort, without looking.",
        )
    if draft.release.get("composition") == "strict":
        yield Problem(
            ("release", "composition"),
            f"must not be strict {_UNDER}: the earlier data would decide whether there is a "
            "release",
            "Write report, or remove it.",
            "strict",
        )
    if draft.mapping == "token":
        yield Problem(
            ("mapping",),
            f"must be class or none {_UNDER}: a token leads to one person",
            f"Write mapping: {'none' if draft.has_external_efforts else 'class'}.",
            "token",
        )


def _nothing_voids_it(draft: RawSpec) -> Iterator[Problem]:
    if _declared_parameters(draft) is None:
        return
    for rule in (
        _all_released_columns_make_classes,
        _one_record_is_one_person,
        _nothing_else_suppresses,
        _the_data_choose_nothing,
    ):
        yield from rule(draft)


# No effort can have it of its own: `EffortGuarantees` has no such key.
RULES = (_nothing_voids_it,)
