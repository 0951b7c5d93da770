"""Hash the spec fields that affect results or release."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from dbt_anonymize.validation import BESIDE_MODELS, BESIDE_RESULTS

if TYPE_CHECKING:
    from dbt_anonymize.spec.models import Spec

# Keys that affect neither the released records nor their measures.
_NOT_OF_RESULTS: dict[str, Any] = {
    "description": True,
    "owner": True,
    "mapping": True,
    "details": True,
    "release": {"about", "access", "composition", "formats", "midpoints", "recompute"},
    "columns": {"__all__": {"data_type", "derived_from", "free_text", "unique", "repeats"}},
}

# Keys of columns that affect no released row.
NOT_OF_ROWS = {"data_type", "derived_from", "free_text", "unique", "repeats", "weight"}
# Keys that affect only descriptions of generated models.
_NOT_OF_MODELS = {"description", "owner"}


def digest_of(spec: BaseModel) -> str:
    """Return a digest of the content of generated models, which a build compares.

    Defaults are left out, so neither writing them nor a version that adds keys changes it.
    """
    return digest(_content_of_models(spec))[:16]


def key_digests_of(spec: BaseModel) -> dict[str, str]:
    """Return a short digest of each key that generated models depend on, to name changed keys."""
    return {key: digest(value)[:4] for key, value in sorted(_content_of_models(spec).items())}


def _content_of_models(spec: BaseModel) -> dict[str, Any]:
    beside = _NOT_OF_MODELS | _marked_keys(spec, BESIDE_MODELS)
    return spec.model_dump(mode="json", exclude=beside, exclude_defaults=True)


def _marked_keys(spec: BaseModel, mark: str) -> set[str]:
    """Return the keys of a spec that carry a mark."""
    return {name for name, field in type(spec).model_fields.items() if mark in field.metadata}


def digest(content: object) -> str:
    """Return the digest of content that JSON can hold."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def fingerprint_of(spec: Spec) -> str:
    """Return eight hexadecimal digits that change with the keys of results and release."""
    # Undeclared keys are left out, so a version that adds keys gives the same digits.
    beside = dict.fromkeys(_marked_keys(spec, BESIDE_RESULTS), True)
    release = _NOT_OF_RESULTS["release"] | _marked_keys(spec.release, BESIDE_RESULTS)
    quality = _marked_keys(spec.quality, BESIDE_RESULTS) if spec.quality else set()
    beside = _NOT_OF_RESULTS | beside | {"release": release, "quality": quality}
    content = spec.model_dump(mode="json", exclude=beside, exclude_none=True)
    # A key that is off is as if it were not declared.
    return digest({key: value for key, value in content.items() if value is not False})[:8]
