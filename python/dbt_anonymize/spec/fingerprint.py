"""Hash the spec fields that affect results or release."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from dbt_anonymize.validation import BESIDE_MODELS, BESIDE_RESULTS

if TYPE_CHECKING:
    from dbt_anonymize.privacy.differential_privacy import DifferentialPrivacy
    from dbt_anonymize.spec.models import Spec

# What changes neither which records are released nor what was measured of them.
_NOT_OF_RESULTS: dict[str, Any] = {
    "description": True,
    "owner": True,
    "mapping": True,
    "details": True,
    "release": {"about", "access", "composition", "formats", "joiners", "midpoints", "recompute"},
    "columns": {"__all__": {"data_type", "derived_from", "free_text", "unique", "repeats"}},
    "quality": {"groups", "importance", "decision_grid"},
}

# What a column says that no released row depends on.
_NOT_OF_ROWS = {"data_type", "derived_from", "free_text", "unique", "repeats", "weight"}
# What changes no generated model but its description.
_NOT_OF_MODELS = {"description", "owner"}


def digest_of(spec: BaseModel) -> str:
    """Return digits that change with whatever generated models say, for a build to compare.

    What is as by default is left out: whether it is written or not, and in which version.
    """
    return _digest(_content_of_models(spec))[:16]


def key_digests_of(spec: BaseModel) -> dict[str, str]:
    """Return a few digits for each key that generated models depend on, to say which changed."""
    return {key: _digest(value)[:4] for key, value in sorted(_content_of_models(spec).items())}


def _content_of_models(spec: BaseModel) -> dict[str, Any]:
    beside = _NOT_OF_MODELS | _marked(spec, BESIDE_MODELS)
    return spec.model_dump(mode="json", exclude=beside, exclude_defaults=True)


def _marked(spec: BaseModel, mark: str) -> set[str]:
    """Return the keys of a spec that have a mark."""
    return {name for name, field in type(spec).model_fields.items() if mark in field.metadata}


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def fingerprint_of(spec: BaseModel) -> str:
    """Return eight hexadecimal digits that change with whatever results or release depend on."""
    # What is not declared is left out: a version that can declare more gives the same digits.
    beside = dict.fromkeys(_marked(spec, BESIDE_RESULTS), True)
    content = spec.model_dump(mode="json", exclude=_NOT_OF_RESULTS | beside, exclude_none=True)
    if content.get("freeze") is False:
        del content["freeze"]
    return _digest(content)[:8]


def mechanism_of(spec: Spec, private: DifferentialPrivacy) -> str:
    """Return digits that change with whatever makes a private release another mechanism.

    That is everything of a spec that decides which rows come of the records, but for its name: a
    renamed anonymization takes its draws along. Releases of other digits draw independently.
    """
    number = spec.release.effort
    released = spec.numbered_efforts.get(number) if isinstance(number, int) else None
    columns = {
        name: spec.columns[name].model_dump(mode="json", exclude_none=True, exclude=_NOT_OF_ROWS)
        for name in spec.quasi_identifiers
    }
    content = {
        "source": spec.source.model_dump(mode="json", exclude_none=True),
        "record_key": spec.record_key,
        "columns": columns,
        "effort": released and released.model_dump(mode="json", exclude_none=True),
        "mapping": spec.mapping,
        "epsilon": private.release_epsilon,
        "delta": private.delta,
        "share": private.share,
        "k": spec.largest_k,
        "draw": private.draw,
    }
    return _digest(content)[:32]


def labels_digest_of(spec: BaseModel) -> str:
    """Return digits that change with what a row shows of a record: columns, labels and masks."""
    kept = {"name", "record_key", "columns", "efforts", "release", "sample"}
    content = spec.model_dump(mode="json", include=kept, exclude_none=True)
    for column in content["columns"].values():
        for name in _NOT_OF_ROWS:
            column.pop(name, None)
    number = content.pop("release")["effort"]
    content["efforts"] = [number, content["efforts"][number - 1]]
    return _digest(content)[:16]
