"""Rules about linked tables: see `spec.rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt_anonymize.spec.draft import RawSpec, integer, items, mapping
from dbt_anonymize.spec.guarantee_rules import declared_guarantees
from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, short_repr

_BESIDE = "beside linked tables"
# What is not counted over several tables: what is declared, its place, what must hold, what to do.
_REFUSED: tuple[tuple[Callable[[RawSpec], object], KeyPath, str, str], ...] = (
    (
        lambda draft: draft.mapping != "token",
        ("mapping",),
        f"must be token {_BESIDE}, which lead to their subject by it",
        "Write mapping: token; each build draws new ones.",
    ),
    (
        lambda draft: draft.subject,
        ("subject",),
        f"must be absent {_BESIDE}: each row of the source is one person",
        "Make a table with one row per person, and link the other one.",
    ),
    (
        lambda draft: draft.freeze and draft.release.get("joiners") != "publish",
        ("release", "joiners"),
        f"must be publish {_BESIDE} where freeze is true: those who wait are judged without their "
        "linked records",
        "Write release: {joiners: publish}; whoever has two releases may then see who joined.",
    ),
    (
        lambda draft: draft.sample,
        ("sample",),
        f"must be absent {_BESIDE}, whose records are not sampled",
        "Remove it.",
    ),
    (
        lambda draft: draft.guarantees.get("differential_privacy"),
        ("guarantees", "differential_privacy"),
        f"must be absent {_BESIDE}, which it does not cover",
        "Remove it.",
    ),
    (
        lambda draft: draft.has_external_efforts,
        ("efforts",),
        f"must have no table of another tool {_BESIDE}: its rows are of nobody",
        "Remove it.",
    ),
    (
        lambda draft: draft.quality.get("outer_share"),
        ("quality", "outer_share"),
        f"must be absent {_BESIDE}, which are suppressed by all subjects",
        "Remove it.",
    ),
    (
        lambda draft: draft.quality.get("fit") == "per_split",
        ("quality", "fit"),
        f"must be once {_BESIDE}, which are suppressed by all subjects",
        "Write fit: once.",
    ),
    (
        lambda draft: {*items(draft.release.get("formats"))} - {"duckdb"},
        ("release", "formats"),
        f"must be duckdb {_BESIDE}: one file holds all tables",
        "Remove it.",
    ),
    (
        lambda draft: draft.release.get("recompute"),
        ("release", "recompute"),
        f"must be absent {_BESIDE}, which are not computed again before publishing",
        "Remove it; `dbt-anonymize verify` computes them again.",
    ),
)


def _tables(draft: RawSpec) -> dict[str, Mapping[str, Any]]:
    tables = mapping(mapping(draft.raw.get("linked")).get("tables"))
    return {str(name): mapping(table) for name, table in tables.items()}


def _no_table(place: KeyPath, name: str, tables: Mapping[str, object]) -> Problem:
    """Return the problem of a name that is none of the linked tables."""
    known = f"Linked tables are {', '.join(tables) or 'none'}."
    return Problem(place, "must be a linked table", did_you_mean(name, tables, known), name)


def _nothing_that_linked_tables_lack(draft: RawSpec) -> Iterator[Problem]:
    """Refuse what is not counted over several tables."""
    if draft.raw.get("linked") is None:
        return
    for is_declared, place, rule, remedy in _REFUSED:
        if is_declared(draft):
            yield Problem(place, rule, remedy)
    for number, effort in draft.efforts_with_keys:
        if effort.get("sample"):
            yield Problem(
                ("efforts", number, "sample"),
                f"must be absent {_BESIDE}, whose records are not sampled",
                "Remove it.",
            )


def _over(table: Mapping[str, Any]) -> str | None:
    """Return the table that it leads over, None if it leads to the subjects."""
    to = table.get("to_subject")
    return str(next(iter(to), "")) if isinstance(to, Mapping) else None


def _tables_lead_to_the_subjects(draft: RawSpec) -> Iterator[Problem]:
    tables = _tables(draft)
    for name, table in tables.items():
        place = ("linked", "tables", name, "to_subject")
        to = table.get("to_subject")
        if isinstance(to, Mapping) and len(to) != 1:
            yield Problem(
                place,
                "must be one path to the subject",
                "Name one column, or one by the name of the table that it leads over.",
                short_repr(dict(to)),
            )
            continue
        seen, over = {name}, _over(table)
        while over is not None and over in tables and over not in seen:
            seen.add(over)
            over = _over(tables[over])
        if over is not None and over not in tables:
            known = f"Linked tables are {names(tables)}."
            yield Problem(
                place, "must name a linked table", did_you_mean(over, tables, known), over
            )
        elif over is not None:
            yield Problem(
                place,
                "must lead to the subject; it leads in a circle",
                "Let one of the tables have the column with the key of the subject.",
            )


def _columns_are_generalized_or_kept(draft: RawSpec) -> Iterator[Problem]:
    for name, table in _tables(draft).items():
        place: KeyPath = ("linked", "tables", name)
        columns = {str(n): mapping(c) for n, c in mapping(table.get("columns")).items()}
        if name == "subjects":
            yield Problem(place, "must not be called subjects, as the source is", "Rename it.")
        if columns and not any(c.get("role") == "quasi_identifier" for c in columns.values()):
            yield Problem(
                (*place, "columns"),
                "must hold at least one quasi-identifier",
                "Name what somebody may know of a record.",
            )
        yield from _names_are_free(place, table, columns)


def _names_are_free(
    place: KeyPath, table: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """Refuse columns that stand there twice, or are called as one that we add."""
    to = table.get("to_subject")
    parent = next(iter(to.values()), None) if isinstance(to, Mapping) else to
    keys = {"key": table.get("key"), "to_subject": parent}
    added = {"token", "own_key", "subject_key"} | {
        f"{name}_key" for name in (str(place[-1]), _over(table) or "subject")
    }
    added |= {
        f"{name}{end}"
        for name, column in columns.items()
        if column.get("role") == "quasi_identifier"
        for end in ("_leaf", "_lower", "_upper")
    }
    for key, name in keys.items():
        if isinstance(name, str) and name in columns:
            yield Problem(
                (*place, "columns", name), f"must not repeat {key}", "Remove it from columns."
            )
    for name in columns:
        if name.casefold() in {one.casefold() for one in added}:
            yield Problem(
                (*place, "columns", name),
                "must not be the name of a column that we add",
                "Rename the column in a model before.",
            )


def _efforts_name_levels_of_all_tables(draft: RawSpec) -> Iterator[Problem]:
    tables = _tables(draft)
    for number, effort in enumerate(draft.efforts, start=1):
        declared = mapping((effort or {}).get("linked"))
        place: KeyPath = ("efforts", number, "linked")
        for name in declared:
            if name not in tables:
                yield _no_table((*place, str(name)), str(name), tables)
        for name, table in tables.items():
            yield from _level_problems((*place, name), mapping(declared.get(name)), table)


def _level_problems(
    place: KeyPath, levels: Mapping[str, Any], table: Mapping[str, Any]
) -> Iterator[Problem]:
    trees = {
        str(name): integer(mapping(mapping(column).get("hierarchy")).get("levels"))
        for name, column in mapping(table.get("columns")).items()
        if mapping(column).get("role") == "quasi_identifier"
    }
    if missing := [name for name in trees if name not in levels]:
        yield Problem(
            place,
            f"must name a level for every quasi-identifier; {', '.join(missing)} is missing",
            f"Write {place[-1]}: {{{missing[0]}: 1}}; 0 leaves its values as they are.",
        )
    for name, level in levels.items():
        if name not in trees:
            known = f"Quasi-identifiers are {names(trees)}."
            remedy = did_you_mean(str(name), trees, known)
            yield Problem((*place, str(name)), "must be a quasi-identifier", remedy)
        elif (height := trees[name]) is not None and (integer(level) or 0) > height:
            yield Problem(
                (*place, name),
                f"must be a level of its hierarchy, 0 to {height}",
                f"Lower it; {height} is the root.",
                short_repr(level),
            )


def _features_are_of_columns(draft: RawSpec) -> Iterator[Problem]:
    tables = _tables(draft)
    for name, features in mapping(mapping(draft.raw.get("linked")).get("features")).items():
        place: KeyPath = ("linked", "features", str(name))
        if name not in tables:
            yield _no_table(place, str(name), tables)
            continue
        columns = mapping(tables[name].get("columns"))
        mean = features.get("mean") if isinstance(features, Mapping) else ()
        for key, named, roles in (
            (
                "mean",
                [mean] if isinstance(mean, str) else items(mean),
                {"sensitive", "insensitive"},
            ),
            ("any", list(mapping(mapping(features).get("any"))), {"quasi_identifier"}),
        ):
            fitting = [n for n, c in columns.items() if mapping(c).get("role") in roles]
            for column in named:
                if column not in fitting:
                    known = f"Such columns are {names(fitting)}."
                    yield Problem(
                        (*place, key),
                        f"must name columns of {name} with the role {' or '.join(sorted(roles))}",
                        did_you_mean(str(column), fitting, known),
                        str(column),
                    )
    if mapping(mapping(draft.raw.get("linked")).get("features")) and not draft.quality:
        yield Problem(
            ("linked", "features"),
            "must be absent where no models are trained",
            "Remove it, or declare target, features, quality and alpha.",
        )


def _diversity_can_hold(draft: RawSpec) -> Iterator[Problem]:
    """Require of sensitive columns what makes diversity possible, and that there are any."""
    linked = mapping(draft.raw.get("linked"))
    diversity = integer(linked.get("l"))
    if diversity is None:
        return
    place: KeyPath = ("linked", "l")
    own = [name for name, role in (draft.roles or {}).items() if role == "sensitive"]
    of_records = [
        column
        for table in _tables(draft).values()
        for column in mapping(table.get("columns")).values()
        if mapping(column).get("role") == "sensitive"
    ]
    if not own and not of_records:
        yield Problem(
            place,
            "must be beside columns with the role sensitive; there is none",
            "Give a column of the people or of a linked table this role, or remove it.",
        )
    held = {
        str(one.get("attribute"))
        for at, one in declared_guarantees(draft)
        if "alpha_k_anonymity" in at
        and not one.get("values")
        and isinstance(alpha := one.get("alpha"), float)
        and alpha * diversity <= 1
    }
    for name in own:
        if name not in held:
            alpha = int(100 / diversity) / 100
            yield Problem(
                place,
                f"must be beside a guarantee that own values alone do not tell {name}",
                f"Write guarantees: {{alpha_k_anonymity: {{attribute: {name}, alpha: {alpha}, "
                "k: ...}}; alpha is at most 1 / l.",
            )


def _feature_names_are_free(draft: RawSpec) -> Iterator[Problem]:
    """Refuse features called as a column of the subjects, or as another feature."""
    taken = {name.casefold() for name in draft.roles or ()}
    for name, declared in mapping(mapping(draft.raw.get("linked")).get("features")).items():
        features = mapping(declared)
        mean = features.get("mean")
        of_columns = {
            "mean": [mean] if isinstance(mean, str) else items(mean),
            "any": mapping(features.get("any")),
        }
        called = [f"{name}_count"] if features.get("count") else []
        called += [
            f"{name}_{key}_{column}" for key, named in of_columns.items() for column in named
        ]
        for feature in called:
            if feature.casefold() in taken:
                yield Problem(
                    ("linked", "features", str(name)),
                    f"must not make a feature called as a column or another feature; {feature} is",
                    "Rename the column or the linked table.",
                )
            taken.add(feature.casefold())


RULES = (
    _nothing_that_linked_tables_lack,
    _tables_lead_to_the_subjects,
    _columns_are_generalized_or_kept,
    _efforts_name_levels_of_all_tables,
    _features_are_of_columns,
    _diversity_can_hold,
    _feature_names_are_free,
)
