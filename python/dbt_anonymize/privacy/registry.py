"""The privacy models, by the name that specs, macros and searches use: those of extensions last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbt_anonymize.extension import privacy_models
from dbt_anonymize.privacy.alpha_k_anonymity import AlphaKAnonymity
from dbt_anonymize.privacy.beta_likeness import BetaLikeness
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.delta_disclosure import DeltaDisclosure
from dbt_anonymize.privacy.delta_presence import DeltaPresence
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.k_anonymity import KAnonymity
from dbt_anonymize.privacy.k_map import KMap
from dbt_anonymize.privacy.l_diversity import LDiversity
from dbt_anonymize.privacy.model import PrivacyModel
from dbt_anonymize.privacy.n_t_closeness import NTCloseness
from dbt_anonymize.privacy.reidentification_risk import ReidentificationRisk
from dbt_anonymize.privacy.t_closeness import TCloseness
from dbt_anonymize.privacy.table import Table

MODELS: dict[str, type[PrivacyModel]] = {
    "k_anonymity": KAnonymity,
    "k_map": KMap,
    "alpha_k_anonymity": AlphaKAnonymity,
    "l_diversity": LDiversity,
    "t_closeness": TCloseness,
    "n_t_closeness": NTCloseness,
    "beta_likeness": BetaLikeness,
    "delta_disclosure": DeltaDisclosure,
    "delta_presence": DeltaPresence,
    "reidentification_risk": ReidentificationRisk,
    **privacy_models(),
}

# Measures of every sensitive attribute, also of those without a guarantee.
_ALWAYS_MEASURED = ("distinct_l", "entropy_l", "highest_share", "t", "beta", "delta")
MEASURES = {name: text for model in MODELS.values() for name, text in model.MEASURES.items()}


def counts_in_population(model: str, parameters: Mapping[str, Any]) -> bool:
    """Tell whether a guarantee counts the people of the population in each class.

    Examples
    --------
    >>> counts_in_population("k_map", {"k": 5})
    True
    """
    privacy_model = MODELS.get(model)
    return privacy_model is not None and privacy_model.needed_population(parameters) == "table"


def model_of(guarantee: Mapping[str, Any]) -> PrivacyModel:
    """Return the model of a resolved guarantee, without validation.

    Examples
    --------
    >>> model_of({"model": "k_anonymity", "k": 5})
    KAnonymity(k=5)
    """
    parameters = {name: value for name, value in guarantee.items() if name != "model"}
    return MODELS[guarantee["model"]].model_construct(**parameters)


def measures_of(guarantees: Iterable[PrivacyModel], attribute: str) -> dict[str, str]:
    """Return the measures of a sensitive attribute in the classes: column suffix to description."""
    declared = [g for g in guarantees if getattr(g, "attribute", None) == attribute]
    names = [*_ALWAYS_MEASURED, *(name for g in declared for name in g.measured)]
    return {name: MEASURES[name] for name in names}


def compile_guarantees(declared: Sequence[Mapping[str, Any]], table: Table) -> Guarantees:
    """Compile declared guarantees into fast checks of the classes of a table.

    Each has its ``model`` and parameters, as a spec resolves them; the ``values`` of an
    ``alpha_k_anonymity`` are codes. Guarantees that cannot be checked, or can never hold, are one
    `SearchError`.

    Examples
    --------
    >>> import numpy as np
    >>> leaves, records = np.array([[0], [1]]), np.array([7, 3])
    >>> table = Table(attributes=(), leaves=leaves, records=records)
    >>> compile_guarantees([{"model": "k_anonymity", "k": 5}], table).min_class_size
    5
    """
    compiler = Compiler(table=table)
    for guarantee in declared:
        name, attribute = str(guarantee.get("model")), guarantee.get("attribute")
        compiler.names.append(f"{name} of {attribute}" if attribute else name)
        if name in MODELS:
            model_of(guarantee).compile(compiler)
        else:
            compiler.problem(f"must be one of {', '.join(MODELS)}", name, "Choose one of them")
    return compiler.finish()
