"""What must hold between the keys of a spec.

The rules read a spec that may be wrong elsewhere: what is malformed is skipped here, because it is
reported where types are checked, so that one run shows every error and none of them twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.spec.efforts import levels_alone
from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, shown
from dbt_anonymize.spec.quality_rules import choice_violations, quality_violations

# Type of the pydantic error that stands for all problems found here.
BROKEN_RULES = "broken_rules"

ROLES = ("identifier", "quasi_identifier", "sensitive", "insensitive")
RESERVED_COLUMNS = frozenset(
    {
        "class_size",
        "cqi",
        "effort",
        "entropy_based",  # its loss would be a second entropy_based_loss
        "equivalence_class",
        "has_majority",
        "is_suppressed",
        "is_violating",
        "majority_records",
        "people_up_to",
        "population_size",
        "position_by_size",
        "records",
        "subject",
        "token",
    }
)
# Columns that we add for a column of the role.
DERIVED_SUFFIXES = {
    "quasi_identifier": ("_lower", "_upper", "_leaf", "_level", "_share"),
    "sensitive": (
        "_beta",
        "_delta",
        "_distinct_l",
        "_enhanced_beta",
        "_entropy_l",
        "_grassberger_l",
        "_hierarchical_t",
        "_limited_share",
        "_highest_share",
        "_ordered_t",
        "_recursive_c",
        "_t",
    ),
}
# Our own relations: `<name>_<suffix>` of an anonymization, and the history of all. Numbers of
# efforts change with every search, so those of efforts that do not exist yet count too.
OWN_RELATIONS = re.compile(
    r"alpha_ranges|anonymized|attacks|calibration|classes|confusion|curves|evaluation|frequencies|"
    r"identifiers|information_loss|lattice|microdata|population|privacy|quality|"
    r"quasi_identifier_risk|relinkings|results|risk_profile|scores|tokens|(effort|recoding)_\d+"
)
HISTORY = "anonymization_results"


@dataclass(frozen=True)
class Draft:
    """The well-formed parts of a spec; None stands for what is missing or malformed."""

    name: str | None
    refs: dict[KeyPath, str]
    record_key: str | None
    roles: dict[str, str | None] | None
    levels: dict[str, int | None]
    target: str | None
    features: list[str]
    efforts: list[dict[str, Any] | None]
    guarantees: Mapping[str, Any]
    subject: str | None
    population: Mapping[str, Any]
    nested: dict[str, bool]
    trees: dict[str, int | None]
    search_levels: Mapping[str, Any]
    quality: Mapping[str, Any]
    choose: str | None
    release_effort: int | None
    release_access: str
    mapping: str
    relinking: Mapping[str, Any] | None

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Draft:
        """Take what is well-formed."""
        columns = {
            name: column if isinstance(column, Mapping) else {}
            for name, column in _mapping(raw.get("columns")).items()
            if isinstance(name, str)
        }
        roles = {
            name: str(column["role"]) if column.get("role") in ROLES else None
            for name, column in columns.items()
        }
        places: dict[KeyPath, object] = {("source",): raw, ("population",): raw}
        places |= {("columns", name, "hierarchy"): column for name, column in columns.items()}
        refs = {
            (*place, "ref"): _text(_mapping(_mapping(holder).get(place[-1])).get("ref"))
            for place, holder in places.items()
        }
        return cls(
            name=_text(raw.get("name")),
            refs={place: ref for place, ref in refs.items() if ref is not None},
            record_key=_text(raw.get("record_key")),
            roles=roles if isinstance(raw.get("columns"), Mapping) else None,
            levels={
                name: _integer(_mapping(column.get("hierarchy")).get("levels"))
                for name, column in columns.items()
                if roles[name] == "quasi_identifier"
            },
            target=_text(raw.get("target")),
            features=[item for item in _items(raw.get("features")) if isinstance(item, str)],
            efforts=[
                dict(item) if isinstance(item, Mapping) else None
                for item in _items(raw.get("efforts"))
            ],
            guarantees=_mapping(raw.get("guarantees")),
            subject=_text(raw.get("subject")),
            population=_mapping(raw.get("population")),
            nested={
                name: _mapping(column.get("hierarchy")).get("nested") is not False
                for name, column in columns.items()
                if roles[name] == "quasi_identifier"
            },
            trees={
                name: _integer(_mapping(column["hierarchy"]).get("levels"))
                for name, column in columns.items()
                if column.get("hierarchy")
            },
            search_levels=_mapping(_mapping(raw.get("search")).get("levels")),
            quality=_mapping(raw.get("quality")),
            choose=_text(raw.get("choose")),
            release_effort=_integer(_mapping(raw.get("release")).get("effort")),
            release_access=_text(_mapping(raw.get("release")).get("access")) or "protected",
            mapping=_text(raw.get("mapping")) or "class",
            relinking=None if raw.get("relinking") is None else _mapping(raw["relinking"]),
        )

    @property
    def has_all_roles(self) -> bool:
        """Whether every column is known with its role."""
        return self.roles is not None and None not in self.roles.values()


def violations(raw: Mapping[str, Any]) -> list[Problem]:
    """Return every rule between keys that a spec breaks.

    Parameters
    ----------
    raw : mapping
        The spec as read from YAML, possibly malformed.

    Returns
    -------
    list of Problem
        Empty if the spec is sound.

    Examples
    --------
    >>> columns = {"id": {"role": "insensitive"}}
    >>> [problem.rule for problem in violations({"record_key": "id", "columns": columns})]
    ['must not repeat the record key', 'must hold at least one quasi-identifier']
    """
    draft = Draft.read(raw)
    return [problem for rule in _RULES for problem in rule(draft)]


def _names_of_relations_are_free(draft: Draft) -> Iterator[Problem]:
    """Check names of what is read without regard to case, which SQL engines fold."""
    if draft.name is None:
        return
    prefix = f"{draft.name}_".casefold()
    for place, ref in draft.refs.items():
        folded = ref.casefold()
        is_own = folded.startswith(prefix) and OWN_RELATIONS.fullmatch(folded[len(prefix) :])
        if is_own or folded == HISTORY:
            yield Problem(
                place,
                f"must not be the name of a relation that we build for {draft.name}",
                "Rename the model or seed, or the anonymization.",
                ref,
            )


def _quasi_identifiers_exist(draft: Draft) -> Iterator[Problem]:
    if draft.roles and draft.has_all_roles and not draft.levels:
        yield Problem(
            ("columns",),
            "must hold at least one quasi-identifier",
            "Give a column that others could know the role quasi_identifier and a hierarchy.",
            names(sorted({str(role) for role in draft.roles.values()})),
        )


def _column_names_are_free(draft: Draft) -> Iterator[Problem]:
    """Check names without regard to case, which SQL engines fold."""
    places = {name: ("columns", name) for name in draft.roles or {} if name != draft.record_key} | (
        {draft.record_key: ("record_key",)} if draft.record_key else {}
    )
    if draft.record_key in (draft.roles or {}):
        yield Problem(
            ("columns", str(draft.record_key)),
            "must not repeat the record key",
            "Remove it from columns.",
        )
    derived = {
        f"{name}{suffix}".casefold(): name
        for name, role in (draft.roles or {}).items()
        for suffix in DERIVED_SUFFIXES.get(str(role), ())
    }
    yield from _derived_names_differ(draft)
    seen: dict[str, str] = {}
    for name, place in places.items():
        folded = name.casefold()
        rename = "Rename the column in a model before."
        if folded in RESERVED_COLUMNS:
            reserved = names(sorted(RESERVED_COLUMNS))
            yield Problem(place, f"must not be one of our own columns ({reserved})", rename, name)
        if folded in derived:
            yield Problem(
                place,
                f"must not be the name of a column that we add for {derived[folded]}",
                rename,
                name,
            )
        if folded in seen:
            yield Problem(
                place, f"must differ from {seen[folded]} in more than upper and lower case", rename
            )
        seen.setdefault(folded, name)


def _derived_names_differ(draft: Draft) -> Iterator[Problem]:
    """Check that no two columns that we add have one name: a guarantee would read the wrong one."""
    owners: dict[str, str] = {}
    for name, role in (draft.roles or {}).items():
        for suffix in DERIVED_SUFFIXES.get(str(role), ()):
            owner = owners.setdefault(f"{name}{suffix}".casefold(), name)
            if owner != name:
                yield Problem(
                    ("columns", name),
                    f"must differ from {owner} in more than what we add to names: both would have "
                    f"a column {name}{suffix}",
                    "Rename one of them in a model before.",
                    name,
                )


def _target_is_released(draft: Draft) -> Iterator[Problem]:
    if draft.target is None or draft.roles is None:
        return
    role = draft.roles.get(draft.target)
    if draft.target not in draft.roles:
        yield _unknown_column(("target",), draft.target, draft)
    elif role in {"identifier", "quasi_identifier"}:
        yield Problem(
            ("target",),
            "must be a sensitive or insensitive column: it is released as it is",
            "Choose another target, or another role for this column.",
            f"{draft.target}, which is {role}",
        )


def _features_are_usable(draft: Draft) -> Iterator[Problem]:
    roles = draft.roles
    if roles is None:
        return
    for number, name in enumerate(draft.features, start=1):
        place = ("features", number)
        if name in draft.features[: number - 1]:
            yield Problem(place, "must name each column once", "Remove it.", name)
        elif name == draft.target:
            yield Problem(place, "must not be the target", "Remove it.", name)
        elif name == draft.record_key:
            yield Problem(place, "must not be the record key", "Remove it.", name)
        elif name not in roles:
            yield _unknown_column(place, name, draft)
        elif roles[name] == "identifier":
            yield Problem(
                place,
                "must not be an identifier: identifiers leave the vault in no form",
                "Remove it, or give the column another role.",
                name,
            )


def _efforts_name_the_quasi_identifiers(draft: Draft) -> Iterator[Problem]:
    if not draft.has_all_roles:
        return
    for number, effort in enumerate(draft.efforts, start=1):
        for place, levels in _level_vectors(number, effort):
            yield from _levels_problems(place, levels, draft)


def _level_vectors(number: int, effort: object) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield every mapping of quasi-identifiers to levels of an effort, and where it stands."""
    if not isinstance(effort, Mapping):
        return
    if levels_alone(effort):
        yield ("efforts", number), effort
        return
    if isinstance(effort.get("levels"), Mapping):
        yield ("efforts", number, "levels"), effort["levels"]
    for position, levels in enumerate(_items(effort.get("rounds")), start=1):
        if isinstance(levels, Mapping):
            yield ("efforts", number, "rounds", position), levels


