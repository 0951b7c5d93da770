"""Generated models say what their spec says, whatever the names, and drift is found."""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.evaluation.request import EvaluationRequest, OuterRequest
from dbt_anonymize.project.generate import generate, render
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.tested import KEYS
from tests.extensions import in_parts, of_extensions
from tests.macro_keys import bodies, declared_keys, required_keys
from tests.project.calls import Relation, call_of
from tests.spec.declarations import SPEC, rich, spec, write_project, write_spec
from tests.worlds.private import changed


def python_call_of(code: str) -> dict[str, Any]:
    """Return what the generated Python model passes to the functions that it calls."""
    received: dict[str, Any] = {}

    class Dbt:
        def ref(self, name: str) -> Relation:
            return Relation(f"ref {name}")

        def config(self, **options: Any) -> None:
            received["config"] = options

    namespace: dict[str, Any] = {}
    kernels = re.findall(r"import Source, (\w+)", code)
    code = re.sub(r"    from dbt_anonymize\.[\w.]+ import .*\n", "", code)
    exec(code, namespace)  # noqa: S102 (the generated model itself)
    for name in ("evaluate", "evaluate_outer"):
        namespace[name] = lambda session, given: received.update(given)
    for name in kernels:
        namespace[name] = functools.partial(
            lambda kind, source, **arguments: received.update(arguments, recoding=kind), name
        )
    namespace["Source"] = lambda **arguments: received.update(arguments)
    namespace["model"](Dbt(), None)
    return received


def files_of(content: dict[str, Any]) -> dict[str, str]:
    return render(Spec.model_validate(content))


def test_microdata_gets_the_declaration() -> None:
    name, arguments = call_of(files_of(SPEC)["visits_microdata.sql"])
    assert name == "microdata"
    one = Spec.model_validate(SPEC)
    said = {"source": "visits_source", "digest": one.digest, "keys": one.key_digests}
    assert arguments.pop("spec") == said
    assert arguments == {
        "anonymization": "visits",
        "source": "ref visits_source",
        "record_key": "visit_id",
        "identifiers": ["phone"],
        "quasi_identifiers": [
            {
                "name": "age",
                "kind": "interval",
                "hierarchy": "ref ages",
                "levels": 3,
                "nested": True,
            },
            {
                "name": "city",
                "kind": "categorical",
                "hierarchy": "ref cities",
                "levels": 2,
                "nested": True,
            },
        ],
        "kept_columns": ["income", "ill"],
        "target": "ill",
        "guarantees": [{"model": "k_anonymity", "k": 3}],
    }


def test_a_dbt_source_is_read_as_a_source() -> None:
    files = files_of(spec(source={"source": ["clinic", "visits"]}))
    assert call_of(files["visits_microdata.sql"])[1]["source"] == "source clinic.visits"
    assert call_of(files["visits_identifiers.sql"])[1]["source"] == "source clinic.visits"


def test_every_effort_is_a_model_and_the_baseline_is_effort_0() -> None:
    files = files_of(SPEC)
    levels = {}
    for number in range(3):
        name, arguments = call_of(files[f"visits_effort_{number}.sql"])
        assert (name, arguments["effort"]) == ("effort", number)
        levels[number] = {q["name"]: q["level"] for q in arguments["quasi_identifiers"]}
    assert levels == {
        0: {"age": 0, "city": 0},
        1: {"age": 1, "city": 0},
        2: {"age": 2, "city": 1},
    }
    assert "visits_effort_3.sql" not in files
    assert call_of(files["visits_classes.sql"])[1]["efforts"] == {
        number: {"levels": vector} for number, vector in levels.items()
    }
    assert call_of(files["visits_privacy.sql"])[1]["efforts"] == [0, 1, 2]


def test_the_baseline_can_not_be_released() -> None:
    files = files_of(SPEC)
    for name in ("anonymized", "identifiers"):
        efforts = call_of(files[f"visits_{name}.sql"])[1]["efforts"]
        assert efforts == {1: "ref visits_effort_1", 2: "ref visits_effort_2"}


def test_scores_get_hierarchies_and_levels_of_quasi_identifiers() -> None:
    arguments = python_call_of(files_of(SPEC)["visits_evaluation.py"])
    assert arguments["config"] == {"materialized": "table"}
    assert arguments["efforts"] == [
        {"effort": 0, "relation": "ref visits_effort_0", "levels": {"age": 0, "city": 0}},
        {"effort": 1, "relation": "ref visits_effort_1", "levels": {"age": 1, "city": 0}},
        {"effort": 2, "relation": "ref visits_effort_2", "levels": {"age": 2, "city": 1}},
    ]
    assert arguments["features"] == [
        {"name": "age", "kind": "interval", "hierarchy": "ref ages"},
        {"name": "city", "kind": "categorical", "hierarchy": "ref cities"},
        {"name": "income", "kind": "plain"},
    ]
    assert arguments["targets"] == [
        {"name": "ill", "task": "classification", "positive": None, "time": None}
    ]
    assert arguments["models"] == [
        {"name": "naive_bayes", "model": "naive_bayes", "parameters": {}}
    ]
    assert arguments["splitting"] == {"repetitions": 10, "test_share": 0.3}


