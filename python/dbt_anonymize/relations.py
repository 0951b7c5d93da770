"""The registry of relations: ``relations.yml`` says what each holds, who reads it, what erases it.

Extensions have such a file of their own. All that depends on names or columns of relations derives
from it: generated models and their descriptions, names that a project may not use, what QNF may
read, erasing, `docs/reference`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import yaml

from dbt_anonymize.extension import extensions

ErasedBy = Literal["person", "record_key", "source", "release"]
Reader = Literal["working", "effort", "unread", "vault", "release"]
NUMBERS = frozenset({"whole", "number"})


@dataclass(frozen=True)
class Relation:
    """A relation; `relations.yml` describes the fields.

    ``condition`` is its ``if``, ``built_from`` its ``from``, ``values`` its ``with``; ``each`` the
    mapping of a spec for whose names it is built. ``extension`` adds it, if it is none of the core.
    ``replaced`` has the templates by which extensions write its model in place of its own, each
    behind its condition. ``registers`` is the relation of which it keeps rows by release.
    """

    name: str
    text: str
    reader: Reader = "working"
    columns: tuple[Any, ...] = ()
    condition: str = "true"
    built_from: tuple[str, ...] = ()
    values: Mapping[str, Any] | None = None
    per: str | None = None
    each: str | None = None
    custodians: str = "false"
    detail: bool = False
    of_classes: bool = False
    in_qnf: bool = False
    read_for: tuple[int, str] | None = None
    seed: bool = False
    writer: str = "dbt build"
    erased_by: ErasedBy | None = None
    nobody: str | None = None
    digests: tuple[str, ...] = ()
    registers: str | None = None
    extension: str | None = None
    replaced: tuple[tuple[str, str], ...] = ()

    @property
    def is_in_vault(self) -> bool:
        """Tell whether only custodians, and no other models, may read it."""
        return self.reader == "vault"

    @property
    def suffix(self) -> str:
        """End of the name of its model's file."""
        return ".py" if self.writer == "python" else ".sql"

    @property
    def column_names(self) -> list[str]:
        """Names of all columns that it may have, with expressions over a spec."""
        return [name for name, _, _ in _columns_of(self.columns)]

    def numbers(self, *, condition: str | None = None) -> tuple[str, ...]:
        """Return the names of columns that are numbers and there on a condition, in order."""
        return tuple(
            name
            for name, kind, column_condition in _columns_of(self.columns)
            if kind in NUMBERS and column_condition == condition
        )


_FIELDS = {"if": "condition", "from": "built_from", "with": "values"}
# The C parser takes a tenth of the time.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _read(package: str = "dbt_anonymize") -> dict[str, Any]:
    text = resources.files(package).joinpath("relations.yml").read_text(encoding="utf-8")
    registry: dict[str, Any] = _LOADER(text).get_single_data()
    return registry


def _with_extensions(registry: dict[str, Any]) -> dict[str, Any]:
    """Add the relations of extensions, each at its place, and their replacements of models."""
    for extension in (e for e in extensions() if e.has_relations):
        added = _read(extension.package)
        for kind in ("relations", "kept"):
            for name, relation in added.get(kind, {}).items():
                entries = [*registry[kind].items()]
                follows = "after" in relation
                beside = relation.pop("after" if follows else "before")
                place = [*registry[kind]].index(beside) + follows
                owned = (name, {**relation, "extension": extension.name})
                registry[kind] = dict([*entries[:place], owned, *entries[place:]])
        for group, more in added.get("added", {}).items():
            columns = registry["columns"][group]
            place = [next(iter(column)) for column in columns].index(more["after"]) + 1
            columns[place:place] = more["columns"]
        for name, model in added.get("replaced", {}).items():
            relation = registry["relations"][name]
            relation.setdefault("replaced", []).append((model["if"], model["template"]))
            relation["from"] = [*relation["from"], *model["from"]]
    return registry


def _relations(declared: Mapping[str, Any]) -> dict[str, Relation]:
    return {
        name: Relation(name, **dict(map(_field, entry.items()))) for name, entry in declared.items()
    }


def _field(item: tuple[str, Any]) -> tuple[str, Any]:
    name, value = item
    return _FIELDS.get(name, name), tuple(value) if isinstance(value, list) else value


def _columns_of(
    columns: Any, condition: str | None = None
) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, type and condition (or loop) of the columns, those of groups included."""
    for item in columns:
        if isinstance(item, str) or "key" in item:
            yield from _columns_of(
                GROUPS[item if isinstance(item, str) else item["key"]], condition
            )
        elif "columns" in item:
            yield from _columns_of(item["columns"], item.get("each", item.get("if")))
        else:
            ((name, (kind, _, *options)),) = item.items()
            yield name, kind, options[0]["if"] if options else condition


_REGISTRY = _with_extensions(_read())
GROUPS: Mapping[str, list[Any]] = _REGISTRY["columns"]
MODELS = _relations(_REGISTRY["relations"])
"""The relations that dbt builds, in the order of their flow."""
KEPT = _relations(_REGISTRY["kept"])
"""The relations that commands and steps of the release write."""
SHARED = _relations(_REGISTRY["shared"])
"""The relations of all anonymizations."""
ALL = MODELS | KEPT
VAULT = tuple(name for name, relation in ALL.items() if relation.is_in_vault)
RELEASED = tuple(name for name, relation in MODELS.items() if relation.reader == "release")
"""The relations that are published, of which an anonymization has one."""
DETAILS = tuple(sorted(name for name, relation in MODELS.items() if relation.detail))
OF_CLASSES = frozenset(name for name, relation in MODELS.items() if relation.of_classes)
HISTORY = "anonymization_results"
EXACT_VALUES = "columns released as they are"
"""Subject of a finding of `verify` about all of them."""
_OF_OTHER_RELEASES = {extension.name for extension in extensions() if extension.other_release}
OWN_COLUMNS = frozenset(
    name
    for relation in MODELS.values()
    if relation.extension not in _OF_OTHER_RELEASES and "<< name >>" in relation.column_names
    for name in relation.column_names
    if "<<" not in name
)
"""Our own columns in relations that have columns of the source by their names.

Those of a release of something else than records are reserved by its own rules, where it is.
"""