def _levels_problems(place: KeyPath, vector: Mapping[str, Any], draft: Draft) -> Iterator[Problem]:
    yield from (
        Problem(
            place,
            f"must name a level for every quasi-identifier; {name} is missing",
            f"Add a level of {name}; 0 leaves its values as they are.",
        )
        for name in draft.levels
        if name not in vector
    )
    for name, level in vector.items():
        if name not in draft.levels:
            suggestion = did_you_mean(
                name, draft.levels, f"Quasi-identifiers are {names(draft.levels)}."
            )
            yield Problem((*place, name), "must be a quasi-identifier", suggestion, str(name))
            continue
        levels, level_number = draft.levels[name], _integer(level)
        if levels is not None and level_number is not None and level_number > levels:
            yield Problem(
                (*place, name),
                f"must be a level of its hierarchy, 0 to {levels}",
                f"Lower it; {levels} is the root.",
                shown(level),
            )


def _efforts_differ(draft: Draft) -> Iterator[Problem]:
    for number, effort in enumerate(draft.efforts, start=1):
        if not effort:
            continue
        if any(
            levels and all(_integer(level) == 0 for level in levels.values())
            for place, levels in _level_vectors(number, effort)
            if "rounds" not in place
        ):
            yield Problem(
                ("efforts", number),
                "must generalize something: level 0 everywhere is the untouched source",
                "Remove it; the baseline is always computed as effort 0.",
            )
        elif effort in draft.efforts[: number - 1]:
            other = draft.efforts.index(effort) + 1
            yield Problem(
                ("efforts", number), f"must differ from effort {other}", "Remove one of them."
            )


