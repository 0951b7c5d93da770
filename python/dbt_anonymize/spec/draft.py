"""The well-formed parts of a spec that may be wrong, for the rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_anonymize.spec.efforts import FULL_DOMAIN, is_shorthand
from dbt_anonymize.spec.problems import KeyPath, Problem, names, unknown
from dbt_anonymize.spec.quality import task_of_measure
from dbt_anonymize.spec.tested import KEYS

# Placeholder that `init` writes where somebody must decide.
UNDECIDED = "TODO"
ROLES = ("identifier", "quasi_identifier", "sensitive", "insensitive", "masked", "dropped")


class RawSpec:
    """The well-formed parts of a spec as read from YAML; None is missing or malformed."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        columns = {
            name: mapping(column)
            for name, column in mapping(raw.get("columns")).items()
            if isinstance(name, str)
        }
        hierarchies = {name: mapping(column.get("hierarchy")) for name, column in columns.items()}
        roles = {
            name: str(column["role"]) if column.get("role") in ROLES else None
            for name, column in columns.items()
        }
        self.roles = roles if isinstance(raw.get("columns"), Mapping) else None
        self.derived_from = {n: of for n, c in columns.items() if (of := c.get("derived_from"))}
        self.masks = {
            name: {kind: value for kind, value in mapping(mask).items() if value is not None}
            for name, column in columns.items()
            if (mask := column.get("mask"))
        }
        self.data_types = {n: kind for n, c in columns.items() if (kind := c.get("data_type"))}
        self.trees = {n: integer(tree.get("levels")) for n, tree in hierarchies.items() if tree}
        # By quasi-identifier.
        trees = {n: hierarchies[n] for n, role in roles.items() if role == "quasi_identifier"}
        self.levels = {name: integer(tree.get("levels")) for name, tree in trees.items()}
        self.kinds = {name: text(tree.get("kind")) for name, tree in trees.items()}
        self.nested = {name: tree.get("nested") is not False for name, tree in trees.items()}

        # The whole spec, for keys of extensions.
        self.raw = raw
        self.name = text(raw.get("name"))
        self.refs = _refs(raw)
        self.record_key = text(raw.get("record_key"))
        self.subject = text(raw.get("subject"))
        self.consent = text(raw.get("consent"))
        self.population = mapping(raw.get("population"))
        self.sample = mapping(raw.get("sample"))
        # Somebody wrote an empty list; an empty tuple is the default.
        self.model_keys = [key for key in KEYS if raw.get(key) not in (None, ())]
        self.target = text(raw.get("target"))
        self.features = texts(raw.get("features"))
        self.efforts = [
            dict(effort) if isinstance(effort, Mapping) else None
            for effort in items(raw.get("efforts"))
        ]
        self.guarantees = mapping(raw.get("guarantees"))
        self.required_k = integer(mapping(self.guarantees.get("k_anonymity")).get("k"))
        self.suppression_limit = raw.get("suppression_limit")
        self.quality = mapping(raw.get("quality"))
        measure = text(self.quality.get("measure"))
        self.task = None if measure is None else task_of_measure(measure)
        self.choose = text(raw.get("choose"))
        self.freeze = raw.get("freeze") is True
        self.release = mapping(raw.get("release"))
        self.release_effort = integer(self.release.get("effort"))
        self.left_out = texts(self.release.get("leave_out"))
        self.mapping = text(raw.get("mapping")) or "class"
        self.loss_targets = mapping(mapping(raw.get("information_loss")).get("targets"))
        self.details = texts(raw.get("details"))

    @property
    def efforts_with_keys(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Number and content of each effort that is not written as its levels alone."""
        for number, effort in enumerate(self.efforts, start=1):
            if effort and not is_shorthand(effort):
                yield number, effort

    @property
    def has_external_efforts(self) -> bool:
        """Tell whether an effort is a relation of another tool."""
        return any(effort.get("relation") for _, effort in self.efforts_with_keys)

    @staticmethod
    def differs_by_record(effort: Mapping[str, Any]) -> bool:
        """Tell whether an effort gives records levels of their own."""
        return bool(effort.get("recoding", FULL_DOMAIN) != FULL_DOMAIN)

    @property
    def has_all_roles(self) -> bool:
        """Tell whether every column has a valid role."""
        return self.roles is not None and None not in self.roles.values()


def _refs(raw: Mapping[str, Any], place: KeyPath = ()) -> dict[KeyPath, str]:
    """Return each model or seed that a spec names, by its place."""
    refs: dict[KeyPath, str] = {}
    for key, value in raw.items():
        own = (*place, str(key))
        if key in {"source", "population", "hierarchy"}:
            ref = text(mapping(value).get("ref"))
            refs |= {(*own, "ref"): ref} if ref is not None else {}
        elif isinstance(value, Mapping):
            refs |= _refs(value, own)
    return refs


def unknown_column(
    place: KeyPath, name: str, draft: RawSpec, rule: str = "must be a declared column"
) -> Problem:
    """Return the problem of a name of no column, or of a column that the rule refuses."""
    if name == UNDECIDED:
        declared = f"Declared columns are {names(list(draft.roles or {}))}."
        return Problem(place, "must be decided", declared, UNDECIDED)
    return unknown(place, rule, name, list(draft.roles or {}), "Declared columns")


def mapping(value: object) -> Mapping[Any, Any]:
    """Return a mapping; anything else is empty."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Return a list; anything else is empty."""
    return list(value) if isinstance(value, (list, tuple)) else []


def texts(value: object) -> list[str]:
    """Return the texts of a list; anything else is empty."""
    return [item for item in items(value) if isinstance(item, str)]


def text(value: object) -> str | None:
    """Return a text, or None."""
    return value if isinstance(value, str) else None


def level_of(value: object) -> int | None:
    """Return a level, written with or without what is shown of its classes, or None."""
    return integer(value.get("level") if isinstance(value, Mapping) else value)


def integer(value: object) -> int | None:
    """Return a whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
