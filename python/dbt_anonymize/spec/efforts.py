"""Efforts: how far each quasi-identifier is generalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, model_validator

from dbt_anonymize.extension import Part, keys
from dbt_anonymize.spec.guarantees import EffortGuarantees
from dbt_anonymize.spec.of_extensions import extension_keys
from dbt_anonymize.spec.sample import EffortSample
from dbt_anonymize.validation import (
    Hierarchy,
    Levels,
    ShownLevel,
    Strict,
    WrittenLevels,
    rule_error,
)

FULL_DOMAIN = "full_domain"


class CoreEffort(Strict):
    """One effort: a level for every quasi-identifier, also written as the levels only."""

    levels: Annotated[
        Levels | None,
        BeforeValidator(lambda levels: levels, json_schema_input_type=WrittenLevels | None),
    ] = None
    """Level of each quasi-identifier; 0 is the raw value. Also with what is shown of its classes:
    `{level: 2, show: mean}`.
    """
    k: Annotated[int, Field(ge=2)] | None = None
    """Smallest class of this effort, at least the declared k."""
    guarantees: EffortGuarantees | None = None
    """Guarantees of this effort beside those of the spec."""
    sample: EffortSample | None = None
    """Release another share of the subjects than the sample of the spec."""

    # Extensions answer these otherwise where levels differ per record.
    kind: ClassVar[str] = FULL_DOMAIN
    """Name of the recoding."""
    has_cells: ClassVar[bool] = False
    """True where single cells are suppressed above the levels."""
    is_external: ClassVar[bool] = False
    """True where another tool made the rows."""
    group_numbers: ClassVar[str] = "interval"
    """Released form of the numbers of a group: interval, mean or median."""
    has_means: ClassVar[bool] = False
    """True where numbers may be released as the mean or median of a group."""
    has_modes: ClassVar[bool] = False
    """True where categories may be released as the mode of a group."""
    mean_p_percent: ClassVar[float] = 0.0
    """Least share of an interval that the mean must leave open, in percent."""
    aggregates: ClassVar[Mapping[str, ShownLevel]] = {}
    """Quasi-identifiers of which an aggregate of the class is shown, where it may be."""
    recomputation: ClassVar[Any] = None
    """Module that recomputes labels that differ per record, and aggregates of classes."""
    levels_beside: ClassVar[Mapping[str, int]] = {}
    """Levels of the columns of `Spec.trees_beside`, by their names there."""
    way: ClassVar[str] = ""
    """The recoding where no levels are declared, in words."""

    @model_validator(mode="after")
    def _has_a_form(self) -> Self:
        self.check_form()
        return self

    def check_form(self) -> None:
        """Raise the error of an effort that does not say how it generalizes."""
        if self.levels is None:
            raise rule_error("must have levels", "Write a level for every quasi-identifier.")

    @property
    def is_full_domain(self) -> bool:
        """Tell whether all records have the same levels."""
        return self.kind == FULL_DOMAIN

    @property
    def vectors(self) -> tuple[Levels, ...]:
        """Levels of the quasi-identifiers that records may have: one vector, or several in turn."""
        return () if self.levels is None else (self.levels,)

    @property
    def may_show_modes(self) -> bool:
        """Tell whether a category may be released as the mode of a group or class."""
        return self.has_modes or any(one.show == "mode" for one in self.aggregates.values())

    @property
    def own_guarantees(self) -> list[dict[str, Any]]:
        """Guarantees of this effort beside those of the spec, as a spec resolves them."""
        return self.guarantees.resolved if self.guarantees else []

    def shows(self, name: str, hierarchies: Mapping[str, Hierarchy]) -> bool:
        """Tell whether the effort may release more of a quasi-identifier than `*`."""
        is_top = (self.levels or {}).get(name) == hierarchies[name].levels
        return not (is_top and self.is_full_domain) or name in self.aggregates

    def levels_shown_beside(self, trees: Mapping[str, Hierarchy]) -> Mapping[str, Sequence[int]]:
        """Return the levels whose labels the effort may show of each column of tables beside."""
        return {}

    def exact(self, hierarchies: Mapping[str, Hierarchy]) -> list[str]:
        """Return the numbers and dates that the effort may release as they are."""
        return [
            name
            for name, tree in hierarchies.items()
            if tree.kind == "interval" and any(not levels[name] for levels in self.vectors)
        ]

    @property
    def shown_levels(self) -> str:
        """The levels in the order of the quasi-identifiers, or how records get theirs.

        Examples
        --------
        >>> Effort(levels={"age": 1, "zip": 2}).shown_levels
        '1 2'
        """
        if self.levels is None:
            return self.kind
        levels = " ".join(
            f"{level} ({self.aggregates[name].show})" if name in self.aggregates else str(level)
            for name, level in self.levels.items()
        )
        return f"{levels}, then cells" if self.has_cells else levels


if TYPE_CHECKING:
    Effort = CoreEffort
else:

    class Effort(*keys(Part.effort), CoreEffort):
        """One effort."""


# Keys that extensions add to efforts, of missing extensions too.
_OF_EXTENSIONS = extension_keys(Part.effort)


def is_shorthand(raw: object) -> bool:
    """Tell whether an effort is written as its levels only, without the key ``levels``.

    A quasi-identifier may be named like one of our keys, so the types of the values decide.

    Examples
    --------
    >>> is_shorthand({"age": 1, "k": 2}), is_shorthand({"levels": {"age": 1}, "k": 20})
    (True, False)
    """
    if not isinstance(raw, Mapping):
        return False
    return not (
        isinstance(raw.get("levels"), Mapping)
        or any(isinstance(raw.get(key), (str, list, tuple, Mapping)) for key in _OF_EXTENSIONS)
    )


def _expand_shorthand(raw: object) -> object:
    if isinstance(raw, Mapping) and is_shorthand(raw):
        return {"levels": dict(raw)}
    return raw


AnyEffort = Annotated[
    Effort, BeforeValidator(_expand_shorthand, json_schema_input_type=WrittenLevels | Effort)
]


def as_yaml(effort: Effort) -> dict[str, Any]:
    """Return an effort in its shortest written form."""
    content = effort.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if set(content) == {"levels"} and is_shorthand(content["levels"]):
        return dict(content["levels"])
    # The form first, then levels, then what stands beside them.
    form = [key for key in _OF_EXTENSIONS if not isinstance(content.get(key), Mapping)]
    return {key: content[key] for key in (*form, "levels", *content) if key in content}
