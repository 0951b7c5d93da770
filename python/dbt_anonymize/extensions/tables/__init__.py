"""Tables of counts that give nobody away: small cells hidden, noise, rounding, and audits."""

from dbt_anonymize.extension import Command, Extension, Part, Stage

EXTENSION = Extension(
    name="tables",
    commands=(Command("audit-table", "commands.audit_table", Stage.read),),
    functions={
        "suppress_table": "hiding.suppress_table",
        "perturb_table": "noise.perturb_table",
        "round_table": "noise.round_table",
    },
    keys={Part.spec: "declared.Keys"},
    rules="rules.RULES",
    has_relations=True,
    steps="steps.steps_of",
    other_release={"table": "release"},
    drafts={"table": "first_efforts.draft"},
)