def _efforts_demand_at_least_k(draft: Draft) -> Iterator[Problem]:
    required = _integer(_mapping(draft.guarantees.get("k_anonymity")).get("k"))
    for number, effort in enumerate(draft.efforts, start=1):
        k = None if not effort or levels_alone(effort) else _integer(effort.get("k"))
        if k is not None and required is not None and k < required:
            yield Problem(
                ("efforts", number, "k"),
                f"must be at least the k that is guaranteed, {required}",
                "Raise it, or remove it.",
                shown(k),
            )


def _recoding_needs_nested_hierarchies(draft: Draft) -> Iterator[Problem]:
    scattered = [name for name, nested in draft.nested.items() if not nested]
    for number, effort in enumerate(draft.efforts, start=1):
        if effort and not levels_alone(effort) and effort.get("recoding") == "multidimensional":
            yield from (
                Problem(
                    ("efforts", number, "recoding"),
                    f"must be full_domain where a hierarchy is not nested; that of {name} is not",
                    "Make the hierarchy nested, or write levels.",
                )
                for name in scattered
            )


def _recoding_has_no_population(draft: Draft) -> Iterator[Problem]:
    """Check that nobody outside the source is counted where labels differ per record."""
    counted = [
        str(place[1])
        for place, guarantee in _guarantees(draft)
        if place[1] == "delta_presence"
        or (place[1] == "k_map" and guarantee.get("estimator") is None)
    ]
    for number, effort in enumerate(draft.efforts, start=1):
        if not counted or not effort or levels_alone(effort):
            continue
        if effort.get("recoding") in {"local", "multidimensional"}:
            yield Problem(
                ("efforts", number, "recoding"),
                f"must be full_domain with the guarantee {counted[0]}, which counts people outside "
                "the source: they have no record in a recoding that differs per record",
                "Write levels, or remove the guarantee; k_map can have an estimator instead.",
                str(effort["recoding"]),
            )


