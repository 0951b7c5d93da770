"""Sections of extensions stand in a report where they say, if their relations are declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dbt_anonymize.documents import After, ReportSections
from dbt_anonymize.extension import Extension, report_sections
from dbt_anonymize.extensions.report import reading
from dbt_anonymize.extensions.report import sections as parts
from dbt_anonymize.extensions.report.rendering import as_html, as_json
from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.project.sections import Section
from tests.effort_results import ABOUT
from tests.extensions.report.findings import findings, spec
from tests.extensions.report.test_report import NOW, _warehouse

TOY = Extension(name="toy", package="tests.extensions.report")
# The folded part before it: open ones come first.
BEFORE = {
    After.quality: None,
    After.plane: "plane",
    After.class_sizes: "class_sizes",
    After.labels: "labels_1",
    After.losses: "labels_1",
    After.history: "history",
}


def toy(evidence: Evidence) -> list[Section]:
    return [Section("toy", "Toy", f"{len(evidence.rows('classes'))} toys.")]


def add(patch: pytest.MonkeyPatch, *added: ReportSections) -> None:
    def those() -> Iterator[tuple[Extension, ReportSections]]:
        return ((TOY, one) for one in added)

    for module in (parts, reading):
        patch.setattr(module, "report_sections", those)


@pytest.mark.parametrize("place", After)
def test_a_section_follows_a_part_of_the_report(
    place: After, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, ReportSections(place, "test_added.toy", ("classes",)))
    folded = [part for part in parts.sections(findings()) if not part.is_open]
    keys = [None, *(part.key for part in folded)]
    assert keys[keys.index("toy") - 1] == BEFORE[place]
    (shown,) = [part for part in folded if part.key == "toy"]
    assert shown.sentence == f"{len(findings().rows('classes'))} toys."


def test_a_report_without_sections_of_extensions_has_a_slider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add(monkeypatch)
    page = as_html(findings(), now=NOW)
    assert '<input id="alpha"' in page
    assert '"ranges": []' in page


@pytest.mark.needs("details")
def test_what_is_not_declared_is_not_shown_though_it_is_still_in_the_warehouse() -> None:
    of = findings()
    declared = of.spec.model_copy(update={"details": ("calibration",)})
    text = as_json(replace(of, evidence=replace(of.evidence, spec=declared)), now=NOW)
    assert "Calibration of class" in text
    assert "ROC curve" not in text
    assert "Not declared, and so not built: quasi_identifier_risk, risk_profile, curves" in text


@pytest.mark.needs("details")
@pytest.mark.parametrize("is_tested", [True, False])
def test_of_models_the_deciding_one_is_read_on_two_efforts(
    is_tested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "collect", lambda _warehouse, _spec: findings().evidence)
    untested = {"target": None, "features": (), "quality": None, "alpha": None}
    declared = spec() if is_tested else spec().model_copy(update=untested)
    with _warehouse() as warehouse:
        warehouse.connection.execute(
            """
            create table people_curves as
            select effort, 'value' as target, model, 'once' as fit, 'original' as test_on
            from range(4) as e (effort), (values ('naive_bayes'), ('other')) as m (model)
            """
        )
        found = reading.read_findings(warehouse, declared)  # type: ignore[arg-type]
    read = [(row["effort"], row["model"]) for row in found.rows("curves")]
    assert sorted(read) == ([(0, "naive_bayes"), (1, "naive_bayes")] if is_tested else [])


def test_each_relation_of_a_section_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "collect", lambda _warehouse, _spec: findings().evidence)
    with _warehouse() as warehouse:
        found = reading.read_findings(warehouse, spec())  # type: ignore[arg-type]
    asked = {name for _, one in report_sections() for name in one.relations}
    assert asked <= {*found.all_evidence.relations}


def test_warnings_of_a_verification_are_told_where_nothing_failed() -> None:
    evidence = findings().evidence
    rows = [{"status": status, "verified_at": "2026", **ABOUT} for status in ("holds", "warning")]
    told = replace(evidence, relations={**evidence.relations, "verification": rows}).verification
    assert told.startswith("Verified independently of the build: nothing failed, 1 warning: see `")
