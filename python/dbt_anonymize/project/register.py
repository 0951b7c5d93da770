"""The register of releases: figures of each release that reveal no record."""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.relations import KEPT

# Not printed for programs. Who knows all records but one could guess the last by the digest of the
# source.
_HIDDEN = frozenset({"source"})
# Columns of the results that the register copies.
_MEASURED = ("effort", "spec", "records", "suppressed_records", "qf", "qf_low", "qf_high", "qnf")


Figure = int | float | str | None


@dataclass(frozen=True)
class RegisteredRelease:
    """A release or, without number and time, the choice of the last build.

    ``levels`` are those of the effort, if it has some; ``spec``, ``hierarchies``, ``source`` and
    ``content``, the released rows, are digests. Figures are None where nothing was chosen or
    measured. Those from ``joined_records`` on compare it with the release before, and are None
    where the vault does not remember both. ``beside`` are figures of tables beside the release, by
    the names of table and figure.
    """

    release: int | None
    released_at: str | None
    effort: int | None
    levels: str | None
    spec: str | None
    hierarchies: str | None
    records: int | None
    suppressed_records: int | None
    released_records: int | None
    equivalence_classes: int | None
    k: int | None
    highest_risk: float | None
    average_risk: float | None
    qf: float | None
    qf_low: float | None
    qf_high: float | None
    qnf: float | None
    q: float | None
    source: str | None = None
    joined_records: int | None = None
    left_records: int | None = None
    moved_records: int | None = None
    joint_classes_below_k: int | None = None
    records_below_k: int | None = None
    content: str | None = None
    beside: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def suppressed_share(self) -> float | None:
        """The share of the records that are suppressed."""
        if self.suppressed_records is None or not self.records:
            return None
        return self.suppressed_records / self.records

    @property
    def title(self) -> str:
        """Its name in sentences."""
        if self.release is None:
            return "what the last build chose"
        return f"release {self.release} of {self.released_at}"


PUBLISHED_TARGETS = "dbt_anonymize_published_targets"
COLUMNS = tuple(one.name for one in fields(RegisteredRelease) if one.name != "beside")
_SHARED_COLUMNS = tuple(name for name in COLUMNS if name not in _HIDDEN)
SHOWN_COLUMNS = (*_SHARED_COLUMNS, "is_source_changed", "beside")
_REGISTERING = tuple(kept for kept in KEPT.values() if kept.registers)


def read_register(warehouse: Warehouse, name: str) -> list[RegisteredRelease]:
    """Return the releases of an anonymization, the first one first.

    Empty where nothing was released since there is a register; a `WarehouseError` if not built.
    """
    beside = warehouse.relation_of_ref(f"{name}_results")
    relation = warehouse.find(beside.incorporate(path={"identifier": f"{name}_register"}))
    if relation is None:
        return []
    # One of an earlier version, before its next release, lacks the last ones.
    present = {column for column, _ in warehouse.columns(relation)}
    columns = [column for column in COLUMNS if column in present]
    sql = f"select {', '.join(columns)} from {relation} order by release"  # noqa: S608 (our own)
    register = [_release(dict(zip(columns, row, strict=True))) for row in warehouse.rows(sql)]
    figures = _registered_beside(warehouse, name, relation)
    return [replace(one, beside=figures.get(one.release or 0, {})) for one in register]


def _registered_beside(
    warehouse: Warehouse, name: str, register: Any
) -> Mapping[int, Mapping[str, Figure]]:
    """Return the figures of tables beside each release, by its number."""
    found = defaultdict[int, dict[str, Figure]](dict)
    for kept in _REGISTERING:
        relation = warehouse.find(register.incorporate(path={"identifier": f"{name}_{kept.name}"}))
        if relation is not None:
            columns = kept.column_names
            sql = f"select {', '.join(columns)} from {relation} order by 1, 2"  # noqa: S608 (ours)
            for release, part, *figures in warehouse.rows(sql):
                found[release] |= _named_figures(part, columns[2:], figures)
    return found


