"""Honest anonymizations pass, whatever they declare; a built project is proved as a whole."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dbt_anonymize.project import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verification.finding import Finding
from dbt_anonymize.verification.lineage import check_lineage, lineage_findings
from tests.attacks.clinic import SPEC, compiled, write_clinic
from tests.projects import Project

CLASSES = {"attribute": "diagnosis"}


def recoded() -> dict[str, Any]:
    """Return a spec with subjects, level 0, both recodings and every measure of a class."""
    spec: dict[str, Any] = copy.deepcopy(SPEC)
    rounds = [{"age": 0, "zip": 0}, {"age": 1, "zip": 1}, {"age": 3, "zip": 2}]
    efforts = [{"age": 0, "zip": 1}, {"age": 1, "zip": 0}]
    recodings = [{"recoding": "local", "rounds": rounds}, {"recoding": "multidimensional"}]
    guarantees = {
        "k_anonymity": {"k": 2},
        "alpha_k_anonymity": {**CLASSES, "alpha": 0.9, "k": 2},
        "l_diversity": {**CLASSES, "l": 2, "variant": "recursive", "c": 3.0},
        "t_closeness": {**CLASSES, "t": 0.9, "distance": "ordered"},
        "beta_likeness": {**CLASSES, "beta": 9.0},
        "delta_disclosure": {**CLASSES, "delta": 9.0},
    }
    return spec | {
        "name": "recoded",
        "subject": "ssn",
        "efforts": [*efforts, *recodings],
        "guarantees": guarantees,
    }


def among() -> dict[str, Any]:
    """Return a spec with a population, sample-based guarantees and a sensitive hierarchy."""
    spec: dict[str, Any] = copy.deepcopy(SPEC)
    hierarchy = {"ref": "diagnoses", "kind": "categorical", "levels": 2}
    spec["columns"]["diagnosis"] = {"role": "sensitive", "hierarchy": hierarchy}
    guarantees = {
        "k_anonymity": {"k": 2},
        "k_map": {"k": 2},
        "delta_presence": {"minimum": 0.0, "maximum": 1.0},
        "reidentification_risk": {"average": 0.5},
        "uniqueness": {"population": 0.5},
        "l_diversity": {**CLASSES, "l": 2, "variant": "entropy"},
        "t_closeness": {**CLASSES, "t": 0.9, "distance": "hierarchical"},
    }
    population = {"ref": "registry", "size": 1000}
    return spec | {"name": "among", "population": population, "guarantees": guarantees}


@pytest.fixture(scope="module")
def clinics(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a project with anonymizations that use everything, of which nothing is built."""
    project = write_clinic(tmp_path_factory.mktemp("honest") / "project", recoded(), among())
    project.build("--select", "+people", "ages", "zips", "diagnoses")
    return project


def broken(findings: list[Finding]) -> list[str]:
    return [f"{f.subject}: {f.message}" for f in findings if f.holds is False]


@pytest.mark.parametrize("name", ["recoded", "among"])
def test_everything_that_a_spec_can_declare_passes(clinics: Project, name: str) -> None:
    with compiled(clinics, name) as (models, spec):
        findings = lineage_findings(models, spec)
        assert broken(findings) == []
        told = [
            f.message
            for f in findings
            if "found its labels" in f.message or "rests on" in f.message
        ]
        assert len(told) == (name == "recoded"), "what a proof rests on is said"
        # With another role, the same models are a leak.
        smoker = spec.columns["smoker"].model_copy(update={"role": "identifier"})
        other = spec.model_copy(update={"columns": {**spec.columns, "smoker": smoker}})
        assert "too many: smoker" in "".join(broken(lineage_findings(models, other)))


def test_a_built_project_is_proved(consumer: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(consumer.folder))
    project = find_project(consumer.folder)
    spec = load_spec(consumer.folder / "anonymizations" / "customers.yml")
    findings = check_lineage(project, spec)
    assert broken(findings) == []
    released = [row.subject for row in findings if row.subject.startswith("customers_anonymized.")]
    assert len(released) == 10
    # What a model does only while it is built, compiled SQL does not show.
    consumer.edit(
        "models/customers/customers_microdata.sql",
        lambda text: text.replace("identifiers=", "identifiers=[] if flags.WHICH == 'run' else "),
    )
    assert "must be what the spec gives" in "".join(broken(check_lineage(project, spec)))
