"""Figures of extensions stand in a dossier where criteria name them, or end a criterion."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbt_anonymize.documents import DossierFigures
from dbt_anonymize.extension import Extension
from dbt_anonymize.extensions.dossier import criteria
from dbt_anonymize.extensions.dossier.rendering import as_markdown
from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.project.figures import Figure
from tests.extensions.dossier.test_dossier import NOW, changed, evidence, figures

TOY = Extension(name="toy", package="tests.extensions.dossier")


def toy(of: Evidence, argument: object) -> list[Figure]:
    return [Figure("toys", f"{len(of.rows('releases'))} {argument}", "people_releases")]


def add(patch: pytest.MonkeyPatch, *added: DossierFigures) -> None:
    def those() -> Iterator[tuple[Extension, DossierFigures]]:
        return ((TOY, one) for one in added)

    patch.setattr(criteria, "dossier_figures", those)


def test_a_kind_that_criteria_name_stands_there(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, DossierFigures("uniqueness", "test_added.toy", ("releases",)))
    assert [one.value for one in figures(evidence()) if one.label == "toys"] == [
        "3 distinguishable by {}: share of unique records of the source"
    ]


def test_another_kind_ends_its_criterion(monkeypatch: pytest.MonkeyPatch) -> None:
    heading = "Direct identifiers are removed"
    add(monkeypatch, DossierFigures("toys", "test_added.toy", ("releases",), heading))
    (criterion,) = [
        one
        for framework in criteria.frameworks(evidence())
        for one in framework.criteria
        if "toys" in [figure.label for figure in one.shown]
    ]
    assert criterion.heading == heading
    assert criterion.shown[-1] == Figure("toys", "3 None", "people_releases")


def test_a_kind_that_nothing_adds_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch)
    missing = {one.label for one in figures(evidence()) if one.value.startswith("missing")}
    assert {"uniqueness", "risk profile", "attack linkage"} <= missing
    assert "| uniqueness | missing: its extension is not here | none |" in as_markdown(
        evidence(), now=NOW
    )


def test_a_check_that_nothing_adds_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(criteria, "extensions", lambda: (TOY,))
    of = evidence()
    kept = [row for row in of.rows("verification") if row["proof"] == "content"]
    text = as_markdown(changed(of, "verification", kept), now=NOW)
    for check in ("provenance", "audit"):
        assert f"| verification, {check} | missing: its extension is not here | none |" in text
    # Findings of a check that was here before are kept.
    for check in ("guarantees", "recomputation", "content"):
        assert f"| verification, {check} | missing: its extension" not in text
