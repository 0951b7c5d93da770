"""The generic test of every privacy model, with some parameters, on one relation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbt_anonymize.privacy.registry import MODELS
from tests.properties.compilation import Ref, call

POPULATION_SIZE = 60
OF_DISEASE = {"attribute": "disease"}
OF_VISITS = {"attribute": "visits"}


@dataclass(frozen=True)
class Case:
    """One test: the model, its parameters as in a guarantee, and the column of its measure."""

    model: str
    parameters: dict[str, Any]
    measure: str | None = None
    further: dict[str, Any] | None = None
    by_subject: bool = False

    @property
    def guarantee(self) -> dict[str, Any]:
        """Return the guarantee that is tested."""
        return {"model": self.model, **self.parameters}

    @property
    def name(self) -> str:
        """Return the name of the compiled model."""
        values = [str(value) for value in self.parameters.values() if not isinstance(value, list)]
        shown = "_".join([self.model, *values, "people" if self.by_subject else "records"])
        return "generic_" + shown.replace(".", "_")

    @property
    def text(self) -> str:
        """Return the text of the compiled model."""
        subject = {"subject": "person"} if self.by_subject else {}
        return call(
            f"test_{self.model}",
            model=Ref("generic_rows"),
            quasi_identifiers=["city", "age"],
            **self.parameters,
            **(self.further or {}),
            **subject,
        )


_TREE = {"hierarchy": Ref("generic_tree"), "levels": 2}
# A class of three is a tie, which binary fractions would not show.
_GAME = {"adversary_gain": 2.1, "adversary_cost": 0.7}
# The loss of every record is 0.5: a class of two that is attacked is a tie.
_STAKES = {**_GAME, "publisher_benefit": 2, "publisher_loss": 2}
_LOSS = {"information_loss": "loss"}
_POPULATION = {"population": Ref("generic_population")}
_SIZE = {"population_size": POPULATION_SIZE}
_ESTIMATE = {"k": 4, "estimator": "poisson", "significance": 0.1}


def _cases(*, by_subject: bool) -> tuple[Case, ...]:
    listed: list[tuple[str, dict[str, Any], str | None, dict[str, Any] | None]] = [
        ("k_anonymity", {"k": 3}, None, None),
        ("k_map", {"k": 3}, "population_size", _POPULATION),
        ("k_map", _ESTIMATE, "demanded_size", _SIZE),
        ("alpha_k_anonymity", {**OF_DISEASE, "alpha": 0.6, "k": 2}, "highest_share", None),
        (
            "alpha_k_anonymity",
            {**OF_VISITS, "alpha": 0.4, "k": 2, "values": [0, 7]},
            "highest_share",
            None,
        ),
        ("l_diversity", {**OF_DISEASE, "l": 2, "variant": "distinct"}, "distinct_l", None),
        ("l_diversity", {**OF_DISEASE, "l": 2, "variant": "entropy"}, "entropy_l", None),
        ("l_diversity", {**OF_DISEASE, "l": 2.5, "variant": "grassberger"}, "grassberger_l", None),
        ("l_diversity", {**OF_VISITS, "l": 2, "variant": "recursive", "c": 2}, "recursive_c", None),
        ("t_closeness", {**OF_DISEASE, "t": 0.4, "distance": "equal"}, "t", None),
        ("t_closeness", {**OF_VISITS, "t": 0.25, "distance": "ordered"}, "t", None),
        ("t_closeness", {**OF_DISEASE, "t": 0.3, "distance": "hierarchical"}, "t", _TREE),
        ("n_t_closeness", {**OF_DISEASE, "n": 5, "t": 0.4, "distance": "equal"}, "n_t", None),
        ("n_t_closeness", {**OF_VISITS, "n": 9, "t": 0.2, "distance": "ordered"}, "n_t", None),
        (
            "n_t_closeness",
            {**OF_DISEASE, "n": 5, "t": 0.3, "distance": "hierarchical"},
            "n_t",
            _TREE,
        ),
        ("beta_likeness", {**OF_DISEASE, "beta": 1.5, "variant": "basic"}, "beta", None),
        ("beta_likeness", {**OF_DISEASE, "beta": 2, "variant": "enhanced"}, "enhanced_beta", None),
        ("delta_disclosure", {**OF_DISEASE, "delta": 1}, "delta", None),
        ("delta_presence", {"minimum": 0.2, "maximum": 0.7}, "presence", _POPULATION),
        ("reidentification_risk", {"highest": 0.4}, "risk", None),
        ("no_attack", {**_GAME, "attacker": "prosecutor"}, None, None),
        ("no_attack", {**_GAME, "attacker": "journalist"}, "population_size", _POPULATION),
        ("profitable", {**_STAKES, "attacker": "prosecutor"}, "publisher_payout", _LOSS),
        (
            "profitable",
            {**_STAKES, "attacker": "journalist"},
            "publisher_payout",
            {**_LOSS, **_POPULATION},
        ),
    ]
    return tuple(Case(*one, by_subject=by_subject) for one in listed if one[0] in MODELS)


CASES = (*_cases(by_subject=False), *_cases(by_subject=True))
AVERAGE = Case("reidentification_risk", {"average": 0.35})
SAMPLE = Case("uniqueness", {"sample_share": 0.2})
ESTIMATED = Case("uniqueness", {"population_share": 0.1, "estimator": "zayatz"}, further=_SIZE)
WHOLE = (AVERAGE, SAMPLE, ESTIMATED)
GENERIC_MODELS = {case.name: case.text for case in (*CASES, *WHOLE)}
GENERIC_SEEDS = ["generic_rows", "generic_population", "generic_tree"]
