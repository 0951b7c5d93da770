"""Content of spec files, and their reading."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from pydantic import ValidationError

from dbt_anonymize.errors import AnonymizeError, SpecError
from dbt_anonymize.spec import Spec, load_spec, load_specs
from dbt_anonymize.spec.efforts import as_yaml
from dbt_anonymize.spec.yaml_file import read_yaml
from tests.spec.declarations import REPOSITORY
from tests.spec.declarations import SPEC as SOUND
from tests.spec.files import REMOVED, changed, errors_of


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


@pytest.mark.parametrize(
    ("written", "read"), [("010", 8), ("1:30", 90), ("0x1F", 31), ("0b11", 3), ("1_000", 1000)]
)
def test_a_number_that_yaml_reads_as_another_is_refused(
    write: Callable[..., Path], written: str, read: int
) -> None:
    text = yaml.safe_dump(changed("guarantees.k_anonymity.k", 424242))
    (line,) = errors_of(write(text.replace("424242", written)))
    assert f"k: must not be {written} without quotes, which YAML reads as {read}" in line
    for plain in ("1.5", ".5", "-3", "+2", "0", "1.0e+3", ".inf"):
        assert "without quotes" not in "".join(
            problem.rule for problem in read_yaml(write(f"a: {plain}\n"))[1]
        )


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


@pytest.mark.needs("recoding")
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
    assert [as_yaml(effort) for effort in list(numbered.values())[1:]] == efforts


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


def test_what_moves_no_result_does_not_outdate_results(write: Callable[..., Path]) -> None:
    fingerprint = load_spec(write(SOUND)).fingerprint
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
    assert load_spec(write(SOUND)).largest_k == SOUND["guarantees"]["k_anonymity"]["k"]
    stricter = {"attribute": "ill", "alpha": 0.9, "k": 40}
    spec = load_spec(write(changed("guarantees.alpha_k_anonymity", stricter)))
    assert spec.largest_k == 40
