"""What must hold between the keys of a spec.

The rules read a spec that may be wrong elsewhere: what is malformed is skipped here, because it is
reported where types are checked, so that one run shows every error and none of them twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.spec.problems import Problem, did_you_mean, names, shown

# Type of the pydantic error that stands for all problems found here.
BROKEN_RULES = "broken_rules"

ROLES = ("identifier", "quasi_identifier", "sensitive", "insensitive")
RESERVED_COLUMNS = frozenset(
    {"equivalence_class", "class_size", "is_suppressed", "cqi", "effort", "records"}
)
DERIVED_SUFFIXES = ("_lower", "_upper", "_leaf")
MEASURES_OF_ONE_CLASS = frozenset({"precision", "recall", "f1"})


@dataclass(frozen=True)
class Draft:
    """The well-formed parts of a spec; None stands for what is missing or malformed."""

    record_key: str | None
    roles: dict[str, str | None] | None
    levels: dict[str, int | None]
    target: str | None
    features: list[str]
    efforts: list[dict[str, Any] | None]
    quality: Mapping[str, Any]
    release_effort: int | None

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
        return cls(
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
            quality=_mapping(raw.get("quality")),
            release_effort=_integer(_mapping(raw.get("release")).get("effort")),
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
        f"{name}{suffix}".casefold(): name for name in draft.levels for suffix in DERIVED_SUFFIXES
    }
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
        if effort is None:
            continue
        yield from (
            Problem(
                ("efforts", number),
                f"must name a level for every quasi-identifier; {name} is missing",
                f"Add a level of {name}; 0 leaves its values as they are.",
            )
            for name in draft.levels
            if name not in effort
        )
        for name, level in effort.items():
            place = ("efforts", number, name)
            if name not in draft.levels:
                suggestion = did_you_mean(
                    name, draft.levels, f"Quasi-identifiers are {names(draft.levels)}."
                )
                yield Problem(place, "must be a quasi-identifier", suggestion, str(name))
                continue
            levels, level_number = draft.levels[name], _integer(level)
            if levels is not None and level_number is not None and level_number > levels:
                yield Problem(
                    place,
                    f"must be a level of its hierarchy, 0 to {levels}",
                    f"Lower it; {levels} is the root.",
                    shown(level),
                )


def _efforts_differ(draft: Draft) -> Iterator[Problem]:
    for number, effort in enumerate(draft.efforts, start=1):
        if not effort:
            continue
        if all(_integer(level) == 0 for level in effort.values()):
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


def _released_effort_exists(draft: Draft) -> Iterator[Problem]:
    last = len(draft.efforts)
    if draft.release_effort is not None and draft.release_effort > last > 0:
        yield Problem(
            ("release", "effort"),
            f"must be auto or an effort of this spec, 1 to {last}",
            "Write auto, or the number of an effort.",
            shown(draft.release_effort),
        )


def _positive_fits_the_measure(draft: Draft) -> Iterator[Problem]:
    measure, positive = draft.quality.get("measure"), draft.quality.get("positive")
    if not isinstance(measure, str):
        return
    if measure in MEASURES_OF_ONE_CLASS and positive is None:
        yield Problem(
            ("quality", "positive"),
            f"must name the class that {measure} is measured for",
            'Add the value of the target, for example positive: "yes".',
            "nothing",
        )
    if measure in {"accuracy", "balanced_accuracy"} and positive is not None:
        yield Problem(
            ("quality", "positive"),
            f"must be absent: {measure} is measured over all classes",
            "Remove it, or choose precision, recall or f1.",
            shown(positive),
        )


def _model_and_parameters_exist(draft: Draft) -> Iterator[Problem]:
    # Not at the top: knowing the parameters means importing scikit-learn, which takes seconds.
    from dbt_anonymize.evaluation.estimators import ESTIMATORS, valid_parameters  # noqa: PLC0415

    model, parameters = draft.quality.get("model"), _mapping(draft.quality.get("parameters"))
    if not isinstance(model, str):
        return
    if model not in ESTIMATORS:
        choice = f"Choose one of {names(ESTIMATORS)}."
        yield Problem(
            ("quality", "model"),
            "must be a model that we can train",
            did_you_mean(model, ESTIMATORS, choice),
            shown(model),
        )
    elif parameters:
        known = valid_parameters(model)
        for name in parameters:
            if name not in known:
                yield Problem(
                    ("quality", "parameters", str(name)),
                    f"must be a parameter of {model}",
                    did_you_mean(name, known, f"Its parameters are {names(known)}."),
                    str(name),
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
    _column_names_are_free,
    _quasi_identifiers_exist,
    _target_is_released,
    _features_are_usable,
    _efforts_name_the_quasi_identifiers,
    _efforts_differ,
    _released_effort_exists,
    _positive_fits_the_measure,
    _model_and_parameters_exist,
)
