"""A report says what relations hold, shows nobody, is never made of markup and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from altair.utils import schemapi
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.report import charts, reading
from dbt_anonymize.extensions.report.charts import spec_of
from dbt_anonymize.extensions.report.reading import Findings, round_count, round_label_counts
from dbt_anonymize.extensions.report.rendering import as_html, as_json, as_markdown
from dbt_anonymize.extensions.report.sections import sections
from dbt_anonymize.project.evidence import PARTS
from dbt_anonymize.project.sections import rounding_unit
from dbt_anonymize.spec import Spec
from tests.effort_results import ABOUT, ALPHA, LINES
from tests.extensions.report.findings import findings, spec
from tests.worlds.private import changed

NOW = datetime(2026, 1, 3, tzinfo=UTC)
HOSTILE = "</script><script>alert(1)</script><img src=https://example.org/x> ` [x](javascript:y)|"


@pytest.fixture(scope="module")
def page() -> str:
    return as_html(findings(), now=NOW)


def test_the_first_card_names_columns_that_are_keys() -> None:
    columns = spec().model_dump(mode="json")["columns"]
    assert "Keys:" not in as_markdown(findings(), now=NOW)
    told = replace(findings(), own_values={"single": ["value"], "fractions": ["town"]})
    text = as_markdown(told, now=NOW)
    assert "Keys: in value nine of ten records or more have a value of their own" in text
    assert "Measurements like this, a value for nearly every record: town." in text
    accepted = spec(columns=columns | {"value": columns["value"] | {"unique": "accepted"}})
    shown = replace(told, evidence=replace(told.evidence, spec=accepted))
    assert "Keys: in value (accepted) nine" in as_markdown(shown, now=NOW)


class _Elements(HTMLParser):
    """Collects elements and what scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.is_in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.is_in_script = tag == "script"
        if self.is_in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.is_in_script = False

    def handle_data(self, data: str) -> None:
        if self.is_in_script:
            self.scripts[-1] += data


@pytest.mark.needs("attacks", "details", "inspection")
def test_every_part_has_a_sentence_and_a_table_and_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(charts, "IS_CHECKED", True)
    parts = {part.key: part for part in sections(findings())}
    drawn = {"quality", "plane", "class_sizes", "risks", "columns", "attacks", "labels_0"}
    drawn |= {"losses", "roc", "precision_recall", "calibration", "regions", "history"}
    assert {key for key, part in parts.items() if spec_of(part)} == drawn
    assert set(parts) == drawn | {"ranges", "invented", "labels_1"}
    for part in parts.values():
        assert part.sentence.endswith(".")
        assert part.rows or part.key == "labels_1"
        assert all(len(row) == len(part.headings) for row in part.rows)


