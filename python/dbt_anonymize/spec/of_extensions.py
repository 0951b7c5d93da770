"""Keys, privacy models, details and engines of extensions, also of those that are not here.

``of_extensions.txt`` has a line for each: the extension, and what it adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources

from dbt_anonymize.extension import Part, shipped
from dbt_anonymize.relations import MODELS
from dbt_anonymize.spec.problems import KeyPath

FILE = "of_extensions.txt"
# Privacy models are keys of the guarantees of a spec, or of an effort.
GUARANTEES = "guarantees."


def lines() -> Iterator[str]:
    """Yield the lines of the file, from the extensions of this package."""
    for extension in shipped():
        owner = extension.name
        for part, model in extension.keys.items():
            yield from (f"{owner} {part}{name}" for name in extension.load(model).model_fields)
        yield from (f"{owner} {GUARANTEES}{name}" for name in extension.privacy_models)
        details = (name for name, of in MODELS.items() if of.detail and of.extension == owner)
        yield from (f"{owner} details.{name}" for name in details)
        yield from (f"{owner} adapter.{kind}" for kind in extension.engines)


def owner_of(name: str) -> str | None:
    """Return the extension of a key, a detail or an engine, or None."""
    return _owners().get(name)


def extension_keys(part: Part) -> tuple[str, ...]:
    """Return the keys that extensions add to a part of a spec, missing extensions included."""
    return tuple(key.removeprefix(part) for key in _owners() if part and key.startswith(part))


def remedy_of(path: KeyPath, otherwise: str) -> str:
    """Return the remedy of an unknown key of a missing extension, or ``otherwise``."""
    key = ".".join("*" if depth == 1 else str(step) for depth, step in enumerate(path))
    # Guarantees of an effort are named as those of the spec.
    of_guarantee = f"{GUARANTEES}{path[-1]}" if "guarantees" in path[-2:-1] else ""
    owner = owner_of(key) or owner_of(".".join(map(str, path))) or owner_of(of_guarantee)
    if owner is None or any(one.name == owner for one in shipped()):
        return otherwise
    return f"It belongs to the extension {owner}, which is not here. Add that, or remove it."


@cache
def _owners() -> dict[str, str]:
    """Return the extension of each key and detail."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return {key: extension for extension, key in map(str.split, text.splitlines())}
