"""Keys of an effort whose levels differ per record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic.json_schema import SkipJsonSchema

from dbt_anonymize.validation import Levels, ShownLevel, Strict, rule_error

# Keys, by the recodings that have them.
_RECODINGS = {
    "maximize": ("local",),
    "strict": ("multidimensional",),
    "importance": ("cell_suppression",),
    "method": ("microaggregation",),
    **dict.fromkeys(
        ("numbers", "p_percent", "categories", "merge"), ("microaggregation", "clustering")
    ),
    **dict.fromkeys(("cluster_size", "passes", "halve"), ("clustering",)),
}


class Keys(Strict):
    """Keys of an effort, which has one of these forms.

    A level for every quasi-identifier (``full_domain``); rounds of such levels (``local``: records
    too rare at the levels of one round are generalized at those of the next); levels above which
    single cells are suppressed (``cell_suppression``); or neither (``multidimensional``: Mondrian;
    ``microaggregation``: groups of similar records, with the mean of each; ``clustering``: groups
    that lose little, systematically).
    """

    if TYPE_CHECKING:
        levels: Levels | None
        k: int | None

    recoding: Literal[
        "full_domain",
        "local",
        "multidimensional",
        "microaggregation",
        "clustering",
        "cell_suppression",
    ] = "full_domain"
    """The same levels for all records (full_domain), or levels that differ per record."""
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
    merge: bool | None = None
    """Merge groups that break a guarantee with the nearest, instead of suppressing them."""
    numbers: Literal["mean", "median", "interval"] | None = None
    """Released form of the numbers of a group; the mean by default, of a cluster the interval."""
    categories: Literal["ancestor", "mode"] | None = None
    """Released form of the categories of a group: the lowest label that covers them (default), or
    the mode.
    """
    p_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    """Rule for means: how much of an interval the mean must leave open, in percent; 10 by default.
    """
    # A spec writes them among the levels.
    shown: SkipJsonSchema[dict[str, ShownLevel] | None] = None

    @model_validator(mode="before")
    @classmethod
    def _part_levels(cls, raw: object) -> object:
        """Part the levels from what is shown of their classes."""
        levels = raw.get("levels") if isinstance(raw, Mapping) else None
        if not isinstance(raw, Mapping) or not isinstance(levels, Mapping):
            return raw
        shown = {name: level for name, level in levels.items() if isinstance(level, Mapping)}
        if not shown:
            return raw
        plain = {name: level.get("level") for name, level in shown.items()}
        return {**raw, "levels": {**levels, **plain}, "shown": shown}

    @model_serializer(mode="wrap")
    def _join_levels(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write what is shown among the levels."""
        content: dict[str, Any] = handler(self)
        if shown := content.pop("shown", None):
            content["levels"] = content["levels"] | shown
        return content

    def check_form(self) -> None:
        """Raise the error of keys that do not fit the recoding."""
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
        if self.merge and self.method == "mondrian":
            raise rule_error(
                "must not have merge with method: mondrian, whose groups keep the guarantees",
                "Remove one of them.",
            )
        if self.p_percent is not None and self.group_numbers != "mean":
            raise rule_error("must have p_percent only where means are released", "Remove it.")
        for name, shown in self.aggregates.items():
            if shown.show == "mode" and shown.p_percent is not None:
                raise rule_error(
                    f"must have p_percent only of a mean or median; {name} is shown as its mode",
                    "Remove it.",
                )

    @property
    def kind(self) -> str:
        """Name of the recoding."""
        return self.recoding

    @property
    def vectors(self) -> tuple[Levels, ...]:
        """Levels of the quasi-identifiers that records may have: one vector, or several in turn."""
        return self.rounds or (() if self.levels is None else (self.levels,))

    @property
    def has_cells(self) -> bool:
        """Tell whether single cells are suppressed above the levels."""
        return self.recoding == "cell_suppression"

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
        if self.has_cells:
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
    def aggregates(self) -> Mapping[str, ShownLevel]:
        """Quasi-identifiers of which an aggregate of the class is shown, where it may be."""
        return self.shown or {}

    @property
    def recomputation(self) -> Any:
        """Module that recomputes labels that differ per record, and aggregates of classes."""
        if self.recoding == "full_domain" and not self.shown:
            return None
        from dbt_anonymize.extensions.recoding import recomputation  # noqa: PLC0415 (a cycle)

        return recomputation

    @property
    def is_strict(self) -> bool:
        """Tell whether equal values always stay together in a multidimensional recoding."""
        return self.strict is not False

    @property
    def shown_levels(self) -> str:
        """The levels in the order of the quasi-identifiers, or how records get theirs.

        Examples
        --------
        >>> from dbt_anonymize.spec.efforts import Effort
        >>> Effort(recoding="local", rounds=({"age": 1}, {"age": 2})).shown_levels
        'rounds: 1; 2'
        >>> Effort(recoding="microaggregation").shown_levels
        'microaggregation'
        """
        if self.rounds is not None:
            return "rounds: " + "; ".join(" ".join(map(str, r.values())) for r in self.rounds)
        return str(cast(Any, super()).shown_levels)

    @property
    def way(self) -> str:
        """The recoding where no levels are declared, in words."""
        if self.rounds is not None:
            rounds = f"{len(self.rounds)} rounds" if len(self.rounds) > 1 else "1 round"
            chosen = "chosen by payout" if self.maximize else "chosen"
            return f"levels that differ per record, {chosen} in {rounds} (local recoding)"
        if self.is_grouped:
            return (
                f"groups of similar records ({self.group_method})"
                f"{', merged until they keep the guarantees' if self.merge else ''}, each with the "
                f"{self.group_numbers} of its numbers"
                f"{' and the mode of its categories' if self.has_modes else ''} "
                f"({self.recoding})"
            )
        kind = "strict" if self.is_strict else "relaxed"
        return f"groups cut along one attribute after the other ({kind} multidimensional recoding)"
