"""Every rule of a spec, broken once, and what the message must say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import load_spec, load_specs
from tests.spec.declarations import SPEC as SOUND
from tests.spec.files import changed, errors_of
from tests.spec.wrong import WRONG


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
def test_each_broken_rule_says_where_what_and_what_to_do(
    write: Callable[..., Path], path: str, value: object, place: str, message: str
) -> None:
    lines = errors_of(write(changed(path, value)))
    found = [line for line in lines if line.startswith(f"anonymizations/visits.yml: {place}: ")]
    assert any(message in line for line in found), lines
    for line in lines:
        assert line.endswith((".", "?"))
        assert ": must " in line


@pytest.mark.needs("recoding")
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


@pytest.mark.needs("recoding")
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


@pytest.mark.parametrize("name", ["levels", "recoding", "rounds"])
def test_a_quasi_identifier_called_like_a_key_hides_no_other_error(
    write: Callable[..., Path], name: str
) -> None:
    columns = {name if n == "age" else n: column for n, column in SOUND["columns"].items()}
    features = [name if feature == "age" else feature for feature in SOUND["features"]]
    quality = {**SOUND["quality"], "fit": "per_split"}
    efforts = [{name: 1, "city": 0}]
    wrong = {"columns": columns, "features": features, "quality": quality, "efforts": efforts}
    (error,) = errors_of(write(changed("", {**wrong, "alpha": "x"})))
    assert ": alpha: " in error
