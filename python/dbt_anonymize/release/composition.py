"""Composition: two releases together reveal who joined and who left.

Anybody with both files can subtract one from the other: records of a class in only one of them
joined or left, and k-anonymity does not protect groups of fewer than k.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from dbt_anonymize.errors import AnonymizeError, PublishError, safe_reason
from dbt_anonymize.literals import quote_name, quote_path
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.release.audit import open_file

_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*")
_IF_STRICT = (
    "Wait until more records joined, raise k, or accept it with `release: {composition: report}`."
)
_IF_REPORTED = (
    "It is published nevertheless; `release: {composition: strict}` would stop such a build. Do "
    "not give it to anybody who may have the earlier one. Next time wait until more records "
    "joined, or raise k."
)
_FREEZE = "Without `subject` or `linked`, `dbt-anonymize freeze` lets those who join or leave wait."
# Without the variable every target publishes.
UNNAMED_DRAFTS = (
    "If the earlier one was a draft that nobody else saw, name the targets that publish: "
    "`vars: {dbt_anonymize_published_targets: [prod]}` in dbt_project.yml."
)


@dataclass(frozen=True)
class Composition:
    """Comparison of a release with the one that it replaces.

    The labels of the quasi-identifiers make the classes, intervals with their bounds; ``k`` is the
    fewest records of a class. A remainder stops the build if ``is_strict``, else it is a warning.
    ``are_drafts_named``: the project declares which targets publish. Tables ``beside`` the release
    are compared by a ``function`` of a ``module``, which is given an engine, the databases of both
    releases, ``k`` and ``declared``, and yields what is wrong, in words.
    """

    quasi_identifiers: Sequence[str]
    k: int
    is_strict: bool = False
    are_drafts_named: bool = True
    beside: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Remainders:
    """Classes in which 1 to k - 1 records joined or left between two releases."""

    joined_classes: int
    joined_records: int
    left_classes: int
    left_records: int

    @property
    def text(self) -> str:
        """The counts in words, for messages."""
        return (
            f"{pluralized(self.joined_records, 'record')} joined in "
            f"{pluralized(self.joined_classes, 'class', 'classes')} and "
            f"{pluralized(self.left_records, 'record')} left in "
            f"{pluralized(self.left_classes, 'class', 'classes')}"
        )


def check_composition(
    session: DuckDBPyConnection, *, table: str, stage: Path, target: Path, composition: Composition
) -> None:
    """Compare a release that is about to be published with the file that it replaces.

    ``stage`` is closed and in a private folder, where rows are spilled. Nothing happens without a
    file at ``target``. A remainder, or files that cannot be compared, warn, or raise a
    `PublishError` if ``is_strict``.
    """
    if not target.is_file():
        return
    name, k = f"main.{quote_name(table)}", composition.k
    spill = str(stage.parent / "spill")
    try:
        with open_file(session, stage, access_mode="read_only", temp_directory=spill) as engine:
            engine.execute(f"attach {quote_path(target.absolute())} as published (read_only)")
            remainders = compare_releases(engine, f"published.{name}", name, composition)
            told = [remainders.text] if remainders.joined_classes or remainders.left_classes else []
            told += _compare_beside(engine, composition)
    except duckdb.Error as error:
        message = (
            f"{target} must be compared with the release that replaces it; it could not be "
            f"({safe_reason(error)}). Remove it if it is broken or of another table."
        )
    else:
        if not told:
            return
        message = (
            f"{target}: no class may differ from that of the published file by 1 to {k - 1} "
            f"records; {'; '.join(told)}. Whoever has both files sees who joined and who left. "
            f"{_IF_STRICT if composition.is_strict else _IF_REPORTED} {_FREEZE}"
        )
    if not composition.are_drafts_named:
        message += f" {UNNAMED_DRAFTS}"
    if composition.is_strict:
        raise PublishError(f"{message} The earlier release is unchanged.")
    _warn(message)


def _compare_beside(engine: DuckDBPyConnection, composition: Composition) -> Iterator[str]:
    if beside := composition.beside:
        compare = getattr(import_module(beside["module"]), beside["function"])
        ((later,),) = engine.execute("select current_database()").fetchall()
        try:
            yield from compare(engine, "published", later, composition.k, beside["declared"])
        except AnonymizeError as error:
            yield f"the tables beside it could not be compared ({error})"


def compare_releases(
    engine: DuckDBPyConnection, earlier: str, later: str, composition: Composition
) -> Remainders:
    """Count the classes that tell two releases apart by fewer than k records.

    In each class, the records of one release are subtracted from those of the other, as multisets
    over labels and shared kept columns. If the labels of a quasi-identifier changed, classes of
    common coarser labels are compared too, and the worse result counts. If both releases have
    tokens, these identify who joined and who left. A quasi-identifier without columns in one
    release is `*` there. Relations are quoted; the engine gets temporary tables.
    """
    earlier, later = _with_stars(engine, composition.quasi_identifiers, earlier, later)
    shared = _shared_columns(engine, earlier, later)
    labels = [
        [column for column in (name, f"{name}_lower", f"{name}_upper") if column in shared]
        for name in composition.quasi_identifiers
        if name in shared
    ]
    keys = [column for label in labels for column in label]
    kept = [column for column in shared if column not in {*keys, "cqi", "token"}]
    has_tokens = "token" in shared and _have_a_common_token(engine, earlier, later)
    if has_tokens:
        changes = " union all ".join(
            f"select {_columns(keys, shared)} {sign} as records from {relation} as released "
            f"anti join {other} as other using (token)"
            for sign, relation, other in ((1, later, earlier), (-1, earlier, later))
        )
    else:
        both = " union all ".join(
            f"select {_columns(keys + kept, shared)} {sign} as records from {relation}"
            for sign, relation in ((1, later), (-1, earlier))
        )
        changes = (
            f"select {_columns(keys + kept)} sum(records) as records from ({both}) group by all "
            "having sum(records) <> 0"
        )
    engine.execute(f"create or replace temporary table changes as {changes}")
    remainders = [_remainders(engine, "changes", keys, composition.k)]
    if not has_tokens:  # tokens do not depend on labels
        maps = [_map_labels(engine, label, shared, earlier, later) for label in labels]
        remainders.append(_coarse_remainders(engine, labels, maps, kept, composition.k))
    return max(remainders, key=lambda r: r.joined_classes + r.left_classes)


def _coarse_remainders(
    engine: DuckDBPyConnection,
    labels: Sequence[Sequence[str]],
    maps: Sequence[str | None],
    kept: Sequence[str],
    k: int,
) -> Remainders:
    """Compare the classes of the labels that both releases have in common."""
    mapped = list(zip(labels, maps, strict=True))
    joins = "".join(
        f" left join {quote_name(table)} using ({', '.join(map(quote_name, label))})"
        for label, table in mapped
        if table
    )
    classes = [name for label, table in mapped for name in ([table] if table else label)]
    coarse = (
        f"(select {_columns([*classes, *kept])} sum(records) as records from changes{joins} "
        "group by all)"
    )
    return _remainders(engine, coarse, classes, k)


def _warn(message: str) -> None:
    """Warn as dbt does: counted among its warnings, and an error with `--warn-error`."""
    from dbt.events.types import JinjaLogWarning  # noqa: PLC0415 (keeps other commands fast)
    from dbt_common.events.functions import warn_or_error  # noqa: PLC0415

    warn_or_error(JinjaLogWarning(msg=f"WARNING: {message}"))


def _columns(columns: Sequence[str], expressions: Mapping[str, str] | None = None) -> str:
    """Return columns as the beginning of a list, each followed by a comma."""
    quoted = zip(columns, map(quote_name, columns), strict=True)
    values = (f"{expressions[name]} as {own}" if expressions else own for name, own in quoted)
    return "".join(f"{value}, " for value in values)


def _with_stars(
    engine: DuckDBPyConnection, quasi_identifiers: Sequence[str], *pair: str
) -> Iterator[str]:
    """Yield both releases with the labels and bounds that one of them lacks, as those of `*`."""
    root = {"": "'*'", "_lower": "(select min({}) from {})", "_upper": "(select max({}) from {})"}
    for relation, other in (pair, pair[::-1]):
        own, others = (engine.sql(f"from {one}").columns for one in (relation, other))
        lacking = [name for name in quasi_identifiers if name not in own]
        ends = [(f"{name}{end}", sql) for name in lacking for end, sql in root.items()]
        missing = [(quote_name(c), sql) for c, sql in ends if c in {*others} - {*own}]
        stars = "".join(f", {sql.format(column, other)} as {column}" for column, sql in missing)
        yield f"(select *{stars} from {relation})"


def _shared_columns(engine: DuckDBPyConnection, *relations: str) -> dict[str, str]:
    """Return the SQL of each column that both relations have, cast where types differ."""
    described = (engine.sql(f"from {relation}") for relation in relations)
    types = [dict(zip(one.columns, map(str, one.types), strict=True)) for one in described]
    shared = {}
    for name, kind in types[1].items():
        if name in types[0]:
            kinds, quoted = (kind, types[0][name]), quote_name(name)
            is_same = kind == types[0][name] or all(map(_NUMBER.fullmatch, kinds))
            shared[name] = quoted if is_same else f"cast({quoted} as varchar)"
    return shared


def _have_a_common_token(engine: DuckDBPyConnection, earlier: str, later: str) -> bool:
    """Tell whether the releases share a token: after a rotation they share none."""
    return bool(engine.sql(f"from {later} semi join {earlier} using (token) limit 1").fetchall())


def _remainders(
    engine: DuckDBPyConnection, changes: str, classes: Sequence[str], k: int
) -> Remainders:
    few_joined, few_left = (f"{column} between 1 and {k - 1}" for column in ("joined", "gone"))
    (counts,) = engine.execute(
        f"select count(*) filter ({few_joined}), coalesce(sum(joined) filter ({few_joined}), 0), "
        f"count(*) filter ({few_left}), coalesce(sum(gone) filter ({few_left}), 0) from (select "
        "sum(greatest(records, 0)) as joined, sum(greatest(-records, 0)) as gone "
        f"from {changes} group by {', '.join(map(quote_name, classes)) or 'true'})"
    ).fetchall()
    return Remainders(*map(int, counts))


def _map_labels(
    engine: DuckDBPyConnection, label: Sequence[str], shared: Mapping[str, str], *relations: str
) -> str | None:
    """Map the labels of a quasi-identifier to common ones; None if both releases have the same.

    Overlapping intervals map to one that covers them. Texts without a hierarchy are unrelated:
    those in only one release map to the same label. If a release has only ``*``, all labels map to
    one; otherwise ``*`` maps to NULL.
    """
    name = f"{label[0]}, common label"
    table, common, column = quote_name(name), quote_name(name), quote_name(label[0])
    both = " union all ".join(
        f"select distinct {_columns(label, shared)} {side} as side from {relation}"
        for side, relation in enumerate(relations)
    )
    engine.execute(
        f"create or replace temporary table labels as select {_columns(label)} min(side) as side, "
        f"count(*) = 2 as is_common, {column} is not distinct from '*' as is_root from ({both}) "
        "group by all"
    )
    ((differing, is_all_root),) = engine.execute(
        "select count(*) filter (not is_common), "
        "coalesce(bool_and(is_root) filter (is_common or side = 0), true) or "
        "coalesce(bool_and(is_root) filter (is_common or side = 1), true) from labels"
    ).fetchall()
    if not differing:
        return None
    if is_all_root:
        select = f"select {_columns(label)} 0 as {common} from labels"
    elif len(label) == 3 and all(shared[bound] == quote_name(bound) for bound in label[1:]):
        lower, upper = map(quote_name, label[1:])
        order = f"order by {lower}, {upper} desc rows between unbounded preceding and"
        select = (
            f"select {_columns(label)} sum(starts) over ({order} current row) as {common} from "
            f"(select *, cast({lower} >= coalesce(max({upper}) over ({order} 1 preceding), {lower})"
            f" as integer) as starts from labels where not is_root) union all "
            f"select {_columns(label)} -1 from labels where is_root"
        )
    else:
        text = f"cast({column} as varchar)"
        select = (
            f"select {_columns(label)} case when is_common then {text} end as {common} from labels"
        )
    engine.execute(f"create or replace temporary table {table} as {select}")
    return name