def _guarantees_name_sensitive_columns(draft: Draft) -> Iterator[Problem]:
    if not draft.has_all_roles:
        return
    sensitive = [name for name, role in (draft.roles or {}).items() if role == "sensitive"]
    for place, guarantee in _guarantees(draft):
        attribute = guarantee.get("attribute")
        if not isinstance(attribute, str):
            continue
        if attribute not in sensitive:
            yield Problem(
                (*place, "attribute"),
                "must be a column of role sensitive",
                did_you_mean(attribute, sensitive, f"Sensitive columns are {names(sensitive)}."),
                shown(attribute),
            )
        elif guarantee.get("distance") == "hierarchical" and attribute not in draft.trees:
            yield Problem(
                (*place, "distance"),
                f"must be equal or ordered where the sensitive column has no hierarchy; {attribute}"
                " has none",
                f"Add a categorical hierarchy to columns.{attribute}, or change the distance.",
                "hierarchical",
            )
        elif guarantee.get("distance") == "hierarchical" and draft.trees[attribute] == 1:
            yield Problem(
                (*place, "distance"),
                "must be equal where the hierarchy of the sensitive column has one level: all of "
                "its values are equally far from each other",
                "Write equal, or add a level between the values and the root.",
                "hierarchical",
            )


def _guarantees_differ(draft: Draft) -> Iterator[Problem]:
    """Check that nothing is limited twice: each measure of an attribute has one column."""
    seen: set[tuple[object, ...]] = set()
    for place, guarantee in _guarantees(draft):
        what = (
            place[1],
            str(guarantee.get("attribute")),
            str(guarantee.get("variant")),
            str(guarantee.get("distance")),
            str(guarantee.get("estimator")),
        )
        if what in seen:
            yield Problem(
                place, "must not limit the same measure twice", "Keep the stronger one of them."
            )
        seen.add(what)


def _populations_are_declared(draft: Draft) -> Iterator[Problem]:
    has_relation = bool(draft.population.get("ref") or draft.population.get("source"))
    has_size = _integer(draft.population.get("size")) is not None
    for place, guarantee in _guarantees(draft):
        model = place[1]
        estimates = guarantee.get("estimator") is not None
        if (model == "delta_presence" or (model == "k_map" and not estimates)) and not has_relation:
            yield Problem(
                place,
                "must have a table of the population to count in",
                "Add population: {ref: ...}, with the same quasi-identifiers as the source.",
            )
        if model == "k_map" and estimates and not has_size:
            yield Problem(
                place,
                "must have the size of the population to estimate from",
                "Add population: {size: ...}, the number of people among whom an attacker looks.",
            )


def _subject_is_an_identifier(draft: Draft) -> Iterator[Problem]:
    if draft.subject is None or draft.roles is None:
        return
    role = draft.roles.get(draft.subject)
    if draft.subject not in draft.roles:
        yield _unknown_column(("subject",), draft.subject, draft)
    elif role is not None and role != "identifier":
        yield Problem(
            ("subject",),
            "must be a column of role identifier: it leads to one person",
            "Give the column this role, or choose another subject.",
            f"{draft.subject}, which is {role}",
        )


