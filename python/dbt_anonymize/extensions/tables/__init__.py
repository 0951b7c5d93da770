"""Tables of counts that give nobody away: small cells hidden, and what hides them audited."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="tables",
    commands=(Command("audit-table", "commands.audit_table", Stage.read),),
)
