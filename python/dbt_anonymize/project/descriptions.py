"""Descriptions of efforts in files and commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dbt_anonymize.hierarchies.words import AS_IT_IS
from dbt_anonymize.spec import Effort, Hierarchy

Words = Mapping[str, Sequence[str]]
"""Words for levels, from level 1 on, by quasi-identifier; unknown ones are missing."""

_UNKNOWN: Words = {}


def effort_description(number: int, effort: Effort) -> str:
    """Return the description of an effort in dbt docs."""
    if number == 0:
        return (
            "Effort 0, the untouched baseline that every other effort is compared with; "
            "one row per source record. Never released."
        )
    rows = "row of it, taken as it is" if effort.is_external else "source record"
    return f"Effort {number}: {_recoding(effort)}; one row per {rows}."


def in_words(
    effort: Effort,
    trees: Mapping[str, Hierarchy],
    words: Words = _UNKNOWN,
    given_up: Callable[[Sequence[str]], str] = lambda names: f"gives up {', '.join(names)}",
) -> str:
    """Return what an effort keeps of each quasi-identifier, as the end of a sentence.

    Levels without words appear as numbers. ``given_up`` phrases the columns that are given up.

    Examples
    --------
    >>> age, sex = (Hierarchy(ref="h", kind="categorical", levels=levels) for levels in (3, 1))
    >>> effort, trees = Effort(levels={"age": 2, "sex": 1}), {"age": age, "sex": sex}
    >>> in_words(effort, trees)
    'keeps age at level 2 of 3; gives up sex'
    >>> in_words(effort, trees, {"age": ["by 5", "by 10", "*"]})
    'keeps age by 10; gives up sex'
    """
    ranges = _ranges(effort, trees)
    if effort.is_external:
        return f"is {effort.way}"
    if not effort.vectors:
        own = [name for name in trees if name not in effort.levels_beside]
        beside = (f"{name} {_span(ranges[name], trees[name], words.get(name))}" for name in ranges)
        return "; ".join([f"keeps what {effort.way} leave of {', '.join(own)}", *beside])
    spans = {
        name: _shown(effort, name, _span(span, trees[name], words.get(name)))
        for name, span in ranges.items()
    }
    unchanged = [name for name, span in spans.items() if span == AS_IT_IS]
    removed = [
        name
        for name, (low, _) in ranges.items()
        if low == trees[name].levels and name not in effort.aggregates
    ]
    if len(unchanged) == len(trees) and effort.is_full_domain:
        return "leaves everything as it is"
    coarser = [
        f"{name} {span}" for name, span in spans.items() if name not in {*unchanged, *removed}
    ]
    as_is = f" as {'they are' if unchanged[1:] else 'it is'}"
    groups = (("keeps", coarser, ""), ("leaves", unchanged, as_is))
    parts = [f"{verb} {', '.join(names)}{end}" for verb, names, end in groups if names]
    parts += [given_up(removed)] if removed else []
    if effort.has_cells:
        parts.append("then suppresses single cells")
    elif not effort.is_full_domain:
        parts.append("by record")
    return "; ".join(parts)


def differing_levels(
    efforts: Mapping[int, Effort], trees: Mapping[str, Hierarchy], words: Words = _UNKNOWN
) -> tuple[list[str], dict[int, str]]:
    """Return the quasi-identifiers whose levels differ between efforts, and the levels by effort.

    The untouched table counts where there is at most one effort beside it.
    """
    ranges = {number: _ranges(effort, trees) for number, effort in efforts.items()}
    compared = [n for n, spans in ranges.items() if spans and (n or len(efforts) < 3)]
    names = [
        name
        for name in trees
        if len({_shown(efforts[n], name, str(ranges[n][name])) for n in compared}) > 1
    ] or list(trees)
    return names, {
        number: ", ".join(
            f"{name} "
            + _shown(effort, name, _span(ranges[number][name], trees[name], words.get(name)))
            for name in names
            if ranges[number]
        )
        + (_per_record_suffix(effort) if ranges[number] else effort.kind)
        for number, effort in efforts.items()
    }


def _per_record_suffix(effort: Effort) -> str:
    """Return how levels differ per record, if they do."""
    return "" if effort.is_full_domain else ", then cells" if effort.has_cells else ", by record"


def _span(span: tuple[int, int], tree: Hierarchy, words: Sequence[str] | None) -> str:
    """Return the lowest and the highest level of a quasi-identifier, as numbers without words."""
    levels = range(1, tree.levels)
    texts = [AS_IT_IS, *(words or (f"at level {level} of {tree.levels}" for level in levels))]
    return " to ".join(dict.fromkeys([*texts, "*"][level] for level in span))


def _shown(effort: Effort, name: str, span: str) -> str:
    """Return the words of a level with the aggregate that is shown of its classes."""
    if name not in effort.aggregates:
        return span
    return f"{'in one group' if span == '*' else span} ({effort.aggregates[name].show})"


def _ranges(effort: Effort, trees: Mapping[str, Hierarchy]) -> dict[str, tuple[int, int]]:
    """Return lowest and highest level of each quasi-identifier that has levels.

    Those of other tables are as they are where an effort does not name them.
    """
    vectors = [{**effort.levels_beside, **vector} for vector in effort.vectors or ({},)]
    named = [name for name in trees if effort.vectors or name in effort.levels_beside]
    levels = {name: [vector.get(name, 0) for vector in vectors] for name in named}
    return {name: (min(vector), max(vector)) for name, vector in levels.items()}


def _recoding(effort: Effort) -> str:
    k = f", with at least {effort.k} subjects in each class" if effort.k else ""
    if effort.levels is not None:
        if effort.has_cells:
            k = f", single cells suppressed as `*` (cell suppression){k}"
        levels = ", ".join(
            f"{name} {_shown(effort, name, f'at level {level}')}"
            for name, level in effort.levels.items()
        )
        return f"{levels} of its hierarchy (0 is the raw value){k}"
    return f"{effort.way}{k}"