def _search_bounds_are_levels(draft: Draft) -> Iterator[Problem]:
    if not draft.has_all_roles:
        return
    for name, bounds in draft.search_levels.items():
        place: KeyPath = ("search", "levels", str(name))
        if name not in draft.levels:
            suggestion = did_you_mean(
                name, draft.levels, f"Quasi-identifiers are {names(draft.levels)}."
            )
            yield Problem(place, "must be a quasi-identifier", suggestion, str(name))
            continue
        levels = draft.levels[name]
        lowest = _integer(_mapping(bounds).get("lowest", 0))
        highest = _integer(_mapping(bounds).get("highest", levels))
        if levels is not None and lowest is not None and highest is not None:
            if max(lowest, highest) > levels:
                yield Problem(
                    place, f"must be levels of its hierarchy, 0 to {levels}", "Lower them."
                )
            elif lowest > highest:
                yield Problem(place, "must have lowest <= highest", "Exchange them.")


def _guarantees(draft: Draft) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield every declared guarantee that is a mapping, and where it stands."""
    for model, declared in draft.guarantees.items():
        if isinstance(declared, Mapping):
            yield ("guarantees", str(model)), declared
        for position, guarantee in enumerate(_items(declared), start=1):
            if isinstance(guarantee, Mapping):
                yield ("guarantees", str(model), position), guarantee


def _released_effort_exists(draft: Draft) -> Iterator[Problem]:
    last = len(draft.efforts)
    if draft.release_effort is not None and draft.release_effort > last > 0:
        yield Problem(
            ("release", "effort"),
            f"must be auto or an effort of this spec, 1 to {last}",
            "Write auto, or the number of an effort.",
            shown(draft.release_effort),
        )


def _tokens_are_not_public(draft: Draft) -> Iterator[Problem]:
    """Check that nobody outside gets rows that can be joined person by person."""
    if draft.mapping == "token" and draft.release_access == "public":
        yield Problem(
            ("mapping",),
            "must be class or none where release.access is public: a token is the same in every "
            "release, so that whoever has two of them knows which rows are of one person",
            "Write mapping: class, or release: {access: protected}.",
            "token",
        )


def _relinking_has_a_way_back(draft: Draft) -> Iterator[Problem]:
    if draft.relinking is None:
        return
    if draft.mapping == "none":
        yield Problem(
            ("relinking",),
            "must not be declared with mapping none, which stores no way back to people",
            "Remove it, or write mapping: class.",
        )
    required = _integer(_mapping(draft.guarantees.get("k_anonymity")).get("k"))
    k = _integer(draft.relinking.get("k"))
    if k is not None and required is not None and k < required:
        yield Problem(
            ("relinking", "k"),
            f"must be at least the k that is guaranteed, {required}",
            "Raise it, or remove it.",
            shown(k),
        )


def _quality_is_measurable(draft: Draft) -> Iterator[Problem]:
    if not draft.quality:
        return
    yield from quality_violations(draft.quality, draft.roles or {})
    if draft.release_effort is None:
        yield from choice_violations(draft.quality, draft.choose)
    others = [*_mapping(draft.quality.get("further_targets")), draft.quality.get("time")]
    for number, name in enumerate(draft.features, start=1):
        if name in others:
            yield Problem(
                ("features", number),
                "must not be predicted, nor the time until an event",
                "Remove it from features or from quality.",
                name,
            )
    if draft.target is not None and draft.target in others:
        yield Problem(
            ("quality",), "must not name the target again", "Name another column.", draft.target
        )
    if draft.quality.get("fit") == "per_split" and any(
        effort is not None and effort.get("recoding", "full_domain") != "full_domain"
        for effort in draft.efforts
    ):
        yield Problem(
            ("quality", "fit"),
            "must be once where an effort is recoded: its levels differ per record and are not "
            "declared, so they cannot be found again for the training records alone",
            "Write fit: once, or efforts with levels.",
            "per_split",
        )


def _unknown_column(place: tuple[str | int, ...], name: str, draft: Draft) -> Problem:
    known = list(draft.roles or {})
    return Problem(
        place,
        "must be a declared column",
        did_you_mean(name, known, f"Declared columns are {names(known)}."),
        shown(name),
    )


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_RULES: tuple[Callable[[Draft], Iterator[Problem]], ...] = (
    _names_of_relations_are_free,
    _column_names_are_free,
    _quasi_identifiers_exist,
    _target_is_released,
    _features_are_usable,
    _efforts_name_the_quasi_identifiers,
    _efforts_differ,
    _efforts_demand_at_least_k,
    _recoding_needs_nested_hierarchies,
    _recoding_has_no_population,
    _guarantees_name_sensitive_columns,
    _guarantees_differ,
    _populations_are_declared,
    _subject_is_an_identifier,
    _search_bounds_are_levels,
    _released_effort_exists,
    _tokens_are_not_public,
    _relinking_has_a_way_back,
    _quality_is_measurable,
)
