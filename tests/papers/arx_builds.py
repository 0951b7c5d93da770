"""Builds for the page about the ARX article: preprocessing, benchmark, and payouts.

Preprocessing and benchmark take specs of case studies, with other efforts, models and keys.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.case_studies.building import Built, prepare
from tests.case_studies.pages import CasePage
from tests.case_studies.preparation import RECORD_KEY, STUDIES
from tests.papers.arx_contraceptives import GAINS, study
from tests.worlds.specs import SENSITIVE, categories, spec_of

Specs = dict[str, dict[str, Any]]
PAYOUTS = "payouts"
# The article's model, and the effort of the page of the case study.
BENCHMARK = {
    "acute_inflammations": ("random_forest", 1),
    "wisconsin_original": ("logistic_regression", 4),
    "contraceptive_method_choice": ("naive_bayes", 4),
}
MODELS = (
    "logistic_regression",
    "naive_bayes",
    "random_forest",
    "decision_tree",
    "linear_svm",
    "kernel_svm",
    "k_nearest_neighbours",
    "gradient_boosting",
)
_TWICE = {"repetitions": 2, "folds": 10, "random_state": 1}


def _study_spec(name: str, efforts: Sequence[int], quality: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a case study with some of its efforts, and another quality."""
    spec: dict[str, Any] = copy.deepcopy(yaml.safe_load(CasePage(name).spec))
    spec["efforts"] = [spec["efforts"][effort - 1] for effort in efforts]
    known = {key: spec["quality"][key] for key in ("measure", "positive") if key in spec["quality"]}
    for key in ("search", "choose", "details", "information_loss"):
        spec.pop(key, None)
    return spec | {"quality": {**known, **_TWICE, **quality}, "alpha": 0.1, "qnf": "1 - 1/k"}


# Tumours at efforts 4 and 1 of their page, of which the second leaves out 40; contraceptives at 4.
PREPROCESSING: Mapping[str, tuple[str, tuple[int, ...], Mapping[str, Any]]] = {
    **{
        f"numbers_{key}": ("wisconsin_original", (4, 1), {"numbers": key})
        for key in ("by_model", "bounds", "midpoint", "class_mean")
    },
    "suppressed_missing": ("wisconsin_original", (4, 1), {"suppressed": "missing"}),
    **{
        f"categories_{key}": ("contraceptive_method_choice", (4,), {"categories": key})
        for key in ("label", "leaves", "frequencies")
    },
}


def preprocessing_specs() -> Specs:
    """Return a spec for each way to read labels."""
    models = {
        "wisconsin_original": "logistic_regression",
        "contraceptive_method_choice": "sklearn.naive_bayes.MultinomialNB",
    }
    return {
        name: _study_spec(table, efforts, {"model": models[table], **way})
        for name, (table, efforts, way) in PREPROCESSING.items()
    }


def benchmark_specs(deciding: Mapping[str, Sequence[str]]) -> Specs:
    """Return a spec for each table, whose first model is asked about the test part."""
    return {
        _benchmark_name(table, models[0]): _study_spec(
            table,
            [BENCHMARK[table][1]],
            {"models": {model: {} for model in models}, "fit": "per_split", "outer_share": 0.2},
        )
        | {"release": {"effort": 1}}
        for table, models in deciding.items()
    }


def payout_spec() -> dict[str, Any]:
    """Return cell suppression, and local recoding by payouts, of all nine answers for each gain."""
    trees = study().hierarchies
    raw = dict.fromkeys(trees, 0)
    # Each answer by one level, in their order, as often as they have levels.
    rounds = [raw]
    for level in range(1, max(tree.levels for tree in trees.values()) + 1):
        for name, tree in trees.items():
            if level <= tree.levels:
                rounds.append({**rounds[-1], name: level})
    games = [{"profitable": {"publisher_loss": g, "adversary_gain": g}} for g in GAINS]
    local = {"recoding": "local", "maximize": "publisher_payout", "rounds": rounds[:-1]}
    return spec_of(
        PAYOUTS,
        {
            name: categories(f"{study().name}_hierarchy_{name}", tree.levels)
            for name, tree in trees.items()
        }
        | {"method": SENSITIVE},
        source={"ref": f"{study().name}_source"},
        record_key=RECORD_KEY,
        target="method",
        features=list(trees),
        efforts=[
            *(
                {"recoding": "cell_suppression", "levels": raw, "guarantees": game}
                for game in games
            ),
            *({**local, "guarantees": game} for game in games),
        ],
        guarantees={"k_anonymity": {"k": 2}},
        suppression_limit=0.99,
        quality={
            "model": "sklearn.naive_bayes.MultinomialNB",
            "measure": "roc_auc",
            "repetitions": 1,
            "folds": 10,
            "test_share": None,
        },
        qnf="1 - 1/k",
    )


def build(folder: Path, specs: Specs, parts: Sequence[str]) -> Built:
    """Build relations of some specs, and all that these are made of."""
    texts = {
        name: yaml.safe_dump(spec | {"name": name}, sort_keys=False) for name, spec in specs.items()
    }
    studies = [STUDIES[name]() for name in BENCHMARK]
    project = prepare(folder, [*studies, study()], texts)
    assert project.dbt("seed").succeeded
    outcome = project.dbt(
        "run", "--select", *(f"+{name}_{part}" for name in specs for part in parts)
    )
    assert outcome.succeeded, outcome.messages
    return Built(project)


