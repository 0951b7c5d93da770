"""Efforts: the same level for all records, or levels that differ per record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from dbt_anonymize.spec.columns import Hierarchy
from dbt_anonymize.spec.guarantees import EffortGuarantees
from dbt_anonymize.spec.sample import EffortSample
from dbt_anonymize.validation import Level, Strict, rule_error

Levels = dict[str, Level]
# Keys of efforts, by the recodings that have them.
_RECODINGS = {
    "maximize": ("local",),
    "strict": ("multidimensional",),
    "importance": ("cell_suppression",),
    "method": ("microaggregation",),
    **dict.fromkeys(("numbers", "p_percent", "categories"), ("microaggregation", "clustering")),
    **dict.fromkeys(("cluster_size", "passes", "halve"), ("clustering",)),
}


class Effort(Strict):
    """One effort, in one of these forms.

    A level for every quasi-identifier (``full_domain``, also written as the levels alone); rounds
    of such levels (``local``: records too rare at the levels of one round are generalized at those
    of the next); levels above which single cells are suppressed (``cell_suppression``); or neither
    (``multidimensional``: Mondrian; ``microaggregation``: groups of similar records, with the mean
    of each; ``clustering``: groups that lose little, systematically).
    """

    recoding: Literal[
        "full_domain",
        "local",
        "multidimensional",
        "microaggregation",
        "clustering",
        "cell_suppression",
    ] = "full_domain"
    """The same levels for all records (full_domain), or levels that differ per record."""
    levels: Levels | None = None
    """Level of each quasi-identifier; 0 is the raw value."""
    rounds: Annotated[tuple[Levels, ...], Field(min_length=1, strict=False)] | None = None
    """Levels of each round of local recoding, from weak to strong."""
    maximize: Literal["publisher_payout"] | None = None
    """Generalize a record further only where its payout rises."""
    strict: bool | None = None
    """True (default) if equal values always stay together in a multidimensional recoding."""
    importance: dict[str, Annotated[float, Field(gt=0)]] | None = None
    """Importance of each quasi-identifier, 1 by default; the least is suppressed first."""
    method: Literal["mdav", "optimal", "mondrian"] | None = None
    """Method of finding groups; mdav by default."""
    cluster_size: Annotated[int, Field(ge=2)] | None = None
    """Fewest records of a cluster; the k of the effort by default."""
    passes: Literal[1, 2] | None = None
    """2: cluster with twice the size first, and each cluster again with the size."""
    halve: bool | None = None
    """Cluster those again with half of the size that lose more than the mean."""
    numbers: Literal["mean", "median", "interval"] | None = None
    """Released form of the numbers of a group; the mean by default, of a cluster the interval."""
    categories: Literal["ancestor", "mode"] | None = None
    """Released form of the categories of a group: the lowest label that covers them (default), or
    the mode.
    """
    p_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    """Rule for means: how much of an interval the mean must leave open, in percent; 10 by default.
    """
    k: Annotated[int, Field(ge=2)] | None = None
    """Smallest class of this effort, at least the declared k."""
    guarantees: EffortGuarantees | None = None
    """Guarantees of this effort beside those of the spec."""
    sample: EffortSample | None = None
    """Release another share of the subjects than the sample of the spec."""

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
        for key, recodings in _RECODINGS.items():
            if getattr(self, key) is not None and self.recoding not in recodings:
                raise rule_error(
                    f"must have {key} only where its recoding is {' or '.join(recodings)}",
                    "Remove it.",
                )
        if self.halve and self.passes == 2:
            raise rule_error(
                "must not have halve with passes: 2, which halves without clusters below the size",
                "Remove one of them.",
            )
        if self.p_percent is not None and self.group_numbers != "mean":
            raise rule_error("must have p_percent only where means are released", "Remove it.")
        return self

    @property
    def is_grouped(self) -> bool:
        """Tell whether groups of records are released."""
        return self.recoding in {"microaggregation", "clustering"}

    @property
    def group_method(self) -> str:
        """Method of finding groups."""
        return "systematic" if self.recoding == "clustering" else self.method or "mdav"

    @property
    def kernel(self) -> str:
        """Name of the function that recodes."""
        if self.recoding == "cell_suppression":
            return self.recoding
        if self.maximize:
            return "payout_recoding"
        return f"{'grouped' if self.is_grouped else self.recoding}_recoding"

    @property
    def group_numbers(self) -> str:
        """Released form of the numbers of a group."""
        return self.numbers or ("interval" if self.recoding == "clustering" else "mean")

    def least_group(self, k: int) -> int:
        """Return how many records a group has at least, where ``k`` is guaranteed.

        Of clusters that are halved: before that.
        """
        return self.cluster_size or max(self.k or 0, k)

    @property
    def has_means(self) -> bool:
        """Tell whether numbers may be released as the mean or median of a group."""
        return self.is_grouped and self.group_numbers != "interval"

    @property
    def has_modes(self) -> bool:
        """Tell whether categories may be released as the mode of a group."""
        return self.categories == "mode"

    @property
    def mean_p_percent(self) -> float:
        """Least share of an interval that the mean must leave open, in percent."""
        return self.p_percent or 10.0

    @property
    def own_guarantees(self) -> list[dict[str, Any]]:
        """Guarantees of this effort beside those of the spec, as a spec resolves them."""
        return self.guarantees.resolved if self.guarantees else []

    @property
    def is_strict(self) -> bool:
        """Tell whether equal values always stay together in a multidimensional recoding."""
        return self.strict is not False

    @property
    def is_full_domain(self) -> bool:
        """Tell whether all records have the same levels."""
        return self.recoding == "full_domain"

    def exact(self, hierarchies: Mapping[str, Hierarchy]) -> list[str]:
        """Name the numbers and dates of which a recoding may release values as they are."""
        levels = [*(self.rounds or ()), *([self.levels] if self.levels else [])]
        return [
            name
            for name, tree in hierarchies.items()
            if tree.kind == "interval" and any(not one[name] for one in levels)
        ]

    @property
    def shown_levels(self) -> str:
        """The levels in the order of the quasi-identifiers, or how records get theirs.

        Examples
        --------
        >>> Effort(levels={"age": 1, "zip": 2}).shown_levels
        '1 2'
        >>> Effort(recoding="local", rounds=({"age": 1}, {"age": 2})).shown_levels
        'rounds: 1; 2'
        >>> Effort(recoding="microaggregation").shown_levels
        'microaggregation'
        """
        if self.levels is not None:
            levels = " ".join(map(str, self.levels.values()))
            return levels if self.is_full_domain else f"{levels}, then cells"
        if self.rounds is not None:
            return "rounds: " + "; ".join(" ".join(map(str, r.values())) for r in self.rounds)
        return self.recoding


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


AnyEffort = Annotated[Effort, BeforeValidator(_effort, json_schema_input_type=Levels | Effort)]


def as_yaml(effort: Effort) -> dict[str, Any]:
    """Return an effort in its shortest written form."""
    content = effort.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if set(content) == {"levels"} and levels_alone(effort.levels):
        return dict(effort.levels or {})
    return content
