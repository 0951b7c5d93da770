"""Differential privacy: large classes of a random sample are released, paid for by a budget."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="differential_privacy",
    commands=(Command("epsilon", "commands.epsilon", Stage.tools),),
    privacy_models={"differential_privacy": "model.DifferentialPrivacy"},
    rules="rules.RULES",
)
