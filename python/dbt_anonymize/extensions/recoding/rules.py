"""Rules about recodings whose levels differ per record: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from dbt_anonymize.extensions.recoding import aggregate_rules
from dbt_anonymize.privacy.registry import MODELS, counts_in_population
from dbt_anonymize.spec.draft import RawSpec, integer, items, mapping
from dbt_anonymize.spec.effort_rules import no_quasi_identifier
from dbt_anonymize.spec.guarantee_rules import declared_guarantees
from dbt_anonymize.spec.problems import KeyPath, Problem, short_repr
from dbt_anonymize.spec.sample_rules import is_sampled


def _recoding_needs_nested_hierarchies(draft: RawSpec) -> Iterator[Problem]:
    scattered = [name for name, nested in draft.nested.items() if not nested]
    for number, effort in draft.efforts_with_keys:
        if effort.get("recoding") in {"multidimensional", "microaggregation", "clustering"}:
            yield from (
                Problem(
                    ("efforts", number, "recoding"),
                    f"must be full_domain where a hierarchy is not nested; that of {name} is not",
                    "Make the hierarchy nested, or write levels.",
                )
                for name in scattered
            )


def _recoding_has_no_population(draft: RawSpec) -> Iterator[Problem]:
    """Refuse guarantees about subjects outside the source where labels differ per record."""
    counted = [
        str(place[1])
        for place, guarantee in declared_guarantees(draft)
        if counts_in_population(str(place[1]), guarantee)
    ]
    for number, effort in draft.efforts_with_keys:
        if counted and draft.differs_by_record(effort):
            yield Problem(
                ("efforts", number, "recoding"),
                f"must be full_domain with the guarantee {counted[0]}, which counts people outside "
                "the source: they have no record in a recoding that differs per record",
                "Write levels, or remove the guarantee; k_map can have an estimator instead.",
                str(effort["recoding"]),
            )


def _groups_fit_the_table(draft: RawSpec) -> Iterator[Problem]:
    """Refuse groups that count records where subjects count, and an optimum in several columns."""
    for number, effort in draft.efforts_with_keys:
        method = effort.get("method", "mdav")
        if effort.get("recoding") == "clustering" and draft.subject is not None:
            yield Problem(
                ("efforts", number, "recoding"),
                "must not be clustering where a subject is declared: it counts records, and a "
                "cluster of k records may hold fewer subjects",
                "Write recoding: microaggregation with method: mondrian.",
                "clustering",
            )
        if effort.get("recoding") != "microaggregation" or method == "mondrian":
            continue
        if draft.subject is not None:
            yield Problem(
                ("efforts", number, "method"),
                "must be mondrian where a subject is declared: other methods count records, "
                "and a group of k records may hold fewer subjects",
                "Write method: mondrian.",
                short_repr(method),
            )
        if method == "optimal" and list(draft.kinds.values()) != ["interval"]:
            yield Problem(
                ("efforts", number, "method"),
                "must be mdav or mondrian but for a single quasi-identifier with intervals: only "
                "there is an optimum known",
                "Remove it.",
                short_repr(method),
            )


def _clusters_have_k(draft: RawSpec) -> Iterator[Problem]:
    """Refuse clusters smaller than the guaranteed k."""
    required = draft.required_k
    for number, effort in draft.efforts_with_keys:
        if effort.get("recoding") != "clustering" or required is None:
            continue
        least = max(2, required, integer(effort.get("k")) or 0)
        size = integer(effort.get("cluster_size"))
        if effort.get("halve") and (size or least) // 2 < least:
            yield Problem(
                ("efforts", number, "halve"),
                f"must leave clusters of at least {least} records, the k of the effort: half of "
                f"the cluster size, rounded down, is {(size or least) // 2}",
                f"Write cluster_size: {2 * least} or more, or passes: 2.",
            )
        elif size is not None and size < least:
            yield Problem(
                ("efforts", number, "cluster_size"),
                f"must be at least the k of the effort, {least}",
                "Raise it, or remove it.",
                short_repr(size),
            )


def _merging_has_a_reason(draft: RawSpec) -> Iterator[Problem]:
    """Refuse merging where groups keep all guarantees by their size."""
    for number, effort in draft.efforts_with_keys:
        declared = {name for name, value in draft.guarantees.items() if value is not None}
        if effort.get("merge") and declared | {*_own_guarantees(effort)} <= {"k_anonymity"}:
            yield Problem(
                ("efforts", number, "merge"),
                "must have a guarantee beside k_anonymity, which groups keep by their size",
                "Declare one, such as l_diversity or t_closeness, or remove it.",
            )


def _payouts_per_record_are_known(draft: RawSpec) -> Iterator[Problem]:
    """Refuse keys with which the payout of a class is not known before it is formed."""
    for number, effort in draft.efforts_with_keys:
        if effort.get("maximize") is None:
            continue
        guarantees = {**draft.guarantees, **_own_guarantees(effort)}
        place: KeyPath = ("efforts", number, "maximize")
        if guarantees.get("profitable") is None:
            yield Problem(
                place, "must have the amounts of the guarantee profitable", "Declare profitable."
            )
        if draft.subject is not None:
            yield Problem(
                place,
                "must not be there where a subject is declared: payouts per record count records",
                "Remove it.",
            )
        for model in (name for name, declared in guarantees.items() if declared is not None):
            if model in MODELS and not MODELS[model].READS_SIZES_ALONE:
                yield Problem(
                    place,
                    f"must not be there with the guarantee {model}, which a class that is not "
                    "formed yet cannot be judged by",
                    "Remove it, or the guarantee.",
                )
        yield from (
            Problem(
                place,
                f"must not be there where a hierarchy is not nested; that of {name} is not",
                "Make the hierarchy nested, or remove it.",
            )
            for name, nested in draft.nested.items()
            if not nested
        )
        yield from _rounds_are_a_chain(number, items(effort.get("rounds")))


def _rounds_are_a_chain(number: int, rounds: list[Any]) -> Iterator[Problem]:
    for position, (finer, coarser) in enumerate(pairwise(rounds), start=2):
        for name, level in mapping(finer).items():
            lowest, level_after = integer(level), integer(mapping(coarser).get(name))
            if lowest is not None and level_after is not None and level_after < lowest:
                yield Problem(
                    ("efforts", number, "rounds", position, name),
                    f"must be at least the level of the round before, {lowest}, where payouts "
                    "decide",
                    "Raise it.",
                    short_repr(level_after),
                )


def _own_guarantees(effort: Mapping[str, Any]) -> Mapping[str, Any]:
    own = mapping(effort.get("guarantees"))
    return {name: value for name, value in own.items() if value is not None}


def _frozen_labels_are_of_values(draft: RawSpec) -> Iterator[Problem]:
    """Refuse means and modes, which change whenever somebody joins or leaves the group."""
    number = draft.release_effort
    if not draft.freeze or number is None or not 0 < number <= len(draft.efforts):
        return
    effort = draft.efforts[number - 1] or {}
    default = "mean" if effort.get("recoding") == "microaggregation" else "interval"
    for key, fallback in (("numbers", default), ("categories", "ancestor")):
        released = effort.get(key) or fallback
        if released not in {"interval", "ancestor"}:
            yield Problem(
                ("efforts", number, key),
                f"must not be {released} of a frozen effort: it is of those who are in a group now",
                "Release another effort, or remove freeze and let every build recode.",
                str(released),
            )


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


def _splits_fit_no_recoding(draft: RawSpec) -> Iterator[Problem]:
    if draft.quality.get("fit") == "per_split" and any(
        draft.differs_by_record(effort) for _, effort in draft.efforts_with_keys
    ):
        yield Problem(
            ("quality", "fit"),
            "must be once where an effort is recoded: its levels differ per record and are not "
            "declared, so they cannot be found again for the training records alone",
            "Write efforts with levels."
            if draft.has_external_efforts
            else "Write fit: once, or efforts with levels.",
            "per_split",
        )


def _samples_have_levels(draft: RawSpec) -> Iterator[Problem]:
    """Refuse recodings, which give no labels to the records that models are tested on."""
    for number, effort in draft.efforts_with_keys:
        if draft.differs_by_record(effort) and (effort.get("sample") or is_sampled(draft)):
            yield Problem(
                ("efforts", number, "recoding"),
                "must be full_domain where a sample is released: a recoding that differs per "
                "record has no labels for records outside it",
                "Write levels, or remove the sample.",
                short_repr(effort["recoding"]),
            )


def _importance_is_of_quasi_identifiers(draft: RawSpec) -> Iterator[Problem]:
    for number, effort in draft.efforts_with_keys if draft.has_all_roles else ():
        for name in mapping(effort.get("importance")):
            if name not in draft.levels:
                yield no_quasi_identifier(("efforts", number, "importance", name), name, draft)


RULES = (
    _importance_is_of_quasi_identifiers,
    _samples_have_levels,
    _splits_fit_no_recoding,
    _recoding_needs_nested_hierarchies,
    _recoding_has_no_population,
    _groups_fit_the_table,
    _clusters_have_k,
    _merging_has_a_reason,
    _payouts_per_record_are_known,
    _frozen_labels_are_of_values,
    _class_losses_differ_by_record,
    *aggregate_rules.RULES,
)
