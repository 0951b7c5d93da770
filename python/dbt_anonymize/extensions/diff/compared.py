"""The two releases that are compared: of the register, of a file, or what the last build chose."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.register import (
    Figure,
    RegisteredRelease,
    figures_beside,
    measured,
    read_register,
)
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

_LINE = TypeAdapter(RegisteredRelease)
_NAMED = TypeAdapter(dict[str, Any])
_COMMAND = "`dbt-anonymize results {name} --history --format json`"


@dataclass(frozen=True)
class Composition:
    """Intersection of two releases: records by key, classes of both together below k."""

    joined_records: int
    left_records: int
    moved_records: int
    joint_classes_below_k: int
    records_below_k: int


def before_and_after(
    warehouse: Warehouse, spec: Spec
) -> tuple[Sequence[RegisteredRelease], RegisteredRelease]:
    """Return the earlier releases, and the choice of the last build.

    A released choice is the last release of the register: same effort, spec and figures.
    """
    register, last = read_register(warehouse, spec.name), _last_choice(warehouse, spec.name)
    effort = spec.numbered_efforts.get(last.effort) if last.effort is not None else None
    if effort is not None and effort.levels is not None and effort.is_full_domain:
        levels = ", ".join(f"{name} {level}" for name, level in effort.levels.items())
        last = replace(last, levels=levels)
    if last.effort is not None:
        last = replace(last, beside=figures_beside(warehouse, spec.name, last.effort))
    if register and last.effort is not None and _is_same(register[-1], last):
        return register[:-1], register[-1]
    return register, last


def _is_same(release: RegisteredRelease, choice: RegisteredRelease) -> bool:
    """Tell whether a release is what was chosen; one of an earlier version has no tables beside."""
    is_beside_same = not release.beside or _rounded(release.beside) == _rounded(choice.beside)
    return is_beside_same and measured(release) == measured(choice)


def _rounded(figures: Mapping[str, Figure]) -> dict[str, Figure]:
    """Return figures without the last digits, in which two sums of the same rows may differ."""
    return {
        name: round(figure, 9) if isinstance(figure, float) else figure
        for name, figure in figures.items()
    }


def _last_choice(warehouse: Warehouse, name: str) -> RegisteredRelease:
    """Return the choice of the last build, released or not."""
    results = warehouse.relation_of_ref(f"{name}_results")
    privacy = warehouse.relation_of_ref(f"{name}_privacy")
    rows = warehouse.rows(
        "select results.effort, results.fingerprint, results.records, results.suppressed_records, "  # noqa: S608
        "privacy.released_records, privacy.equivalence_classes, results.k, privacy.highest_risk, "
        "privacy.average_risk, results.qf_mean, results.qf_low, results.qf_high, results.qnf, "
        f"results.q from {results} as results left join {privacy} as privacy on "
        "results.effort = privacy.effort where results.is_chosen"
    )
    effort, spec, *figures = rows[0] if len(rows) == 1 else (None,) * 14
    return RegisteredRelease(None, None, effort, None, spec, None, *figures)


def compose(
    warehouse: Warehouse, spec: Spec, earlier: RegisteredRelease, later: RegisteredRelease
) -> Composition | None:
    """Count records that joined, left and moved between two releases that the vault remembers."""
    if spec.mapping == "none" or earlier.released_at is None or later.released_at is None:
        return None
    releases = warehouse.find_in_vault(spec.name, "releases")
    if releases is None:
        return None
    sql = warehouse.macro(
        "_composed_releases",
        releases=releases,
        earlier=earlier.released_at,
        later=later.released_at,
        k=spec.largest_k,
    )
    (counts,) = warehouse.rows(sql)
    return None if counts[0] is None else Composition(*map(int, counts))


def read_register_file(path: Path, name: str) -> RegisteredRelease:
    """Return the last release of an anonymization in a file of JSON lines.

    The register prints such files for programs; any other file is a `WarehouseError`.
    """
    command = _COMMAND.format(name=name)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise WarehouseError(
            f"{path}: must be the number of a release, or a file that can be read. Write one by "
            f"{command}."
        ) from None
    release: RegisteredRelease | None = None
    for number, line in enumerate(filter(str.strip, lines), start=1):
        try:
            content = _NAMED.validate_json(line)
            if content["anonymization"] == name:
                beside = json.loads(content.pop("beside", None) or "{}")
                release = _LINE.validate_python({**content, "beside": beside})
        except (ValueError, TypeError, KeyError):
            raise WarehouseError(
                f"{path}: line {number} must be a release of {command}; it is not."
            ) from None
    if release is None:
        raise WarehouseError(
            f"{path}: must hold a release of {name}; it has none. Write it by {command}."
        )
    return release
