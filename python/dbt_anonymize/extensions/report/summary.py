"""First page: the release, its guarantees, its costs, and how stable the choice is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from dbt_anonymize.extensions.report.reading import Findings, round_count
from dbt_anonymize.extensions.report.sections.choice import verdict
from dbt_anonymize.extensions.report.sections.labels import columns_by_loss, losses_of
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.project.register import RegisteredRelease
from dbt_anonymize.project.results import EffortResult, choice_sentences, one_value_sentences
from dbt_anonymize.project.sections import Answer, Section, number, words
from dbt_anonymize.spec.tested import NO_MODEL


def answers(findings: Findings) -> list[Answer]:
    """Return the answers in plain words."""
    return [
        Answer("What is released?", tuple(_release_sentences(findings))),
        Answer("What does it promise?", tuple(_guarantee_sentences(findings))),
        Answer("What does it cost?", tuple(_cost_sentences(findings))),
        Answer("How sure is the choice?", tuple(_stability_sentences(findings))),
    ]


def figures(findings: Findings) -> list[tuple[str, str]]:
    """Return the main figures of the chosen effort, each with its name."""
    chosen = findings.chosen
    if chosen is None:
        return []
    original = next((row["qf_mean"] for row in findings.results if row["effort"] == 0), None)
    scores = (
        ("QF of the release", chosen["qf_mean"]),
        ("QF of the untouched table", original),
        ("QF of the zero rule", chosen["zero_rule"]),
    )
    lines = [("smallest group, k", "-" if chosen["k"] is None else f"{int(chosen['k']):,}")]
    lines += [(name, f"{float(score):.3f}") for name, score in scores if score is not None]
    left_out, records = int(chosen["suppressed_records"]), int(chosen["records"])
    return (
        lines
        if findings.spec.holds_back_joiners
        else [*lines, ("left out", f"{left_out:,} of {records:,}")]
    )


def sample_section(findings: Findings) -> Section | None:
    """Return a few rows of the release, a line for each of its columns."""
    rows, spec = findings.released, findings.spec
    if not rows:
        return None
    ends = [f"{name}_{end}" for name in spec.quasi_identifiers for end in ("lower", "upper")]
    beside = [name for name in rows[0] if name in {*ends, *spec.midpoints, "cqi"}]
    first = [name for name in columns_by_loss(findings) if name in rows[0]]
    names = [*first, *(name for name in rows[0] if name not in {*first, *beside})]
    return Section(
        "rows",
        f"{pluralized(len(rows), 'row')} of the release",
        "As they are released: a line for each column, generalized ones first, and among these "
        "those that lose most."
        + (f" Not shown, since they say the same: {', '.join(beside)}." if beside else ""),
        ("column", *(f"row {place}" for place in range(1, len(rows) + 1))),
        [(name, *("" if row[name] is None else str(row[name]) for row in rows)) for name in names],
        is_open=True,
        is_worst_first=True,
    )


def _release_sentences(findings: Findings) -> Iterator[str]:
    spec, chosen = findings.spec, findings.chosen
    if not findings.evidence.is_current:
        yield (
            "The specification has changed since the build: what follows describes the earlier "
            "one. Run `dbt-anonymize generate` and `dbt build`."
        )
    published = findings.evidence.published
    if published is not None and not findings.evidence.is_published:
        yield (
            f"What is published is not what was built last: it is {published.title}, of "
            f"{_record_count(published)}, and stays until a build releases another. What follows "
            "was built and not released."
        )
    if chosen is None:
        yield f"Nothing of these results. {verdict(findings)}"
        return
    total, left_out = int(chosen["records"]), int(chosen["suppressed_records"])
    of_effort = findings.evidence.rows("privacy", effort=chosen["effort"])
    if is_external(findings):
        yield f"Rows that another tool made (effort {chosen['effort']}), no record of the source."
    elif spec.sample_shares.get(int(chosen["effort"])):
        yield f"A sample of the records, generalized (effort {chosen['effort']})."
    elif spec.holds_back_joiners and of_effort:
        yield (
            f"{pluralized(int(of_effort[0]['released_records']), 'record')}, generalized (effort "
            f"{chosen['effort']}); of the {total:,} of the source those who are new or leave may "
            "wait until enough of their class do."
        )
    else:
        records = f"{total - left_out:,} of {total:,}" if left_out else f"All {total:,}"
        yield f"{records} records, generalized (effort {chosen['effort']})."
    hidden = spec.identifiers
    as_they_are = [name for name in spec.kept_columns if name not in spec.masks]
    as_they_are += spec.kept_beside
    yield (
        f"Generalized: {', '.join(spec.described_trees)}."
        + (f" Removed: {', '.join(hidden)}." if hidden else "")
        + (f" As they are: {', '.join(as_they_are)}." if as_they_are else "")
        + (f" Masked: {', '.join(spec.masks)}." if spec.masks else "")
    )
    yield from _key_sentences(findings)
    if findings.evidence.release is None:
        yield "It is not published yet: run `dbt build`."
    elif published is None or findings.evidence.is_published:
        yield f"It lies in {findings.evidence.release}."


def _key_sentences(findings: Findings) -> Iterator[str]:
    """Name released columns in which nearly every record has a value of its own."""
    if single := findings.own_values.get("single"):
        columns = findings.spec.columns
        names = [f"{n} (accepted)" if columns[n].unique else n for n in single]
        yield (
            f"Keys: in {', '.join(names)} nine of ten records or more have a value of their own, "
            "and whoever has these values finds the record."
        )
    if fractions := findings.own_values.get("fractions"):
        yield f"Measurements like this, a value for nearly every record: {', '.join(fractions)}."


def _record_count(release: RegisteredRelease) -> str:
    """Say how many records a release has, if that is known."""
    records = release.released_records
    return "some records" if records is None else pluralized(records, "record")


def is_external(findings: Findings) -> bool:
    """Tell whether the table of another tool is released."""
    chosen = findings.chosen
    return chosen is not None and chosen["effort"] in findings.spec.external_efforts


def _guarantee_sentences(findings: Findings) -> Iterator[str]:
    chosen = findings.chosen
    if is_external(findings):
        yield (
            "Nothing formal: another tool made the rows. What attacks found before the release is "
            f"in {findings.spec.name}_measured_privacy."
        )
    for guarantee in () if is_external(findings) else findings.spec.all_guarantees:
        if "effort" in guarantee and (chosen is None or guarantee["effort"] != chosen["effort"]):
            continue
        yield promise(guarantee, has_subject=findings.spec.subject is not None)
    if chosen is not None and chosen["k"] is not None:
        yield (
            "The smallest group of the released effort has "
            + pluralized(
                int(chosen["k"]), *(("person", "people") if findings.spec.subject else ("record",))
            )
            + "."
        )
    alike = round_count(findings.alike, findings.fewest)
    for sentence in one_value_sentences(findings.spec, alike, is_rounded=True):
        yield sentence[0].upper() + sentence[1:]
    yield findings.evidence.verification
    yield (
        "It does not promise that nobody can be found by columns that are released as they are, or "
        "by another release about the same people."
    )


def promise(guarantee: Mapping[str, Any], *, has_subject: bool = False) -> str:
    """Return a guarantee in words, else its name and parameters.

    Examples
    --------
    >>> promise({"model": "k_map", "k": 5})
    'Each released record fits at least 5 people of the population.'
    >>> promise({"model": "delta_presence", "maximum": 0.5})
    'delta presence: maximum 0.5.'
    """
    values = {name: value for name, value in guarantee.items() if value is not None}
    template = MODELS[values.pop("model")].PROMISE
    values.pop("effort", None)
    if template is not None:
        try:
            return template.format(people=" people" * has_subject, **values)
        except KeyError:  # in another form, of which all parameters are listed
            pass
    listed = ", ".join(f"{words(name)} {value}" for name, value in values.items())
    return f"{words(guarantee['model'])}: {listed}."


def _cost_sentences(findings: Findings) -> Iterator[str]:
    chosen = findings.chosen
    if chosen is None:
        yield "Nothing is released, so nothing is known of its cost."
        return
    name = words(findings.spec.measure)
    difference, low, high = (
        number(chosen[column])
        for column in ("qf_difference", "qf_difference_low", "qf_difference_high")
    )
    if difference is not None:
        interval = "" if low is None or high is None else f", between {low:+.3f} and {high:+.3f}"
        yield (
            f"Against the untouched table a model changes by {difference:+.3f} in {name}{interval}."
        )
    original = next((row for row in findings.results if row["effort"] == 0), None)
    if not findings.spec.is_tested and chosen["qf_mean"] is not None:
        qf, of = float(chosen["qf_mean"]), findings.spec.shown_measure
        yield f"QF is {qf:.3f}: {of}, what is left of the detail; {NO_MODEL}."
    elif original is not None and chosen["qf_mean"] is not None:
        zero = number(chosen["zero_rule"])
        yield (
            f"QF is {float(chosen['qf_mean']):.3f} after {float(original['qf_mean'] or 0):.3f}"
            + ("." if zero is None else f"; the best constant answer has {zero:.3f}.")
        )
    lost = losses_of(findings, int(chosen["effort"]))
    if gone := [name for name in findings.spec.quasi_identifiers if lost.get(name) == 1]:
        yield f"Nothing is left of {', '.join(gone)}: `*` in every record."
    if left_out := int(chosen["suppressed_records"]):
        share = left_out / int(chosen["records"])
        records = pluralized(left_out, "record")
        yield f"Left out, since their groups are too small: {records} ({share:.1%})."
    elif not findings.spec.holds_back_joiners and not is_external(findings):
        yield (
            f"No record of {findings.spec.source.name} is left out; see what tables beside it lose."
            if findings.spec.tables_beside
            else "No record is left out."
        )


def _stability_sentences(findings: Findings) -> Iterator[str]:
    names = {field.name for field in fields(EffortResult)}
    efforts = [EffortResult(**{n: row[n] for n in names & row.keys()}) for row in findings.results]
    for sentence in choice_sentences(efforts, findings.spec.measure):
        yield f"{sentence[0].upper()}{sentence[1:]}."
    if findings.chosen is None:
        for effort in efforts:
            if effort.effort:
                yield f"Effort {effort.effort} {effort.reason}."
