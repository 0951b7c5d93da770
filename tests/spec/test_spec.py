"""Every rule of a spec, broken once, and what the message must say."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from pydantic import ValidationError

from dbt_anonymize.errors import AnonymizeError, SpecError
from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec, load_spec, load_specs
from dbt_anonymize.spec.efforts import written
from tests.spec.declarations import REPOSITORY
from tests.spec.declarations import SPEC as SOUND

NAN = float("nan")
INFINITY = float("inf")

# Key path, wrong value (REMOVED: without the key), where the message points, what it must contain.
REMOVED = object()
# An effort that differs per record, beside a guarantee that counts people outside the source.
LEFT_WITHOUT_POPULATION: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"recoding": "multidimensional"}, "k_map", {"k": 5}),
    (
        {"recoding": "local", "rounds": [{"age": 1, "city": 1}]},
        "delta_presence",
        {"minimum": 0, "maximum": 0.5},
    ),
]

WRONG: list[tuple[str, object, str, str]] = [
    ("version", 2, "version", "must be 1; got 2"),
    ("version", REMOVED, "version", "must be given"),
    ("name", "Visits", "name", "must start with a-z"),
    ("name", "x" * 51, "name", "at most 50 characters"),
    ("name", "anonymization", "name", "must not be 'anonymization'"),
    ("name", "others", "name", "must be the name of the file, visits; got 'others'"),
    ("descripton", "x", "descripton", "Did you mean description?"),
    ("zzz", 1, "zzz", "known keys are version, name"),
    ("source", {}, "source", "must name exactly one relation"),
    ("source", {"ref": "a", "source": ["b", "c"]}, "source", "must name exactly one relation"),
    ("source", {"source": ["a"]}, "source.source.2", "must be given"),
    ("source", {"ref": ""}, "source.ref", "must not be empty"),
    ("source", "visits", "source", "must be a mapping"),
    ("record_key", REMOVED, "record_key", "must be given"),
    ("record_key", "age", "columns.age", "must not repeat the record key"),
    ("record_key", "AGE", "record_key", "must differ from age in more than upper and lower case"),
    ("record_key", "Effort", "record_key", "must not be one of our own columns"),
    ("record_key", " ", "record_key", "must not be empty"),
    ("columns", {}, "columns", "at least 1 entries"),
    ("columns", ["age"], "columns", "must be a mapping"),
    ("columns.age.role", "quasi", "columns.age.role", "got 'quasi'"),
    ("columns.age.hierarchy", REMOVED, "columns.age", "must have a hierarchy"),
    (
        "columns.income.hierarchy",
        {"ref": "x", "kind": "interval", "levels": 1},
        "columns.income",
        "must not have a hierarchy",
    ),
    ("columns.age.hierarchy.levels", "x", "columns.age.hierarchy.levels", "whole number; got 'x'"),
    ("columns.age.hierarchy.levels", True, "columns.age.hierarchy.levels", "got True"),
    ("columns.age.hierarchy.levels", 0, "columns.age.hierarchy.levels", "must be >= 1"),
    (
        "columns.age.hierarchy.levels",
        100_000_000,
        "columns.age.hierarchy.levels",
        "must be <= 1000; got 100000000",
    ),
    ("columns.age.hierarchy.kind", "numeric", "columns.age.hierarchy.kind", "'interval' or"),
    ("columns.age.hierarchy.nested", 1, "columns.age.hierarchy.nested", "true or false"),
    ("columns.age.hierarchy.level", 3, "columns.age.hierarchy.level", "Did you mean levels?"),
    ("columns.age", {"role": "insensitive"}, "efforts.1.age", "must be a quasi-identifier"),
    ("columns.cqi", {"role": "insensitive"}, "columns.cqi", "one of our own columns"),
    ("columns.Class_Size", {"role": "insensitive"}, "columns.Class_Size", "one of our own"),
    ("columns.AGE_lower", {"role": "insensitive"}, "columns.AGE_lower", "that we add for age"),
    ("columns.city_leaf", {"role": "identifier"}, "columns.city_leaf", "that we add for city"),
    ("columns.Income", {"role": "insensitive"}, "columns.Income", "must differ from income"),
    ("columns.a\0b", {"role": "insensitive"}, "columns.'a\\x00b'", "that a database can store"),
    ("target", "il", "target", "Did you mean ill?"),
    ("target", "age", "target", "must be a sensitive or insensitive column"),
    ("target", "phone", "target", "got phone, which is identifier"),
    ("features", [], "features", "at least 1 entries"),
    ("features", "age", "features", "must be a list"),
    ("features", ["age", "ill"], "features.2", "must not be the target"),
    ("features", ["phone"], "features.1", "must not be an identifier"),
    ("features", ["visit_id"], "features.1", "must not be the record key"),
    ("features", ["age", "age"], "features.2", "must name each column once"),
    ("features", ["incom"], "features.1", "Did you mean income?"),
    ("efforts", [{"age": 1}], "efforts.1", "city is missing"),
    ("efforts", [{"age": 1, "city": 0, "aeg": 1}], "efforts.1.aeg", "Did you mean age?"),
    ("efforts", [{"age": 4, "city": 0}], "efforts.1.age", "0 to 3; got 4"),
    ("efforts", [{"age": -1, "city": 0}], "efforts.1.age", "must be >= 0; got -1"),
    ("efforts", [{"age": True, "city": 0}], "efforts.1.age", "must be a whole number; got True"),
    ("efforts", [{"age": 1.0, "city": 0}], "efforts.1.age", "must be a whole number; got 1.0"),
    ("efforts", [{"age": 0, "city": 0}], "efforts.1", "must generalize something"),
    (
        "efforts",
        [{"age": 1, "city": 0}, {"city": 0, "age": 1}],
        "efforts.2",
        "must differ from effort 1",
    ),
    ("guarantees", {}, "guarantees.k_anonymity", "must be given"),
    ("guarantees.k_anonymity.k", 1, "guarantees.k_anonymity.k", "must be >= 2; got 1"),
    ("guarantees.k_anonymity.K", 2, "guarantees.k_anonymity.K", "Did you mean k?"),
    ("guarantees.l_diversty", {"l": 2}, "guarantees.l_diversty", "Did you mean l_diversity?"),
    ("guarantees.l_diversity", {"attribute": "ill"}, "guarantees.l_diversity.l", "must be given"),
    (
        "guarantees.l_diversity",
        {"attribute": "il", "l": 2},
        "guarantees.l_diversity.attribute",
        "Did you mean ill?",
    ),
    (
        "guarantees.l_diversity",
        {"attribute": "age", "l": 2},
        "guarantees.l_diversity.attribute",
        "must be a column of role sensitive",
    ),
    (
        "guarantees.l_diversity",
        {"attribute": "ill", "l": 1},
        "guarantees.l_diversity.l",
        "must be > 1; got 1",
    ),
    (
        "guarantees.l_diversity",
        {"attribute": "ill", "l": 2.5},
        "guarantees.l_diversity",
        "whole number l >= 2 where the variant is distinct",
    ),
    (
        "guarantees.l_diversity",
        {"attribute": "ill", "l": 2, "variant": "recursive"},
        "guarantees.l_diversity",
        "must have c if and only if the variant is recursive",
    ),
    (
        "guarantees.l_diversity",
        [{"attribute": "ill", "l": 2}, {"attribute": "ill", "ll": 2, "l": 2}],
        "guarantees.l_diversity.2.ll",
        "Did you mean l?",
    ),
    (
        "guarantees.l_diversity",
        [{"attribute": "ill", "l": 2}, {"attribute": "ill", "l": 3}],
        "guarantees.l_diversity.2",
        "must not limit the same measure twice",
    ),
    ("guarantees.l_diversity", [], "guarantees.l_diversity", "at least 1 entries"),
    ("guarantees.l_diversity", 3, "guarantees.l_diversity", "must be a list"),
    (
        "guarantees.t_closeness",
        {"attribute": "ill", "t": 0.2, "distance": "hierarchical"},
        "guarantees.t_closeness.distance",
        "where the sensitive column has no hierarchy",
    ),
    (
        "guarantees.t_closeness",
        {"attribute": "ill", "t": 1.5},
        "guarantees.t_closeness.t",
        "must be <= 1",
    ),
    ("guarantees.k_map", {"k": 5}, "guarantees.k_map", "must have a table of the population"),
    (
        "guarantees.k_map",
        {"k": 5, "estimator": "poisson"},
        "guarantees.k_map",
        "must have estimator and significance together",
    ),
    (
        "guarantees.k_map",
        {"k": 5, "estimator": "poisson", "significance": 0.05},
        "guarantees.k_map",
        "must have the size of the population",
    ),
    (
        "guarantees.uniqueness",
        {"sample_share": 0.1},
        "guarantees",
        "must not have uniqueness: it can never bind, since k_anonymity, which every spec",
    ),
    ("guarantees.uniqueness", None, "guarantees", "the dbt test uniqueness limits it"),
    (
        "guarantees.reidentification_risk",
        {},
        "guarantees.reidentification_risk",
        "must limit the average or the highest risk",
    ),
    (
        "guarantees.delta_presence",
        {"minimum": 0.5, "maximum": 0.1},
        "guarantees.delta_presence",
        "minimum <= maximum",
    ),
    ("source", {"ref": "visits_microdata"}, "source.ref", "a relation that we build for visits"),
    ("source", {"ref": "anonymization_results"}, "source.ref", "that we build for visits"),
    ("population", {"ref": "visits_population"}, "population.ref", "got visits_population. Rename"),
    ("population", {"ref": "Visits_Effort_12"}, "population.ref", "that we build for visits"),
    (
        "columns.age.hierarchy",
        {"ref": "visits_classes", "kind": "interval", "levels": 3},
        "columns.age.hierarchy.ref",
        "must not be the name of a relation",
    ),
    ("population", {}, "population", "must name a relation or a size"),
    ("population", {"ref": "a", "source": ["b", "c"]}, "population", "at most one relation"),
    ("subject", "income", "subject", "must be a column of role identifier"),
    ("subject", "phon", "subject", "Did you mean phone?"),
    ("columns.age.derived_from", "phon", "columns.age.derived_from", "Did you mean phone?"),
    ("columns.age.derived_from", ["age"], "columns.age.derived_from", "must name an identifier"),
    ("columns.age.derived_from", 3, "columns.age.derived_from", "must be a list"),
    (
        "columns.phone.derived_from",
        "phone",
        "columns.phone.derived_from",
        "must not be that of an identifier",
    ),
    ("columns.age.weight", 0, "columns.age.weight", "must be > 0"),
    ("columns.income.weight", 2, "columns.income", "must not have a weight"),
    (
        "columns.ill.hierarchy",
        {"ref": "x", "kind": "interval", "levels": 1},
        "columns.ill",
        "must have a categorical hierarchy",
    ),
    ("columns.ill_t", {"role": "insensitive"}, "columns.ill_t", "that we add for ill"),
    (
        "columns.ill_ordered",
        {"role": "sensitive"},
        "columns.ill_ordered",
        "both would have a column ill_ordered_t",
    ),
    ("efforts", [{"levels": {"age": 1}, "k": 5}], "efforts.1.levels", "city is missing"),
    (
        "efforts",
        [{"levels": {"age": 9, "city": 0}}],
        "efforts.1.levels.age",
        "0 to 3; got 9",
    ),
    (
        "efforts",
        [{"levels": {"age": 1, "city": 0}, "k": 2}],
        "efforts.1.k",
        "at least the k that is guaranteed, 3; got 2",
    ),
    ("efforts", [{"recoding": "mondrian"}], "efforts.1.recoding", "'multidimensional'"),
    ("efforts", [{"recoding": "local"}], "efforts.1", "must have rounds if and only if"),
    (
        "efforts",
        [{"recoding": "local", "rounds": [{"age": 1, "city": 0}, {"age": 1}]}],
        "efforts.1.rounds.2",
        "city is missing",
    ),
    (
        "efforts",
        [{"recoding": "multidimensional", "stict": True}],
        "efforts.1.stict",
        "Did you mean strict?",
    ),
    *(
        (
            "",
            {
                "efforts": [{"age": 1, "city": 0}, effort],
                "population": {"ref": "people"},
                "guarantees": {"k_anonymity": {"k": 3}, model: parameters},
            },
            "efforts.2.recoding",
            f"must be full_domain with the guarantee {model}",
        )
        for effort, model, parameters in LEFT_WITHOUT_POPULATION
    ),
    ("search", {"efforts": 0}, "search.efforts", "must be >= 1"),
    ("search", {"levels": {"aeg": {}}}, "search.levels.aeg", "Did you mean age?"),
    ("search", {"levels": {"age": {"highest": 7}}}, "search.levels.age", "0 to 3"),
    (
        "search",
        {"levels": {"age": {"lowest": 2, "highest": 1}}},
        "search.levels.age",
        "lowest <= highest",
    ),
    ("information_loss", {"aggregate": "mean"}, "information_loss.aggregate", "'geometric_mean'"),
    ("suppression_limit", 1, "suppression_limit", "must be < 1"),
    ("suppression_limit", -0.1, "suppression_limit", "must be >= 0"),
    ("suppression_limit", NAN, "suppression_limit", "must be a finite number"),
    ("suppression_limit", True, "suppression_limit", "must be a number; got True"),
    ("alpha", -1, "alpha", "must be auto or a finite number >= 0; got -1"),
    ("alpha", INFINITY, "alpha", "must be auto or a finite number"),
    ("alpha", "1e-3", "alpha", "YAML reads 1e-3 as text"),
    ("qnf", "K", "qnf", "must be 'k' or '1 - 1/k'"),
    ("quality.model", "random_forrest", "quality.model", "Did you mean random_forest?"),
    ("quality.parameters", {"var_smoth": 1}, "quality.parameters.var_smoth", "var_smoothing?"),
    ("quality.parameters", {"random_state": 1}, "quality.parameters.random_state", "parameter of"),
    ("quality.parameters", {"priors": [NAN]}, "quality.parameters.priors", "finite number"),
    ("quality.parameters", {"priors": {"a": 1}}, "quality.parameters.priors", "finite number"),
    ("quality.measure", "auc", "quality.measure", "'precision'"),
    ("quality.measure", "precision", "quality.positive", "class that precision is measured for"),
    ("quality.positive", 1.5, "quality.positive", "must be a value of the target"),
    ("quality.repetitions", 0, "quality.repetitions", "must be >= 1"),
    ("quality.repetitions", 10**12, "quality.repetitions", "must be <= 10000; got 1000000000000"),
    ("quality.folds", 10**12, "quality.folds", "must be <= 1000"),
    ("quality.test_share", 0, "quality.test_share", "must be > 0"),
    ("quality.test_share", 1, "quality.test_share", "must be < 1"),
    ("quality.test_share", NAN, "quality.test_share", "must be a finite number"),
    ("quality.random_state", -1, "quality.random_state", "must be >= 0"),
    ("quality.random_state", 2**32, "quality.random_state", "must be <= 4294967295"),
    ("release", {"effort": 0}, "release.effort", "which is never released"),
    ("release", {"effort": 3}, "release.effort", "1 to 2; got 3"),
    ("release", {"effort": "best"}, "release.effort", "must be auto or the number of an effort"),
    ("release", {"effort": True}, "release.effort", "must be auto or the number of an effort"),
    ("release", {"access": "private"}, "release.access", "'protected' or 'public'"),
    ("mapping", "person", "mapping", "'class', 'token' or 'none'"),
    ("quality.measure", "acuracy", "quality.measure", "Did you mean accuracy?"),
    (
        "",
        {"mapping": "token", "release": {"access": "public"}},
        "mapping",
        "must be class or none where release.access is public",
    ),
    ("relinking", {"purposes": ["two\nlines"]}, "relinking.purposes.1", "must be one line"),
    ("relinking", {"purposes": []}, "relinking.purposes", "at least 1 entries"),
    (
        "relinking",
        {"purposes": ["care"], "highest_information_loss": 0},
        "relinking.highest_information_loss",
        "must be > 0",
    ),
    (
        "",
        {
            "mapping": "none",
            "relinking": {"purposes": ["care"], "highest_information_loss": 0.5},
        },
        "relinking",
        "must not be declared with mapping none",
    ),
    (
        "relinking",
        {"purposes": ["care"], "highest_information_loss": 0.5, "k": 2},
        "relinking.k",
        "must be at least the k that is guaranteed, 3; got 2",
    ),
]


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the sound spec with one key changed or removed, or several at its top."""
    spec = copy.deepcopy(SOUND)
    if not path and isinstance(value, dict):
        return spec | copy.deepcopy(value)
    *parents, last = path.split(".")
    inner = spec
    for key in parents:
        inner = inner[key]
    if value is REMOVED:
        del inner[last]
    else:
        inner[last] = value
    return spec


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a spec, as data or as text, and returns its path."""

    def write_spec(spec: dict[str, Any] | str, name: str = "visits") -> Path:
        path = tmp_path / "anonymizations" / f"{name}.yml"
        path.parent.mkdir(exist_ok=True)
        text = spec if isinstance(spec, str) else yaml.safe_dump(spec, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return path

    return write_spec


def errors_of(path: Path) -> list[str]:
    with pytest.raises(SpecError) as error:
        load_spec(path)
    return str(error.value).splitlines()


def test_a_sound_spec_is_read(write: Callable[..., Path]) -> None:
    spec = load_spec(write(SOUND))
    assert spec.identifiers == ["phone"]
    assert list(spec.quasi_identifiers) == ["age", "city"]
    assert spec.sensitive == ["ill"]
    assert spec.kept_columns == ["income", "ill"]
    assert spec.release.effort == "auto"
    assert spec.quasi_identifiers["age"].nested is True
    assert spec.numbered_efforts[2].levels == {"age": 2, "city": 1}


@pytest.mark.parametrize(("path", "value", "place", "message"), WRONG)
def test_each_broken_rule_says_where_and_what(
    write: Callable[..., Path], path: str, value: object, place: str, message: str
) -> None:
    lines = errors_of(write(changed(path, value)))
    found = [line for line in lines if line.startswith(f"anonymizations/visits.yml: {place}: ")]
    assert any(message in line for line in found), lines


def test_each_relation_of_a_spec_is_refused_as_its_own_source(write: Callable[..., Path]) -> None:
    efforts = [{"age": 1, "city": 0}, {"recoding": "multidimensional"}]
    built = changed("", {"efforts": efforts, "population": {"ref": "people"}})
    files = render(load_spec(write(built)))
    relations = {Path(name).stem for name in files if not name.endswith(".yml")}
    assert {"visits_population", "visits_recoding_2", "visits_effort_2"} < relations
    for relation in {*relations, "visits_lattice"}:
        (error,) = errors_of(write(changed("population", {"ref": relation})))
        assert "population.ref: must not be the name of a relation that we build" in error
        assert f"got {relation}." in error


@pytest.mark.parametrize("name", ["visits", "visits_source", "visits_effort", "others_classes"])
def test_names_that_only_look_like_those_of_our_relations_are_free(
    write: Callable[..., Path], name: str
) -> None:
    assert load_spec(write(changed("source", {"ref": name}))).source.ref == name


def test_a_source_of_dbt_may_have_any_name(write: Callable[..., Path]) -> None:
    source = {"source": ["clinic", "visits_microdata"]}
    assert load_spec(write(changed("source", source))).source.ref is None


def test_recoding_is_allowed_with_guarantees_that_count_nobody_outside(
    write: Callable[..., Path],
) -> None:
    guarantees = {
        "k_anonymity": {"k": 3},
        "k_map": {"k": 5, "estimator": "poisson", "significance": 0.05},
    }
    spec = changed(
        "",
        {
            "efforts": [{"recoding": "multidimensional"}],
            "population": {"size": 1000},
            "guarantees": guarantees,
        },
    )
    assert list(load_spec(write(spec)).recoded_efforts) == [1]


@pytest.mark.parametrize(("path", "value", "place", "message"), WRONG)
def test_each_message_ends_with_what_to_do(
    write: Callable[..., Path], path: str, value: object, place: str, message: str
) -> None:
    for line in errors_of(write(changed(path, value))):
        assert line.endswith((".", "?"))
        assert ": must " in line


def test_one_wrong_key_gives_one_error(write: Callable[..., Path]) -> None:
    """Errors of types and of rules between keys must not repeat each other."""
    assert len(errors_of(write(changed("columns.age.role", "quasi")))) == 1
    assert len(errors_of(write(changed("columns.age.hierarchy.levels", "x")))) == 1
    assert len(errors_of(write(changed("efforts", [{"age": True, "city": 0}])))) == 1


def test_all_errors_of_all_files_are_reported_at_once(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    first = changed("alpha", -1)
    first["efforts"] = [{}, {"age": 9, "city": 0}]
    first["unknown"] = 1
    write(first)
    write("version: [", name="broken")
    write(changed("name", "third") | {"target": "nobody"}, name="third")
    with pytest.raises(SpecError) as error:
        load_specs(tmp_path)
    message = str(error.value)
    for part in (
        "visits.yml: alpha: must be auto or a finite number >= 0",
        "visits.yml: efforts.1: must name a level for every quasi-identifier; age is missing",
        "visits.yml: efforts.1: must name a level for every quasi-identifier; city is missing",
        "visits.yml: efforts.2.age: must be a level of its hierarchy",
        "visits.yml: unknown: must be a key that we know",
        "broken.yml: must be valid YAML",
        "third.yml: target: must be a declared column",
    ):
        assert part in message
    assert len(message.splitlines()) == 7


def test_a_spec_without_quasi_identifiers_is_refused(write: Callable[..., Path]) -> None:
    spec = changed("columns", {"ill": {"role": "sensitive"}, "income": {"role": "insensitive"}})
    spec |= {"features": ["income"], "efforts": [{}]}
    assert "must hold at least one quasi-identifier" in "\n".join(errors_of(write(spec)))


@pytest.mark.parametrize("word", ["yes", "no", "on", "off"])
def test_a_column_that_yaml_reads_as_a_truth_value_is_explained(
    write: Callable[..., Path], word: str
) -> None:
    text = yaml.safe_dump(SOUND, sort_keys=False)
    text = text.replace("  income:", f"  {word}: {{role: insensitive}}\n  income:")
    (line,) = errors_of(write(text))
    assert f"columns.{word}: must be text, but YAML reads the key {word} as bool" in line
    assert f'Put it in quotes: "{word}".' in line


def test_a_quoted_truth_value_is_a_column(write: Callable[..., Path]) -> None:
    load_spec(write(changed("columns.yes", {"role": "insensitive"})))


def test_a_bare_yes_as_positive_class_is_explained(write: Callable[..., Path]) -> None:
    spec = changed("quality.measure", "f1")
    spec["quality"]["positive"] = "yes"
    text = yaml.safe_dump(spec).replace("positive: 'yes'", "positive: yes")
    (line,) = errors_of(write(text))
    assert "quality.positive: must not be yes without quotes" in line


def test_a_number_as_column_name_is_explained(write: Callable[..., Path]) -> None:
    text = yaml.safe_dump(SOUND).replace("  income:", "  2024: {role: insensitive}\n  income:")
    (line,) = errors_of(write(text))
    assert "columns.'2024': must be text, but YAML reads the key 2024 as int" in line


def test_duplicate_keys_are_refused_with_both_lines(write: Callable[..., Path]) -> None:
    text = "alpha: 0.5\n" + yaml.safe_dump(SOUND, sort_keys=False)
    (line,) = errors_of(write(text))
    assert "alpha: must be written once; it is in line 1 and in line" in line


def test_duplicate_columns_are_refused(write: Callable[..., Path]) -> None:
    text = yaml.safe_dump(SOUND).replace("  income:", "  phone: {role: insensitive}\n  income:")
    assert "columns.phone: must be written once" in "\n".join(errors_of(write(text)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a mapping of keys to values; got an empty file"),
        ("- a\n- b\n", "must be a mapping of keys to values"),
        ("a: &a [*a]\n", "must not contain itself"),
        ("a: !!python/object/apply:os.getcwd []\n", "must be valid YAML"),
        ("a: b: c\n", "line 1"),
    ],
)
def test_what_is_not_a_mapping_is_refused(
    write: Callable[..., Path], text: str, message: str
) -> None:
    assert message in "\n".join(errors_of(write(text)))


def test_a_file_that_is_not_utf8_is_refused(write: Callable[..., Path]) -> None:
    path = write(SOUND)
    path.write_bytes(b"name: \xff\xfe")
    assert "must be UTF-8 text" in errors_of(path)[0]


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert "must be a readable file" in errors_of(tmp_path / "anonymizations" / "none.yml")[0]


def test_a_name_without_file_gets_a_suggestion(write: Callable[..., Path], tmp_path: Path) -> None:
    write(SOUND)
    with pytest.raises(
        SpecError, match=r"anonymizations/visit.yml: must exist. Did you mean visits"
    ):
        load_specs(tmp_path, ["visit"])


def test_a_spec_cannot_be_changed(write: Callable[..., Path]) -> None:
    spec = load_spec(write(SOUND))
    with pytest.raises(ValidationError, match="frozen"):
        spec.alpha = 2.0  # type: ignore[misc]


def test_a_spec_made_in_python_keeps_the_rules_too() -> None:
    with pytest.raises(ValidationError, match="must be a declared column"):
        Spec.model_validate(changed("target", "nobody"))


def test_spec_errors_are_errors_of_the_package() -> None:
    assert issubclass(SpecError, AnonymizeError)
    assert issubclass(SpecError, ValueError)


@pytest.mark.parametrize("name", ["wdbc_nested", "fertility_clinic"])
def test_k_of_the_demos_rises_with_every_effort(name: str) -> None:
    spec = load_spec(REPOSITORY / "anonymizations" / f"{name}.yml")
    seeds = REPOSITORY / "seeds"
    source = pd.read_csv(next(seeds.glob(f"*/{spec.source.ref}.csv")))
    rising = []
    for effort in spec.efforts:
        labels = {}
        for column, level in (effort.levels or {}).items():
            hierarchy = pd.read_csv(next(seeds.glob(f"*/{spec.quasi_identifiers[column].ref}.csv")))
            leaf = hierarchy["lower_bound"].searchsorted(source[column], side="right") - 1
            labels[column] = hierarchy[f"level_{level}"].to_numpy()[leaf]
        sizes = pd.DataFrame(labels).value_counts()
        kept = sizes[sizes >= spec.guarantees.k_anonymity.k]
        is_within = (sizes.sum() - kept.sum()) / sizes.sum() <= spec.suppression_limit
        rising.append(int((kept if is_within else sizes).min()))
    assert rising == sorted(set(rising))


def test_an_effort_is_written_short_or_in_full(write: Callable[..., Path]) -> None:
    efforts = [
        {"age": 1, "city": 0},
        {"levels": {"city": 1, "age": 2}, "k": 7},
        {"recoding": "local", "rounds": [{"age": 1, "city": 1}, {"age": 3, "city": 2}]},
        {"recoding": "multidimensional", "strict": False},
    ]
    numbered = load_spec(write(changed("efforts", efforts))).numbered_efforts
    assert [effort.recoding for effort in numbered.values()] == [
        "full_domain",
        "full_domain",
        "full_domain",
        "local",
        "multidimensional",
    ]
    assert (numbered[2].k, numbered[2].levels) == (7, {"age": 2, "city": 1})
    assert numbered[3].rounds == ({"age": 1, "city": 1}, {"age": 3, "city": 2})
    assert not numbered[4].is_strict
    assert [written(effort) for effort in list(numbered.values())[1:]] == efforts


def test_quasi_identifiers_may_be_named_like_our_keys(write: Callable[..., Path]) -> None:
    spec = copy.deepcopy(SOUND)
    for old, new in (("age", "k"), ("city", "levels")):
        spec["columns"][new] = spec["columns"].pop(old)
    spec |= {"features": ["k", "levels"], "efforts": [{"k": 1, "levels": 0}]}
    assert load_spec(write(spec)).numbered_efforts[1].levels == {"k": 1, "levels": 0}
    spec["efforts"] = [{"levels": {"k": 1, "levels": 0}, "k": 4}]
    assert load_spec(write(spec)).numbered_efforts[1].k == 4


def test_a_spec_may_leave_its_efforts_to_the_search(write: Callable[..., Path]) -> None:
    assert load_spec(write(changed("efforts", []))).efforts == ()
    assert load_spec(write(changed("efforts", REMOVED))).efforts == ()


def test_several_guarantees_are_resolved_with_their_defaults(write: Callable[..., Path]) -> None:
    spec = changed(
        "guarantees.l_diversity",
        [{"attribute": "ill", "l": 2}, {"attribute": "ill", "l": 1.5, "variant": "entropy"}],
    )
    assert load_spec(write(spec)).guarantees.resolved == [
        {"model": "k_anonymity", "k": 3},
        {"model": "l_diversity", "attribute": "ill", "l": 2, "variant": "distinct"},
        {"model": "l_diversity", "attribute": "ill", "l": 1.5, "variant": "entropy"},
    ]


def test_what_a_search_looks_for_does_not_outdate_results(write: Callable[..., Path]) -> None:
    fingerprint = load_spec(write(SOUND)).fingerprint
    assert load_spec(write(changed("search", {"efforts": 3}))).fingerprint == fingerprint
    declared = load_spec(write(changed("columns.age.derived_from", "phone")))
    assert declared.columns["age"].derived_from == ("phone",)
    assert declared.fingerprint == fingerprint
    assert load_spec(write(changed("guarantees.k_anonymity.k", 4))).fingerprint != fingerprint


def test_a_sensitive_hierarchy_needs_a_level_between_values_and_root(
    write: Callable[..., Path],
) -> None:
    spec = changed(
        "guarantees.t_closeness", {"attribute": "ill", "t": 0.2, "distance": "hierarchical"}
    )
    tree = {"ref": "ills", "kind": "categorical", "levels": 1}
    spec["columns"]["ill"]["hierarchy"] = tree
    (line,) = errors_of(write(spec))
    assert "guarantees.t_closeness.distance: must be equal where the hierarchy" in line
    tree["levels"] = 2
    assert load_spec(write(spec)).sensitive_hierarchies["ill"].levels == 2


def test_a_broken_rule_that_is_found_only_once_is_told_all_the_same(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spec that is no spec must not vanish."""
    monkeypatch.setattr("dbt_anonymize.spec.loading.violations", lambda _: [])
    path = write(changed("target", "phone"))
    with pytest.raises(SpecError, match="must be a sensitive or insensitive column"):
        load_spec(path)


def test_the_largest_k_of_the_guarantees_is_what_a_class_has_at_least(
    write: Callable[..., Path],
) -> None:
    assert load_spec(write(SOUND)).least_people == SOUND["guarantees"]["k_anonymity"]["k"]
    stricter = {"attribute": "ill", "alpha": 0.9, "k": 40}
    spec = load_spec(write(changed("guarantees.alpha_k_anonymity", stricter)))
    assert spec.least_people == 40
