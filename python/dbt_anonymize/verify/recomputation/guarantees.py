"""Proof that a release keeps what its spec declares, counted again from the release alone.

Nothing of the build is trusted or reused: not its working tables, not its SQL, not its kernels. The
released rows are grouped by every label and bound as everybody sees them, and the definitions are
written again in ``recount``. What the release cannot tell is asked where it comes from:

- the distribution of a sensitive attribute in the whole table, from the source;
- people of a population, from its relation; labels and bounds, from the hierarchies;
- whose record it is, where a ``subject`` is declared: with ``mapping: class`` from vault and
  source, after every group of the vault has been proved to be a class of the release; with
  ``mapping: token`` every released record is a person of its own, which the tokens show; with
  ``mapping: none`` only if nobody has two records in the source. Otherwise it cannot be proved, and
  what cannot be proved does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation import models
from dbt_anonymize.verify.recomputation.counts import (
    People,
    counted_in_source,
    people_of_release,
    people_of_vault,
    read_totals,
)
from dbt_anonymize.verify.recomputation.labels import check_labels
from dbt_anonymize.verify.recomputation.limits import declared, exceeds
from dbt_anonymize.verify.recomputation.origin import check_origin, check_suppressed
from dbt_anonymize.verify.recomputation.population import population_of_classes
from dbt_anonymize.verify.recomputation.shape import (
    check_class_text,
    check_columns,
    check_file,
    check_folder,
    check_null_labels,
    check_row_order,
    check_tokens,
    check_vault,
)
from dbt_anonymize.verify.relations import (
    Released,
    attached_release,
    open_release,
    quoted,
    source_relation,
    text_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_PEOPLE = "whose the released records are"


@dataclass
class _Recount:
    """What the guarantees of one release are judged by; read once, when first needed."""

    warehouse: Warehouse
    spec: Spec
    released: Released
    people: People
    efforts: list[int]
    sizes: NDArray[Any]
    _distributions: dict[str, models.Distribution] = field(default_factory=dict)
    _populations: dict[int, NDArray[Any]] = field(default_factory=dict)

    def distribution(self, attribute: str) -> models.Distribution:
        if attribute not in self._distributions:
            totals = read_totals(self.warehouse, self.spec, attribute)
            self._distributions[attribute] = self.people.distribution(
                self.warehouse, self.spec, attribute, self.sizes, totals
            )
        return self._distributions[attribute]

    def populations(self) -> list[NDArray[Any]]:
        """People of the population by class, for every effort that the labels may be of."""
        return [self._population(effort) for effort in self.efforts]

    def _population(self, effort: int) -> NDArray[Any]:
        if effort not in self._populations:
            self._populations[effort] = population_of_classes(
                self.warehouse, self.spec, self.released, effort
            )
        return self._populations[effort]

    def levels(self, attribute: str) -> list[NDArray[Any]]:
        """Return the label of each value of the table at each level below the root, numbered."""
        hierarchy = self.spec.sensitive_hierarchies[attribute]
        tree = self.warehouse.relation_of_ref(hierarchy.ref)
        names = ["value", *(f"level_{level}" for level in range(1, hierarchy.levels))]
        columns = ", ".join(text_of(self.warehouse, name) for name in names)
        rows = self.warehouse.rows(f"select {columns} from {tree}")  # noqa: S608
        labels_of = {row[0]: row[1:] for row in rows}
        # A value that is not in the hierarchy is like no other; NULL is under the root.
        root = ("*",) * (hierarchy.levels - 1)
        texts = self.distribution(attribute).texts
        found = [
            root if text is None else labels_of.get(text, (("not in it", text),) * len(root))
            for text in texts
        ]
        numbered: list[NDArray[Any]] = []
        for level in range(hierarchy.levels - 1):
            numbers: dict[Any, int] = {}
            numbered.append(
                np.array([numbers.setdefault(row[level], len(numbers)) for row in found])
            )
        return numbered


def check_guarantees(
    warehouse: Warehouse,
    project: Project,
    spec: Spec,
    *,
    release: Path,
) -> list[Finding]:
    """Count every declared guarantee again, from the rows of a release.

    Parameters
    ----------
    warehouse : Warehouse
        With source, hierarchies, population and vault, for what the release cannot tell; DuckDB.
    project : Project
        Findings name files relative to its folder.
    spec : Spec
        The anonymization.
    release : Path
        The release file; nobody else in this process may have it open.

    Returns
    -------
    list of Finding
        About the form of the release (columns, file, labels, texts of the classes, order), about
        where its rows come from, and one for each declared guarantee. Where the columns are not
        those declared, nothing else can be counted and that is the only finding.

    Raises
    ------
    VerificationError
        If the release cannot be read.
    WarehouseError
        If source, hierarchies, population or vault cannot be read.
    """
    with open_release(spec, release) as released:
        shape = check_columns(spec, released)
        if not shape.holds:
            return [shape]
        columns = released.columns
        findings = [
            shape,
            *_check_files(warehouse, spec, released, root=project.root, release=release),
            *check_null_labels(spec, released),
            *check_class_text(spec, released),
            *check_tokens(spec, released),
            check_row_order(spec, released),
            check_suppressed(warehouse, spec, released),
        ]
        labels, efforts = check_labels(warehouse, spec, released)
        findings += labels
    with attached_release(warehouse, spec, release, columns) as released:
        findings.append(check_origin(warehouse, spec, released))
        people = _people(warehouse, spec, released, findings)
        findings += _judged(warehouse, spec, released, people, efforts)
    return findings


def _check_files(
    warehouse: Warehouse, spec: Spec, released: Released, *, root: Path, release: Path
) -> Iterator[Finding]:
    """Look at the release file, what lies beside it, and the vault."""
    root, path = root.resolve(), release.resolve()

    def shown(place: Path) -> str:
        return str(place.relative_to(root) if place.is_relative_to(root) else place)

    yield from check_file(spec, released, release, shown(path))
    paths = [
        node.config.meta.get("dbt_anonymize", {}).get("path")
        for node in warehouse.manifest.nodes.values()
    ]
    releases = {path, *((root / declared).resolve() for declared in paths if declared)}
    yield check_folder(path.parent, shown(path.parent), releases)
    if spec.mapping == "none":
        return
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers").database
    for name, file in warehouse.rows("select database_name, path from duckdb_databases()"):
        if name == vault and file is not None and (root / file).is_file():
            yield from check_vault((root / file).resolve(), root)


def _people(
    warehouse: Warehouse, spec: Spec, released: Released, findings: list[Finding]
) -> People | None:
    """Return what counts people; None where nothing proves whose the records are."""
    if spec.subject is None:
        return people_of_release(released, spec)
    if spec.mapping == "none":
        subject = quoted(warehouse, spec.subject)
        source = source_relation(warehouse, spec.source)
        ((repeated,),) = warehouse.rows(
            f"select count(*) - count(distinct {subject}) from {source}"  # noqa: S608
        )
        return None if repeated else people_of_release(released, spec)
    proved = {finding.subject: finding.holds for finding in findings}
    column = "cqi" if spec.mapping == "class" else "token"
    if not proved["origin"] or not proved[f"{spec.name}_anonymized.{column}"]:
        return None
    if spec.mapping == "class":
        return people_of_vault(warehouse, spec)
    return people_of_release(released, spec)


def _judged(
    warehouse: Warehouse,
    spec: Spec,
    released: Released,
    people: People | None,
    efforts: list[int],
) -> Iterator[Finding]:
    if people is None:
        for guarantee in spec.guarantees.resolved:
            yield Finding(
                "guarantees",
                _name(guarantee),
                False,
                f"it counts people, and nothing proves {_OF_PEOPLE}: what cannot be proved does "
                "not hold. Use mapping: class or token, and build again.",
            )
        return
    recount = _Recount(warehouse, spec, released, people, efforts, people.sizes())
    for guarantee in spec.guarantees.resolved:
        yield _judge(recount, guarantee)


def _judge(recount: _Recount, guarantee: Mapping[str, Any]) -> Finding:
    """Judge one guarantee."""
    sizes = recount.sizes
    unit = "people" if recount.spec.subject else "records"
    whole = _broken_as_a_whole(sizes, guarantee)
    if not len(sizes):
        return Finding("guarantees", _name(guarantee), False, "the release has no records.")
    if guarantee["model"] in {"k_map", "delta_presence"} and _needs_population(guarantee):
        if not recount.efforts:
            message = (
                "the population can be counted only by the levels of a declared effort, and the "
                "labels fit none. Build again."
            )
            return Finding("guarantees", _name(guarantee), False, message)
        broken = np.logical_or.reduce(
            [_breaks_in(sizes, of_class, guarantee) for of_class in recount.populations()]
        )
    else:
        broken = _breaks(recount, guarantee)
    number = int(broken.sum())
    about = f"smallest of {len(sizes):,} classes: {int(sizes.min()):,} {unit}"
    if not number and whole is None:
        return Finding("guarantees", _name(guarantee), True, f"holds; {about}.")
    reasons = [f"{number:,} of {len(sizes):,} classes break it"] if number else []
    reasons += [whole] if whole else []
    message = f"{', and '.join(reasons)}; {about}. Do not use this release; build again."
    return Finding("guarantees", _name(guarantee), False, message)


def _breaks(recount: _Recount, guarantee: Mapping[str, Any]) -> NDArray[Any]:
    """Tell which classes break a guarantee that needs no table of the population."""
    sizes, model = recount.sizes, guarantee["model"]
    if model == "k_anonymity":
        return models.too_small(sizes, guarantee["k"])
    if model == "k_map":
        size = recount.spec.population_size
        assert size is not None
        source = source_relation(recount.warehouse, recount.spec.source)
        counted = counted_in_source(recount.warehouse, recount.spec)
        ((everybody,),) = recount.warehouse.rows(f"select {counted} from {source}")  # noqa: S608
        return models.too_small(sizes, models.derived_k(guarantee, int(everybody), size))
    if model == "reidentification_risk" and "highest" in guarantee:
        return exceeds(np.ones_like(sizes), sizes, declared(guarantee["highest"]))
    if "attribute" not in guarantee:
        return np.zeros(len(sizes), dtype=bool)
    return _breaks_of_attribute(recount, guarantee)


def _breaks_of_attribute(recount: _Recount, guarantee: Mapping[str, Any]) -> NDArray[Any]:
    """Tell which classes break a guarantee about a sensitive attribute."""
    distribution = recount.distribution(guarantee["attribute"])
    is_tree = guarantee.get("distance") == "hierarchical"
    levels = recount.levels(guarantee["attribute"]) if is_tree else []
    return models.BREAKS[guarantee["model"]](distribution, guarantee, levels)


def _needs_population(guarantee: Mapping[str, Any]) -> bool:
    return "estimator" not in guarantee


def _breaks_in(
    sizes: NDArray[Any], population: NDArray[Any], guarantee: Mapping[str, Any]
) -> NDArray[Any]:
    if guarantee["model"] == "k_map":
        return models.too_small(population, guarantee["k"])
    return models.breaks_presence(sizes, population, guarantee)


def _broken_as_a_whole(sizes: NDArray[Any], guarantee: Mapping[str, Any]) -> str | None:
    """Say how all classes together break a guarantee; None where they do not."""
    people = int(sizes.sum())
    if not people or "average" not in guarantee:
        return None
    classes, limit = np.array([len(sizes)]), declared(guarantee["average"])
    if not exceeds(classes, np.array([people]), limit)[0]:
        return None
    return f"the average risk is that of {len(sizes):,} classes for {people:,}"


def _name(guarantee: Mapping[str, Any]) -> str:
    """Return a guarantee in words: its parameters but for values of the data."""
    parameters = ", ".join(
        f"{name} {value}" for name, value in guarantee.items() if name not in {"model", "values"}
    )
    return f"{guarantee['model']} ({parameters})"
