"""Rules about tables of other tools: see `spec.rules`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from dbt_anonymize.spec.draft import RawSpec, mapping, text
from dbt_anonymize.spec.problems import KeyPath, Problem, short_repr
from dbt_anonymize.spec.qnf import FUNCTIONS
from dbt_anonymize.spec.quality import task_of_measure

# What is known of the rows of every effort, and so may weigh them all.
QNF_COLUMNS = ("k", "equivalence_classes", "attack_rate")
_WORD = re.compile(r"[a-z_][a-z0-9_]*")


def _limits_are_of_external_efforts(draft: RawSpec) -> Iterator[Problem]:
    if draft.has_external_efforts:
        return
    if draft.raw.get("measured_limits"):
        yield Problem(
            ("measured_limits",),
            "must be absent without an effort that is a relation of another tool",
            "Remove it, or add such an effort.",
        )
    if "attack_rate" in _WORD.findall(str(draft.raw.get("qnf"))):
        yield Problem(
            ("qnf",),
            "must not name attack_rate, which is measured where an effort is a relation of another "
            "tool",
            "Write for example 1 - 1/k.",
        )


def _outer_records_are_hidden_from_the_tool(draft: RawSpec) -> Iterator[Problem]:
    if not draft.has_external_efforts:
        return
    quality = draft.quality
    if quality.get("outer_share") is None:
        yield Problem(
            ("quality", "outer_share"),
            "must be there where an effort is a relation of another tool: records that the tool "
            "has not seen must score it, or a copy of the source would be best",
            "Write outer_share: 0.3 and fit: per_split, and give the tool the records where not "
            "dbt_anonymize.is_outer(...).",
        )
    refused: dict[str, tuple[tuple[Any, ...], str]] = {
        "test_on": (("generalized",), "original, since another tool generalizes no test record"),
        "numbers": (
            ("class_mean",),
            "by_model, midpoint or bounds: foreign rows have no raw value",
        ),
        "categories": (("frequencies",), "label or leaves: foreign rows have no raw value"),
    }
    for key, (values, allowed) in refused.items():
        if quality.get(key) in values:
            yield Problem(
                ("quality", key),
                f"must be {allowed}",
                "Change it.",
                short_repr(quality.get(key)),
            )
    measure = quality.get("measure")
    task = task_of_measure(measure) if isinstance(measure, str) else "classification"
    if task not in {"classification", "regression"}:
        yield Problem(
            ("quality", "measure"),
            "must be of a classification or regression where an effort is a relation of another "
            "tool",
            "Choose such a measure.",
            str(measure),
        )


_BESIDE = "where an effort is a relation of another tool"
_OF_NOBODY = f"{_BESIDE}, whose rows are of nobody"
# What needs to know whose rows they are or how they were made: what is declared, its place, what
# must hold instead, and what to do.
_REFUSED: tuple[tuple[Callable[[RawSpec], object], KeyPath, str, str], ...] = (
    (lambda draft: draft.freeze, ("freeze",), f"must be absent {_OF_NOBODY}", "Remove it."),
    (
        lambda draft: draft.mapping != "none",
        ("mapping",),
        f"must be none {_OF_NOBODY}: no vault can lead from them to people",
        "Write mapping: none.",
    ),
    (
        lambda draft: draft.subject,
        ("subject",),
        f"must be absent {_BESIDE}, which does not say which rows are of one person",
        "Make one record per person in a model before.",
    ),
    (lambda draft: draft.sample, ("sample",), f"must be absent {_OF_NOBODY}", "Remove it."),
    (
        lambda draft: draft.guarantees.get("differential_privacy"),
        ("guarantees", "differential_privacy"),
        f"must be absent {_BESIDE}, whose budget nobody keeps",
        "Write a spec of its own for it.",
    ),
    (
        lambda draft: any(draft.masks.values()),
        ("columns",),
        f"must have no mask {_BESIDE}, which has none",
        "Drop the column, or release it as it is.",
    ),
    (
        lambda draft: draft.choose == "strongest_non_inferior",
        ("choose",),
        f"must be max_q or pareto_knee {_BESIDE}: k is not what protects its rows",
        "Write choose: max_q.",
    ),
    (
        lambda draft: draft.release.get("recompute"),
        ("release", "recompute"),
        f"must be absent {_BESIDE}, which nothing here can compute again",
        "Remove it.",
    ),
    (
        lambda draft: text(draft.release.get("composition")) not in {None, "report"},
        ("release", "composition"),
        f"must be report {_OF_NOBODY}",
        "Remove it.",
    ),
    (
        lambda draft: draft.release.get("joiners") == "wait",
        ("release", "joiners"),
        f"must be publish {_OF_NOBODY}",
        "Remove it.",
    ),
)


def _nothing_is_said_of_foreign_rows(draft: RawSpec) -> Iterator[Problem]:
    """Refuse what needs to know whose rows they are, or how they were made."""
    if not draft.has_external_efforts:
        return
    for is_declared, place, rule, remedy in _REFUSED:
        if is_declared(draft):
            yield Problem(place, rule, remedy)
    words = {*_WORD.findall(str(draft.raw.get("qnf")))} - {*FUNCTIONS} - {*QNF_COLUMNS}
    if words:
        yield Problem(
            ("qnf",),
            f"must name k, equivalence_classes or attack_rate {_BESIDE}: nothing else is known of "
            "its rows",
            "Write for example 1 - attack_rate.",
            str(draft.raw.get("qnf")),
        )


def _names_differ(draft: RawSpec) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for number, effort in draft.efforts_with_keys:
        source = mapping(effort.get("relation"))
        if not source:
            continue
        name = str(effort.get("name") or source.get("ref") or source.get("source"))
        if name in seen:
            yield Problem(
                ("efforts", number, "name"),
                f"must differ from that of effort {seen[name]}",
                "Write another name.",
                name,
            )
        seen.setdefault(name, number)


RULES = (
    _limits_are_of_external_efforts,
    _outer_records_are_hidden_from_the_tool,
    _nothing_is_said_of_foreign_rows,
    _names_differ,
)
