"""Recomputation of the release of a dbt project: its relations, files and folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.hierarchies.label_types import RULE, is_text
from dbt_anonymize.hierarchies.table import Kind
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.project.seed_types import SeedTypes
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.audit import about_table
from dbt_anonymize.release.copies import is_copied, places_of_copies
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.duckdb_mirror import CopiedWarehouse
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.about import check_about
from dbt_anonymize.verify.recomputation.canonical import Comparer, Comparison
from dbt_anonymize.verify.recomputation.check import recompute
from dbt_anonymize.verify.recomputation.shape import check_file, check_folder, check_vault
from dbt_anonymize.verify.recomputation.tables import Tables
from dbt_anonymize.verify.relations import (
    Released,
    attached_release,
    members_relation,
    open_release,
    people_of,
)
from dbt_anonymize.verify.served import check_surroundings


def check_release(
    warehouse: Warehouse,
    project: Project,
    spec: Spec,
    *,
    release: Path | None,
    is_kept: bool = False,
) -> list[Finding]:
    """Recompute a release and its guarantees; check its file, its folder and the vault.

    The warehouse is DuckDB, and nothing else in this process may have the release file open; or it
    is a copy of a server, and ``release`` is None. Findings name files relative to the project. Of
    an earlier release that is kept nothing is compared with what the warehouse holds now.
    Unusable input is a `VerificationError`; a missing relation is a `WarehouseError`.
    """
    if isinstance(warehouse, CopiedWarehouse):
        findings = list(check_surroundings(warehouse.original, spec))
        if is_kept:
            return findings
        findings += _check_served_about(warehouse, spec)
        tables = tables_of(warehouse, spec, _chosen(warehouse, spec), warehouse.cursor(), None)
        findings += _seed_findings(warehouse, project, spec, tables)
        return findings + recompute(tables, spec, effort=_chosen(warehouse, spec))
    if release is None:
        raise TypeError("a release of DuckDB must be a file")
    with open_release(spec, release) as released:
        columns = released.columns
        name = _printed_path(release.resolve(), project.root.resolve())
        table, comments = f"{spec.name}_anonymized", _comments(warehouse, spec)
        beside = spec.tables_beside
        findings = list(
            check_file(released, release, table, name, comments=comments, tables_beside=beside)
        )
        if comments is not None and released.has_about and not is_kept:
            about = quote_name(about_table(table))
            findings += check_about(warehouse, spec, released, about, "release file, ")
    findings += _surrounding_findings(warehouse, spec, project.root.resolve(), release.resolve())
    if is_kept:
        return findings
    effort = _chosen(warehouse, spec)
    with attached_release(warehouse, spec, release, columns) as released:
        tables = tables_of(warehouse, spec, effort, released.cursor, released.relation)
        findings += _seed_findings(warehouse, project, spec, tables)
        return findings + recompute(tables, spec, effort=effort)


def _check_served_about(warehouse: CopiedWarehouse, spec: Spec) -> Iterator[Finding]:
    """Check the description of a release that is a table; older releases have none."""
    if spec.release.about is None:
        return iter(())
    table = f"{spec.name}_anonymized"
    # Named as the server quotes names.
    release = warehouse.original.relation_of_ref(table)
    about = warehouse.find(release.incorporate(path={"identifier": f"{spec.name}_about"}))
    released = Released(warehouse.cursor(), str(warehouse.relation_of_ref(table)), {})
    return check_about(warehouse.original, spec, released, about and str(about))


def _comments(warehouse: Warehouse, spec: Spec) -> dict[str, str] | None:
    """Return the comments that a release may have on columns; None without a description."""
    if spec.release.about is None:
        return None
    nodes = warehouse.manifest.nodes.values()
    node = next(node for node in nodes if node.name == f"{spec.name}_anonymized")
    return {name: column.description for name, column in node.columns.items()}


def _chosen(warehouse: Warehouse, spec: Spec) -> int:
    ((effort,),) = warehouse.rows(
        "select max(effort) from "  # noqa: S608
        f"{warehouse.relation_of_ref(f'{spec.name}_results')} where is_chosen"
    ) or [(None,)]
    if effort is None:
        raise VerificationError(f"{spec.name}: no effort is chosen. Run `dbt build` again.")
    return int(effort)


def tables_of(
    warehouse: Warehouse, spec: Spec, effort: int, cursor: object, release: str | None
) -> Tables:
    """Return the relations of a built anonymization, for a connection of the warehouse.

    Without ``release`` the table of the warehouse is the published one.
    """

    def built(part: str) -> str:
        return str(warehouse.relation_of_ref(f"{spec.name}_{part}"))

    population = spec.population_relation
    declared = spec.numbered_efforts.get(effort)  # none of a table of another tool
    shows_aggregates = declared is not None and bool(declared.aggregates)
    aggregated = warehouse.find_in_vault(spec.name, "aggregated") if shows_aggregates else None
    tables = Tables(
        connection=cursor,  # type: ignore[arg-type]
        source=people_of(warehouse, spec),
        hierarchies={
            name: str(warehouse.relation_of_ref(hierarchy.ref))
            for name, hierarchy in (spec.quasi_identifiers | spec.sensitive_hierarchies).items()
        },
        population=str(warehouse.relation_of(population)) if population else None,
        microdata=built("microdata"),
        effort=built(f"effort_{effort}"),
        anonymized=built("anonymized"),
        release=release,
        identifiers=built("identifiers") if spec.mapping != "none" else None,
        tokens=built("tokens") if spec.mapping == "token" else None,
        sample=built("sample") if spec.declared_shares else None,
        mask_keys=built("mask_keys") if spec.has_mask_keys else None,
        members=members_relation(warehouse, spec) if spec.holds_back_joiners else None,
        membership=built("membership") if spec.holds_back_joiners else None,
        frozen=built("frozen_labels") if spec.is_frozen and spec.recoded_efforts else None,
        aggregates=built(f"aggregates_{effort}") if shows_aggregates else None,
        aggregated=str(aggregated) if aggregated else None,
    )
    if isinstance(warehouse, CopiedWarehouse):
        return replace(tables, written=warehouse.written)
    return tables


def _seed_findings(
    warehouse: Warehouse, project: Project, spec: Spec, tables: Tables
) -> Iterator[Finding]:
    """Compare hierarchies and frozen labels that are seeds with their files."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    seeds = {node.name: node for node in warehouse.manifest.nodes.values()}
    trees = spec.quasi_identifiers | spec.sensitive_hierarchies
    relations = {tree.ref: tables.hierarchies[name] for name, tree in trees.items()}
    if tables.frozen and spec.frozen_labels:
        relations[spec.frozen_labels] = tables.frozen
    for ref, relation in relations.items():
        seed = seeds[ref]
        kinds = tables.types(f"select * from {relation}")  # noqa: S608
        yield from changed_labels(warehouse, spec, seed, kinds)
        if seed.resource_type != "seed":
            continue
        columns = ", ".join(f"{quote_text(n)}: {quote_text(kind)}" for n, kind in kinds.items())
        # dbt remembers the folder where it first read a file; the project may have moved since.
        is_own = seed.package_name == warehouse.manifest.metadata.project_name
        file = (project.root if is_own else Path(seed.root_path)) / seed.original_file_path
        rows = (
            f"select * from read_csv({quote_text(str(file))}, auto_detect = false, header = true, "  # noqa: S608
            f"delim = {quote_text(getattr(seed.config, 'delimiter', None) or ',')}, quote = '\"', "
            f"escape = '\"', columns = {{{columns}}})"
        )
        differing: str | None
        try:
            differing = Comparer(tables).differences(Comparison(ref, rows, relation))
        except duckdb.Error as error:  # whose message may quote the file
            differing = f"the file cannot be read ({type(error).__name__})"
            # It aborted the transaction, if dbt had begun one.
            with suppress(duckdb.TransactionException):
                tables.connection.rollback().begin()
        message = "the table is that of its committed file."
        if differing:
            message = f"the table must be that of its file; {differing}. Run `dbt build` again."
        yield Finding("recomputation", ref, not differing, message)


