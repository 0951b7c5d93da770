"""Tables of counts that give nobody away: noise, rounding, and audits of what hidden cells tell."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="tables",
    commands=(Command("audit-table", "commands.audit_table", Stage.read),),
    functions={"perturb_table": "noise.perturb_table", "round_table": "noise.round_table"},
)
