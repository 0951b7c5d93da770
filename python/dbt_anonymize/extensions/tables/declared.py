"""Keys of a spec that releases a table of counts, and no records."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import Field, model_validator

from dbt_anonymize.extensions.tables.primary import TableRules
from dbt_anonymize.validation import ColumnName, Levels, Strict, rule_error

# What a table counts, and the column of the count.
PEOPLE, RECORDS = "people", "records"
# Both ends of the count of a cell.
INTERVALS = {count: (f"{count}_lowest", f"{count}_highest") for count in (PEOPLE, RECORDS)}
_LEVEL = "_level"
Coarser = Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, strict=False)]
Margin = tuple[ColumnName, ...]
Margins = tuple[Annotated[Margin, Field(strict=False)], ...]


class _Effort(Strict):
    """Keys of all ways to protect a table."""

    method: str
    levels: Levels = Field(default_factory=dict)
    """Level of the hierarchy of each dimension that has one, 0 by default; never the root."""

    @property
    def protection(self) -> str:
        """The way in words, the same whenever it is the same way, whatever its time limit."""
        own = self.model_dump(exclude={"method", "levels", "seconds"}, exclude_defaults=True)
        levels = {name: level for name, level in sorted(self.levels.items()) if level}
        words = [f"{name} {value}" for name, value in {**own, **levels}.items()]
        return " ".join([self.method, *([f"({', '.join(words)})"] if words else [])])


class Hide(_Effort):
    """An effort that hides cells; only it can show sums."""

    method: Literal["hide"]
    """Hide small cells, and others so that totals do not give these back."""
    seconds: Annotated[int, Field(ge=1)] = 300
    """Time limit of each measure."""


class Noise(_Effort):
    """An effort that adds noise to counts."""

    method: Literal["noise"]
    """Change counts at random, by the keys of those who are counted: the same cell always alike."""
    variance: Annotated[float, Field(gt=0)]
    """Variance of the change, whose mean is 0."""
    largest: Annotated[int, Field(ge=1, le=1_000)]
    """Largest change."""
    forbidden: Annotated[tuple[int, ...], Field(strict=False)] = ()
    """Counts that are never shown."""


class Round(_Effort):
    """An effort that rounds counts."""

    method: Literal["round"]
    """Round counts up or down at random, by the keys of those who are counted, without bias."""
    base: Annotated[int, Field(ge=2, le=1_000)]
    """Base of which shown counts are multiples."""


TableEffort = Annotated[Hide | Noise | Round, Field(discriminator="method")]


class Dominance(Strict):
    """Rule for sums: the largest contributions may not have too much of a cell."""

    n: Literal[1, 2]
    """Number of largest contributions."""
    share: Annotated[float, Field(gt=0, lt=1)]
    """Share of the sum that they may have."""


class Question(Strict):
    """Question that the table is read for: the share, the trend or the rank of a dimension."""

    share: ColumnName | None = None
    """Dimension: the share of each label."""
    trend: ColumnName | None = None
    """Dimension: the changes from label to label, in their order as text."""
    rank: ColumnName | None = None
    """Dimension: the order of its labels by size."""
    by: Annotated[Margin, Field(strict=False)] = ()
    """Dimensions within whose labels it is asked; by default over all."""
    of: ColumnName | None = None
    """Measure: a sum, by default what is counted."""

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        if len(self._asked) != 1:
            raise rule_error("must ask for exactly one of share, trend, rank", "Split it.")
        return self

    @property
    def _asked(self) -> list[tuple[str, str]]:
        kinds = {"share": self.share, "trend": self.trend, "rank": self.rank}
        return [(kind, name) for kind, name in kinds.items() if name is not None]

    @property
    def kind(self) -> str:
        """Kind of the question."""
        return self._asked[0][0]

    @property
    def margin(self) -> Margin:
        """Dimensions of the cells that answer it, that which is asked for last."""
        return (*self.by, self._asked[0][1])


class Table(Strict):
    """Table of counts to release: what it shows, what it must keep, and ways to protect it."""

    dimensions: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=6, strict=False)]
    """Columns that tell cells apart: quasi-identifiers, or released columns with few values."""
    counts: Literal["people", "records"] = "people"
    """Count: people, or records of a subject that has several. These add up where the same person
    is in several cells, so that small cells can be hidden; people decide which are small, and are
    not shown.
    """
    sums: Annotated[tuple[ColumnName, ...], Field(strict=False)] = ()
    """Columns of amounts >= 0 whose sums are shown beside the count."""
    shows: Annotated[Margins, Field(min_length=1, strict=False)] | None = None
    """Margins that are shown, each a list of dimensions; all by default."""
    subtotals: dict[ColumnName, Coarser] = Field(default_factory=dict)
    """Coarser levels of dimensions with a hierarchy, shown beside the labels of an effort."""
    minimum_frequency: Annotated[int, Field(ge=2)] = 5
    """People that a cell must have to be shown as it is, if it has any."""
    p_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    """Rule for sums: the second largest contributor may not compute the largest contribution to
    less than so many percent; 10 where neither it nor dominance is declared.
    """
    dominance: Dominance | None = None
    """Rule for sums: the largest contributions may not have too much of a cell."""
    efforts: Annotated[tuple[TableEffort, ...], Field(min_length=1, strict=False)]
    """Ways to protect the table; the best of those that protect enough is released."""
    questions: Annotated[tuple[Question, ...], Field(strict=False)] = ()
    """Questions that the table is read for; QF says how well it answers them. By default the shares
    of the cells of each margin.
    """
    intervals: bool = False
    """Show between which two counts each cell may be, by all that the table shows; the middle then
    answers questions in the place of a hidden count.
    """
    alpha: Annotated[float, Field(ge=0)] = 0.0
    """Weight of privacy in Q = QF + alpha * QNF."""

    @property
    def margins(self) -> Margins:
        """Margins that are shown, each with dimensions in declared order."""
        if self.shows is None:
            sizes = range(len(self.dimensions), -1, -1)
            return tuple(margin for size in sizes for margin in combinations(self.dimensions, size))
        return tuple(tuple(n for n in self.dimensions if n in margin) for margin in self.shows)

    @property
    def rules(self) -> TableRules:
        """Rules about cells."""
        limits = self.dominance
        return TableRules(
            minimum_frequency=self.minimum_frequency,
            p_percent=self.p_percent or (None if limits else 10.0),
            dominance=(limits.n, limits.share) if limits else None,
        )

    @property
    def content(self) -> str:
        """The dimensions and their subtotals, in words: tables of others tell more together."""
        levels = {name: ", ".join(map(str, sorted(own))) for name, own in self.subtotals.items()}
        names = sorted(self.dimensions)
        cells = ", ".join(f"{n} ({levels[n]})" if n in levels else n for n in names)
        return cells if self.counts == PEOPLE else f"{self.counts} by {cells}"

    def released_as(self, number: int) -> str:
        """Return the way of protection of an effort as the vault remembers it."""
        return f"{self.efforts[number - 1].protection} of {self.content}"

    @property
    def summed(self) -> tuple[str, ...]:
        """Measures of which a person may have much: records, each of which is a one, and sums."""
        return (*([self.counts] if self.counts == RECORDS else []), *self.sums)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Released columns of numbers beside the count."""
        return (*self.interval, *self.sums)

    @property
    def interval(self) -> tuple[str, ...]:
        """Released columns of the interval of each count."""
        return INTERVALS[self.counts] if self.intervals else ()

    @property
    def level_columns(self) -> dict[str, str]:
        """The column with the level of a label, by dimension with subtotals."""
        return {name: f"{name}{_LEVEL}" for name in self.dimensions if name in self.subtotals}

    def levels(self, number: int) -> dict[str, int]:
        """Return the level of each dimension in an effort; of effort 0 the finest of all efforts.

        Examples
        --------
        >>> efforts = [{"method": "round", "base": 5, "levels": {"age": n}} for n in (1, 2)]
        >>> table = Table.model_validate({"dimensions": ["age", "ward"], "efforts": efforts})
        >>> table.levels(0), table.levels(2)
        ({'age': 1, 'ward': 0}, {'age': 2, 'ward': 0})
        """
        efforts = [self.efforts[number - 1]] if number else self.efforts
        return {name: min(one.levels.get(name, 0) for one in efforts) for name in self.dimensions}

    def shown_levels(self, number: int) -> dict[str, list[int]]:
        """Return the levels of each dimension that an effort shows, the finest first.

        Effort 0 has the finest alone.

        Examples
        --------
        >>> effort = {"method": "round", "base": 5, "levels": {"age": 1}}
        >>> given = {"dimensions": ["age"], "subtotals": {"age": [1, 3]}, "efforts": [effort]}
        >>> Table.model_validate(given).shown_levels(1)
        {'age': [1, 3]}
        """
        above = self.subtotals if number else {}
        return {
            name: [finest, *sorted(level for level in above.get(name, ()) if level > finest)]
            for name, finest in self.levels(number).items()
        }


class Keys(Strict):
    """Keys of the spec."""

    SPARED: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "table": ("guarantees", "suppression_limit", "qnf", "mapping")
    }
    """Keys that a spec with a table does not need."""

    table: Table | None = None
    """Table of counts to release instead of records; such a spec needs neither efforts nor
    guarantees.
    """

    @model_validator(mode="before")
    @classmethod
    def _needs_nothing_of_records(cls, raw: object) -> object:
        """Fill in keys that only releases of records need."""
        table = raw.get("table") if isinstance(raw, Mapping) else None
        if not isinstance(table, Mapping):
            return raw
        least = table.get("minimum_frequency", 5)
        values = ({"k_anonymity": {"k": least}}, 0.0, "k", "none")
        of_records = dict(zip(cls.SPARED["table"], values, strict=True))
        return {**of_records, **cast(Mapping[str, Any], raw)}

    @property
    def awaits_search(self) -> bool:
        """Tell whether efforts must be found before anything can be released."""
        return self.table is None and bool(cast(Any, super()).awaits_search)
