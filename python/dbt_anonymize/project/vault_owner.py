"""Owner of a vault: each schema remembers the one project and target that it belongs to."""

# ruff: noqa: S608 (names are quoted)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.errors import VaultError, WarehouseError
from dbt_anonymize.project.inserting import insert_rows
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

TABLE = "dbt_anonymize_owner"
_OF_VAULT = frozenset({"dbt_anonymize_vault", "dbt_anonymize_tokens"})


@dataclass(frozen=True)
class Owner:
    """A project of dbt and a target of its profile."""

    project: str
    target: str

    @property
    def title(self) -> str:
        """Its name in sentences."""
        return f"project {self.project}, target {self.target}"


@dataclass(frozen=True)
class Takeover:
    """A schema of a vault with its owner before and after a takeover.

    ``before`` is None without an owner; ``rows`` are the new rows of the table.
    """

    table: Any
    before: Owner | None
    after: Owner
    rows: Sequence[tuple[str, str, str | None, str | None]]


def require_own_vault(warehouse: Warehouse, spec: Spec) -> None:
    """Stop a command that would write into a vault of another project or target, as a build does.

    Reading does not need ownership, nor does re-linking, which only adds an attempt to the audit.
    """
    errors = [
        error
        for place in _places(warehouse, [spec.name])
        for error in warehouse.macro(
            "_vault_owner_errors",
            database=place.database,
            schema=place.schema,
            sources={spec.name: spec.source.name},
            registers=_registers(warehouse),
        )
    ]
    if errors:
        raise VaultError("\n".join(f"{spec.name}: {error}" for error in errors))


def takeovers(warehouse: Warehouse, specs: Sequence[Spec]) -> Iterator[Takeover]:
    """Yield the takeovers that this target needs to build these anonymizations.

    Entries of other anonymizations of this project stay.
    """
    config = warehouse.adapter.config
    here = Owner(config.project_name, config.target_name)
    for place in _places(warehouse, [spec.name for spec in specs]):
        table = _table(warehouse, place)
        remembered = []
        if warehouse.find(table) is not None:
            remembered = warehouse.rows(
                f"select project, target, anonymization, source from {table}"
            )
        before = next((Owner(*row[:2]) for row in remembered if row[2] is None), None)
        sources = {row[2]: row[3] for row in remembered if row[2] and row[0] == here.project}
        of_place = (spec for spec in specs if place in _places(warehouse, [spec.name]))
        sources |= {spec.name: spec.source.name for spec in of_place}
        rows = [(here.project, here.target, *entry) for entry in [(None, None), *sources.items()]]
        if before != here or sorted(map(str, remembered)) != sorted(map(str, rows)):
            yield Takeover(table, before, here, rows)


def take_over(warehouse: Warehouse, takeover: Takeover) -> None:
    """Have the vault remember its new owner."""
    from dbt_anonymize.project.engines import engine_of  # noqa: PLC0415 (it types by this)

    names = ("project", "target", "anonymization", "source")
    warehouse.macro("create_schema", package="dbt", relation=takeover.table.without_identifier())
    text = warehouse.macro("type_string", package="dbt")
    with warehouse.replacing(takeover.table, dict.fromkeys(names, text)) as cursor:
        insert_rows(cursor, str(takeover.table), takeover.rows, engine_of(warehouse).literal)
        closing = warehouse.macro("_closed_to_others", relation=takeover.table, rights="select")
        if closing and closing.strip():
            cursor.execute(closing)


def tables_of_owners(warehouse: Warehouse, names: Sequence[str]) -> list[Any]:
    """Return the tables by which vaults remember the owner of anonymizations."""
    tables = [_table(warehouse, place) for place in _places(warehouse, names)]
    return [table for table in tables if warehouse.find(table) is not None]


@dataclass(frozen=True)
class _Place:
    database: str | None
    schema: str


def _table(warehouse: Warehouse, place: _Place) -> Any:
    return warehouse.macro("_vault_owner_relation", database=place.database, schema=place.schema)


def _places(warehouse: Warehouse, names: Sequence[str]) -> list[_Place]:
    """Return the schemas of vaults into which this target builds anonymizations."""
    places = {
        _Place(node.database, node.schema): None
        for node in warehouse.manifest.nodes.values()
        if node.config.materialized in _OF_VAULT
        and node.config.meta.get("dbt_anonymize", {}).get("anonymization") in names
    }
    return list(places)


def _registers(warehouse: Warehouse) -> dict[str, Any]:
    """Return the relation of each anonymization's register on this target."""
    registers = {}
    for node in warehouse.manifest.nodes.values():
        if node.config.materialized == "dbt_anonymize_release":
            name = node.config.meta["dbt_anonymize"]["anonymization"]
            try:
                beside = warehouse.place_of_ref(f"{name}_results")
            except WarehouseError:
                continue
            registers[name] = warehouse.macro(
                "_register_relation", beside=beside, anonymization=name
            )
    return registers
