"""How an effort anonymizes: the same level for all records, or levels that differ per record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from dbt_anonymize.spec.sample import EffortSample
from dbt_anonymize.validation import Level, Strict, rule_error

Levels = dict[str, Level]


class Effort(Strict):
    """One effort, in one of four forms.

    A level for every quasi-identifier (``full_domain``, also written as the levels alone); rounds
    of such levels (``local``: records too rare at the levels of one round are generalized at those
    of the next); levels above which single cells are suppressed (``cell_suppression``); or neither
    (``multidimensional``: Mondrian).
    """

    recoding: Literal["full_domain", "local", "multidimensional", "cell_suppression"] = (
        "full_domain"
    )
    levels: Levels | None = None
    rounds: Annotated[tuple[Levels, ...], Field(min_length=1, strict=False)] | None = None
    strict: bool | None = None
    # How important each quasi-identifier is, 1 by default: the least is suppressed first.
    importance: dict[str, Annotated[float, Field(gt=0)]] | None = None
    # At least the declared k; more makes this effort stronger than the guarantee demands.
    k: Annotated[int, Field(ge=2)] | None = None
    # Instead of the sample of the spec.
    sample: EffortSample | None = None

    @model_validator(mode="after")
    def _fits_its_recoding(self) -> Effort:
        has_levels = self.recoding in {"full_domain", "cell_suppression"}
        if has_levels != (self.levels is not None):
            raise rule_error(
                "must have levels if and only if its recoding is full_domain or cell_suppression",
                "Write a level for every quasi-identifier, or remove them.",
            )
        if (self.recoding == "local") != (self.rounds is not None):
            raise rule_error(
                "must have rounds if and only if its recoding is local",
                "Write a list of levels, one for each round; `dbt-anonymize search` finds them.",
            )
        if self.strict is not None and self.recoding != "multidimensional":
            raise rule_error(
                "must have strict only where its recoding is multidimensional", "Remove it."
            )
        if self.importance is not None and self.recoding != "cell_suppression":
            raise rule_error(
                "must have importance only where its recoding is cell_suppression", "Remove it."
            )
        return self

    @property
    def is_strict(self) -> bool:
        """Whether equal values always stay together in a multidimensional recoding."""
        return self.strict is not False

    @property
    def is_full_domain(self) -> bool:
        """Whether all records have the same levels."""
        return self.recoding == "full_domain"


def levels_alone(raw: object) -> bool:
    """Tell whether an effort is written as its levels alone, without the key ``levels``.

    A quasi-identifier may be named like one of our keys, so the types of the values decide.

    Examples
    --------
    >>> levels_alone({"age": 1, "k": 2}), levels_alone({"levels": {"age": 1}, "k": 20})
    (True, False)
    """
    if not isinstance(raw, Mapping):
        return False
    return not (
        isinstance(raw.get("levels"), Mapping)
        or isinstance(raw.get("recoding"), str)
        or isinstance(raw.get("rounds"), (list, tuple))
    )


def _effort(raw: object) -> object:
    if isinstance(raw, Mapping) and levels_alone(raw):
        return {"levels": dict(raw)}
    return raw


AnyEffort = Annotated[Effort, BeforeValidator(_effort)]


def written(effort: Effort) -> dict[str, Any]:
    """Return an effort in its shortest written form."""
    content = effort.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if set(content) == {"levels"} and levels_alone(effort.levels):
        return dict(effort.levels or {})
    return content
