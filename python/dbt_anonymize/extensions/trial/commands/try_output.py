"""Output of ``dbt-anonymize try``: roles, alternatives side by side, a few records of one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt_anonymize.cli.common import SafeConsole, figures_table
from dbt_anonymize.extensions.trial.choice import BALANCED
from dbt_anonymize.extensions.trial.commands.alternatives_table import (
    levels_in_words,
    print_alternatives,
    score_text,
    untouched_text,
)
from dbt_anonymize.extensions.trial.commands.tried import Tried
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.proposal import Proposal
    from dbt_anonymize.extensions.left_out.outliers import Group
    from dbt_anonymize.extensions.trial.alternatives import Alternative

# Most characters of a printed value.
_WIDEST = 24
# Share of records that are told of if sensitive columns together single them out.
_TELLING = 0.01
_ROLES = {
    "identifier": "never released",
    "quasi_identifier": "generalized",
    "sensitive": "released as it is",
    "insensitive": "released as it is",
    "masked": "released under a mask",
}
_ROOT = "*"


def print_trial(console: SafeConsole, tried: Tried, seconds: float, *, verbose: bool) -> None:
    """Print a trial of ``seconds`` seconds, with records of all alternatives if ``verbose``."""
    _print_roles(console, tried)
    for line in warnings(tried):
        console.print(line)
    print_alternatives(console, tried, seconds)
    alternatives = tried.trial.alternatives
    for line in (
        *_uneven_suppression(tried, alternatives),
        *_homogeneous_text(tried),
        *_missed_gains(tried, verbose=verbose),
        *known_to_you_alone(tried, levels_in_words(tried)),
    ):
        console.print(line)
    printed = (
        alternatives
        if verbose
        else [alternative for alternative in alternatives if BALANCED in alternative.names]
    )
    for alternative in printed:
        _print_records(console, tried, alternative)


def print_alternative(console: SafeConsole, tried: Tried, alternative: Alternative) -> None:
    """Print the chosen alternative, and warnings before its release."""
    measure = f"{tried.spec.shown_measure} {1 - alternative.checked.loss:.3f}"
    if alternative.raced is not None:
        measure = (
            f"{tried.spec.measure} {score_text(alternative)} (untouched "
            f"{untouched_text(alternative)}, zero rule {alternative.raced.zero_rule:.3f})"
        )
    console.print(
        f"{', '.join(alternative.names)}: k = {alternative.checked.k}, "
        f"{alternative.checked.suppressed:,} of {tried.counted.table.total:,} records left out, "
        f"{measure}; {tried.reason(alternative)}."
    )
    for line in (*_uneven_suppression(tried, [alternative]), *warnings(tried)):
        console.print(line)


def _print_roles(console: SafeConsole, tried: Tried) -> None:
    """Print the roles of all columns, so that readers see the ones released unchanged."""
    from dbt_anonymize.extensions.drafting.places import families_of  # noqa: PLC0415 (keeps --help fast)

    roles: dict[str, list[str]] = {}
    for name, column in tried.spec.columns.items():
        shown = name if column.mask is None else f"{name} (mask: {column.mask})"
        roles.setdefault(column.role, []).append(shown)
    total = f"{tried.counted.table.total:,} records"
    if tried.spec.is_tested:
        time_text = f" by {tried.spec.tests.time}" if tried.spec.tests.time else ""
        console.print(f"Predicts {tried.spec.target}{time_text} from {total}.")
    else:
        console.print(f"Predicts nothing; {total}.")
    console.print(f"record key (never released): {tried.spec.record_key}")
    if subject := tried.drafted.subject:
        console.print(
            f"k counts people by {subject.name} ({subject.facts.distinct:,}), not rows; a release "
            "does not say which rows are of one person"
        )
    for role, names in roles.items():
        if role != "dropped":
            console.print(f"{role.replace('_', '-')} ({_ROLES[role]}): {', '.join(names)}")
    for reason, names in dropped(tried.drafted.proposals).items():
        console.print(f"dropped ({reason}): {', '.join(names)}")
    if families := families_of(tried.drafted.proposals):
        families_text = "; ".join(", ".join(names) for names in families)
        console.print(
            f"One attribute{' each' if families[1:] else ''}, nobody has two: {families_text}"
        )


def dropped(proposals: Sequence[Proposal]) -> dict[str, list[str]]:
    """Return the columns that are left out, by the reason without figures of the column."""
    named: dict[str, list[str]] = {}
    for column in proposals:
        if column.role == "dropped":
            named.setdefault(re.split("[;:] ", column.reason)[0], []).append(column.name)
    return named


def warnings(tried: Tried) -> Iterator[str]:
    """Yield the decisions that a person should make before a release."""
    from dbt_anonymize.extensions.drafting.names import name_indicates  # noqa: PLC0415 (see above)

    proposals = tried.drafted.proposals
    if tried.guessed:
        yield tried.guessed
    if names := ", ".join(tried.open_identifiers):
        yield (
            f"The table lies in the warehouse file, which analysts open, with {names}. Before "
            "anything is built, load it into the vault, a seed with `+database: vault`, or attach "
            "a file that holds it (`read_only: true`) to a new warehouse file; or `verify` may "
            "find them there."
        )
    if leaks := [column for column in proposals if column.is_leak]:
        columns = ", ".join(
            f"{column.name} ({column.reason.partition(': ')[2]})" for column in leaks
        )
        names = ",".join(column.name for column in leaks)
        yield (
            f"No feature, since models would learn little else: {columns}. Known before "
            f"{tried.spec.target}? --keep {shlex.quote(names)}"
        )
    for name, reason in tried.drafted.failed.items():
        yield f"{name} is left out, since no hierarchy fits. {' '.join(reason.split())}"
    for first, other in tried.times:
        yield (
            f"{first} and {other} look like times until something happens, known only with "
            f"{tried.spec.target}. Predict the time: --time {shlex.quote(other)}; or leave both "
            f"out: --drop {shlex.quote(f'{first},{other}')}"
        )
    yield from follow_up_times(tried)
    if singling := [column for column in proposals if column.gives_away]:
        columns = ", ".join(f"{column.name} {column.facts.explains}" for column in singling)
        options = " ".join(f"--drop {shlex.quote(column.name)}" for column in singling)
        yield (
            f"By itself, {columns} of {tried.spec.target}: part of it, or known only after it? "
            f"Then leave it out: {options}"
        )
    yield from _times_beside_classes(proposals)
    yield from _sensitive_together(tried)
    yield from _telling(tried)
    target = tried.drafted.target
    if target and not target.is_telling and name_indicates(target.name, "quasi_identifier"):
        yield (
            f"{target.name} is released as it is, since models predict it; by its name others know "
            "it, and k does not count it. If that may not be, make its values coarse in a dbt "
            "model before, or predict something else."
        )


def _telling(tried: Tried) -> Iterator[str]:
    """Yield the columns that are released as they are, and by themselves find records."""
    copies = {kept: (quasi, count) for quasi, kept, count in tried.copies}
    alone: dict[str, list[Proposal]] = {}
    for column in tried.drafted.proposals:
        coarsen = "Round" if column.facts.kind == "number" else "Merge rare values of"
        if column.name in copies:
            quasi, count = copies[column.name]
            what = [f"{_singled(column)} a value that no other has"] * column.is_telling
            what.append(f"{count:,} equal {quasi}")
            yield (
                f"{column.name} is released as it is: {', '.join(what)}. Who knows it finds them, "
                f"whatever k is. {coarsen} {column.name} in a dbt model before, or --drop "
                f"{shlex.quote(quasi)} if nobody could know that."
            )
        elif column.is_telling:
            alone.setdefault(coarsen, []).append(column)
    for coarsen, (column, *others) in alone.items():
        names = ", ".join(one.name for one in (column, *others))
        if others:
            counts = ", ".join(f"{one.facts.singled:,}" for one in (column, *others))
            yield (
                f"{names} are released as they are: {counts} records have a value that no other "
                f"has. Who knows one of them finds them, whatever k is. {coarsen} them in a dbt "
                "model before."
            )
        else:
            yield (
                f"{names} is released as it is: {_singled(column)} a value that no other has. Who "
                f"knows it finds them, whatever k is. {coarsen} {names} in a dbt model before."
            )


def _singled(column: Proposal) -> str:
    return pluralized(column.facts.singled, "record has", "records have")


def _sensitive_together(tried: Tried) -> Iterator[str]:
    """Yield that many records are alone with all that is released of them as it is."""
    columns, records = tried.singled
    if records and records >= _TELLING * tried.counted.table.total:
        yield (
            f"The {columns} sensitive columns are released as they are, and together single out "
            f"{records:,} of {tried.counted.table.total:,} records. Who knows them of somebody "
            "finds her, whatever k is: --drop what nobody needs."
        )


def follow_up_times(tried: Tried) -> Iterator[str]:
    """Yield the numbers from which models learn although they are times until the target."""
    from dbt_anonymize.extensions.drafting.names import name_indicates  # noqa: PLC0415 (see above)
    from dbt_anonymize.extensions.drafting.proposal import is_amount  # noqa: PLC0415

    target = tried.drafted.target
    if tried.aim.time is not None or target is None or is_amount(target.facts):
        return
    for column in tried.drafted.proposals:
        is_learned = column.name in tried.spec.features and column.facts.kind == "number"
        if is_learned and name_indicates(column.name, "follow_up"):
            name = shlex.quote(column.name)
            yield (
                f"{column.name} may be the time until {target.name}, or until a person was last "
                f"seen, known only with it. Predict the time: --time {name}; or leave it out: "
                f"--drop {name}"
            )


def _times_beside_classes(proposals: Sequence[Proposal]) -> Iterator[str]:
    """Yield the times that are released under a mask, which k does not count."""
    masked = [column for column in proposals if column.mask and column.facts.kind == "timestamp"]
    if masked:
        names, one = ", ".join(column.name for column in masked), len(masked) == 1
        yield (
            f"{names} {'is' if one else 'are'} released to the quarter, beside what k counts. If "
            f"others could know the day, cast {'it' if one else 'them'} to a date in a dbt model "
            "before: dates are generalized."
        )


def _uneven_suppression(tried: Tried, alternatives: Sequence[Alternative]) -> Iterator[str]:
    """Yield the values whose records are suppressed far more often than others, or altogether."""
    from dbt_anonymize.extensions.left_out.outliers import absent_text  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.trial.left_out import (  # noqa: PLC0415 (as above)
        suppressed_rows,
        target_absent,
        target_left_out,
        value_left_out,
        values_absent,
    )
    from dbt_anonymize.extensions.trial.sample import Sampled  # noqa: PLC0415 (as above)

    names_by_value: dict[str, list[str]] = {}
    names_by_absent: dict[tuple[Group, ...], list[str]] = {}
    sampled = tried.sampled
    for alternative in alternatives:
        counted, k = tried.counted, alternative.required
        is_suppressed = suppressed_rows(tried.spec, counted, alternative)
        found = [value_left_out(counted, is_suppressed)]
        absent = values_absent(counted, is_suppressed, alternative.checked.node, k)
        if isinstance(sampled, Sampled):
            found.insert(0, target_left_out(sampled.records, alternative.suppressed))
            if len(sampled.rows) == counted.table.total:  # of a sample, others may be kept
                absent[:0] = target_absent(sampled.records, alternative.suppressed, k)
        for value in filter(None, found):
            names_by_value.setdefault(str(value), []).extend(alternative.names)
        named = {(value.column, value.value) for value in found if value}
        rest = tuple(group for group in absent if (group.column, group.value) not in named)
        names_by_absent.setdefault(rest, []).extend(alternative.names)
    if names_by_value:
        values_text = "; ".join(
            f"{', '.join(names)}: {value}" for value, names in names_by_value.items()
        )
        yield f"Left out far more than others. {values_text}."
    for groups, names in names_by_absent.items():
        if groups:
            yield absent_text(groups, f" in {', '.join(names)}")


def _homogeneous_text(tried: Tried) -> Iterator[str]:
    """Yield the records whose class reveals their target, and the guarantee that prevents it."""
    counts = [alternative.alike for alternative in tried.trial.alternatives]
    if any(counts):
        counts_text, target = ", ".join(f"{count:,}" for count in counts), tried.spec.target
        sample = len(tried.sampled.rows)
        of_sample = "" if sample == tried.counted.table.total else f" of {sample:,}"
        yield (
            f"In classes of which all have the same {target}: {counts_text}{of_sample} records. "
            f"Who finds the class of somebody knows it; the guarantee l_diversity (attribute "
            f"{target}, l 2) in the spec, and a search, prevent that."
        )


def _missed_gains(tried: Tried, *, verbose: bool) -> Iterator[str]:
    """Yield the gains of columns that are given up, and advice on useless ones."""
    from dbt_anonymize.extensions.search.reasons import missed  # noqa: PLC0415 (keeps --help fast)

    for alternative in tried.trial.alternatives:
        if verbose:
            yield f"{', '.join(alternative.names)}: {tried.reason(alternative)}."
        elif gains := missed(alternative.given, tried.spec.measure) if alternative.given else "":
            yield f"{', '.join(alternative.names)}: {gains}."
    readable = {*tried.drafted.keep}
    burdens = [
        alternative for alternative in tried.trial.burdens if alternative.column not in readable
    ]
    yield from (alternative.option for alternative in burdens[:1])


def known_to_you_alone(tried: Tried, levels: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the columns that others may not know, where most that they could know are given up."""
    from dbt_anonymize.extensions.drafting.names import name_indicates  # noqa: PLC0415 (see above)

    number, names = next(
        (place, alternative.names)
        for place, alternative in enumerate(tried.trial.alternatives)
        if BALANCED in alternative.names
    )
    away = [name for name, words in levels.items() if words[number] == _ROOT]
    unknown = [
        name
        for name in away
        if not any(name_indicates(name, kind) for kind in ("quasi_identifier", "sensitive"))
    ]
    if unknown and 2 * len(away) > len(levels):
        yield (
            f"{len(away)} of {len(levels)} columns are `*` in {', '.join(names)}. Are some known "
            f"to you alone? They need no hiding: --sensitive {shlex.quote(','.join(unknown))}"
        )


