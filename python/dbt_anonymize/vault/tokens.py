"""Tokens: random texts that stand for people, drawn once and stored in the vault."""

from __future__ import annotations

import contextlib
import secrets

from duckdb import DuckDBPyConnection

from dbt_anonymize.errors import VaultError

# 128 random bits: two people among a billion share one with a chance of 1 in 10^21.
TOKEN_DIGITS = 32
_KEY_BYTES = 32


def append_tokens(
    session: DuckDBPyConnection, *, relation: str, people: str, identified_by: str
) -> int:
    """Draw a token for each person without one; return how many. No token changes or goes.

    A token is the hash of the person under a key that the operating system draws for this call
    only: without the stored table nobody can derive it, even from a list of all people. (The
    database's ``random()`` and ``uuid()`` follow its seed.) Key and people are in no statement's
    text, so in no log.

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
    # A cursor of its own, so that the transaction is ours from beginning to end.
    cursor = session.cursor()
    try:
        cursor.execute("begin transaction")
        ((before,),) = cursor.execute(f"select count(*) from {relation}").fetchall()  # noqa: S608
        cursor.execute(
            f"insert into {relation} (person, token, identified_by) "  # noqa: S608 (quoted by dbt)
            "select person, "
            "substr(sha256(cast(? as blob) || encode(cast(person as varchar))), 1, ?), ? "
            f"from ({people}) as people where not exists "
            f"(select 1 from {relation} as known where known.person = people.person)",
            [secrets.token_bytes(_KEY_BYTES), TOKEN_DIGITS, identified_by],
        ).fetchall()
        ((after,),) = cursor.execute(f"select count(*) from {relation}").fetchall()  # noqa: S608
        cursor.execute("commit")
    except Exception as error:
        with contextlib.suppress(Exception):
            cursor.execute("rollback")
        # The words of the database may quote a person.
        raise VaultError(
            f"{relation}: the tokens of new people could not be stored ({type(error).__name__}); "
            "those of others are unchanged. Check that the vault is writable, that the disk is "
            "not full and that no other build runs, and build again."
        ) from None
    finally:
        cursor.close()
    return int(after - before)
