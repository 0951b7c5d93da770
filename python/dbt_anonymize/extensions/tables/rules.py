"""Rules about a released table: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt_anonymize.extensions.tables.declared import INTERVALS, PEOPLE, RECORDS
from dbt_anonymize.extensions.tables.reading import STATUS
from dbt_anonymize.spec.draft import RawSpec, integer, items, mapping, text, texts
from dbt_anonymize.spec.problems import KeyPath, Problem, names, short_repr, unknown
from dbt_anonymize.spec.release import Release

_PLACE = "table"
# Columns of its relations, whatever their case; and what is added to the name of a sum.
_OWN_COLUMNS = frozenset(
    {PEOPLE, STATUS, "effort", "kind", "cell", "keys", "sums", "released", "is_same"}
    | {"qf", "zero_rule", "qnf", "refusal", "measure", "lowest", "highest", "demanded", "value"}
    | {end for ends in INTERVALS.values() for end in ends}
)
_CONTRIBUTIONS = ("_first", "_second")
# What a spec with a table has no use for; each is empty or missing then.
_OF_RECORDS = ("efforts", "target", "features", "quality", "alpha", "sample", "population")
# Keys of `release` that hold of tables, too.
_OF_ANY_RELEASE = frozenset({"access", "composition"})


def _stands_alone(draft: RawSpec) -> Iterator[Problem]:
    if not _table(draft):
        return
    if found := [key for key in _OF_RECORDS if draft.raw.get(key) not in (None, (), [])]:
        yield Problem(
            (_PLACE,),
            f"must stand without {', '.join(found)}: counts of released classes would give hidden "
            "cells away",
            "Release records by a spec of their own, from a table of other people.",
        )
    default = Release().model_dump()
    unused = [
        key
        for key, value in draft.release.items()
        if key not in _OF_ANY_RELEASE
        and (tuple(value) if isinstance(value, list) else value) != default.get(key)
    ]
    if unused:
        yield Problem(
            ("release",),
            f"must have {' and '.join(sorted(_OF_ANY_RELEASE))} alone beside table: what else it "
            "says is of records",
            "Remove it; the best effort that protects enough is released.",
            names(unused),
        )
    least = integer(_table(draft).get("minimum_frequency")) or 5
    others = [
        key
        for key, value in draft.guarantees.items()
        if value and (key != "k_anonymity" or integer(mapping(value).get("k")) != least)
    ]
    if others or draft.consent:
        yield Problem(
            (_PLACE,),
            "must have no other guarantee and no consent: its cells keep minimum_frequency",
            "Remove them; leave people who did not agree out of the source.",
            ", ".join([*others, *(["consent"] if draft.consent else [])]),
        )
    if draft.freeze:
        yield Problem(
            ("freeze",),
            "must not stand beside table: the effort that released a table is kept anyway",
            "Remove it.",
        )


def _columns_are_counted(draft: RawSpec) -> Iterator[Problem]:
    table, roles = _table(draft), draft.roles or {}
    dimensions, sums = texts(table.get("dimensions")), texts(table.get("sums"))
    kept = [n for n, role in roles.items() if role in {"sensitive", "insensitive"}]
    kept = [name for name in kept if name not in draft.masks]
    for place, found, known in (
        ("dimensions", dimensions, [*draft.levels, *kept]),
        ("sums", sums, kept),
    ):
        for name in found:
            if name not in known:
                rule = f"must be columns of role {'quasi_identifier, ' * (place[0] == 'd')}"
                rule += "sensitive or insensitive, without mask"
                yield unknown((_PLACE, place), rule, name, known, "Such columns")
    named = [*dimensions, *sums]
    twice = sorted({name for name in named if named.count(name) > 1})
    summed = [*sums, *([RECORDS] if table.get("counts") == RECORDS else [])]
    own = {*_OWN_COLUMNS, *(f"{name}{end}".lower() for name in summed for end in _CONTRIBUTIONS)}
    own |= {RECORDS} & {*summed}
    own |= {f"{name}_level".lower() for name in mapping(table.get("subtotals"))}
    reserved = sorted(name for name in named if name.lower() in own)
    if twice:
        yield Problem((_PLACE,), "must name each column once", "Remove one.", names(twice))
    if reserved:
        yield Problem(
            (_PLACE,),
            "must leave to the table the names of its own columns",
            "Rename the column in a model before.",
            names(reserved),
        )


def _margins_are_of_dimensions(draft: RawSpec) -> Iterator[Problem]:
    table = _table(draft)
    dimensions = texts(table.get("dimensions"))
    shown = [texts(margin) for margin in items(table.get("shows"))]
    for place, margin in enumerate(shown, start=1):
        path: KeyPath = (_PLACE, "shows", place)
        for name in margin:
            if name not in dimensions:
                yield unknown(path, "must name dimensions", name, dimensions, "Dimensions")
        if {*margin} in [{*other} for other in shown[: place - 1]]:
            yield Problem(path, "must differ from the others", "Remove it.", names(margin))
    for place, question in enumerate(items(table.get("questions")), start=1):
        path = (_PLACE, "questions", place)
        yield from _question_problems(path, mapping(question), dimensions, shown, table)


def _question_problems(
    path: KeyPath,
    question: Mapping[str, Any],
    dimensions: list[str],
    shown: list[list[str]],
    table: Mapping[str, Any],
) -> Iterator[Problem]:
    asked = [text(question.get(kind)) for kind in ("share", "trend", "rank")]
    margin = [*texts(question.get("by")), *(name for name in asked if name)]
    for name in margin:
        if name not in dimensions:
            yield unknown(path, "must ask for dimensions", name, dimensions, "Dimensions")
    measures = [text(table.get("counts")) or PEOPLE, *texts(table.get("sums"))]
    if (of := text(question.get("of"))) and of not in measures:
        yield unknown((*path, "of"), "must be a measure", of, measures, "Measures")
    if len({*margin}) < len(margin):
        yield Problem(path, "must name each dimension once", "Remove one.", names(margin))
    elif {*margin} <= {*dimensions} and shown and {*margin} not in [{*one} for one in shown]:
        yield Problem(
            path,
            f"must ask for cells that are shown; no margin of shows is [{', '.join(margin)}]",
            "Add it to shows, or ask something else.",
        )


def _efforts_protect(draft: RawSpec) -> Iterator[Problem]:
    table = _table(draft)
    dimensions, sums = texts(table.get("dimensions")), texts(table.get("sums"))
    efforts = [mapping(effort) for effort in items(table.get("efforts"))]
    for number, effort in enumerate(efforts, start=1):
        path: KeyPath = (_PLACE, "efforts", number)
        if sums and effort.get("method") in {"noise", "round"}:
            yield Problem(
                path,
                "must hide where sums are shown, since noise and rounding are of counts",
                "Use method: hide, or show no sums.",
                short_repr(effort.get("method")),
            )
        if effort in efforts[: number - 1]:
            other = efforts.index(effort) + 1
            yield Problem(path, f"must differ from effort {other}", "Remove one of them.")
        for name, level in mapping(effort.get("levels")).items():
            levels, number_of_level = draft.levels.get(name), integer(level)
            if name not in (draft.roles or {}):
                continue  # its name is wrong among the dimensions, too
            if name not in dimensions or levels is None:
                known = [one for one in dimensions if one in draft.levels]
                rule = "must be levels of dimensions that have a hierarchy"
                yield unknown((*path, "levels"), rule, name, known, "Such dimensions")
            elif number_of_level is not None and number_of_level >= levels:
                yield Problem(
                    (*path, "levels", name),
                    f"must be a level below the root of its hierarchy, 0 to {levels - 1}",
                    "Lower it, or leave the dimension out.",
                    short_repr(level),
                )


def _records_are_of_subjects(draft: RawSpec) -> Iterator[Problem]:
    table = _table(draft)
    if table.get("counts") != RECORDS:
        return
    if not draft.subject:
        yield Problem(
            (_PLACE, "counts"),
            "must be people where no subject has several records: each record is of one person",
            "Leave it out, or declare the subject.",
            RECORDS,
        )
    for number, effort in enumerate(items(table.get("efforts")), start=1):
        if (method := mapping(effort).get("method")) in {"noise", "round"}:
            yield Problem(
                (_PLACE, "efforts", number),
                "must hide where records are counted: a person may have more of them than noise "
                "and rounding change",
                "Use method: hide, or count people.",
                short_repr(method),
            )


def _subtotals_are_coarser(draft: RawSpec) -> Iterator[Problem]:
    table = _table(draft)
    known = [name for name in texts(table.get("dimensions")) if name in draft.levels]
    efforts = [mapping(mapping(effort).get("levels")) for effort in items(table.get("efforts"))]
    for name, declared in mapping(table.get("subtotals")).items():
        path: KeyPath = (_PLACE, "subtotals", name)
        if name not in known:
            rule = "must be levels of dimensions that have a hierarchy"
            yield unknown((_PLACE, "subtotals"), rule, name, known, "Such dimensions")
            continue
        levels = [integer(level) for level in items(declared)]
        finest = min((integer(effort.get(name)) or 0 for effort in efforts), default=0)
        last = (draft.levels[name] or 0) - 1
        if wrong := [n for n in levels if n is not None and not finest < n <= last]:
            yield Problem(
                path,
                f"must be levels above the finest label of an effort and below the root, "
                f"{finest + 1} to {last}",
                "Leave others out: the total is always there.",
                names(map(str, wrong)),
            )
        if len({*levels}) < len(levels):
            yield Problem(path, "must name each level once", "Remove one.")


def _table(draft: RawSpec) -> Mapping[str, Any]:
    return mapping(draft.raw.get(_PLACE))


RULES: tuple[Callable[[RawSpec], Iterator[Problem]], ...] = (
    _stands_alone,
    _columns_are_counted,
    _margins_are_of_dimensions,
    _efforts_protect,
    _records_are_of_subjects,
    _subtotals_are_coarser,
)
