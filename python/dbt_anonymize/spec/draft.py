"""The well-formed parts of a spec that may be wrong, for the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, shown

ROLES = ("identifier", "quasi_identifier", "sensitive", "insensitive", "masked", "dropped")


@dataclass(frozen=True)
class Draft:
    """The well-formed parts of a spec; None is missing or malformed."""

    name: str | None
    refs: dict[KeyPath, str]
    record_key: str | None
    roles: dict[str, str | None] | None
    derived_from: dict[str, list[Any]]
    masks: dict[str, Mapping[str, Any]]
    data_types: dict[str, object]
    levels: dict[str, int | None]
    target: str | None
    features: list[str]
    efforts: list[dict[str, Any] | None]
    guarantees: Mapping[str, Any]
    subject: str | None
    partition_by: str | None
    population: Mapping[str, Any]
    sample: Mapping[str, Any]
    nested: dict[str, bool]
    kinds: dict[str, str | None]
    trees: dict[str, int | None]
    search_levels: Mapping[str, Any]
    search_measure: object
    loss_targets: Mapping[str, Any]
    quality: Mapping[str, Any]
    choose: str | None
    suppression_limit: object
    release: Mapping[str, Any]
    freeze: bool
    mapping: str
    relinking: Mapping[str, Any] | None
    tolerance: Mapping[str, Any]

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Draft:
        """Take what is well-formed."""
        columns = {
            name: column if isinstance(column, Mapping) else {}
            for name, column in mapping(raw.get("columns")).items()
            if isinstance(name, str)
        }
        roles = {
            name: str(column["role"]) if column.get("role") in ROLES else None
            for name, column in columns.items()
        }
        quasi_identifiers = [name for name, role in roles.items() if role == "quasi_identifier"]
        hierarchies = {name: mapping(column.get("hierarchy")) for name, column in columns.items()}
        places: dict[KeyPath, object] = {("source",): raw, ("population",): raw}
        places |= {("columns", name, "hierarchy"): column for name, column in columns.items()}
        refs = {
            (*place, "ref"): text(mapping(mapping(holder).get(place[-1])).get("ref"))
            for place, holder in places.items()
        }
        return cls(
            name=text(raw.get("name")),
            refs={place: ref for place, ref in refs.items() if ref is not None},
            record_key=text(raw.get("record_key")),
            roles=roles if isinstance(raw.get("columns"), Mapping) else None,
            derived_from={
                name: [found] if isinstance(found, str) else items(found)
                for name, column in columns.items()
                if (found := column.get("derived_from"))
            },
            masks={
                name: {kind: value for kind, value in mapping(found).items() if value is not None}
                for name, column in columns.items()
                if (found := column.get("mask"))
            },
            data_types={n: found for n, c in columns.items() if (found := c.get("data_type"))},
            levels={name: integer(hierarchies[name].get("levels")) for name in quasi_identifiers},
            target=text(raw.get("target")),
            features=_texts(raw.get("features")),
            efforts=[
                dict(one) if isinstance(one, Mapping) else None for one in items(raw.get("efforts"))
            ],
            guarantees=mapping(raw.get("guarantees")),
            subject=text(raw.get("subject")),
            partition_by=text(raw.get("partition_by")),
            population=mapping(raw.get("population")),
            sample=mapping(raw.get("sample")),
            kinds={name: text(hierarchies[name].get("kind")) for name in quasi_identifiers},
            nested={n: hierarchies[n].get("nested") is not False for n in quasi_identifiers},
            trees={n: integer(tree.get("levels")) for n, tree in hierarchies.items() if tree},
            search_levels=mapping(mapping(raw.get("search")).get("levels")),
            search_measure=mapping(raw.get("search")).get("measure"),
            loss_targets=mapping(mapping(raw.get("information_loss")).get("targets")),
            quality=mapping(raw.get("quality")),
            choose=text(raw.get("choose")),
            suppression_limit=raw.get("suppression_limit"),
            release=mapping(raw.get("release")),
            freeze=raw.get("freeze") is True,
            mapping=text(raw.get("mapping")) or "class",
            relinking=None if raw.get("relinking") is None else mapping(raw["relinking"]),
            tolerance=mapping(raw.get("tolerance")),
        )

    @property
    def composition(self) -> str | None:
        """What happens where few records joined or left."""
        return text(self.release.get("composition"))

    @property
    def release_effort(self) -> int | None:
        """The number of the released effort, if one is declared."""
        return integer(self.release.get("effort"))

    @property
    def release_access(self) -> str:
        """Who may read the release."""
        return text(self.release.get("access")) or "protected"

    @property
    def has_all_roles(self) -> bool:
        """Whether every column is known with its role."""
        return self.roles is not None and None not in self.roles.values()


def unknown_column(place: tuple[str | int, ...], name: str, draft: Draft) -> Problem:
    """Return the problem of a name that no column has."""
    known = list(draft.roles or {})
    return Problem(
        place,
        "must be a declared column",
        did_you_mean(name, known, f"Declared columns are {names(known)}."),
        shown(name),
    )


def mapping(value: object) -> Mapping[Any, Any]:
    """Return a mapping; anything else is empty."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Return a list; anything else is empty."""
    return list(value) if isinstance(value, (list, tuple)) else []


def _texts(value: object) -> list[str]:
    return [item for item in items(value) if isinstance(item, str)]


def text(value: object) -> str | None:
    """Return a text, or None."""
    return value if isinstance(value, str) else None


def integer(value: object) -> int | None:
    """Return a whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
