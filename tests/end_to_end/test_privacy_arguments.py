"""Errors in calls of privacy macros are named: who, which rule, what came, what to do.

A spec is checked before it becomes SQL; these are the calls that people write themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.privacy.registry import MODELS
from tests.projects import Outcome, copy_consumer
from tests.properties.compilation import call

OF_A = {"attribute": "a"}
# Macro, its arguments, and a part of the message about them.
_MISTAKES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("k_anonymity", {"k": 1}, "`k` must be an integer >= 2; got: 1."),
    ("k_anonymity", {"k": True}, "`k` must be an integer >= 2; got: True."),
    ("k_anonymity", {"k": 2.5}, "`k` must be an integer >= 2; got: 2.5."),
    ("k_anonymity", {"k": None}, "`k` must be an integer >= 2; got: None."),
    ("k_anonymity", {"k": "x"}, "Correct the arguments of k_anonymity."),
    ("k_anonymity", {"k": 3, "quasi_identifiers": []}, "must be a list of at least one column"),
    ("k_map", {"k": 2, "estimator": "poisson"}, "together or neither; got: k, estimator."),
    ("k_map", {"k": 2}, "have exactly one of `population` (a relation to count in)"),
    (
        "k_map",
        {"k": 2, "estimator": "p", "significance": 0.1},
        "`estimator` must be one of poisson, zero_truncated_poisson",
    ),
    ("k_map", {"k": 2, "estimator": "poisson", "significance": 0.1}, "must have `population_size`"),
    ("alpha_k_anonymity", {**OF_A, "alpha": 1, "k": 2}, "`alpha` must be a number > 0 and < 1"),
    (
        "alpha_k_anonymity",
        {**OF_A, "alpha": 0.5, "k": 2, "values": []},
        "`values` must be a list of at least one value or none; got: [].",
    ),
    ("l_diversity", {**OF_A, "l": 2.5}, "`l` must be an integer >= 2; got: 2.5."),
    ("l_diversity", {**OF_A, "l": 1, "variant": "entropy"}, "`l` must be a number > 1; got: 1."),
    ("l_diversity", {**OF_A, "l": 2, "variant": "recursive"}, "have `c` if and only if"),
    ("l_diversity", {**OF_A, "l": 2, "c": 3}, "have `c` if and only if"),
    ("l_diversity", {"attribute": "", "l": 2}, "`attribute` must be the name of a column"),
    ("l_diversity", {**OF_A, "l": 2, "variant": "x"}, "`variant` must be one of distinct, entropy"),
    ("t_closeness", {**OF_A, "t": 0}, "`t` must be a number > 0 and <= 1; got: 0."),
    ("t_closeness", {**OF_A, "t": 0.1, "distance": "x"}, "`distance` must be one of equal"),
    (
        "t_closeness",
        {**OF_A, "t": 0.1, "distance": "hierarchical"},
        "have `hierarchy` (a relation)",
    ),
    ("n_t_closeness", {**OF_A, "n": 1, "t": 0.1}, "`n` must be an integer >= 2; got: 1."),
    ("n_t_closeness", {**OF_A, "n": 9, "t": 2}, "`t` must be a number > 0 and <= 1; got: 2."),
    ("beta_likeness", {**OF_A, "beta": -1}, "`beta` must be a number > 0; got: -1."),
    ("beta_likeness", {**OF_A, "beta": 1, "variant": "x"}, "must be one of basic, enhanced"),
    ("delta_disclosure", {**OF_A, "delta": "x"}, "`delta` must be a number > 0; got: x."),
    (
        "delta_presence",
        {"population": "p", "minimum": 0.5, "maximum": 0.4},
        "`minimum` <= `maximum`",
    ),
    (
        "delta_presence",
        {"population": "p", "minimum": -1, "maximum": 0.4},
        ">= 0 and <= 1; got: -1",
    ),
    ("reidentification_risk", {}, "must limit `average` or `highest`"),
    ("reidentification_risk", {"highest": 0}, "`highest` must be a number > 0 and <= 1 or none"),
    ("no_attack", {"adversary_cost": 0}, "`adversary_cost` must be a number > 0; got: 0."),
    ("no_attack", {"adversary_gain": -1}, "`adversary_gain` must be a number >= 0; got: -1."),
    ("profitable", {"publisher_benefit": 0}, "`publisher_benefit` must be a number > 0; got: 0"),
    ("profitable", {}, "have `information_loss`, the name of a column"),
    ("no_attack", {"attacker": "journalist"}, "if and only if `attacker` is journalist"),
    ("uniqueness", {"sample_share": 0.1, "population_share": 0.1}, "limit exactly one of"),
    (
        "uniqueness",
        {"sample_share": 0.1, "estimator": "snb"},
        "only where `population_share` is limited",
    ),
    (
        "uniqueness",
        {"sample_share": 1},
        "`sample_share` must be a number >= 0 and < 1 or none; got: 1.",
    ),
)
MISTAKES = tuple(one for one in _MISTAKES if one[0] in {*MODELS, "uniqueness"})
NAMES = [f"mistake_{number:02}" for number in range(len(MISTAKES))]


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run one model per mistake, each of which fails by itself."""
    project = copy_consumer(tmp_path_factory.mktemp("mistakes") / "project")
    for name, (macro, arguments, _) in zip(NAMES, MISTAKES, strict=True):
        given = {"relation": "people", "quasi_identifiers": ["city"], **arguments}
        # When a project is parsed, the first error would hide the others.
        text = f"{{% if execute %}}{call(macro, **given)}{{% else %}}select 1{{% endif %}}"
        Path(project.folder, "models", f"{name}.sql").write_text(text, encoding="utf-8")
    return project.dbt("run", "--select", "mistake_*")


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_is_named(failed: Outcome, number: int) -> None:
    message = MISTAKES[number][2]
    assert failed.status(NAMES[number]) == "error"
    lines = [line for line in failed.messages.splitlines() if f"{NAMES[number]}: " in line]
    assert any(message in line for line in lines), lines
