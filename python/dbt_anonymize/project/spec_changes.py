"""Whether generated models are of the specs as they are, for dbt to ask before it builds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import SpecError
from dbt_anonymize.spec.loading import FOLDER, SUFFIX, has_digest, load_specs, spec_paths


def require_generated(session: Any, *, project: str, digests: Mapping[str, str]) -> None:
    """Stop a build of models that were generated from another spec: it would keep other promises.

    ``digests`` are those that the models carry, by anonymization; ``project`` is the dbt project's
    folder. A spec that is wrong, missing or changed is a `SpecError`.
    """
    del session  # dbt gives one to whatever Python it runs
    root = Path(project)
    paths = spec_paths(root)
    changed = [
        name
        for name, digest in sorted(digests.items())
        if name not in paths or not has_digest(paths[name], digest)
    ]
    if changed:
        load_specs(root, changed)  # one that is wrong says so itself
        raise SpecError(
            "\n".join(
                f"{FOLDER}/{name}{SUFFIX}: must be what its models were generated from; it changed "
                "since, or a hierarchy has other levels. Nothing was built. Run "
                f"`dbt-anonymize generate {name}`."
                for name in changed
            )
        )
