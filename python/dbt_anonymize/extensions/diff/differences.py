"""Compare a release with another one, and name the tolerances that the changes break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.diff.compared import (
    Composition,
    before_and_after,
    compose,
    read_register_file,
)
from dbt_anonymize.extensions.diff.declared import tolerance_of
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.failures import last_failure
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.register import RegisteredRelease, is_changed
from dbt_anonymize.project.results import results_are_current
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

FIGURES = (
    "effort",
    "levels",
    "records",
    "released_records",
    "equivalence_classes",
    "k",
    "suppressed_records",
    "suppressed_share",
    "highest_risk",
    "average_risk",
    "qf",
    "qnf",
    "q",
)
# QF of a measure that counts errors is its negative.
_HIGHER_IS_BETTER = frozenset({"k", "qf", "qnf"})
# Figures are sums and quotients in double precision.
_ROUNDING = 1e-9

_DIGESTS = {"spec": "the spec", "hierarchies": "the hierarchies", "source": "the data"}

Value = int | float | str | None


@dataclass(frozen=True)
class Difference:
    """A figure before and after; ``tolerance`` is by how much it may get worse, if declared."""

    figure: str
    before: Value
    after: Value
    tolerance: float | None = None
    is_broken: bool = False

    @property
    def cells(self) -> tuple[Value | bool, ...]:
        """Cells for programs, named by `VALUES`."""
        return astuple(self)

    @property
    def line(self) -> tuple[str, ...]:
        """Cells for people, named by `HEADINGS`."""
        verdict = "broken" if self.is_broken else "holds"
        tolerance = "" if self.tolerance is None else f"{format_value(self.tolerance)}, {verdict}"
        return self.figure, format_value(self.before), format_value(self.after), tolerance

    @property
    def text(self) -> str:
        """The broken tolerance, in words."""
        if self.before is None or self.after is None:
            side = "before" if self.before is None else "after"
            return f"{self.figure} is not known {side}, so its tolerance does not hold"
        return (
            f"{self.figure} went from {format_value(self.before)} to {format_value(self.after)}, "
            f"which is worse by more than {format_value(self.tolerance)}"
        )


VALUES = tuple(field.name for field in fields(Difference))
HEADINGS = VALUES[:4]


@dataclass(frozen=True)
class Comparison:
    """Two releases, their differences, and their composition where the vault remembers both."""

    spec: Spec
    before: RegisteredRelease
    after: RegisteredRelease
    composed: Composition | None

    @property
    def differences(self) -> list[Difference]:
        """Every figure of both, then those of tables beside them."""
        own = [(name, getattr(self.before, name), getattr(self.after, name)) for name in FIGURES]
        before, after = self.before.beside, self.after.beside
        beside = [
            (name, before.get(name), after.get(name)) for name in dict.fromkeys([*after, *before])
        ]
        return [_difference(self.spec, *figure) for figure in own + beside]

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """Every figure of both, as people read it."""
        return [difference.line for difference in self.differences]

    @property
    def counts(self) -> list[Difference]:
        """Counts of records that joined, left and moved, as figures of the later release."""
        composed = self.composed
        return [
            Difference(field.name, None, getattr(composed, field.name) if composed else None)
            for field in fields(Composition)
        ]

    @property
    def broken(self) -> list[Difference]:
        """The figures that are worse than is tolerated."""
        return [difference for difference in self.differences if difference.is_broken]

    @property
    def sentences(self) -> Sequence[str]:
        """Sentences on the compared releases, their differences, and who joined and left."""
        return list(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield f"{self.after.title}, against {self.before.title}"
        if self.after.effort is None:
            yield "nothing may be released: no effort is chosen"
        elif self.after.release is None:
            yield f"{self.after.title} is not released: the register does not have it"
        for name, text in _DIGESTS.items():
            changed = is_changed(self.before, self.after, name)
            if changed is None:
                yield f"whether {text} changed is not known"
            else:
                yield f"{text} {'changed' if changed else 'did not change'}"
        composed, k = self.composed, self.spec.largest_k
        if composed is None:
            yield "who joined and who left is not known: the vault does not remember both releases"
            return
        yield (
            f"{pluralized(composed.joined_records, 'record')} joined, {composed.left_records:,} "
            f"left and {composed.moved_records:,} moved to another class"
        )
        small, records = composed.joint_classes_below_k, composed.records_below_k
        yield (
            f"{pluralized(small, 'class', 'classes')} of both releases together "
            f"{'has' if small == 1 else 'have'} fewer than {k} records"
            + (f", {records:,} in all: whoever has both tells them apart" if small else "")
        )


def compare(
    project: Project, warehouse: Warehouse, spec: Spec, against: str | None = None
) -> Comparison:
    """Compare what the last build chose with an earlier release, by default the one before.

    ``against`` is its number in the register, or a file that `dbt-anonymize results --history`
    wrote as JSON.
    """
    number = int(against) if against is not None and against.isdecimal() else None
    file = (
        None
        if against is None or number is not None
        else read_register_file(Path(against), spec.name)
    )
    _require_current(project, warehouse, spec)
    releases, after = before_and_after(warehouse, spec)
    before = file or _earlier(spec, releases, after, number)
    return Comparison(
        spec, before, after, None if file else compose(warehouse, spec, before, after)
    )


def _require_current(project: Project, warehouse: Warehouse, spec: Spec) -> None:
    """Stop where the results belong to an earlier spec: they cannot be compared."""
    failure = last_failure(project, warehouse.manifest, spec.name)
    if failure and not failure.has_results:
        raise WarehouseError(failure.text)
    if not results_are_current(warehouse, spec):
        raise WarehouseError(
            f"{spec.name}: the results must be of the spec as it is, to be compared; it changed "
            "since. Run `dbt-anonymize generate` and `dbt build`."
        )


def _earlier(
    spec: Spec, releases: Sequence[RegisteredRelease], after: RegisteredRelease, number: int | None
) -> RegisteredRelease:
    """Return the release of a number, by default the last one before."""
    earlier = [release for release in releases if number in {None, release.release}]
    if earlier:
        return earlier[-1]
    numbers = f"1 to {releases[-1].release}" if releases else "none"
    wanted = "an earlier release" if number is None else f"release {number}"
    raise WarehouseError(
        f"{spec.name}: {wanted} must be in the register, to be compared with {after.title}; it has "
        f"{numbers} before that. See `dbt-anonymize results {spec.name} --history`, or name a file "
        "with --against."
    )


def format_value(value: Value) -> str:
    """Return a figure as people read it.

    Examples
    --------
    >>> [format_value(value) for value in (None, 12345, 0.0213004, 0.02, "age 1")]
    ['-', '12,345', '0.0213', '0.02', 'age 1']
    """
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


def _difference(spec: Spec, figure: str, before: Value, after: Value) -> Difference:
    tolerance = tolerance_of(spec).declared.get(figure)
    is_broken = tolerance is not None and not _is_tolerated(figure, before, after, tolerance)
    return Difference(figure, before, after, tolerance, is_broken)


def _is_tolerated(figure: str, before: Value, after: Value, tolerance: float) -> bool:
    """Tell whether a figure is known on both sides and not worse by more than the tolerance."""
    if before is None or after is None:
        return False
    worse = float(after) - float(before)
    if figure in _HIGHER_IS_BETTER:
        worse = -worse
    return worse <= tolerance + _ROUNDING * max(1.0, abs(float(before)))
