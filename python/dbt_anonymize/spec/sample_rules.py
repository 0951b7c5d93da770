"""Rules about samples that are released: see ``rules``."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.privacy.model import Mechanism, PrivacyModel
from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.spec.draft import RawSpec, items, unknown_column
from dbt_anonymize.spec.guarantee_rules import declared_guarantees
from dbt_anonymize.spec.problems import KeyPath, Problem


def _own_samples(draft: RawSpec) -> Iterator[KeyPath]:
    """Yield the place of each sample that an effort has instead of that of the spec."""
    for number, effort in draft.efforts_with_keys:
        if effort.get("sample"):
            yield ("efforts", number, "sample")


def is_sampled(draft: RawSpec) -> bool:
    """Tell whether an effort is released from a sample."""
    return bool(draft.sample) or any(_mechanisms(draft)) or any(_own_samples(draft))


def _mechanisms(draft: RawSpec) -> list[object]:
    """Return the declared guarantees that draw a sample of their own."""
    return [
        declared
        for name, declared in draft.guarantees.items()
        if declared is not None and issubclass(MODELS.get(name, PrivacyModel), Mechanism)
    ]


def _strata_are_columns(draft: RawSpec) -> Iterator[Problem]:
    roles = draft.roles or {}
    for number, name in enumerate(items(draft.sample.get("strata")), start=1):
        place = ("sample", "strata", number)
        if isinstance(name, str) and name not in roles:
            yield unknown_column(place, name, draft)
        elif isinstance(name, str) and roles[name] == "identifier":
            yield Problem(
                place,
                "must not be an identifier: a stratum of one subject says nothing",
                "Name a column that subjects share, or remove it.",
                name,
            )


def _samples_are_evaluated_once(draft: RawSpec) -> Iterator[Problem]:
    if not is_sampled(draft):
        return
    for key, value, reason in (
        ("suppressed", "missing", "records outside it are not in the release, with no value"),
        ("fit", "per_split", "a training part of it has classes of another size"),
    ):
        if draft.quality.get(key) == value:
            yield Problem(
                ("quality", key),
                f"must not be {value} where a sample is released: {reason}",
                "Remove it.",
                value,
            )


def _one_size_of_sample(draft: RawSpec) -> Iterator[Problem]:
    """Refuse several sizes where a guarantee depends on the size of the sample."""
    for place, guarantee in declared_guarantees(draft):
        if guarantee.get("estimator") is None:
            continue
        for own in _own_samples(draft):
            yield Problem(
                own,
                f"must not be declared beside an estimated {place[1]}, which depends on the size "
                "of the one sample",
                "Declare the sample for all efforts, or remove the estimator.",
            )


def _limit_leaves_something(draft: RawSpec) -> Iterator[Problem]:
    if draft.suppression_limit == 1 and not _mechanisms(draft):
        yield Problem(
            ("suppression_limit",),
            "must be < 1: only under differential_privacy may every record be suppressed",
            "Lower it.",
            "1",
        )


RULES = (
    _strata_are_columns,
    _samples_are_evaluated_once,
    _one_size_of_sample,
    _limit_leaves_something,
)
