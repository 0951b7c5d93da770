"""Tables that another tool anonymized or synthesized, as efforts: trained on, attacked, compared.

Of their rows nothing is known but what is measured, for all efforts of such a spec alike.
"""

from dbt_anonymize.extension import Extension, Part

EXTENSION = Extension(
    name="external_efforts",
    keys={Part.spec: "declared.Keys", Part.effort: "declared.EffortKeys"},
    rules="rules.RULES",
    has_relations=True,
    steps="steps.steps_of",
    needs=("attacks",),
)
