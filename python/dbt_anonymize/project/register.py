"""The register of releases: what each of them was, as counts that tell of no record."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

# What a program reads of the register beside the figures; the digest of the source stays where its
# records are: whoever knew all but one of them could try which one gives it.
_HIDDEN = frozenset({"source"})
# Of the figures that a build measures, those that the register takes as they are.
_MEASURED = ("effort", "spec", "records", "suppressed_records", "qf", "qf_low", "qf_high", "qnf")
_MADE_BY = "`dbt-anonymize results {name} --history --format json`"


@dataclass(frozen=True)
class RegisteredRelease:
    """A release, or, without number and time, what the last build would have released.

    ``levels`` are those of the effort, if it has some; ``spec``, ``hierarchies``, ``source`` and
    ``content``, the released rows, are digests. Figures are None where nothing was chosen or
    measured. Those from ``joined_records`` on compare it with the release before, and are None
    where the vault does not remember both.
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

    @property
    def suppressed_share(self) -> float | None:
        """The share of the records that are suppressed."""
        if self.suppressed_records is None or not self.records:
            return None
        return self.suppressed_records / self.records

    @property
    def shown(self) -> str:
        """Its name in sentences."""
        if self.release is None:
            return "what the last build chose"
        return f"release {self.release} of {self.released_at}"


@dataclass(frozen=True)
class Composed:
    """Intersection of two releases: records by key, classes of both together below k."""

    joined_records: int
    left_records: int
    moved_records: int
    joint_classes_below_k: int
    records_below_k: int


PUBLISHED_TARGETS = "dbt_anonymize_published_targets"
_LINE = TypeAdapter(RegisteredRelease)
_NAMED = TypeAdapter(dict[str, Any])
COLUMNS = tuple(field.name for field in fields(RegisteredRelease))
_OF_RELEASE = tuple(name for name in COLUMNS if name not in _HIDDEN)
SHOWN_COLUMNS = (*_OF_RELEASE, "is_source_changed")


def read_register(warehouse: Warehouse, name: str) -> list[RegisteredRelease]:
    """Return the releases of an anonymization, the first one first.

    Empty where nothing was released since there is a register; a `WarehouseError` if not built.
    """
    beside = warehouse.relation_of_ref(f"{name}_results")
    relation = warehouse.find(beside.incorporate(path={"identifier": f"{name}_register"}))
    if relation is None:
        return []
    # One of an earlier version, before its next release, lacks the last ones.
    there = {column for column, _ in warehouse.columns(relation)}
    columns = [column for column in COLUMNS if column in there]
    sql = f"select {', '.join(columns)} from {relation} order by release"  # noqa: S608 (our own)
    return [_release(dict(zip(columns, row, strict=True))) for row in warehouse.rows(sql)]


def digest_released(warehouse: Warehouse, name: str) -> str | None:
    """Return the digest of the released rows as they are now, as the register has it.

    None where there is no release, or whoever asks may not read it.
    """
    with contextlib.suppress(WarehouseError):
        release = warehouse.relation_of_ref(f"{name}_anonymized")
        digest = warehouse.macro("_digest_of_relations", relations=[release])
        return str(warehouse.rows(f"select {digest}")[0][0])
    return None


def publishes(warehouse: Warehouse, name: str) -> bool:
    """Tell whether builds of this target are releases; else they are drafts, not counted."""
    beside = warehouse.place_of_ref(f"{name}_results")
    register = warehouse.macro("_register_relation", beside=beside, anonymization=name)
    return bool(warehouse.macro("_is_published", anonymization=name, register=register))


def published_targets(warehouse: Warehouse) -> list[str] | None:
    """Return the targets that the project says publish; None where it does not say."""
    targets = warehouse.macro("_listed_targets", variable=PUBLISHED_TARGETS)
    return None if targets is None else list(targets)


def built_now(warehouse: Warehouse, name: str) -> RegisteredRelease:
    """Return what the last build chose, whether it was released or not."""
    results = warehouse.relation_of_ref(f"{name}_results")
    privacy = warehouse.relation_of_ref(f"{name}_privacy")
    rows = warehouse.rows(
        "select results.effort, results.fingerprint, results.records, results.suppressed_records, "  # noqa: S608
        "privacy.released_records, privacy.equivalence_classes, results.k, privacy.highest_risk, "
        "privacy.average_risk, results.qf_mean, results.qf_low, results.qf_high, results.qnf, "
        f"results.q from {results} as results left join {privacy} as privacy on "
        "results.effort = privacy.effort where results.is_chosen"
    )
    effort, spec, *figures = rows[0] if len(rows) == 1 else (None,) * 14
    return RegisteredRelease(None, None, effort, None, spec, None, *figures)


