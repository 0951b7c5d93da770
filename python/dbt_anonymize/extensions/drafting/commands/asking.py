"""Questions about roles that a draft leaves undecided."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import typer

from dbt_anonymize.cli.common import say
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.spec.draft import ROLES


def ask_role(proposal: Proposal, *, table: str = "", roles: Collection[str] = ()) -> Proposal:
    """Ask for the role of an undecided proposal, by default among those of a subject."""
    if proposal.is_decided:
        return proposal
    roles = roles or [role for role in ROLES if role != "masked"]
    say(f"{f'{table}.' if table else ''}{proposal.name} ({proposal.facts.type}): {proposal.reason}")
    role = ""
    while role not in roles:
        role = typer.prompt(f"  role ({', '.join(roles)})", default=proposal.role)
    return replace(
        proposal,
        role=role,
        is_decided=True,
        mask=proposal.mask if role == proposal.role else None,
        is_target=proposal.is_target and role in {"sensitive", "insensitive"},
    )