def _print_records(console: SafeConsole, tried: Tried, alternative: Alternative) -> None:
    """Print five records as an alternative releases them, without the columns that it gives up."""
    from dbt_anonymize.extensions.trial.example_rows import (  # noqa: PLC0415 (keeps --help fast)
        example_places,
        generalized_labels,
        other_values,
    )

    places = example_places(tried.sampled, tried.trial, tried.counted.plans)
    labels = generalized_labels(
        tried.sampled, tried.counted.plans, alternative.checked.node, places
    )
    number = tried.trial.alternatives.index(alternative)
    hidden = {name for name, levels in levels_in_words(tried).items() if levels[number] == _ROOT}
    visible = {name: values for name, values in labels.items() if name not in hidden}
    note = ", without what is `*`" if hidden else ""
    console.print(f"Five records as {', '.join(alternative.names)} would release them{note}:")
    console.print(_records_table({**visible, **other_values(tried.sampled, places)}))
    if any(_ROOT in values for values in visible.values()):
        console.print("`*` in a record: missing, or hidden at that level")


def _records_table(columns: dict[str, list[str]]) -> Any:
    """Return a table with a row per column and records side by side, so that wide tables fit."""
    most = max(map(len, columns.values()), default=0)
    table = figures_table((), ["column", *([""] * most)])
    table.show_header = False
    for name, values in columns.items():
        cells = (value if len(value) <= _WIDEST else f"{value[: _WIDEST - 1]}…" for value in values)
        table.add_row(name, *cells)
    return table
