"""Re-identification as a game: releases that nobody profits from attacking, or that pay."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(
    name="payouts",
    privacy_models={"no_attack": "no_attack.NoAttack", "profitable": "profitable.Profitable"},
    has_relations=True,
)
