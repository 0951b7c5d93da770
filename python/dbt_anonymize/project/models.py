"""Which models an anonymization has: the names of their templates."""

from __future__ import annotations

from dbt_anonymize.spec import Spec

_MODELS_OF_THE_SOURCE = ("microdata.sql", "frequencies.sql", "quasi_identifier_risk.sql")
# Of a source in partitions, only those that changed are built; the others are merged with them.
_MODELS_OF_PARTITIONS = ("partitions.sql", "microdata_parts.sql", "frequencies_parts.sql")
_MODELS_OF_THE_EFFORTS = (
    "classes.sql",
    "privacy.sql",
    "information_loss.sql",
    "risk_profile.sql",
    "evaluation.py",
    "scores.sql",
    "quality.sql",
    "results.sql",
    "alpha_ranges.sql",
    "anonymized.sql",
)
# Of a frozen effort nothing is evaluated.
_MODELS_OF_A_FROZEN_EFFORT = (
    "classes.sql",
    "privacy.sql",
    "information_loss.sql",
    "risk_profile.sql",
    "results.sql",
    "anonymized.sql",
)
# What leads back to people, by mapping.
_MODELS_OF_THE_VAULT = {
    "class": ("identifiers.sql",),
    "token": ("tokens.sql", "identifiers.sql"),
    "none": (),
}
# What BI tools draw; only classes have it.
_MODELS_OF_CLASSES = ("curves.sql", "calibration.sql", "confusion.sql")


def templates_of(spec: Spec) -> list[str]:
    """Return the templates of a spec, but for those that each effort has."""
    templates = list(_MODELS_OF_THE_SOURCE)
    if spec.partition_by:
        templates.extend(_MODELS_OF_PARTITIONS)
    if spec.population_relation:
        templates.append("population.sql")
    if spec.declared_shares:
        templates.append("sample.sql")
    if spec.has_mask_keys:
        templates.append("mask_keys.sql")
    # A spec without efforts waits for a search, which needs its frequencies only.
    if spec.freeze:
        templates.extend(_MODELS_OF_A_FROZEN_EFFORT)
        templates.extend(_MODELS_OF_THE_VAULT[spec.mapping])
        further = {"fidelity.sql": spec.fidelity, "membership.sql": spec.waits}
        templates.extend(template for template, is_wanted in further.items() if is_wanted)
    elif spec.efforts:
        templates.extend(_MODELS_OF_THE_EFFORTS)
        templates.extend(_MODELS_OF_THE_VAULT[spec.mapping])
        if spec.quality.task == "classification":
            templates.extend(_MODELS_OF_CLASSES)
        wanted = {
            "fidelity.sql": spec.fidelity,
            "decision_grid.sql": spec.quality.decision_grid,
            "importance.sql": spec.quality.importance,
            "outer_quality.py": spec.quality.outer_share,
            "quality_by_group.sql": spec.quality.groups,
        }
        templates.extend(template for template, is_wanted in wanted.items() if is_wanted)
    return templates


def microdata_columns(spec: Spec) -> list[str]:
    """Return the columns of ``<n>_microdata``, in order."""
    columns = [spec.record_key]
    for name in spec.quasi_identifiers:
        columns += [name, f"{name}_leaf"]
    for name in spec.kept_columns:
        has_both = name in spec.masks and name not in spec.identifiers
        columns += [name, f"{name}_masked"] if has_both else [name]
    columns += ["sample_share"] if spec.declared_shares else []
    return columns + (["is_outer"] if spec.quality.outer_share else [])