@pytest.mark.needs("attacks", "details", "inspection")
def test_altair_need_not_find_out_what_a_channel_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It compares the schemas of all channels with each one that is no object of its own."""

    def refuse(*_: object) -> None:
        raise AssertionError("the type of a channel was looked for")

    monkeypatch.setattr(schemapi._FromDict, "__init__", refuse)
    assert sum(spec_of(part) is not None for part in sections(findings())) == 13


def test_the_figures_are_those_of_the_results() -> None:
    told = json.loads(as_json(findings(), now=NOW))
    table = next(part for part in told["sections"] if part["key"] == "quality")
    for row, (effort, (qf, qnf, k, _, qualifies)) in zip(table["rows"], LINES.items(), strict=True):
        shown = dict(zip(table["headings"], row, strict=True))
        assert (shown["effort"], shown["k"], shown["QF"], shown["QNF"]) == (effort, k, qf, qnf)
        assert shown["Q"] == pytest.approx(qf + ALPHA * qnf)
        assert shown["qualifies"] is qualifies
    said = str(told["answers"])
    assert "All 100 records, generalized (effort 1)." in said
    assert "one of at least 3 with the same generalized values" in said
    assert "changes by -0.020 in accuracy, between -0.040 and +0.000" in said
    assert "effort 1 in 75.0%, effort 2 in 25.0%" in said
    assert "Not verified" in said


@pytest.mark.needs("attacks")
def test_counts_are_no_rates_and_warnings_are_said() -> None:
    (attacks,) = [part for part in sections(findings()) if part.key == "attacks"]
    assert {row["attack"] for row in attacks.data} == {"linkage, highest success"}
    assert len(attacks.rows) == 2
    assert "1 warning: see the table" in attacks.sentence


def test_suppressed_records_and_failed_proofs_are_said() -> None:
    of = findings()
    rows = [dict(row) | {"is_chosen": row["effort"] == 2} for row in of.results]
    failed = [{"status": "FAILED", "verified_at": "2026-01-03 00:00:00", **ABOUT}]
    relations = {**of.evidence.relations, "results": rows, "verification": failed}
    said = as_markdown(replace(of, evidence=replace(of.evidence, relations=relations)), now=NOW)
    assert "93 of 100 records, generalized" in said
    assert "too small: 7 records (7.0%)" in said
    assert "VERIFICATION FAILED: 1 finding" in said


@pytest.mark.parametrize(
    ("choose", "qualify", "said"),
    [
        ("max_q", [], "No effort qualifies, so none is chosen."),
        (
            "strongest_non_inferior",
            [1, 2],
            "No effort is chosen: the rule is the strongest effort that is not inferior, and of "
            "efforts 1, 2, which qualify, it takes none.",
        ),
    ],
)
def test_card_table_and_slider_say_the_same_of_a_failed_choice(
    choose: str, qualify: list[int], said: str
) -> None:
    """All say what the results do, whatever the specification says by now."""
    of = findings()
    none = [
        dict(row)
        | {"is_chosen": False, "qualifies": row["effort"] in qualify, "choose": choose}
        | {"reason": "does not qualify"}
        for row in of.results
    ]
    relations = {**of.evidence.relations, "results": none}
    of = replace(of, evidence=replace(of.evidence, relations=relations))
    told = json.loads(as_json(of, now=NOW))
    assert said in told["answers"]["What is released?"][0]
    table = next(part for part in told["sections"] if part["key"] == "quality")
    assert table["sentence"].startswith(said)
    assert [row[0] for row in table["rows"] if row[7]] == qualify
    page = as_html(of, now=NOW)
    slider = json.loads(_Elements(page).scripts[1])
    assert (slider["verdict"], slider["rule"], slider["released"]) == (said, choose, None)
    assert [line["effort"] for line in slider["lines"] if line["qualifies"]] == qualify


@pytest.mark.needs("attacks")
@pytest.mark.parametrize(
    ("about", "said"),
    [
        (ABOUT, "Verified independently of the build: nothing failed."),
        (ABOUT | {"content": "decafbad"}, "is of another release than the published one. Run"),
        (ABOUT | {"spec": "87654321"}, "is of another release than the published one. Run"),
        (ABOUT | {"content": None}, "is of an unknown release. Run"),
        ({}, "is of an unknown release. Run"),
    ],
)
def test_findings_vouch_for_the_rows_that_they_are_about(about: dict[str, str], said: str) -> None:
    of = findings()
    attacks = [
        {name: value for name, value in row.items() if name not in ABOUT} | about
        for row in of.evidence.relations["attacks"] or ()
    ]
    held = [{"status": "holds", "verified_at": "2026-01-03 00:00:00", **about}]
    relations = {**of.evidence.relations, "attacks": attacks, "verification": held}
    of = replace(of, evidence=replace(of.evidence, relations=relations))
    text = as_markdown(of, now=NOW)
    assert said in text
    assert ("Verified independently" in text) == (about == ABOUT)
    # The attacks themselves are shown as those of the release, or not at all.
    assert ("linkage, highest success" in text) == (about == ABOUT)
    assert ("people_attacks. Its rows are of" in text) == (about != ABOUT)
    failed = [row | {"status": "FAILED"} for row in held]
    relations = {**relations, "verification": failed}
    text = as_markdown(replace(of, evidence=replace(of.evidence, relations=relations)), now=NOW)
    assert ("VERIFICATION FAILED" if about == ABOUT else "; 1 finding of it failed") in text


def test_what_was_built_and_not_released_is_not_told_of_the_release() -> None:
    of = findings()
    text = as_markdown(replace(of, evidence=replace(of.evidence, is_published=False)), now=NOW)
    assert "What is published is not what was built last: it is release 3 of 2026-01-02" in text
    assert "It lies in" not in text


@pytest.mark.parametrize("part", sorted({*PARTS, *findings().parts} - {"results", "releases"}))
@pytest.mark.parametrize("rows", [None, []])
def test_what_is_missing_is_said_with_what_makes_it(part: str, rows: list[Any] | None) -> None:
    of = findings()
    if part in of.parts:
        of = replace(of, parts={**of.parts, part: rows})
    else:
        of = replace(
            of, evidence=replace(of.evidence, relations={**of.evidence.relations, part: rows})
        )
    text = as_markdown(of, now=NOW)
    if part not in {"privacy", "verification", "decision_grid"}:
        relation = "anonymization_results" if part == "history" else f"people_{part}"
        assert f"{relation} is missing or empty. Run" in text


@pytest.mark.needs("details", "second_month")
def test_what_cannot_exist_of_a_frozen_effort_is_not_asked_for() -> None:
    of = findings()
    rows = [
        dict(row) | dict.fromkeys(("qf_mean", "qf_low", "qf_high", "q", "alpha", "choice_share"))
        for row in of.results
        if row["is_chosen"]
    ]
    relations = {**of.evidence.relations, "results": rows}
    frozen = of.spec.model_copy(update={"freeze": True})
    of = replace(
        of,
        evidence=replace(of.evidence, spec=frozen, relations=relations),
        parts=of.parts | dict.fromkeys(("alpha_ranges", "curves", "calibration", "decision_grid")),
    )
    text = as_markdown(of, now=NOW)
    # Some of a frozen release may wait, so that not all records are in it.
    assert "98 records, generalized (effort 1); of the 100 of the source" in text
    assert "No record is left out" not in text
    for part in ("alpha_ranges", "curves", "calibration"):
        assert f"people_{part} comes from trained models, and a frozen effort trains none" in text
        assert f"people_{part} is missing or empty. Run" not in text
    assert "the rule is that it is frozen, and keeps its guarantees" in text
    assert "QF is not measured, since no model is trained, nor is Q" in text
    page = as_html(of, now=NOW)
    assert "back to the declared" not in page
    assert 'id="chart-quality"' not in page
    assert 'id="chart-plane"' not in page


def test_nothing_is_loaded_and_only_own_scripts_run(page: str) -> None:
    found = _Elements(page)
    for tag, attributes in found.elements:
        assert "src" not in attributes
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
        target = attributes.get("href") or attributes.get("action")
        assert target is None or target.startswith("#") or target == "data:,"
    policy = next(a["content"] or "" for t, a in found.elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    code = [
        text
        for text, (_, attributes) in zip(
            found.scripts, [e for e in found.elements if e[0] == "script"], strict=True
        )
        if attributes.get("type") != "application/json"
    ]
    hashes = {base64.b64encode(hashlib.sha256(c.encode()).digest()).decode() for c in code}
    assert hashes == allowed
    assert not re.search(r"script-src[^;]*unsafe", policy)
    data = found.scripts[0]
    assert "http" not in data.replace("https://vega.github.io/schema/vega-lite/", "")
    assert len(page) < 1_100_000


@pytest.mark.needs("attacks")
def test_names_and_labels_are_never_markup() -> None:
    of = findings()
    labels = {"age": [{"effort": 1, "label": HOSTILE, "records": 60}], "town": []}
    attacks = [dict(row) | {"against": HOSTILE} for row in of.rows("attacks")]
    evidence = replace(
        of.evidence,
        spec=spec(description=HOSTILE),
        relations={**of.evidence.relations, "attacks": attacks},
    )
    hostile = replace(of, labels=labels, evidence=evidence)
    tags = [tag for tag, _ in _Elements(as_html(hostile, now=NOW)).elements]
    plain = [tag for tag, _ in _Elements(as_html(of, now=NOW)).elements]
    assert tags.count("script") == plain.count("script") == 4
    assert "img" not in tags
    text = as_markdown(hostile, now=NOW)
    assert "<script" not in text
    assert json.loads(as_json(hostile, now=NOW))["description"] == HOSTILE


@pytest.mark.needs("differential_privacy")
def test_under_differential_privacy_no_labels_are_counted() -> None:
    private, of = Spec.model_validate(changed()), findings()
    parts = sections(replace(of, evidence=replace(of.evidence, spec=private)))
    (labels,) = [part for part in parts if part.key.startswith("labels")]
    assert labels.sentence.startswith("Not shown")
    assert not labels.rows
    with _warehouse() as warehouse:
        assert reading._labels(warehouse, private) == {}  # type: ignore[arg-type]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 40)), max_size=30), st.integers(5, 9))
def test_no_count_tells_of_fewer_than_so_many(rows: list[tuple[int, int]], fewest: int) -> None:
    """Whatever is shown is a multiple, and every named label has as many records."""
    given_rows = [
        {"effort": effort, "label": str(place), "records": records}
        for place, (effort, records) in enumerate(rows)
    ]
    for row in round_label_counts(given_rows, fewest):
        assert row["records"] % fewest == 0
        assert row["records"] >= fewest
        if row["label"] is not None:
            true = given_rows[int(row["label"])]["records"]
            assert true >= fewest
            assert abs(true - row["records"]) * 2 <= fewest
    assert round_count(fewest - 1, fewest) == 0


class _Warehouse:
    """Relations of a DuckDB in memory."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.is_duckdb = True
        self.kind = "duckdb"
        self.adapter = SimpleNamespace(quote=lambda name: f'"{name}"')

    def relation_of_ref(self, name: str) -> str:
        tables = self.connection.execute("select table_name from information_schema.tables")
        if (name,) not in tables.fetchall():
            raise WarehouseError(f"{name}: must exist.")
        return f'"{name}"'

    def cursor(self) -> duckdb.DuckDBPyConnection:
        return self.connection.cursor()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()


