"""A dossier says what the relations hold, says what is missing, and is never made of markup."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from dbt_anonymize.extensions.dossier.criteria import frameworks
from dbt_anonymize.extensions.dossier.rendering import as_html, as_markdown
from dbt_anonymize.project.evidence import PARTS, Evidence
from dbt_anonymize.project.figures import Figure, format_figure
from dbt_anonymize.relations import KEPT
from dbt_anonymize.spec import Spec
from tests.effort_results import ABOUT, published
from tests.worlds import specs

pytestmark = pytest.mark.costly

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HOSTILE = "a|b <script>alert(1)</script> [x](javascript:alert(2)) `c` **d** &lt;"
ATTACKS = [
    ("singling_out", "univariate", None),
    ("singling_out", "multivariate", None),
    ("linkability", "same_row", None),
    ("linkage", "highest_success", None),
    ("linkage", "average_success", None),
    ("linkage", "unexplained_rows", None),
    ("mapping", "highest_success", None),
    ("attribute_inference", "share_right", "value"),
    ("attribute_inference", "highest_confidence", "value"),
    ("membership_inference", "auc", None),
    ("membership_inference", "taken_for_members", None),
    ("composition", "joint_classes_below_k", None),
]
PRIVACY = (
    *("k", "highest_risk", "average_risk", "sample_uniqueness", "suppressed_records"),
    *("released_records", "value_distinct_l", "value_highest_share", "value_t"),
    *("journalist_highest_risk", "marketer_risk", "population_uniqueness"),
)
RESULTS = ["qf_mean", "qf_low", "qf_high", "qf_difference", "zero_rule"]
MEASURED = ("main", "control", "naive", "risk", "risk_lower", "risk_upper", "declared_limit")


def evidence() -> Evidence:
    """Give an evidence in which every figure is another number."""
    numbers = (float(f"{n}.25") for n in itertools.count(100))
    relations: dict[str, Sequence[dict[str, Any]]] = {
        "results": [
            {"effort": 1, "is_chosen": True, "reason": "chosen"}
            | {column: next(numbers) for column in RESULTS}
        ],
        "privacy": [
            {"effort": 1, "meets_guarantees": True} | {column: next(numbers) for column in PRIVACY}
        ],
        "risk_profile": [
            {
                "effort": 1,
                "risk_from": next(numbers),
                "risk_to": next(numbers),
                "records_share": next(numbers),
            }
        ],
        "quasi_identifier_risk": [
            {"quasi_identifiers": "age", "size": 1, "uniqueness": next(numbers)},
            {"quasi_identifiers": "age, zip", "size": 2, "uniqueness": next(numbers)},
        ],
        "attacks": [
            dict.fromkeys(KEPT["attacks"].column_names)
            | {"attack": attack, "measure": measure, "explanation": "done."}
            | {"attribute": attribute, "is_warning": False}
            | {column: next(numbers) for column in MEASURED}
            | ABOUT
            for attack, measure, attribute in ATTACKS
        ],
        "verification": [
            {
                "proof": proof,
                "subject": "x",
                "status": "holds",
                "message": "it does.",
                "verified_at": "2026-01-01 10:00:00",
                **ABOUT,
            }
            for proof in (
                "provenance",
                "content",
                "recomputation",
                "guarantees",
                "attacks",
                "audit",
            )
        ],
        "releases": [{"release": 1}, {"release": 2}, {"release": 2}],
        "history": [{"name": "people", "run_at": datetime(2026, 1, 1, 9, tzinfo=UTC)}],
    }
    relations = {part: rows for part, rows in relations.items() if part in {*PARTS, "history"}}
    release = "release/dev/people.duckdb"
    return Evidence(_spec(), relations, release, True, published=published(), is_published=True)


def _spec() -> Spec:
    columns = {"age": specs.intervals("ages", 3), "zip": specs.categories("zips", 2)}
    declared = specs.spec_of(
        "people",
        columns | {"value": specs.SENSITIVE},
        record_key="id",
        target="value",
        features=["age"],
        efforts=[{"age": 1, "zip": 1}],
    )
    return Spec.model_validate(declared)


def changed(of: Evidence, part: str, rows: Sequence[Mapping[str, Any]] | None) -> Evidence:
    return replace(of, relations={**of.relations, part: rows})


def figures(of: Evidence) -> list[Figure]:
    return [
        figure
        for framework in frameworks(of)
        for criterion in framework.criteria
        for figure in criterion.shown
    ]


def cells() -> list[tuple[str, int, str]]:
    """Return every number of the evidence, by relation, place and column."""
    return [
        (part, place, column)
        for part, rows in evidence().relations.items()
        for place, row in enumerate(rows or ())
        for column, value in row.items()
        if isinstance(value, float)
    ]


@pytest.mark.needs("attacks")
def test_every_figure_comes_from_the_relation_that_it_names() -> None:
    """Change any number of any relation: just the figures that name the relation change."""
    before, text = figures(evidence()), as_markdown(evidence(), now=NOW)
    assert len(cells()) > 100
    for part, place, column in cells():
        of = evidence()
        rows = [dict(row) for row in of.relations[part] or ()]
        rows[place][column] = 98765.5
        other = changed(of, part, rows)
        differing = [new for old, new in zip(before, figures(other), strict=True) if old != new]
        assert differing, (part, column)
        assert all(figure.source.startswith(f"people_{part}") for figure in differing)
        assert format_figure(98765.5) in as_markdown(other, now=NOW)
        assert format_figure(98765.5) not in text


def test_no_number_of_a_figure_is_in_no_relation() -> None:
    held = {
        format_figure(value)
        for rows in evidence().relations.values()
        for row in rows or ()
        for value in row.values()
    }
    for figure in figures(evidence()):
        if figure.source.startswith(("people_privacy", "people_results", "people_quasi")):
            assert figure.value in held
        if figure.source == "people_attacks":
            assert set(re.findall(r"\d+\.\d+", figure.value)) <= held


def test_counts_are_of_rows() -> None:
    of = evidence()
    found = {figure.label: figure.value for figure in figures(of)}
    assert found["releases that the vault remembers"] == "2"
    assert found["verification, content"] == "holds 1"
    rows = [dict(row) for row in of.relations["verification"] or ()]
    rows[1]["status"] = "FAILED"
    other = changed(of, "verification", rows)
    assert {f.label: f.value for f in figures(other)}["verification, content"] == "FAILED 1"
    assert "| FAILED | content | x | it does. |" in as_markdown(other, now=NOW)


@pytest.mark.parametrize("part", sorted(PARTS))
@pytest.mark.parametrize("rows", [None, []])
def test_what_is_missing_is_said_to_be_missing(part: str, rows: list[Any] | None) -> None:
    other = changed(evidence(), part, rows)
    missing = [
        figure
        for figure in figures(other)
        if figure.value.startswith("missing") and figure.source != "none"
    ]
    assert missing
    assert {figure.source for figure in missing} <= {
        f"people_{part}",
        *(["people_privacy", "people_risk_profile", "specification"] if part == "results" else []),
    }
    assert all("Run " in f.value or f.source == "specification" for f in missing)
    text = as_markdown(other, now=NOW)
    if rows is None:
        assert f"| people_{part} | missing |" in text


@pytest.mark.needs("second_month")
def test_what_cannot_exist_of_a_frozen_effort_is_not_asked_for() -> None:
    of = evidence()
    release = of.spec.release.model_copy(update={"effort": 1})
    of = replace(of, spec=of.spec.model_copy(update={"freeze": True, "release": release}))
    (row,) = of.relations["results"] or ()
    unmeasured = [{**row, **dict.fromkeys(RESULTS)}]
    (one, *_) = [f for f in figures(changed(of, "results", unmeasured)) if "QF" in f.label]
    assert one.value == "not measured: the effort is frozen, and no model is trained"
    # A guarantee is broken: no build releases anything, and none makes what is missing.
    broken = replace(changed(of, "results", [{**row, "is_chosen": False}]), release=None)
    missing = [one.value for one in figures(broken) if one.value.startswith("missing")]
    assert missing
    assert not any("Run dbt build" in value for value in missing)
    assert "breaks a guarantee on the data as they are" in as_markdown(broken, now=NOW)
    other = replace(of, spec=of.spec.model_copy(update={"efforts": []}))
    assert "the specification has no effort 1 any more" in as_markdown(other, now=NOW)
    forgetting = of.spec.model_copy(update={"mapping": "none"})
    none = changed(replace(of, spec=forgetting), "releases", None)
    (one,) = [f for f in figures(none) if f.source == "people_releases"]
    assert one.value.endswith("With mapping: none nothing remembers them.")


@pytest.mark.needs("attacks")
def test_a_first_release_has_no_other_to_be_composed_with() -> None:
    of = evidence()
    rows = [dict(row) for row in of.relations["attacks"] or ()]
    composed = next(row for row in rows if row["attack"] == "composition")
    alone = "not attacked: there was no other release to intersect with this one"

    def shown(rows: list[dict[str, Any]]) -> list[str]:
        found = figures(changed(of, "attacks", rows))
        return [one.value for one in found if one.label.startswith("attack composition")]

    # Under Linkability efforts that are not released count as others, among releases not.
    composed["against"] = "effort 2"
    assert shown(rows) == [alone]
    rows.remove(composed)
    assert shown(rows) == [alone] * 2
    assert [value.partition(":")[0] for value in shown([])] == ["missing"] * 2


@pytest.mark.needs("attacks")
def test_a_row_without_a_value_is_not_measured() -> None:
    of = evidence()
    (row,) = of.relations["privacy"] or ()
    other = changed(of, "privacy", [{**row, "k": None, "marketer_risk": float("nan")}])
    lines = [line for line in as_markdown(other, now=NOW).splitlines() if "not measured" in line]
    assert len(lines) == 2
    attacks = [dict(row) for row in of.relations["attacks"] or ()]
    attacks[0]["main"] = None
    assert "not attacked: done." in as_markdown(changed(of, "attacks", attacks), now=NOW)


def test_what_is_not_about_the_published_rows_is_not_shown() -> None:
    of = evidence()
    text = as_markdown(of, now=NOW)
    assert "| published | release 3 of 2026-01-02 00:00:00 |" in text
    assert "Not verified" not in text
    other = replace(of, published=replace(published(), content="decafbad"))
    text = as_markdown(other, now=NOW)
    assert "Not verified: the last verification is of another release than the published" in text
    found = [f for f in figures(other) if f.source in {"people_attacks", "people_verification"}]
    assert found
    assert {f.value.partition(":")[0] for f in found} == {"missing"}
    assert "Its rows are of another release than the published one." in found[0].value
    unknown = as_markdown(replace(of, published=None), now=NOW)
    assert "the last verification is of an unknown release" in unknown
    assert "| published | missing: no release is registered |" in unknown
    assert "has changed since the build" in as_markdown(replace(of, is_current=False), now=NOW)
    assert "What was built last is not what is published" not in text
    failed = as_markdown(replace(of, is_published=False), now=NOW)
    assert "What was built last is not what is published" in failed


def test_it_draws_no_legal_conclusion() -> None:
    text = as_markdown(evidence(), now=NOW)
    assert "draws no legal" in text
    for heading in ("## WP 216", "## NIST SP 800-188", "## HIPAA expert determination"):
        assert heading in text
    assert not re.search(r"\b(complies|compliant|is anonymous)\b", text)
    for framework in frameworks(evidence()):
        for criterion in framework.criteria:
            assert criterion.shown
            assert criterion.assumed
            assert criterion.not_covered


def hostile() -> Evidence:
    of = evidence()
    declared: dict[str, Any] = of.spec.model_dump(mode="json", exclude_none=True, by_alias=True)
    declared["description"] = HOSTILE
    declared["columns"][HOSTILE] = {"role": "identifier"}
    attacks = [
        dict(row) | {"against": HOSTILE, "main": None, "explanation": HOSTILE}
        for row in of.relations["attacks"] or ()
    ]
    verification = [
        dict(row) | {"subject": HOSTILE, "message": f"{HOSTILE}\n\n# {HOSTILE}", "status": "FAILED"}
        for row in of.relations["verification"] or ()
    ]
    of = replace(of, spec=Spec.model_validate(declared), release=f"release/{HOSTILE}")
    return changed(changed(of, "attacks", attacks), "verification", verification)


class _Tags(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.cells: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(f"{tag} {name}" for name, _ in attrs)
        if tag == "tr":
            self.cells.append(0)
        if tag in {"td", "th"}:
            self.cells[-1] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> _Tags:
    tags = _Tags()
    tags.feed(text)
    return tags


@pytest.mark.needs("attacks")
def test_hostile_names_are_text() -> None:
    page, honest = parsed(as_html(hostile(), now=NOW)), parsed(as_html(evidence(), now=NOW))
    assert page.tags == honest.tags
    assert page.attributes == honest.attributes
    assert HOSTILE in page.text
    assert set(page.cells) == {2, 3, 4}
    assert "javascript:alert(2)" in page.text
    assert not page.tags & {"script", "a", "img", "link", "code"}