def test_a_column_that_is_no_feature_needs_no_level() -> None:
    arguments = python_call_of(files_of(spec(features=["age"]))["visits_evaluation.py"])
    assert [set(effort["levels"]) for effort in arguments["efforts"]] == [{"age"}] * 3


@pytest.mark.needs("inspection")
@pytest.mark.parametrize("kind", [EvaluationRequest, OuterRequest])
def test_an_evaluation_declares_exactly_the_keys_that_models_give(
    kind: type[EvaluationRequest | OuterRequest],
) -> None:
    with_subject = spec(subject="phone", population={"ref": "everybody", "size": 1_000_000})
    further = {
        "fit": "per_split",
        "groups": ["age"],
        "importance": True,
        "decision_grid": ["age", "city"],
        "outer_share": 0.25,
    }
    with_subject["quality"] = {**with_subject["quality"], **further}
    known = {
        one.name: one.default is one.default_factory is dataclasses.MISSING
        for one in dataclasses.fields(kind)
    }
    given: set[str] = set()
    file = "visits_evaluation.py" if kind is EvaluationRequest else "visits_outer_quality.py"
    for files in (files_of(SPEC), files_of(with_subject)):
        if file not in files:
            continue
        arguments = python_call_of(files[file])
        del arguments["config"]
        assert {name for name, is_required in known.items() if is_required} <= set(arguments)
        given |= set(arguments)
    assert given == set(known)


@pytest.mark.needs("differential_privacy", "external_efforts", "linked", "recoding", "second_month")
def test_macros_declare_exactly_the_keys_that_models_give() -> None:
    given: dict[str, set[str]] = {}
    release = {"composition": "strict", "recompute": True, "formats": ["duckdb", "csv"]}
    release |= {"midpoints": True}
    sample = {"share": 0.5, "strata": ["ill"]}
    sampled = spec(mapping="token", release=release, sample=sample, **in_parts("age"))
    agreed = spec(mapping="token", consent="ill", **in_parts("age"))
    outer = spec(
        quality={**SPEC["quality"], "fit": "per_split", "outer_share": 0.25},
        information_loss={"targets": {"income": 2, "ill": 1}},
    )
    of_groups = {"recoding": "microaggregation", "k": 9, "categories": "mode"}
    grouped = rich() | {"efforts": [{**of_groups, "method": "mondrian"}]}
    apart = {key: part for key, part in rich().items() if key != "subject"}
    apart |= in_parts("age")
    apart["efforts"] = [of_groups]
    frozen = rich() | {"freeze": True, "release": {"effort": 2}, "sample": {"share": 0.5}}
    frozen["guarantees"] = {k: v for k, v in frozen["guarantees"].items() if k != "k_map"}
    frozen["efforts"] = frozen["efforts"][:2]
    for key in ("subject", "population"):
        del frozen[key]
    private = changed(name="visits", **in_parts("gender"))
    untested = {key: part for key, part in SPEC.items() if key not in KEYS}
    untested["efforts"] = [{"age": 1, "city": 2}]
    contents = [SPEC, rich(), sampled, agreed, outer, grouped, apart, frozen, private, untested]
    contents += [one for module in of_extensions("specs") for one in module.SPECS]
    for content in contents:
        for file, sql in files_of(content).items():
            if file.endswith(".sql"):
                name, keys = call_of(sql)
                # A macro of an extension may be given the keys of one that it calls.
                passed = {one: keys[one] for one in bodies() if isinstance(keys.get(one), dict)}
                for called, found in {name: keys, **passed}.items():
                    assert {*required_keys(called)} <= {*found} <= {*declared_keys(called)}, file
                    given[called] = given.get(called, set()) | {*found}
    for name, keys_of_all in given.items():
        assert keys_of_all == {*declared_keys(name)}, name


@pytest.mark.needs("details")
def test_a_spec_without_efforts_has_what_a_search_needs_and_no_more() -> None:
    assert set(files_of(spec(efforts=[]))) == {
        "visits_microdata.sql",
        "visits_frequencies.sql",
        "visits_quasi_identifier_risk.sql",
        "_visits.yml",
    }


def test_without_efforts_there_is_no_history(tmp_path: Path) -> None:
    project = write_project(tmp_path, spec(efforts=[]))
    assert Path("models/anonymization_results.sql") not in generate(project)
    write_spec(project, SPEC)
    assert Path("models/anonymization_results.sql") in generate(project)
    write_spec(project, spec(efforts=[]))
    assert Path("models/anonymization_results.sql") in generate(project, ["visits"])
    assert not (project / "models" / "anonymization_results.sql").exists()


@pytest.mark.needs("recoding")
def test_guarantees_reach_every_macro_that_checks_them() -> None:
    files = files_of(rich())
    for name in ("microdata", "classes", "privacy", "anonymized", "recoding_3", "recoding_4"):
        file = f"visits_{name}."
        given = (
            python_call_of(files[f"{file}py"])
            if f"{file}py" in files
            else call_of(files[f"{file}sql"])[1]
        )
        assert given["guarantees"] == [
            {"model": "k_anonymity", "k": 3},
            {"model": "k_map", "k": 5, "estimator": "poisson", "significance": 0.05},
            {"model": "t_closeness", "attribute": "ill", "t": 0.5, "distance": "hierarchical"},
        ]


