"""Rules about efforts: see ``rules``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from dbt_anonymize.privacy.registry import MODELS, counts_in_population
from dbt_anonymize.spec.draft import RawSpec, integer, items, mapping
from dbt_anonymize.spec.efforts import levels_alone
from dbt_anonymize.spec.guarantee_rules import declared_guarantees, less_than_guaranteed
from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, short_repr

# Recodings whose labels differ per record.
_DIFFERING = frozenset(
    {"local", "multidimensional", "microaggregation", "clustering", "cell_suppression"}
)


def _efforts_name_the_quasi_identifiers(draft: RawSpec) -> Iterator[Problem]:
    if not draft.has_all_roles:
        return
    for number, effort in enumerate(draft.efforts, start=1):
        for place, levels in _level_vectors(number, effort):
            yield from _levels_problems(place, levels, draft)
        for name in mapping(effort and effort.get("importance")):
            if name not in draft.levels:
                yield no_quasi_identifier(("efforts", number, "importance", name), name, draft)


def _level_vectors(number: int, effort: object) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield every mapping of quasi-identifiers to levels of an effort, and its path."""
    if not isinstance(effort, Mapping):
        return
    if levels_alone(effort):
        yield ("efforts", number), effort
        return
    if isinstance(effort.get("levels"), Mapping):
        yield ("efforts", number, "levels"), effort["levels"]
    for position, levels in enumerate(items(effort.get("rounds")), start=1):
        if isinstance(levels, Mapping):
            yield ("efforts", number, "rounds", position), levels


def _levels_problems(
    place: KeyPath, vector: Mapping[str, Any], draft: RawSpec
) -> Iterator[Problem]:
    yield from (
        Problem(
            place,
            f"must name a level for every quasi-identifier; {name} is missing",
            f"Add a level of {name}; 0 leaves its values as they are.",
        )
        for name in draft.levels
        if name not in vector
    )
    for name, level in vector.items():
        if name not in draft.levels:
            yield no_quasi_identifier((*place, name), name, draft)
            continue
        levels, level_number = draft.levels[name], integer(level)
        if levels is not None and level_number is not None and level_number > levels:
            yield Problem(
                (*place, name),
                f"must be a level of its hierarchy, 0 to {levels}",
                f"Lower it; {levels} is the root.",
                short_repr(level),
            )


def no_quasi_identifier(place: KeyPath, name: str, draft: RawSpec) -> Problem:
    """Return the problem of a name that is none of the quasi-identifiers."""
    known = f"Quasi-identifiers are {names(draft.levels)}."
    remedy = did_you_mean(name, draft.levels, known)
    return Problem(place, "must be a quasi-identifier", remedy, str(name))


def _efforts_differ(draft: RawSpec) -> Iterator[Problem]:
    for number, effort in enumerate(draft.efforts, start=1):
        if not effort:
            continue
        if any(
            levels and all(integer(level) == 0 for level in levels.values())
            for place, levels in _level_vectors(number, effort)
            if "rounds" not in place and effort.get("recoding") != "cell_suppression"
        ):
            yield Problem(
                ("efforts", number),
                "must generalize something: level 0 everywhere is the untouched source",
                "Remove it; the baseline is always computed as effort 0.",
            )
        elif effort in draft.efforts[: number - 1]:
            other = draft.efforts.index(effort) + 1
            yield Problem(
                ("efforts", number), f"must differ from effort {other}", "Remove one of them."
            )


def _efforts_demand_at_least_k(draft: RawSpec) -> Iterator[Problem]:
    for number, effort in draft.efforts_with_keys:
        yield from less_than_guaranteed(("efforts", number, "k"), effort.get("k"), draft)


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
        if counted and effort.get("recoding") in _DIFFERING:
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
    """Refuse clusters that would be smaller than what is guaranteed of classes."""
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


def _payouts_per_record_are_known(draft: RawSpec) -> Iterator[Problem]:
    """Refuse what would make a class that might be formed worth something else than counted."""
    for number, effort in draft.efforts_with_keys:
        if effort.get("maximize") is None:
            continue
        kept = {**draft.guarantees, **_declared(effort)}
        place: KeyPath = ("efforts", number, "maximize")
        if kept.get("profitable") is None:
            yield Problem(
                place, "must have the amounts of the guarantee profitable", "Declare profitable."
            )
        if draft.subject is not None:
            yield Problem(
                place,
                "must not be there where a subject is declared: payouts per record count records",
                "Remove it.",
            )
        for model in (name for name, found in kept.items() if found is not None):
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
            lowest, found = integer(level), integer(mapping(coarser).get(name))
            if lowest is not None and found is not None and found < lowest:
                yield Problem(
                    ("efforts", number, "rounds", position, name),
                    f"must be at least the level of the round before, {lowest}, where payouts "
                    "decide",
                    "Raise it.",
                    short_repr(found),
                )


def _declared(effort: Mapping[str, Any]) -> Mapping[str, Any]:
    own = mapping(effort.get("guarantees"))
    return {name: found for name, found in own.items() if found is not None}


RULES = (
    _efforts_name_the_quasi_identifiers,
    _efforts_differ,
    _efforts_demand_at_least_k,
    _recoding_needs_nested_hierarchies,
    _recoding_has_no_population,
    _groups_fit_the_table,
    _clusters_have_k,
    _payouts_per_record_are_known,
)
