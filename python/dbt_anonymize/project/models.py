"""Which models an anonymization has: the names of their templates."""

from __future__ import annotations

from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.details import chosen_details


def templates_of(spec: Spec) -> list[str]:
    """Return the templates of a spec, but for those that each effort has."""
    # A spec without efforts waits for a search, which needs its frequencies only.
    has_efforts = bool(spec.efforts)
    is_evaluated = has_efforts and not spec.freeze
    quality = spec.quality if is_evaluated else None
    of_classes = quality is not None and quality.task == "classification"
    details = chosen_details(spec.details)
    wanted = {
        "microdata.sql": True,
        "frequencies.sql": True,
        "quasi_identifier_risk.sql": "quasi_identifier_risk" in details,
        # Only the partitions that changed are built; the others are merged with them.
        "partitions.sql": spec.partition_by,
        "microdata_parts.sql": spec.partition_by,
        "frequencies_parts.sql": spec.partition_by,
        "population.sql": spec.population_relation,
        "sample.sql": spec.declared_shares,
        "mask_keys.sql": spec.has_mask_keys,
        "classes.sql": has_efforts,
        "privacy.sql": has_efforts,
        "information_loss.sql": has_efforts,
        "risk_profile.sql": has_efforts and "risk_profile" in details,
        "results.sql": has_efforts,
        "anonymized.sql": has_efforts,
        "fidelity.sql": has_efforts and spec.fidelity,
        "membership.sql": spec.waits,
        "released_classes.sql": spec.waits,
        # What leads back to people.
        "tokens.sql": has_efforts and spec.mapping == "token",
        "identifiers.sql": has_efforts and spec.mapping != "none",
        "evaluation.py": quality,
        "scores.sql": quality,
        "quality.sql": quality,
        "alpha_ranges.sql": is_evaluated and "alpha_ranges" in details,
        "decision_grid.sql": quality and quality.decision_grid,
        "importance.sql": quality and quality.importance,
        "outer_quality.py": quality and quality.outer_share,
        "quality_by_group.sql": quality and quality.groups,
        # What BI tools draw.
        "curves.sql": of_classes and "curves" in details,
        "calibration.sql": of_classes and "calibration" in details,
        "confusion.sql": of_classes and "confusion" in details,
    }
    return [template for template, is_wanted in wanted.items() if is_wanted]


def undeclared_details(spec: Spec) -> list[str]:
    """Return the relations of details that a spec could have and does not declare."""
    written = _parts_of(spec)
    possible = _parts_of(spec.model_copy(update={"details": "all"}))
    return [part for part in possible if part not in written]


def _parts_of(spec: Spec) -> list[str]:
    """Return the relations of a spec but for its efforts, by their part of the name."""
    return [template.partition(".")[0] for template in templates_of(spec)]


# Of these a release is made, or they lead back to its people.
_WITH_RELEASE = frozenset(
    {"anonymized", "identifiers", "tokens", "membership", "sample", "mask_keys"}
)


def before_release(spec: Spec) -> list[str]:
    """Return the relations that are built before anything is published: all that are measured.

    What fails in one of them has been published else, though the build fails.
    """
    return [f"{spec.name}_{part}" for part in _parts_of(spec) if part not in _WITH_RELEASE]


# In the order in which somebody who is given a release reads what was measured of it.
_READ_FIRST = {
    "anonymized": "the rows",
    "results": "which effort they are of, what it keeps, and why it was chosen",
    "quality": "what models still learn",
    "privacy": "how hard people are to find",
    "information_loss": "what each column lost",
}


def read_first(spec: Spec) -> str:
    """Return which relations to read first, and what for, as dbt docs show it."""
    written = _parts_of(spec)
    parts = [
        f"`{spec.name}_{part}` ({what})" for part, what in _READ_FIRST.items() if part in written
    ]
    return f"Read in this order: {', '.join(parts)}."


def microdata_columns(spec: Spec) -> list[str]:
    """Return the columns of ``<n>_microdata``, in order."""
    columns = [spec.record_key]
    for name in spec.quasi_identifiers:
        columns += [name, f"{name}_leaf"]
    for name in spec.kept_columns:
        has_both = name in spec.masks and name not in spec.identifiers
        columns += [name, f"{name}_masked"] if has_both else [name]
    columns += ["sample_share"] if spec.declared_shares else []
    return columns + (["is_outer"] if spec.outer_share else [])