@pytest.mark.parametrize("content", [SPEC, rich()], ids=["plain", "rich"])
def test_properties_describe_every_model_and_every_column(content: dict[str, Any]) -> None:
    files = files_of(content)
    models = {model["name"]: model for model in yaml.safe_load(files["_visits.yml"])["models"]}
    written = {name.partition(".")[0] for name in files} - {"_visits", "_visits_exposures"}
    assert models.keys() == written
    for model in models.values():
        assert model["description"]
        assert all(column["description"] for column in model["columns"])
        names = [column["name"] for column in model["columns"]]
        assert len(names) == len(set(names))
    released = [column["name"] for column in models["visits_anonymized"]["columns"]]
    assert released == Spec.model_validate(content).released_columns
    (test,) = models["visits_anonymized"]["data_tests"]
    assert test == {
        "dbt_anonymize.k_anonymity": {
            "name": "visits_anonymized_k_anonymity",
            "description": "Classes of the release with fewer than 3 records; there must be none.",
            "config": {
                "store_failures": False,
                "store_failures_as": "ephemeral",
                "error_if": "!= 0 /* k_anonymity requires at least 3 records in each equivalence "
                "class; build the release again */",
            },
        }
    }


@pytest.mark.needs("second_month")
def test_readers_are_told_what_to_read_first() -> None:
    def told(content: dict[str, Any]) -> list[str]:
        files = files_of(content)
        (exposure,) = yaml.safe_load(files["_visits_exposures.yml"])["exposures"]
        models = {one["name"]: one for one in yaml.safe_load(files["_visits.yml"])["models"]}
        said = exposure["description"].rpartition("\n\n")[2]
        assert models["visits_anonymized"]["description"].endswith(f"\n\n{said}")
        names = re.findall("`visits_(\\w+)`", said)
        assert {f"visits_{name}" for name in names} <= set(models)
        return names

    assert told(SPEC) == ["anonymized", "results", "quality", "privacy", "information_loss"]
    frozen = told(spec(freeze=True, release={"effort": 1}))
    assert frozen == ["anonymized", "results", "privacy", "information_loss"]


def test_a_release_has_a_contract_where_all_types_are_declared() -> None:
    def release(content: dict[str, Any]) -> dict[str, Any]:
        models = yaml.safe_load(files_of(content)["_visits.yml"])["models"]
        (found,) = [model for model in models if model["name"] == "visits_anonymized"]
        return dict(found)

    plain = release(SPEC)
    assert "contract" not in plain["config"]
    assert not any("data_type" in column or "quote" in column for column in plain["columns"])
    typed = spec()
    for name, data_type in {"age": "date", "income": "decimal(9, 2)", "ill": "text"}.items():
        typed["columns"][name]["data_type"] = data_type
    found = release(typed)
    assert found["config"]["contract"] == {"enforced": True}
    assert [(c["name"], c["data_type"], c["quote"]) for c in found["columns"]] == [
        ("age", "text", True),
        ("age_lower", "date", True),
        ("age_upper", "date", True),
        ("city", "text", True),
        ("income", "decimal(9, 2)", True),
        ("ill", "text", True),
        ("cqi", "text", True),
    ]
    assert Spec.model_validate(typed).fingerprint == Spec.model_validate(SPEC).fingerprint


def test_a_fixed_effort_is_passed_on(tmp_path: Path) -> None:
    project = write_project(tmp_path)
    write_spec(project, spec(release={"effort": 2}))
    generate(project)
    text = (project / "models" / "visits" / "visits_results.sql").read_text()
    assert call_of(text)[1]["release_effort"] == 2


def test_a_release_that_is_recomputed_names_what_it_is_computed_from() -> None:
    content = spec(release={"recompute": True}, source={"source": ["clinic", "visits"]})
    recomputed = call_of(files_of(content)["visits_anonymized.sql"])[1]["recompute"]
    assert recomputed["source"] == ["clinic", "visits"]
    assert set(recomputed["hierarchies"]) == {
        name for name, column in content["columns"].items() if column["role"] == "quasi_identifier"
    }
    assert "recompute" not in call_of(files_of(SPEC)["visits_anonymized.sql"])[1]


def test_nothing_is_published_before_all_that_is_measured() -> None:
    content = rich()
    files = {Path(name).stem: text for name, text in files_of(content).items() if name[0] != "_"}
    reads = {name: set(re.findall(r"ref\(['\"](.*?)['\"]\)", text)) for name, text in files.items()}
    before, new = set[str](), {"visits_anonymized"}
    while new:
        before |= new
        new = {found for name in new for found in reads.get(name, ())} - before
    assert {"visits_information_loss", "visits_classes", "visits_evaluation"} <= before
    # The mapping to people is of the release.
    assert files.keys() - before <= {"visits_identifiers"}