def changed_labels(
    warehouse: Warehouse, spec: Spec, node: Any, kinds: Mapping[str, str]
) -> Iterator[Finding]:
    """Require labels that are text; a frozen release keeps its labels."""
    levels = [column for column in kinds if column.startswith("level_")]
    not_text = [column for column in levels if not is_text(kinds[column])]
    if not not_text:
        return
    remedy = "Cast them to text in the model."
    if node.resource_type == "seed":
        form: Kind = "categorical" if "value" in kinds else "interval"
        remedy = SeedTypes.of_node(warehouse.manifest, node).remedy(form, len(levels))
    message = f"{RULE}; {', '.join(not_text)} are not. "
    if spec.is_frozen:
        message += "The frozen release keeps them until an effort is chosen anew. "
    yield Finding(
        "recomputation",
        f"labels of {node.name}",
        None if spec.is_frozen else False,
        message + remedy,
        is_warning=spec.is_frozen,
    )


def _surrounding_findings(
    warehouse: Warehouse, spec: Spec, root: Path, release: Path
) -> Iterator[Finding]:
    """Check the folder of the release file and the files of the vault."""
    declared = [
        node.config.meta.get("dbt_anonymize", {}) for node in warehouse.manifest.nodes.values()
    ]
    releases = {release}
    for meta in declared:
        if "folder" in meta:
            file = root / release_file(warehouse, meta["anonymization"])
            formats = meta.get("formats", ["duckdb"])
            copies = places_of_copies(file).items()
            releases |= {file.resolve()} | {
                path.resolve()
                for form, path in copies
                if is_copied(form, formats, has_about=bool(meta.get("about")))
            }
    yield check_folder(release.parent, _printed_path(release.parent, root), releases)
    if spec.mapping == "none":
        return
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers").database
    for name, file in warehouse.rows("select database_name, path from duckdb_databases()"):
        if name == vault and file is not None and (root / file).is_file():
            yield from check_vault((root / file).resolve(), root)


def _printed_path(path: Path, root: Path) -> str:
    return str(path.relative_to(root) if path.is_relative_to(root) else path)
