"""Alternatives that were shown, kept in dbt's folder ``target`` until one of them is taken.

Levels, scores and counts are kept, as they are printed, and nothing of a record.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.extensions.search.by_quality import WinnerScores
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.reasons import Burden, GivenUp
from dbt_anonymize.extensions.trial.alternatives import Alternative, Trial
from dbt_anonymize.extensions.trial.sample import Sampled
from dbt_anonymize.extensions.trial.uncertainty import Uncertainty
from dbt_anonymize.hierarchies.seed_csv import hierarchy_csv
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.versions import command_version

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.equal_levels import DistinctLevels
    from dbt_anonymize.extensions.trial.sample import Drawn
    from dbt_anonymize.spec import Spec


def file_of(root: Path, asked: object, spec: Spec, counted: DistinctLevels, drawn: Drawn) -> Path:
    """Return the file of a trial: another one for other data, options or hierarchies.

    The name of the anonymization does not count. ``asked`` has the relation and the options, whose
    digest is the first part of the file's name.
    """
    of_asked = hashlib.sha256(repr((command_version(), asked)).encode())
    digest = hashlib.sha256()
    roles = {name: (column.role, column.mask) for name, column in spec.columns.items()}
    settings: list[object] = [roles, spec.subject]
    settings += [spec.features, spec.tests] if spec.is_tested else []
    settings += [spec.guarantees.resolved, spec.suppression_limit, counted.finest_levels]
    digest.update(repr(settings).encode())
    for plan in counted.plans:
        digest.update(hierarchy_csv(plan.hierarchy).encode())
    arrays = [counted.table.leaves, counted.table.records, drawn.rows]
    if isinstance(drawn, Sampled):
        import joblib  # noqa: PLC0415 (slow to import)

        # What models learn from, columns that nobody generalizes too.
        digest.update(joblib.hash(drawn.records.problem.efforts).encode())
        for target in drawn.records.problem.targets:
            arrays += [found for found in (target.codes, target.numbers) if found is not None]
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    folder = root / os.environ.get("DBT_TARGET_PATH", "target") / "dbt_anonymize_try"
    return folder / f"{of_asked.hexdigest()[:16]}_{digest.hexdigest()[:32]}.json"


def has_changed(file: Path) -> bool:
    """Tell whether a trial is kept of the same relation and options, but of none as it is now."""
    asked, _, _ = file.name.partition("_")
    return not file.exists() and any(file.parent.glob(f"{asked}_*"))


def remember(file: Path, trial: Trial) -> None:
    """Keep a trial."""
    alternatives = [
        {
            "names": one.names,
            "required": one.required,
            "node": [int(level) for level in one.checked.node],
            "raced": one.raced and asdict(one.raced),
            "given": {name: asdict(given) for name, given in one.given.items()},
            "detail": one.detail,
            "alike": one.alike,
            "uncertainty": one.uncertainty and asdict(one.uncertainty),
        }
        for one in trial.alternatives
    ]
    content = {**asdict(trial), "alternatives": alternatives}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, default=_plain), encoding="utf-8")


def recall(file: Path, spec: Spec, counted: DistinctLevels, drawn: Drawn) -> Trial | None:
    """Return the trial that was kept, None if there is none or nobody can read it."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    guarantees = compile_guarantees(spec.guarantees.resolved, counted.table)
    limit = Decimal(str(spec.suppression_limit))
    checker = Checker(counted.table, guarantees, Loss(), limit, must_release=True)
    alternatives = []
    for one in content.pop("alternatives"):
        node, required, raced = tuple(one.pop("node")), one.pop("required"), one.pop("raced")
        classes, suppressed = checker.suppressed_classes(node, required)
        given = {name: GivenUp(**given) for name, given in one.pop("given").items()}
        uncertainty = one.pop("uncertainty")
        alternatives.append(
            Alternative(
                tuple(one.pop("names")),
                required,
                checker.check(node, required).result,
                classes.table_rows(suppressed)[drawn.rows],
                raced and WinnerScores(**{**raced, "interval": tuple(raced["interval"])}),
                given,
                uncertainty=uncertainty and Uncertainty(**uncertainty),
                **one,
            )
        )
    burdens = tuple(Burden(**burden) for burden in content.pop("burdens"))
    pairs = tuple((one, other) for one, other in content.pop("chance_pairs"))
    return Trial(tuple(alternatives), burdens=burdens, chance_pairs=pairs, **content)


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return value.item()
