"""Rules about a spec without a target: see ``rules``."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.relations import OF_CLASSES
from dbt_anonymize.spec.draft import RawSpec
from dbt_anonymize.spec.problems import Problem, names
from dbt_anonymize.spec.tested import KEYS
from dbt_anonymize.tasks import UNSUPERVISED


def _all_or_none_is_given(draft: RawSpec) -> Iterator[Problem]:
    if draft.task in UNSUPERVISED:
        yield from _nothing_is_predicted(draft)
        return
    missing = [key for key in KEYS if key not in draft.model_keys]
    if missing and draft.model_keys:
        yield Problem(
            (),
            f"must have all of {names(KEYS)}, or none of them where no model is to test it",
            f"Add {names(missing)}, or remove {names(draft.model_keys)}.",
            f"{names(draft.model_keys)} without {names(missing)}",
        )
    elif missing and draft.choose == "strongest_non_inferior":
        yield Problem(
            ("choose",),
            "must not be strongest_non_inferior without a target: no model says what is inferior",
            f"Write max_q, or declare {names(KEYS)}.",
        )


def _nothing_is_predicted(draft: RawSpec) -> Iterator[Problem]:
    measure, task = draft.quality["measure"], draft.task
    if draft.target is not None:
        yield Problem(
            ("target",),
            f"must be absent: {measure} is of {task}, whose models predict no column",
            "Remove it, or choose the measure of a classification or regression.",
            draft.target,
        )
    if missing := [key for key in ("features", "alpha") if key not in draft.model_keys]:
        yield Problem(
            (), f"must have features and alpha beside quality, for {task}", f"Add {names(missing)}."
        )


def _loss_targets_need_one(draft: RawSpec) -> Iterator[Problem]:
    if draft.target is None and draft.loss_targets:
        yield Problem(
            ("information_loss", "targets"),
            "must be absent without a target: the classification metric is not measured",
            f"Remove it, or declare {names(KEYS)}.",
        )


def _details_can_be_measured(draft: RawSpec) -> Iterator[Problem]:
    if draft.freeze or draft.task == "classification":
        return
    for place, name in enumerate(draft.details):
        if name in OF_CLASSES:
            yield Problem(
                ("details", place),
                "must be about models that predict a class, or be absent",
                "Remove it, or write `details: all` for those that can be measured.",
                name,
            )


RULES = (_all_or_none_is_given, _loss_targets_need_one, _details_can_be_measured)
