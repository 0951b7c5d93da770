"""Digest of a mechanism: of all that decides which rows the records become."""

from __future__ import annotations

from dbt_anonymize.extensions.differential_privacy.model import DifferentialPrivacy
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.fingerprint import NOT_OF_ROWS, digest


def mechanism_of(spec: Spec, private: DifferentialPrivacy) -> str:
    """Return a digest that identifies the mechanism of a differentially private release.

    It covers every key that decides which rows the records become, but not the name: a renamed
    anonymization keeps its draws. Releases with different digests draw independently.
    """
    number = spec.release.effort
    released = spec.numbered_efforts.get(number) if isinstance(number, int) else None
    columns = {
        name: spec.columns[name].model_dump(mode="json", exclude_none=True, exclude=NOT_OF_ROWS)
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
    return digest(content)[:32]
