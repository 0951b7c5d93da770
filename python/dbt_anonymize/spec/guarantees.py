"""What a release must keep: privacy models by name, each with its parameters.

Several models hold together, and a model may be declared several times, once for each sensitive
attribute. What each model means is in ``docs/models/``.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from dbt_anonymize.spec.base import ColumnName, Strict, rule_error

Share = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Probability = Annotated[float, Field(gt=0, le=1)]


class KAnonymity(Strict):
    """Every released record shares its quasi-identifiers with at least k - 1 others."""

    k: Annotated[int, Field(ge=2)]


class KMap(Strict):
    """Every released record is like at least k people of the population."""

    k: Annotated[int, Field(ge=2)]
    estimator: Literal["poisson", "zero_truncated_poisson"] | None = None
    significance: Share | None = None

    @model_validator(mode="after")
    def _significance_of_an_estimate(self) -> KMap:
        if (self.estimator is None) != (self.significance is None):
            raise rule_error(
                "must have estimator and significance together, or none of them",
                "Write both for an estimate from the size of the population; remove both to count "
                "in a table of the population.",
            )
        return self


class AlphaKAnonymity(Strict):
    """No value of the attribute is more frequent than alpha in any class of at least k people."""

    attribute: ColumnName
    alpha: Share
    k: Annotated[int, Field(ge=2)]
    values: Annotated[tuple[str | int | bool, ...], Field(min_length=1, strict=False)] | None = None


class LDiversity(Strict):
    """The attribute has at least l (well-represented) values in every class."""

    attribute: ColumnName
    l: Annotated[float, Field(gt=1)]  # noqa: E741 (the parameter's name in the literature)
    variant: Literal["distinct", "entropy", "grassberger", "recursive"] = "distinct"
    c: Positive | None = None

    @model_validator(mode="after")
    def _parameters_of_the_variant(self) -> LDiversity:
        if (self.variant == "recursive") != (self.c is not None):
            raise rule_error(
                "must have c if and only if the variant is recursive",
                "Add c, or remove it.",
            )
        if self.variant in {"distinct", "recursive"} and not math.isclose(self.l, round(self.l)):
            raise rule_error(
                f"must have a whole number l >= 2 where the variant is {self.variant}",
                "Write a whole number, or choose the variant entropy.",
            )
        return self


class TCloseness(Strict):
    """In every class the attribute is distributed almost as in the whole table."""

    attribute: ColumnName
    t: Probability
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"


class BetaLikeness(Strict):
    """No value gains more than beta, relative to its share in the whole table, in any class."""

    attribute: ColumnName
    beta: Positive
    variant: Literal["basic", "enhanced"] = "enhanced"


class DeltaDisclosure(Strict):
    """The share of no value changes by a factor of 2^delta or more in any class."""

    attribute: ColumnName
    delta: Positive


class DeltaPresence(Strict):
    """Nobody learns with more certainty than declared who of the population is in the table."""

    minimum: Annotated[float, Field(ge=0, le=1)]
    maximum: Annotated[float, Field(ge=0, le=1)]

    @model_validator(mode="after")
    def _is_a_range(self) -> DeltaPresence:
        if self.minimum > self.maximum:
            raise rule_error("must have minimum <= maximum", "Exchange them.")
        return self


class ReidentificationRisk(Strict):
    """The risk of finding the record of a person, on average or for the one at highest risk."""

    average: Probability | None = None
    highest: Probability | None = None

    @model_validator(mode="after")
    def _something_is_limited(self) -> ReidentificationRisk:
        if self.average is None and self.highest is None:
            raise rule_error("must limit the average or the highest risk", "Add one of them.")
        return self


# By the name that specs, macros and searches use.
MODELS: dict[str, type[Strict]] = {
    "k_anonymity": KAnonymity,
    "k_map": KMap,
    "alpha_k_anonymity": AlphaKAnonymity,
    "l_diversity": LDiversity,
    "t_closeness": TCloseness,
    "beta_likeness": BetaLikeness,
    "delta_disclosure": DeltaDisclosure,
    "delta_presence": DeltaPresence,
    "reidentification_risk": ReidentificationRisk,
}


def _as_list(value: object) -> object:
    """Accept one mapping where several are possible."""
    return [value] if isinstance(value, dict) else value


_AS_LIST = BeforeValidator(_as_list)
_SEVERAL = Field(min_length=1, strict=False)


class Guarantees(Strict):
    """What a release must keep; checked on the data of every build.

    Examples
    --------
    >>> declared = {"k_anonymity": {"k": 5}, "t_closeness": {"attribute": "diagnosis", "t": 0.2}}
    >>> Guarantees.model_validate(declared).resolved[1]
    {'model': 't_closeness', 'attribute': 'diagnosis', 't': 0.2, 'distance': 'equal'}
    """

    k_anonymity: KAnonymity
    k_map: Annotated[tuple[KMap, ...], _AS_LIST, _SEVERAL] | None = None
    alpha_k_anonymity: Annotated[tuple[AlphaKAnonymity, ...], _AS_LIST, _SEVERAL] | None = None
    l_diversity: Annotated[tuple[LDiversity, ...], _AS_LIST, _SEVERAL] | None = None
    t_closeness: Annotated[tuple[TCloseness, ...], _AS_LIST, _SEVERAL] | None = None
    beta_likeness: Annotated[tuple[BetaLikeness, ...], _AS_LIST, _SEVERAL] | None = None
    delta_disclosure: Annotated[tuple[DeltaDisclosure, ...], _AS_LIST, _SEVERAL] | None = None
    delta_presence: Annotated[tuple[DeltaPresence, ...], _AS_LIST, _SEVERAL] | None = None
    reidentification_risk: (
        Annotated[tuple[ReidentificationRisk, ...], _AS_LIST, _SEVERAL] | None
    ) = None

    @model_validator(mode="before")
    @classmethod
    def _can_bind(cls, value: object) -> object:
        if isinstance(value, dict) and "uniqueness" in value:
            raise rule_error(
                "must not have uniqueness: it can never bind, since k_anonymity, which every spec "
                "guarantees, leaves nobody unique in the release",
                "Remove it. sample_uniqueness in <n>_privacy measures it, and the dbt test "
                "uniqueness limits it in any relation.",
            )
        return value

    @property
    def declared(self) -> list[tuple[str, Strict]]:
        """Name and parameters of each guarantee, in the order of the fields."""
        found: list[tuple[str, Strict]] = []
        for name in type(self).model_fields:
            value = getattr(self, name)
            several = value if isinstance(value, tuple) else (value,)
            found.extend((name, guarantee) for guarantee in several if guarantee is not None)
        return found

    @property
    def resolved(self) -> list[dict[str, Any]]:
        """Each guarantee as a mapping: its model and all of its parameters, defaults included."""
        return [
            {"model": name, **_plain(guarantee.model_dump(exclude_none=True))}
            for name, guarantee in self.declared
        ]


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as they are written by hand: 3, not 3.0; lists, not tuples."""
    plain = dict(parameters)
    if "l" in plain and float(plain["l"]).is_integer():
        plain["l"] = int(plain["l"])
    if "values" in plain:
        plain["values"] = list(plain["values"])
    return plain
