"""Sensitive values of the subjects of a release, read from its rows for the recount."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dbt_anonymize.extensions.linked.declared import SUBJECTS, TOKEN, released_key
from dbt_anonymize.extensions.linked.graph import Graph, as_bytes
from dbt_anonymize.extensions.linked.verification.linked_release import LinkedRelease
from dbt_anonymize.extensions.linked.verification.recount import Sensitive
from dbt_anonymize.literals import quote_name, quote_text


def sensitive_values(release: LinkedRelease, graph: Graph) -> Sensitive:
    """Return the sensitive values of each subject: her own, and those of her records."""
    own = [
        f"select {as_bytes(TOKEN)} as key, {quote_text(f'{SUBJECTS}.{column}')} as attribute, "
        f"cast({quote_name(column)} as varchar) as value from {release.subjects}"
        for column in release.spec.sensitive
    ]
    held = []
    for name, table in release.linked.items():
        joins, at, over = f"{release.released(name)} as {quote_name(name)}", name, table
        while over.over != SUBJECTS:
            led_to = quote_name(released_key(over.over))
            joins += (
                f" inner join {release.released(over.over)} as {quote_name(over.over)} "
                f"on {quote_name(at)}.{led_to} = {quote_name(over.over)}.{led_to}"
            )
            at, over = over.over, release.linked[over.over]
        held += [
            f"select {as_bytes(f'{quote_name(at)}.{TOKEN}')} as key, "
            f"{quote_text(f'{name}.{column}')} as attribute, "
            f"cast({quote_name(name)}.{quote_name(column)} as varchar) as value from {joins}"
            for column in table.sensitive
        ]
    table_ = release.scratch.table(
        "sensitive_values",
        f"select distinct subject, attribute, encode(value) as value "
        f"from ({' union all '.join(own + held)}) inner join {graph.subjects} using (key)",
    )
    return Sensitive(table_, release.rule.l or 0)