@contextmanager
def _warehouse() -> Iterator[_Warehouse]:
    with duckdb.connect() as connection:
        connection.execute(
            """
            create table people_classes as select * from (values
                (0, '33', 'rawtown', 30, 30, false, 30),
                (1, '[0, 10)', 'a', 12, 12, false, 11),
                (1, '[10, 20)', 'secret', 2, 2, false, 2),
                (1, '[10, 20)', 'withheld', 20, 20, true, 20)
            ) as t (effort, age, town, class_size, records, is_suppressed, majority_records);
            create table people_decision_grid as
            select 1 as effort, 'value' as target, 'naive_bayes' as model, 'once' as fit,
                'original' as test_on, 'yes' as class, 1234.5 + 2 * i as x, 6789.5 as y,
                0.5 as prediction
            from range(3) as r (i);
            create table ages as select '0' as lower_bound, '10' as upper_bound,
                '[0, 10)' as level_1, '*' as level_2;
            create table towns as select 'secret' as value, 'south' as level_1, '*' as level_2
            """
        )
        yield _Warehouse(connection)


def test_rare_labels_values_and_suppressed_classes_are_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "collect", lambda _warehouse, _spec: findings().evidence)
    with _warehouse() as warehouse:
        found = reading.read_findings(warehouse, spec())  # type: ignore[arg-type]
    assert rounding_unit(spec()) == 5
    assert found.labels["town"] == [{"effort": 1, "label": "a", "records": 10}]
    sizes = {(r["effort"], r["size_from"], int(r["records"])) for r in found.rows("classes")}
    assert sizes == {(0, 20, 30), (1, 10, 12), (1, 2, 2)}
    text = as_json(found, now=NOW) + as_html(found, now=NOW)
    for value in ("rawtown", "secret", "withheld", "1234.5", "6789.5", '"33"'):
        assert value not in text
    assert found.parts["information_loss"] is None
    assert isinstance(found, Findings)
