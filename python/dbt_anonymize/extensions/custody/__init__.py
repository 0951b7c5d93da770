"""Back from a release to people: re-link, erase, rename and remove.

Whoever holds the vault may need it; a release is made and read without it.
"""

from dbt_anonymize.extension import Check, Command, Extension, Part, Reads, Stage

EXTENSION = Extension(
    name="custody",
    commands=(
        Command("relink", "commands.relink", Stage.people),
        Command("erase", "commands.erase", Stage.people),
        Command("rename", "commands.rename", Stage.people),
        Command("remove", "commands.remove", Stage.people),
    ),
    keys={Part.spec: "declared.Keys"},
    rules="rules.RULES",
    checks=(Check("audit", "check.check_receipts", Reads.vault),),
    diagnoses="receipts.diagnose",
    # Erasing looks for what is left in the bytes of files.
    needs=("identifier_search",),
)
