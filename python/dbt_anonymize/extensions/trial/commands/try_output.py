"""Output of ``dbt-anonymize try``: roles, alternatives side by side, a few records of one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt_anonymize.cli.common import SafeConsole, figures_table
from dbt_anonymize.extensions.trial.commands.tried import Tried

if TYPE_CHECKING:
    from dbt_anonymize.extensions.search.by_quality import Raced
    from dbt_anonymize.extensions.trial.alternatives import Alternative

# Characters of a value that is shown.
_WIDEST = 24
_ROLES = {
    "identifier": "never released",
    "quasi_identifier": "generalized",
    "sensitive": "released as it is",
    "insensitive": "released as it is",
    "masked": "released under a mask",
    "dropped": "left out",
}
_GONE = "*"


def show(console: SafeConsole, tried: Tried, seconds: float, *, verbose: bool) -> None:
    """Show a trial that took so many seconds; records of all alternatives only where asked for."""
    _show_roles(console, tried)
    for line in warnings(tried):
        console.print(line)
    _show_alternatives(console, tried)
    console.print(_legend(tried, seconds))
    alternatives = tried.trial.alternatives
    for line in (*_left_out(tried, alternatives), *_alike(tried), *_misses(tried, verbose=verbose)):
        console.print(line)
    shown = alternatives if verbose else [one for one in alternatives if "balanced" in one.names]
    for one in shown:
        _show_records(console, tried, one)


def show_taken(console: SafeConsole, tried: Tried, one: Alternative) -> None:
    """Show what is taken, and what somebody should know before it is released."""
    measure = f"{tried.spec.shown_measure} {1 - one.checked.loss:.3f}"
    if one.raced is not None:
        measure = (
            f"{tried.spec.measure} {one.raced.score:.3f} (untouched {one.raced.untouched:.3f}, "
            f"zero rule {one.raced.zero_rule:.3f})"
        )
    console.print(
        f"{', '.join(one.names)}: k = {one.checked.k}, {one.checked.suppressed:,} of "
        f"{tried.counted.table.total:,} records left out, {measure}; {tried.reason(one)}."
    )
    for line in (*_left_out(tried, [one]), *warnings(tried)):
        console.print(line)


def _show_roles(console: SafeConsole, tried: Tried) -> None:
    """Say which columns are which; a reader must see what is taken for harmless."""
    from dbt_anonymize.extensions.drafting.places import families_of  # noqa: PLC0415 (keeps --help fast)

    roles: dict[str, list[str]] = {}
    for name, column in tried.spec.columns.items():
        roles.setdefault(column.role, []).append(name)
    total = f"{tried.counted.table.total:,} records"
    if tried.spec.is_tested:
        by = f" by {tried.spec.tests.time}" if tried.spec.tests.time else ""
        console.print(f"Predicts {tried.spec.target}{by} from {total}.")
    else:
        console.print(f"Predicts nothing; {total}.")
    console.print(f"record key (never released): {tried.spec.record_key}")
    for role, names in roles.items():
        console.print(f"{role.replace('_', '-')} ({_ROLES[role]}): {', '.join(names)}")
    if families := families_of(tried.drafted.proposals):
        said = "; ".join(", ".join(names) for names in families)
        console.print(f"One attribute{' each' if families[1:] else ''}, nobody has two: {said}")


def warnings(tried: Tried) -> Iterator[str]:
    """Yield what somebody should decide before a release."""
    proposals = tried.drafted.proposals
    if leaks := [one for one in proposals if one.is_leak]:
        said = ", ".join(f"{one.name} ({one.reason.partition(': ')[2]})" for one in leaks)
        names = ",".join(one.name for one in leaks)
        yield (
            f"Left out, since models would learn little else: {said}. Known before "
            f"{tried.spec.target}? --keep {shlex.quote(names)}"
        )
    for first, other in tried.times:
        yield (
            f"{first} and {other} look like times until something happens, known only with "
            f"{tried.spec.target}. Predict the time: --time {shlex.quote(other)}; or leave both "
            f"out: --drop {shlex.quote(f'{first},{other}')}"
        )
    if telling := [one for one in proposals if one.gives_away]:
        said = ", ".join(f"{one.name} {one.facts.explains}" for one in telling)
        options = " ".join(f"--drop {shlex.quote(one.name)}" for one in telling)
        yield (
            f"By itself, {said} of {tried.spec.target}: part of it, or known only after it? Then "
            f"leave it out: {options}"
        )
    copied = {kept: (quasi, count) for quasi, kept, count in tried.copies}
    for one in (one for one in proposals if one.is_telling or one.name in copied):
        what = [f"{one.facts.singled:,} records have a value of their own"] * one.is_telling
        remedy = f"Round {one.name} in a dbt model before"
        if one.name in copied:
            quasi, count = copied[one.name]
            what.append(f"{count:,} equal {quasi}")
            remedy += f", or --drop {shlex.quote(quasi)} if nobody could know that"
        yield (
            f"{one.name} is released as it is: {', '.join(what)}. Who knows it finds them, "
            f"whatever k is. {remedy}."
        )


def _show_alternatives(console: SafeConsole, tried: Tried) -> None:
    """Show figures and levels of the alternatives side by side."""
    alternatives = tried.trial.alternatives
    table = figures_table((), ["", *("\n".join(one.names) for one in alternatives)])
    table.add_row("k", *(str(one.checked.k) for one in alternatives))
    table.add_row("left out", *(f"{one.checked.suppressed:,}" for one in alternatives))
    table.add_row(tried.spec.shown_measure, *map(_score, alternatives))
    if any(one.raced for one in alternatives):
        table.add_row(
            "untouched", *(f"{one.raced.untouched:.3f}" for one in alternatives if one.raced)
        )
        table.add_row("detail", *(f"{one.detail:.0%}" for one in alternatives))
    table.add_section()
    levels = _levels(tried)
    for name, of_one in levels.items():
        if {*of_one} != {_GONE}:
            table.add_row(name, *of_one)
    console.print(table)
    if gone := [name for name, of_one in levels.items() if {*of_one} == {_GONE}]:
        console.print(f"`*` in every alternative: {', '.join(gone)}")


def _score(one: Alternative) -> str:
    """Return how well models do, with the share of what they gain from the untouched table."""
    if one.raced is None:
        return f"{1 - one.checked.loss:.3f}"
    share = _share(one.raced)
    return f"{one.raced.score:.3f}" + ("" if share is None else f" ({share:.0%})")


def _levels(tried: Tried) -> dict[str, list[str]]:
    """Return by quasi-identifier what each alternative leaves of it, in words."""
    from dbt_anonymize.hierarchies.words import AS_IT_IS  # noqa: PLC0415 (keeps --help fast)

    return {
        name: [[AS_IT_IS, *words][one.checked.node[place]] for one in tried.trial.alternatives]
        for place, (name, words) in enumerate(tried.words.items())
    }


def _legend(tried: Tried, seconds: float) -> str:
    from dbt_anonymize.spec.tested import NO_MODEL  # noqa: PLC0415 (keeps --help fast)

    first = tried.trial.alternatives[0].raced
    if first is None:
        return (
            f"{tried.spec.shown_measure} is the share of detail that is left, 1 for the untouched "
            f"table; {NO_MODEL}. Searched in {seconds:.0f} s."
        )
    sample = len(tried.sampled.rows)
    used = "" if sample == tried.counted.table.total else f" on {sample:,} records"
    return (
        f"{tried.spec.measure} of models scored on untouched records, beside that of the untouched "
        f"table on the same splits; {first.zero_rule:.3f} for the zero rule; % is of what lies "
        "between. Detail is what is left of quasi-identifiers, 1 - loss. "
        f"{tried.trial.trained} models{used} in {seconds:.0f} s."
    )


def _left_out(tried: Tried, alternatives: Sequence[Alternative]) -> Iterator[str]:
    """Say of which value far more records are left out than of all others."""
    from dbt_anonymize.extensions.trial.left_out import left_out_of  # noqa: PLC0415 (keeps --help fast)

    named: dict[str, list[str]] = {}
    for one in alternatives:
        if found := left_out_of(tried.spec, tried.counted, one):
            named.setdefault(str(found), []).extend(one.names)
    if named:
        said = "; ".join(f"{', '.join(names)}: {found}" for found, names in named.items())
        yield f"Left out far more than others. {said}."


def _alike(tried: Tried) -> Iterator[str]:
    """Say whose target is known to whoever finds their class, and which guarantee prevents it."""
    counts = [one.alike for one in tried.trial.alternatives]
    if any(counts):
        listed, target = ", ".join(f"{count:,}" for count in counts), tried.spec.target
        sample = len(tried.sampled.rows)
        of = "" if sample == tried.counted.table.total else f" of {sample:,}"
        yield (
            f"In classes of which all have the same {target}: {listed}{of} records. Who finds the "
            f"class of somebody knows it; the guarantee l_diversity (attribute {target}, l 2) in "
            "the spec, and a search, prevent that."
        )


def _misses(tried: Tried, *, verbose: bool) -> Iterator[str]:
    """Yield what columns that are given up would add, and which had better go."""
    from dbt_anonymize.extensions.search.reasons import missed  # noqa: PLC0415 (keeps --help fast)

    for one in tried.trial.alternatives:
        if verbose:
            yield f"{', '.join(one.names)}: {tried.reason(one)}."
        elif said := missed(one.given, tried.spec.measure) if one.given else "":
            yield f"{', '.join(one.names)}: {said}."
    kept = {*tried.drafted.keep}
    burdens = [one for one in tried.trial.burdens if one.column not in kept]
    yield from (one.option for one in burdens[:1])


def _show_records(console: SafeConsole, tried: Tried, one: Alternative) -> None:
    """Show five records as an alternative releases them, without the columns that it gives up."""
    from dbt_anonymize.extensions.trial.shown import generalized, others, shown_places  # noqa: PLC0415

    places = shown_places(tried.sampled, tried.trial)
    labels = generalized(tried.sampled, tried.counted.plans, one.checked.node, places)
    gone = {name for name, of in _levels_of(tried, one).items() if of == _GONE}
    shown = {name: of for name, of in labels.items() if name not in gone}
    left_out = ", without what is `*`" if gone else ""
    console.print(f"Five records as {', '.join(one.names)} would release them{left_out}:")
    console.print(_cells({**shown, **others(tried.sampled, places)}))


def _levels_of(tried: Tried, one: Alternative) -> Mapping[str, str]:
    place = tried.trial.alternatives.index(one)
    return {name: levels[place] for name, levels in _levels(tried).items()}


def _cells(columns: dict[str, list[str]]) -> Any:
    """Return a line for each column: records stand side by side, so that wide tables fit."""
    most = max(map(len, columns.values()), default=0)
    table = figures_table((), ["column", *([""] * most)])
    table.show_header = False
    for name, values in columns.items():
        shown = (one if len(one) <= _WIDEST else f"{one[: _WIDEST - 1]}…" for one in values)
        table.add_row(name, *shown)
    return table


def _share(raced: Raced) -> float | None:
    """Return which share of what the untouched table gains over the zero rule is kept."""
    gain = raced.untouched - raced.zero_rule
    return (raced.score - raced.zero_rule) / gain if gain > 0 else None
