"""Guarantees of a release: privacy models by name, each with its parameters.

Several models hold together, and a model may be declared several times, once for each sensitive
attribute. What each model means is in ``docs/models/``.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, create_model, model_validator

from dbt_anonymize.privacy.k_anonymity import KAnonymity
from dbt_anonymize.privacy.model import PrivacyModel
from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.validation import Strict, rule_error


def _as_list(value: object) -> object:
    """Accept one mapping where several are possible."""
    return [value] if isinstance(value, dict) else value


_SEVERAL = Field(min_length=1, strict=False)


def _one_or_several(model: type[PrivacyModel]) -> Any:
    """Return the type of a guarantee that may be declared several times, or not at all."""
    several = Annotated[tuple[model, ...], _SEVERAL]  # type: ignore[valid-type]
    as_list = BeforeValidator(_as_list, json_schema_input_type=model | several)
    field = Field(default=None, description=(inspect.getdoc(model) or "").partition("\n")[0])
    return (Annotated[several, as_list] | None, field)


class _GuaranteeSet(Strict):
    """Guarantees as fields, named after their models."""

    @property
    def declared(self) -> list[tuple[str, PrivacyModel]]:
        """Name and parameters of each guarantee, in the order of the fields."""
        models: list[tuple[str, PrivacyModel]] = []
        for name in type(self).model_fields:
            value = getattr(self, name)
            several = value if isinstance(value, tuple) else (value,)
            models.extend((name, guarantee) for guarantee in several if guarantee is not None)
        return models

    @property
    def resolved(self) -> list[dict[str, Any]]:
        """Each guarantee as a mapping: its model and all of its parameters, defaults included."""
        return [
            {"model": name, **_plain(guarantee.model_dump(exclude_none=True))}
            for name, guarantee in self.declared
        ]


class _Guarantees(_GuaranteeSet):
    """Guarantees of a release; checked on the data of every build.

    Examples
    --------
    >>> declared = {"k_anonymity": {"k": 5}, "t_closeness": {"attribute": "diagnosis", "t": 0.2}}
    >>> Guarantees.model_validate(declared).resolved[1]
    {'model': 't_closeness', 'attribute': 'diagnosis', 't': 0.2, 'distance': 'equal'}
    """

    k_anonymity: KAnonymity
    """Every released record shares its quasi-identifiers with at least k - 1 others."""

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


# Every model but k_anonymity may be declared several times, or not at all.
if TYPE_CHECKING:
    Guarantees = _Guarantees
    EffortGuarantees = _GuaranteeSet
else:
    EffortGuarantees = create_model(
        "EffortGuarantees",
        __base__=_GuaranteeSet,
        __doc__="What an effort must keep beside the guarantees of the spec.",
        __module__=__name__,
        **{
            name: _one_or_several(model)
            for name, model in MODELS.items()
            if model.MAY_DIFFER_BY_EFFORT
        },
    )
    Guarantees = create_model(
        "Guarantees",
        __base__=_Guarantees,
        __doc__=_Guarantees.__doc__,
        __module__=__name__,
        **{
            name: _one_or_several(model)
            for name, model in MODELS.items()
            if model is not KAnonymity
        },
    )


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as they are written by hand: 3, not 3.0; lists, not tuples."""
    plain = dict(parameters)
    if "l" in plain and float(plain["l"]).is_integer():
        plain["l"] = int(plain["l"])
    if "values" in plain:
        plain["values"] = list(plain["values"])
    return plain