def last_published(warehouse: Warehouse, name: str) -> tuple[RegisteredRelease | None, bool]:
    """Return the last release of the register, and whether the results are those that chose it."""
    register = read_register(warehouse, name)
    if not register:
        return None, False
    columns = ", ".join({"spec": "fingerprint", "qf": "qf_mean"}.get(one, one) for one in _MEASURED)
    results = warehouse.relation_of_ref(f"{name}_results")
    chosen = warehouse.rows(f"select {columns} from {results} where is_chosen")  # noqa: S608 (ours)
    return register[-1], chosen == [_measured(register[-1])]


def before_and_after(
    warehouse: Warehouse, spec: Spec
) -> tuple[Sequence[RegisteredRelease], RegisteredRelease]:
    """Return the releases before what the last build chose, and that.

    If it was released, it is the last of the register: the same effort of the same spec with the
    same figures, as a build writes both.
    """
    register, now = read_register(warehouse, spec.name), built_now(warehouse, spec.name)
    effort = spec.numbered_efforts.get(now.effort) if now.effort is not None else None
    if effort is not None and effort.levels is not None and effort.is_full_domain:
        levels = ", ".join(f"{name} {level}" for name, level in effort.levels.items())
        now = replace(now, levels=levels)
    if register and now.effort is not None and _measured(register[-1]) == _measured(now):
        return register[:-1], register[-1]
    return register, now


def compose(
    warehouse: Warehouse, spec: Spec, earlier: RegisteredRelease, later: RegisteredRelease
) -> Composed | None:
    """Count who joined, left and moved between two releases, if the vault remembers both."""
    if spec.mapping == "none" or earlier.released_at is None or later.released_at is None:
        return None
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    releases = warehouse.find(vault.incorporate(path={"identifier": f"{spec.name}_releases"}))
    if releases is None:
        return None
    sql = warehouse.macro(
        "_composed_releases",
        releases=releases,
        earlier=earlier.released_at,
        later=later.released_at,
        k=spec.largest_k,
    )
    (counts,) = warehouse.rows(sql)
    return None if counts[0] is None else Composed(*map(int, counts))


def changes(earlier: RegisteredRelease, later: RegisteredRelease) -> list[str]:
    """Name what a release depends on and is known to have changed: spec, hierarchies, data."""
    names = {"spec": "spec", "hierarchies": "hierarchies", "source": "data"}
    return [shown for name, shown in names.items() if is_changed(earlier, later, name)]


def is_changed(earlier: RegisteredRelease, later: RegisteredRelease, name: str) -> bool | None:
    """Tell whether a digest changed; None where one of both is not known."""
    digests = getattr(earlier, name), getattr(later, name)
    return None if None in digests else digests[0] != digests[1]


def rows_of_register(register: Sequence[RegisteredRelease]) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a register as programs read them.

    Columns are `SHOWN_COLUMNS`; the last is whether the source changed since the release before.
    """
    before: RegisteredRelease | None = None
    for release in register:
        is_new = None if before is None else is_changed(before, release, "source")
        yield (*(getattr(release, name) for name in _OF_RELEASE), is_new)
        before = release


def read_file(path: Path, name: str) -> RegisteredRelease:
    """Return the last release of an anonymization in a file of JSON lines.

    Such a file is what the register prints for programs; a `WarehouseError` if it is another.
    """
    made_by = _MADE_BY.format(name=name)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise WarehouseError(
            f"{path}: must be the number of a release, or a file that can be read. Write one by "
            f"{made_by}."
        ) from None
    release: RegisteredRelease | None = None
    for number, line in enumerate(filter(str.strip, lines), start=1):
        try:
            named = _NAMED.validate_json(line)
            if named["anonymization"] == name:
                release = _LINE.validate_json(line)
        except (ValidationError, KeyError):
            raise WarehouseError(
                f"{path}: line {number} must be a release of {made_by}; it is not."
            ) from None
    if release is None:
        raise WarehouseError(
            f"{path}: must hold a release of {name}; it has none. Write it by {made_by}."
        )
    return release


def _measured(release: RegisteredRelease) -> tuple[Any, ...]:
    return tuple(getattr(release, name) for name in _MEASURED)


def _release(row: Mapping[str, Any]) -> RegisteredRelease:
    return RegisteredRelease(**{**row, "released_at": str(row["released_at"])[:19]})