def preprocessing(names: Sequence[str] = tuple(PREPROCESSING)) -> list[dict[str, Any]]:
    """Build ways to read labels, by default all, and return their rows."""
    specs = {name: spec for name, spec in preprocessing_specs().items() if name in names}
    with tempfile.TemporaryDirectory() as folder:
        return preprocessing_rows(build(Path(folder), specs, ["quality"]), names)


def preprocessing_rows(built: Built, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return relative AUC and Brier skill of each way to read labels."""
    found = []
    for name in names:
        table, efforts, _ = PREPROCESSING[name]
        for number, effort in enumerate(efforts, start=1):
            key, _, value = name.partition("_")
            means = _means(built, name, effort=number, fit="once", test_on="original")
            found.append(
                {
                    "table": table,
                    "effort": effort,
                    "key": f"`{key}: {value}`",
                    "relative AUC": f"{100 * means['relative_auc']:.1f}",
                    "Brier skill": f"{means['brier_skill_score'] + 0.0:.2f}",
                }
            )
    return sorted(found, key=lambda row: (row["table"], -row["effort"]))


def payouts() -> list[dict[str, Any]]:
    """Build cell suppression and payouts per record, and return their rows."""
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder), {PAYOUTS: payout_spec()}, ["quality", "results"])
        return payout_rows(built)


def payout_rows(built: Built) -> list[dict[str, Any]]:
    """Return what cell suppression and payouts per record cost for each gain."""
    suppressed = {r["effort"]: r["suppressed_records"] for r in built.rows(f"{PAYOUTS}_results")}
    found = []
    for effort in range(1, 2 * len(GAINS) + 1):
        means = _means(built, PAYOUTS, effort=effort, fit="once", test_on="original")
        is_local = effort > len(GAINS)
        found.append(
            {
                "recoding": "payouts per record" if is_local else "cell suppression",
                "gain": GAINS[(effort - 1) % len(GAINS)],
                "left out": suppressed[effort],
                "relative AUC": f"{100 * means['relative_auc']:.1f}",
                "Brier skill": f"{means['brier_skill_score'] + 0.0:.2f}",
            }
        )
    return found


def benchmark(tables: Sequence[str] = tuple(BENCHMARK)) -> list[dict[str, Any]]:
    """Build the benchmark, ask the best models about the test parts, and return the rows."""
    parts = ["quality", "outer_quality"]
    with tempfile.TemporaryDirectory() as folder:
        all_models = {
            table: [article, *(model for model in MODELS if model != article)]
            for table in tables
            for article in [BENCHMARK[table][0]]
        }
        (Path(folder) / "models").mkdir()
        (Path(folder) / "best").mkdir()
        built = build(Path(folder) / "models", benchmark_specs(all_models), parts)
        others = {table: [model] for table, model in best_models(built, tables).items()}
        best = build(Path(folder) / "best", benchmark_specs(others), parts)
        return benchmark_rows(built, best, tables)


def evaluation_of(built: Built, table: str) -> dict[str, tuple[float, ...]]:
    """Return AUC in the evaluation by model: of the untouched table, and of the effort."""
    article, _ = BENCHMARK[table]
    of = {"fit": "per_split", "test_on": "original"}
    return {
        model: tuple(
            _means(built, _benchmark_name(table, article), effort=effort, model=model, **of)[
                "roc_auc"
            ]
            for effort in (0, 1)
        )
        for model in MODELS
    }


def best_models(built: Built, tables: Sequence[str]) -> dict[str, str]:
    """Return the model with the best evaluation of each table, where the article has another."""
    best = {}
    for table in tables:
        article, _ = BENCHMARK[table]
        scores = evaluation_of(built, table)
        model = max(MODELS, key=lambda name: (scores[name][1], name == article))
        if model != article:
            best[table] = model
    return best


def benchmark_rows(built: Built, best: Built, tables: Sequence[str]) -> list[dict[str, Any]]:
    """Return each model's AUC in the evaluation; in the test part of the best and the article's."""
    found = []
    winners = best_models(built, tables)
    for table in tables:
        article, _ = BENCHMARK[table]
        for model, (untouched, anonymized) in evaluation_of(built, table).items():
            row = {
                "table": table,
                "model": model,
                "evaluation, untouched": f"{untouched:.3f}",
                "anonymized": f"{anonymized:.3f}",
                "test part, untouched": "",
                "anonymized ": "",
            }
            if model in (article, winners.get(table)):
                of = built if model == article else best
                outer = of.rows(f"{_benchmark_name(table, model)}_outer_quality")
                for one in outer:
                    column = "anonymized " if one["effort"] else "test part, untouched"
                    row[column] = f"{one['qf']:.3f} ({one['qf_low']:.3f} to {one['qf_high']:.3f})"
            found.append(row)
    return found


def _benchmark_name(table: str, deciding: str) -> str:
    # A spec's name has at most 50 characters.
    return f"{table.partition('_')[0]}_{deciding}"


def _means(built: Built, name: str, **wanted: Any) -> dict[str, float]:
    """Return the means of measures of one model, by default the only one beside the zero rule."""
    return {
        row["measure"]: row["mean"]
        for row in built.rows(f"{name}_quality")
        if all(row[column] == value for column, value in wanted.items())
        and ("model" in wanted or row["model"] != "zero_rule")
    }