def figures_beside(warehouse: Warehouse, name: str, effort: int) -> dict[str, Figure]:
    """Return the figures of tables beside an effort of the last build, as the register has them."""
    found = dict[str, Figure]()
    for kept in _REGISTERING:
        with contextlib.suppress(WarehouseError):  # of a spec without such tables, or not built
            relation = warehouse.relation_of_ref(f"{name}_{kept.registers}")
            _, *columns = kept.column_names
            selected = f"select {', '.join(columns)} from {relation} where effort = {effort}"  # noqa: S608
            for part, *figures in warehouse.rows(f"{selected} order by 1"):
                found |= _named_figures(part, columns[1:], figures)
    return found


def _named_figures(part: str, names: Sequence[str], figures: Sequence[Figure]) -> dict[str, Figure]:
    named = zip(names, figures, strict=True)
    return {f"{part}.{name}": figure for name, figure in named}


def digest_released(warehouse: Warehouse, name: str) -> str | None:
    """Return the digest of the current released rows, computed as for the register.

    None where there is no release, or this user may not read it.
    """
    with contextlib.suppress(WarehouseError):
        release = warehouse.relation_of_ref(f"{name}_anonymized")
        digest = warehouse.macro("_digest_of_relations", relations=[release])
        return str(warehouse.rows(f"select {digest}")[0][0])
    return None


def publishes(warehouse: Warehouse, name: str) -> bool:
    """Tell whether builds of this target are releases; others are drafts, which do not count."""
    beside = warehouse.place_of_ref(f"{name}_results")
    register = warehouse.macro("_register_relation", beside=beside, anonymization=name)
    return bool(warehouse.macro("_is_published", anonymization=name, register=register))


def published_targets(warehouse: Warehouse) -> list[str] | None:
    """Return the targets that the project declares to publish; None if it declares none."""
    targets = warehouse.macro("_listed_targets", variable=PUBLISHED_TARGETS)
    return None if targets is None else list(targets)


def last_published(warehouse: Warehouse, name: str) -> tuple[RegisteredRelease | None, bool]:
    """Return the last release of the register, and whether the current results chose it."""
    register = read_register(warehouse, name)
    if not register:
        return None, False
    columns = ", ".join(
        {"spec": "fingerprint", "qf": "qf_mean"}.get(column, column) for column in _MEASURED
    )
    results = warehouse.relation_of_ref(f"{name}_results")
    chosen = warehouse.rows(f"select {columns} from {results} where is_chosen")  # noqa: S608 (ours)
    return register[-1], chosen == [measured(register[-1])]


def changed_inputs(earlier: RegisteredRelease, later: RegisteredRelease) -> list[str]:
    """Return the inputs that changed between two releases: spec, hierarchies, data."""
    names = {"spec": "spec", "hierarchies": "hierarchies", "source": "data"}
    return [label for name, label in names.items() if is_changed(earlier, later, name)]


def is_changed(earlier: RegisteredRelease, later: RegisteredRelease, name: str) -> bool | None:
    """Tell whether a digest changed; None where either is unknown."""
    digests = getattr(earlier, name), getattr(later, name)
    return None if None in digests else digests[0] != digests[1]


def rows_of_register(register: Sequence[RegisteredRelease]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a register for programs, with the columns `SHOWN_COLUMNS`.

    The column before the last tells whether the source changed since the release before; the last
    has figures of tables beside it as JSON, None where there are none.
    """
    previous: RegisteredRelease | None = None
    for release in register:
        is_new = None if previous is None else is_changed(previous, release, "source")
        beside = json.dumps(dict(release.beside)) if release.beside else None
        yield (*(getattr(release, name) for name in _SHARED_COLUMNS), is_new, beside)
        previous = release


def measured(release: RegisteredRelease) -> tuple[Any, ...]:
    """Return the figures that a release copies from the results of the build that chose it."""
    return tuple(getattr(release, name) for name in _MEASURED)


def _release(row: Mapping[str, Any]) -> RegisteredRelease:
    return RegisteredRelease(**{**row, "released_at": str(row["released_at"])[:19]})
