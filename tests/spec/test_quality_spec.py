"""Every rule about ``quality``, ``alpha`` and ``choose``, broken once, and what they mean."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.errors import SpecError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.spec import Spec, load_spec
from dbt_anonymize.spec.quality import FEWEST_SPLITS
from tests.spec.declarations import REPOSITORY
from tests.spec.declarations import SPEC as SOUND

SURVIVAL = {"model": "cox", "measure": "concordance_index", "time": "income"}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"folds": 5}, "quality: must say how records are split"),
    ({"test_share": None}, "quality: must say how records are split"),
    ({"test_share": None, "folds": 1}, "quality.folds: must be >= 2"),
    ({"model": None}, "quality: must name one model under model, or several"),
    ({"models": {"naive_bayes": {}}}, "quality: must name one model under model, or several"),
    (
        {"model": None, "models": {"naive_bayes": {}}, "parameters": {"priors": None}},
        "quality.parameters: must stand under the model",
    ),
    ({"model": None, "models": {"nb": {}}}, "quality.models.nb.model: must be a model of"),
    (
        {"model": None, "models": {"zero_rule": {"model": "naive_bayes"}}},
        "quality.models.zero_rule: must not be called zero_rule",
    ),
    (
        {"model": None, "models": {"naive_bayes": {"parameters": {"prior": 1}}}},
        "quality.models.naive_bayes.parameters.prior: must be a parameter of naive_bayes",
    ),
    ({"model": "zero_rule"}, "quality.model: must not be zero_rule where it decides"),
    (
        {"model": None, "models": {"floor": {"model": "zero_rule"}, "naive_bayes": {}}},
        "quality.models.floor: must not be zero_rule where it decides",
    ),
    ({"model": "random_forst"}, "Did you mean random_forest?"),
    ({"model": "cox"}, "quality.model: must be a model of classification"),
    ({"model": "sklearn.nothing.Here"}, "quality.model: must be importable"),
    ({"model": "os.path.join"}, "quality.model: must be importable"),
    ({"outer_share": 0.2}, "quality.fit: must be per_split beside outer_share"),
    ({"outer_share": 1, "fit": "per_split"}, "quality.outer_share: must be < 1"),
    ({"measure": "precision"}, "quality.positive: must name the class that precision"),
    (
        {"measure": "recall", "positive": "yes"},
        "quality.measure: must not be recall, which is 1 for a model that always answers the class",
    ),
    ({"measure": "sensitivity", "positive": "yes"}, "Choose balanced_accuracy, f1 or roc_auc"),
    (
        {"measure": "specificity", "positive": "yes"},
        "must not be specificity, which is 1 for a model that never answers the class",
    ),
    (
        {"measure": "r2", "model": "ridge", "positive": "yes"},
        "quality.positive: must be absent: r2 is not about classes",
    ),
    ({"measure": "brier_score", "model": "linear_svm"}, "must give probabilities"),
    ({"measure": "concordance_index", "model": "cox"}, "quality.time: must name the column"),
    ({"time": "income"}, "quality.time: must be absent"),
    ({**SURVIVAL, "time": "age"}, "quality.time: must be a column that is released as it is"),
    (SURVIVAL, "features.3: must not be predicted, nor the time"),
    ({"further_targets": {"income": {}}}, "features.3: must not be predicted"),
    ({"further_targets": {"phone": {}}}, "quality.further_targets.phone: must be a column that"),
    ({"further_targets": {"ill": {}}}, "quality: must not name the target again"),
    ({"further_targets": {"income": {"x": 1}}}, "quality.further_targets.income.x: must be a key"),
    (
        {"measure": "f1", "positive": "y", "further_targets": {"income": {}}},
        "quality.further_targets.income.positive: must name the class",
    ),
    (
        {"categories": "leaves", "model": "random_forest"},
        "quality.categories: must not be leaves with random_forest: a model that splits",
    ),
    (
        {"categories": "frequencies", "model": None, "models": {"a": {"model": "bagging"}}},
        "quality.categories: must not be frequencies with bagging",
    ),
    (
        {"categories": "leaves", "model": "sklearn.ensemble.AdaBoostClassifier"},
        "quality.categories: must not be leaves with sklearn.ensemble.AdaBoostClassifier",
    ),
    ({"numbers": "lower_bound"}, "quality.numbers: must be 'by_model'"),
    ({"test_on": "raw"}, "quality.test_on: must be 'original'"),
    ({"margin": -0.1}, "quality.margin: must be >= 0"),
    ({"confidence": 0.5}, "quality.confidence: must be > 0.5"),
    ({"sample": 1}, "quality.sample: must be >= 10"),
]


def written(tmp_path: Path, quality: dict[str, Any], **others: Any) -> Path:
    spec = copy.deepcopy(SOUND)
    spec["quality"] |= quality
    spec["quality"] = {key: value for key, value in spec["quality"].items() if value is not None}
    spec |= others
    path = tmp_path / "anonymizations" / "visits.yml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    return path


@pytest.mark.parametrize(("quality", "says"), WRONG)
def test_a_broken_rule_is_told(tmp_path: Path, quality: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError) as raised:
        load_spec(written(tmp_path, quality))
    assert says in str(raised.value)


@pytest.mark.parametrize("value", [-1, "automatic", True, float("inf")])
def test_alpha_is_a_number_or_auto(tmp_path: Path, value: object) -> None:
    with pytest.raises(SpecError, match="alpha: must be auto or a finite number >= 0"):
        load_spec(written(tmp_path, {}, alpha=value))


@pytest.mark.parametrize(
    ("quality", "splits"),
    [({"repetitions": 4}, 4), ({"repetitions": 2, "test_share": None, "folds": 2}, 4)],
)
def test_non_inferiority_takes_five_splits(
    tmp_path: Path, quality: dict[str, Any], splits: int
) -> None:
    says = f"choose: must not be strongest_non_inferior with fewer than 5 splits.*got {splits} spl"
    rule = {"choose": "strongest_non_inferior"}
    with pytest.raises(SpecError, match=says):
        load_spec(written(tmp_path, quality, **rule))


def test_who_names_an_effort_needs_no_rule(tmp_path: Path) -> None:
    rule = {"choose": "strongest_non_inferior", "release": {"effort": 1}}
    spec = load_spec(written(tmp_path, {"model": "zero_rule", "repetitions": 1}, **rule))
    assert spec.quality.deciding_model == "zero_rule"


def test_macros_and_specs_agree_about_the_fewest_splits() -> None:
    text = (REPOSITORY / "macros" / "results" / "_half_interval.sql").read_text("utf-8")
    assert f"return({FEWEST_SPLITS})" in text


@pytest.mark.needs("recoding")
def test_per_split_needs_declared_levels(tmp_path: Path) -> None:
    efforts = [{"age": 1, "city": 1}, {"recoding": "multidimensional"}]
    with pytest.raises(SpecError, match=r"quality\.fit: must be once where an effort is recoded"):
        load_spec(written(tmp_path, {"fit": "per_split"}, efforts=efforts))


def test_a_parameter_of_another_release_of_scikit_learn_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimators, "known_parameters", lambda _model, _task: frozenset())
    quality = {"model": "naive_bayes", "parameters": {"var_smoothing": 0.1}}
    assert load_spec(written(tmp_path, quality)).quality.parameters == {"var_smoothing": 0.1}


def test_the_first_model_and_the_target_decide(tmp_path: Path) -> None:
    models = {"forest": {"model": "random_forest"}, "naive_bayes": {"parameters": {}}}
    quality = {"model": None, "models": models, "positive": "y", "test_share": None, "folds": 5}
    spec = load_spec(
        written(
            tmp_path,
            {**quality, "further_targets": {"income": {"positive": 3}}},
            features=["age"],
            alpha="auto",
            choose="pareto_knee",
        )
    )
    assert spec.quality.deciding_model == "forest"
    assert {n: c.model for n, c in spec.quality.chosen_models.items()} == {
        "forest": "random_forest",
        "naive_bayes": "naive_bayes",
    }
    assert spec.targets == {"ill": "y", "income": 3}
    assert (spec.alpha, spec.choose) == ("auto", "pareto_knee")


def test_a_dotted_model_is_called_by_its_last_name() -> None:
    raw = copy.deepcopy(SOUND)
    raw["quality"]["model"] = "sklearn.ensemble.AdaBoostClassifier"
    spec = Spec.model_validate(raw)
    assert list(spec.quality.chosen_models) == ["AdaBoostClassifier"]
