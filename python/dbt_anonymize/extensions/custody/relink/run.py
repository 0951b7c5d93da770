"""Re-linking of released rows to people: only as the spec allows, and always audited.

The groups of the release decide, not the given rows: one row gives its whole group, and a group of
fewer than k people is never shown. The statement that reads the people enforces that again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import AnonymizeError, RelinkingError
from dbt_anonymize.extensions.custody.declared import relinking_of
from dbt_anonymize.extensions.custody.relink.audit import Attempt, record
from dbt_anonymize.extensions.custody.relink.links import LINKS, Links
from dbt_anonymize.extensions.custody.relink.released_rows import GivenRows, RelinkingInputError
from dbt_anonymize.project.results import release_file
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.audit import holds_release

if TYPE_CHECKING:
    from dbt_anonymize.extensions.custody.declared import Relinking
    from dbt_anonymize.spec import Spec

REBUILD = "Run `dbt-anonymize generate` and `dbt build`."

OnRecorded = Callable[[Attempt, int], None]


@dataclass(frozen=True)
class People:
    """The people of released rows.

    ``columns``: the link, the record key and the identifiers. ``batches``: records in the order of
    the first two, read lazily.
    """

    columns: tuple[str, ...]
    batches: Iterator[Sequence[tuple[Any, ...]]]


@dataclass
class _Request:
    """One attempt, and its details as far as known."""

    links: Links
    # The declared purpose; another one could be a text about people.
    purpose: str | None
    given_rows: int
    on_recorded: OnRecorded
    started: datetime = field(default_factory=lambda: datetime.now(UTC).replace(tzinfo=None))
    effort: int | None = None
    fingerprint: str | None = None
    unknown_rows: int = 0

    @property
    def name(self) -> str:
        return self.links.spec.name

    def attempt(self, *, reason: str = "", groups: int = 0, people: int = 0) -> Attempt:
        """Return the entry of the audit; with a reason it is a refusal."""
        user = self.links.warehouse.macro("_database_user")
        return Attempt(
            attempted_at=self.started,
            os_user=_os_user(),
            database_user=str(self.links.warehouse.rows(user)[0][0]) if user else None,
            purpose=self.purpose,
            given_rows=self.given_rows,
            unknown_rows=self.unknown_rows,
            shown_groups=groups,
            shown_people=people,
            outcome="refused" if reason else "granted",
            reason=reason,
            effort=self.effort,
            fingerprint=self.fingerprint,
            policy=_policy_text(self.links),
        )

    def record(self, attempt: Attempt) -> None:
        self.on_recorded(
            attempt, record(self.links.warehouse, self.links.vault, self.name, attempt)
        )


def relink(
    warehouse: Warehouse,
    spec: Spec,
    *,
    purpose: str | None,
    input_rows: GivenRows | RelinkingInputError,
    on_recorded: OnRecorded = lambda attempt, number: None,
) -> People:
    """Return the people of released rows, if the policy of the spec allows it.

    ``mapping: class`` gives all people of the group of each row, ``mapping: token`` its person.
    ``input_rows`` are the rows, or the error of reading them, an attempt too. Every attempt is
    in ``<n>_relinkings`` before this returns or raises; ``on_recorded`` is called with it and its
    number.

    Raises
    ------
    RelinkingError
        If it is refused; recorded too, except without a mapping.
    RelinkingInputError
        If the rows cannot be read, or none of them leads anywhere.
    WarehouseError
        If the vault was not built, or the attempt cannot be written.
    """
    if spec.mapping not in LINKS:
        raise RelinkingError(
            f"{spec.name}: re-linking needs a mapping; the spec says mapping: {spec.mapping}, so "
            "nothing leads back from its release. "
            + (
                "Remove efforts that are relations of other tools first. "
                if spec.external_efforts
                else ""
            )
            + "Declare mapping: class or token, and build again."
        )
    if not warehouse.has_transactions:
        raise RelinkingError(
            f"{spec.name}: re-linking needs a vault with transactions and grants, so that every "
            f"attempt is recorded and stays; {warehouse.adapter.type()} has neither. Join "
            f"{spec.name}_identifiers yourself, as a custodian."
        )
    if statement := warehouse.macro("_keep_in_memory"):
        warehouse.cursor().execute(statement)
    links = Links(warehouse, spec, warehouse.relation_of_ref(f"{spec.name}_identifiers"))
    policy = relinking_of(spec)
    declared = purpose if policy and purpose in policy.purposes else None
    rows = input_rows.rows if isinstance(input_rows, GivenRows) else 0
    request = _Request(links, declared, rows, on_recorded)
    try:
        policy = _check_policy(request, is_purpose_given=bool(purpose))
        if isinstance(input_rows, RelinkingInputError):
            raise input_rows
        _check_release(request, policy)
        matches = links.matches(input_rows)
        groups = _require_large_groups(request, matches)
        attempt = request.attempt(groups=groups, people=links.count_people(matches))
    except Exception as error:
        # A driver's message may quote values; ours do not.
        is_ours = isinstance(error, AnonymizeError)
        reason = str(error) if is_ours else f"it failed ({type(error).__name__})"
        warehouse.adapter.connections.rollback_if_open()
        request.record(request.attempt(reason=reason))
        raise
    request.record(attempt)
    return People(links.columns, links.people(matches))


def _policy_text(links: Links) -> str:
    """Return the policy in force as JSON; it holds no personal data."""
    policy = relinking_of(links.spec)
    if policy is None:
        return "none"
    return json.dumps(
        {
            "purposes": policy.purposes,
            "highest_information_loss": policy.highest_information_loss,
            "k": links.least,
        }
    )


def _os_user() -> str:
    """Return the account of the process; the environment could be forged."""
    try:
        import pwd  # noqa: PLC0415 (not on Windows)
    except ImportError:
        return os.getlogin()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _check_policy(request: _Request, *, is_purpose_given: bool) -> Relinking:
    """Return the policy of the spec; refuse without one, or for another purpose."""
    policy = relinking_of(request.links.spec)
    if policy is None:
        raise RelinkingError(
            f"{request.name}: re-linking must be declared; anonymizations/{request.name}.yml has "
            "no relinking, so nobody may. Let those who answer for the data decide on its purposes "
            "and highest_information_loss."
        )
    if request.purpose is None:
        came = "another one was given" if is_purpose_given else "none was given"
        raise RelinkingError(
            f"{request.name}: the purpose must be one of relinking.purposes "
            f"({', '.join(policy.purposes)}); {came}. Name it with --purpose."
        )
    return policy


def _check_release(request: _Request, policy: Relinking) -> None:
    """Refuse where release, vault and results are not of one build, or the release lost much."""
    links, name = request.links, request.name
    effort, fingerprint = _released_effort(request)
    request.effort, request.fingerprint = effort, fingerprint
    if fingerprint != links.spec.fingerprint:
        raise RelinkingError(
            f"{name}: the release must be of the spec as it is; it is of another version. {REBUILD}"
        )
    vault_columns = {column for column, _ in links.warehouse.columns(links.vault)}
    missing = [column for column in links.columns if column not in vault_columns]
    if missing:
        raise RelinkingError(
            f"{name}: the vault must have a column for the mapping, the record key and each "
            f"identifier of the spec; it has no {', '.join(missing)}. {REBUILD}"
        )
    differing = links.count_differences(effort)
    if differing:
        raise RelinkingError(
            f"{name}: vault, release and results must be of one build; {differing:,} groups or "
            f"links differ. {REBUILD}"
        )
    _check_file(links)
    _check_information_loss(request, effort, policy.highest_information_loss)


def _check_file(links: Links) -> None:
    """Refuse where the published file differs from the release in the warehouse."""
    if not links.warehouse.is_duckdb:  # elsewhere the relation itself is the publication
        return
    relation = links.relation("anonymized")
    # Relative to the project, which is the working directory while its warehouse is open.
    file = release_file(links.warehouse, links.spec.name)
    session = links.warehouse.cursor()
    table, beside = f"{links.spec.name}_anonymized", links.spec.tables_beside
    if not holds_release(session, relation=str(relation), table=table, file=file, beside=beside):
        raise RelinkingError(
            f"{links.spec.name}: the published file must hold the rows of {table} in "
            f"the warehouse; {file} does not or cannot be read, as after a build that was killed "
            "while it published. Run `dbt build`."
        )


def _released_effort(request: _Request) -> tuple[int, str]:
    """Return the chosen effort, and the fingerprint of its spec."""
    relation = request.links.relation("results")
    sql = f"select effort, fingerprint from {relation} where is_chosen"  # noqa: S608
    chosen = request.links.warehouse.rows(sql)
    if len(chosen) != 1:
        raise RelinkingError(
            f"{request.name}: exactly one effort must be released; {len(chosen)} are chosen. "
            f"{REBUILD}"
        )
    return int(chosen[0][0]), str(chosen[0][1])


def _check_information_loss(request: _Request, effort: int, highest: float) -> None:
    relation = request.links.relation("information_loss")
    sql = f"select loss from {relation} where effort = {effort}"  # noqa: S608
    loss = [row[0] for row in request.links.warehouse.rows(sql)]
    if len(loss) != 1 or loss[0] is None or not float(loss[0]) < highest:
        measured = f"{float(loss[0]):.6g}" if loss and loss[0] is not None else "not measured"
        raise RelinkingError(
            f"{request.name}: the information loss of the release must be below "
            f"relinking.highest_information_loss, {highest:g}; that of effort {effort} is "
            f"{measured}. What has lost so much says too little about a person to act on it."
        )


def _require_large_groups(request: _Request, matches: str) -> int:
    """Return the number of groups; refuse if there is none, or one is too small."""
    links, counts = request.links, request.links.counts(matches)
    request.unknown_rows = request.given_rows - counts.known_rows
    if counts.groups == 0:
        raise RelinkingInputError(
            f"{request.name}: the given rows must be of the release; none of "
            f"{request.given_rows:,} leads to anybody. Give rows of the current release "
            f"with their {links.link}."
        )
    if counts.small_groups:
        raise RelinkingError(
            f"{request.name}: every group must have at least {links.least} people; "
            f"{counts.small_groups:,} of {counts.groups:,} have fewer, so nobody is shown. "
            "Only a release with larger groups leads to them."
        )
    return counts.groups
