"""Outcome of a build, and the expected one of the same table under other names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import duckdb

from dbt_anonymize.relations import ALL
from tests.projects import Project
from tests.worlds.hostile import KINDS, NAME, Naming, quoted, spec_of

_QUASI_IDENTIFIERS = {"age": "age", "birth_day": "day", "city": "city", "job": "job"}
EFFORTS = range(1 + len(spec_of(Naming())["efforts"]))
_EVERY_PART = (
    "microdata",
    "frequencies",
    "population",
    "quasi_identifier_risk",
    "classes",
    "privacy",
    "information_loss",
    "risk_profile",
    "quality",
    "curves",
    "calibration",
    "confusion",
    "results",
    "alpha_ranges",
    "identifiers",
    *(f"recoding_{number}" for number in EFFORTS[3:]),
    *(f"effort_{number}" for number in EFFORTS),
    "anonymized",
)
# Those of an extension that is not here are not built.
_PARTS = tuple(part for part in _EVERY_PART if re.sub(r"_\d$", "", part) in ALL)
_WITH_EXTRA_COLUMNS = re.compile(r"microdata|effort_\d|anonymized|release")
_CLASS_COLUMNS = frozenset({"cqi", "equivalence_class"})
_TEXTS_OF_GUARANTEES = frozenset({"broken_guarantees", "reason"})
_TARGET_COLUMNS = frozenset({"class", "true_class", "predicted_class"})

Table = tuple[list[str], list[tuple[Any, ...]]]


@dataclass(frozen=True, repr=False)
class Found:
    """Columns and sorted rows of every relation and of the release, without extra columns."""

    tables: dict[str, Table]

    def __repr__(self) -> str:
        """Return little: hypothesis shows what it gives to a test."""
        return f"<{len(self.tables)} tables>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def outcome_of(project: Project, naming: Naming) -> Found:
    """Read what a build found."""
    with duckdb.connect(str(project.folder / project.warehouse)) as connection:
        vault = project.folder / "vault" / "vault.duckdb"
        release = project.folder / naming.release_folder / "dev" / f"{NAME}.duckdb"
        for path, alias in ((vault, "vault"), (release, "released")):
            literal = quoted(str(path), "'")
            connection.execute(f"attach {literal} as {alias} (read_only)")
        places = {
            str(table): ".".join(map(quoted, (database, schema, table)))
            for database, schema, table in connection.execute(
                "select table_catalog, table_schema, table_name from information_schema.tables"
                " where table_catalog <> 'released'"
            ).fetchall()
        }
        wanted = {part: places[f"{NAME}_{part}"] for part in _PARTS}
        wanted["release"] = f"released.main.{NAME}_anonymized"
        found = {}
        for part, place in wanted.items():
            cursor = connection.execute(f"select * from {place}")
            columns = [str(column[0]) for column in cursor.description or []]
            extra = set(naming.extra) if _WITH_EXTRA_COLUMNS.fullmatch(part) else set()
            assert extra <= set(columns)
            kept = [n for n, column in enumerate(columns) if column not in extra]
            rows = [tuple(_rounded(row[n]) for n in kept) for row in cursor.fetchall()]
            found[part] = ([columns[n] for n in kept], rows)
    return Found({part: _comparable(*table) for part, table in found.items()})


def renamed(plain: Found, naming: Naming) -> Found:
    """Return the outcome of the plain table as that of the same table under other names."""
    tables = {}
    for part, (columns, rows) in plain.tables.items():
        names = [naming.column(column) for column in columns]
        tables[part] = _comparable(
            names,
            [
                tuple(_renamed(naming, c, value) for c, value in zip(columns, row, strict=True))
                for row in rows
            ],
        )
    return Found(tables)


def _comparable(columns: list[str], rows: list[tuple[Any, ...]]) -> Table:
    # Two builds have two fingerprints, because names are in it.
    kept = [n for n, column in enumerate(columns) if column != "fingerprint"]
    return [columns[n] for n in kept], sorted((tuple(r[n] for n in kept) for r in rows), key=repr)


def _rounded(value: Any) -> Any:
    # Sums are in the order of hashes.
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _renamed(naming: Naming, column: str, value: Any) -> Any:
    """Return a value of a plain column as it is under other names."""
    if not isinstance(value, str):
        return value
    if column in _CLASS_COLUMNS:
        return _renamed_class(naming, value)
    if column in {*_TEXTS_OF_GUARANTEES, "levels_in_words"}:
        return _renamed_text(naming, column, value)
    if column in {"quasi_identifiers", "target"}:
        return ", ".join(map(naming.column, value.split(", ")))
    if column.removesuffix("_leaf") in _QUASI_IDENTIFIERS:
        return _renamed_label(naming, _QUASI_IDENTIFIERS[column.removesuffix("_leaf")], value)
    kind = "outcome" if column in _TARGET_COLUMNS else KINDS.get(column)
    return naming.text(kind, value) if kind else value


def _renamed_text(naming: Naming, column: str, value: str) -> str:
    """Return a text that names columns."""
    if column in _TEXTS_OF_GUARANTEES:
        return value.replace(" of illness (", f" of {naming.column('illness')} (")
    known = "|".join(map(re.escape, _QUASI_IDENTIFIERS))
    return re.sub(rf"\b({known})\b", lambda found: naming.column(found[0]), value)


def _renamed_label(naming: Naming, kind: str, label: str) -> str:
    """Return a label of whatever level; those of no hierarchy (bounds, the root) stay."""
    for domain in (kind, f"{kind} 1", f"{kind} 2"):
        if naming.knows(domain, label):
            return naming.text(domain, label)
    return label


def _renamed_class(naming: Naming, text: str) -> str:
    """Take a joined class apart and join it anew."""
    parts = []
    for column, kind in _QUASI_IDENTIFIERS.items():
        head, _, rest = text.lstrip("|").partition(":")
        length = int(head[1:])
        label = _renamed_label(naming, kind, rest[:length])
        assert head[0] == ("n" if column in {"age", "birth_day"} else "t")
        parts.append(f"{head[0]}{len(label)}:{label}")
        text = rest[length:]
    assert not text
    return "|".join(parts)
