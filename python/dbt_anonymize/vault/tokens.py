"""Random draws per person, stored in the vault: tokens, and places in a sample."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping

from duckdb import DuckDBPyConnection

from dbt_anonymize.errors import VaultError

# 128 random bits: two people among a billion share one with a chance of 1 in 10^21.
TOKEN_DIGITS = 32
_KEY_BYTES = 32
# Both derive from `digits`, the keyed hash of a person.
_TOKEN = f"substr(people.digits, 1, {TOKEN_DIGITS})"
_NUMBER = "cast('0x' || substr(people.digits, {first}, 13) as bigint) / 4503599627370496.0"


def append_tokens(
    session: DuckDBPyConnection, *, relation: str, people: str, identified_by: str
) -> int:
    """Draw a token for each person without one; return their number. Existing tokens stay.

    A token is the hash of the person under a key that the operating system draws for this call
    only: without the stored table nobody can derive it, even from a list of all people. (The
    database's ``random()`` and ``uuid()`` follow its seed.) Neither key nor people are in the text
    of a statement, so no log has them.

    Parameters
    ----------
    relation : str
        Quoted name of the committed table (``person``, ``token``, ``identified_by``).
    people : str
        Query with the column ``person``, distinct and without NULL.
    identified_by : str
        Column of the source that identifies a person.

    Raises
    ------
    VaultError
        If the table cannot be written; it is then as it was.

    Examples
    --------
    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute(
    ...     "create table tokens (person integer, token varchar, identified_by varchar)"
    ... )
    >>> table = {"relation": "tokens", "identified_by": "patient"}
    >>> append_tokens(connection, people="select unnest([1, 2]) as person", **table)
    2
    >>> append_tokens(connection, people="select unnest([2, 3]) as person", **table)
    1
    >>> connection.sql("select count(distinct token), max(length(token)) from tokens").fetchall()
    [(3, 32)]
    """
    return _append(session, relation, people, ("token", _TOKEN), {"identified_by": identified_by})


def append_draws(
    session: DuckDBPyConnection,
    *,
    relation: str,
    people: str,
    identified_by: str,
    strata: int = 0,
    mechanism: str | None = None,
) -> int:
    """Draw a number from 0 to below 1 for each person without one; return their number.

    People with a number below a share are in the sample of that share. Numbers have 52 bits and are
    as random as tokens; see `append_tokens` for the parameters and errors. With ``strata``
    (``people`` has ``stratum_1``, .. too) the numbers of the new people of a stratum are spread
    evenly: the count below any share is that share of them, rounded up or down.

    With a ``mechanism`` (digits, in a column of that name) everybody draws anew for each one: their
    samples are independent, and the costs of differentially private releases add up.

    Examples
    --------
    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute(
    ...     "create table draws (person integer, draw double, identified_by varchar)"
    ... )
    >>> people = "select range as person, range % 2 as stratum_1 from range(200)"
    >>> append_draws(
    ...     connection, relation="draws", people=people, identified_by="patient", strata=1
    ... )
    200
    >>> connection.sql("select count(*) from draws where draw < 0.3").fetchall()
    [(60,)]
    """
    draw = _NUMBER.format(first=1)
    if strata:
        partition = ", ".join(f"people.stratum_{place}" for place in range(1, strata + 1))
        draw = (
            f"(row_number() over (partition by {partition} order by {draw}) - 1 "
            f"+ {_NUMBER.format(first=14)}) / count(*) over (partition by {partition})"
        )
    constants = {"identified_by": identified_by} | ({"mechanism": mechanism} if mechanism else {})
    return _append(session, relation, people, ("draw", draw), constants)


def _append(
    session: DuckDBPyConnection,
    relation: str,
    people: str,
    draw: tuple[str, str],
    constants: Mapping[str, str],
) -> int:
    """Append a drawn column, given with its SQL; ``constants`` are the same in all rows."""
    column, sql = draw
    same = "known.mechanism = $mechanism" if "mechanism" in constants else "true"
    # A cursor of its own, so that the transaction is ours from beginning to end.
    cursor = session.cursor()
    try:
        cursor.execute("begin transaction")
        ((before,),) = cursor.execute(f"select count(*) from {relation}").fetchall()  # noqa: S608
        cursor.execute(
            f"insert into {relation} (person, {column}, {', '.join(constants)}) "  # noqa: S608 (quoted by dbt)
            f"select person, {sql}, {', '.join(f'${name}' for name in constants)} from (select *, "
            "sha256(cast($key as blob) || encode(cast(person as varchar))) as digits "
            f"from ({people}) as candidates) as people where not exists "
            f"(select 1 from {relation} as known where known.person = people.person and {same})",
            {"key": secrets.token_bytes(_KEY_BYTES), **constants},
        ).fetchall()
        ((after,),) = cursor.execute(f"select count(*) from {relation}").fetchall()  # noqa: S608
        cursor.execute("commit")
    except Exception as error:
        with contextlib.suppress(Exception):
            cursor.execute("rollback")
        # The message of the database may quote a person.
        raise VaultError(
            f"{relation}: the {column}s of new people could not be stored "
            f"({type(error).__name__}); those of others are unchanged. Check that the vault is "
            "writable, that the disk is not full and that no other build runs, and build again."
        ) from None
    finally:
        cursor.close()
    return int(after - before)
