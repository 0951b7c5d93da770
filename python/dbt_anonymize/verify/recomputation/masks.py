"""Values of each mask, by SQL that the build does not share."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dbt_anonymize.literals import quote_text
from dbt_anonymize.spec.masks import Mask, Number

_WHOLE = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
)


@dataclass(frozen=True)
class Key:
    """A key of HMAC-SHA256, whose `pads` are in a table of one row: no statement shows it."""

    table: str

    def hash_sql(self, text: str) -> str:
        """Return SQL of the hash of a text, in hexadecimal digits."""
        inner, outer = (f"(select {pad} from {self.table})" for pad in ("inner_pad", "outer_pad"))  # noqa: S608
        return f"sha256({outer} || unhex(sha256({inner} || encode(cast({text} as varchar)))))"


def pads(key: str) -> tuple[bytes, bytes]:
    """Return the inner and outer padded key (RFC 2104)."""
    block = key.encode().ljust(64, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)


def mask_sql(
    value: str, kind: str, mask: Mask, key: Key | None = None, person: str | None = None
) -> str:
    """Return SQL of the mask of a value of a type.

    ``key`` is that of a mask with one, ``person`` the SQL of the person column.

    Whole numbers under whole limits are computed in 128 bits, others as doubles; NULL stays NULL
    except under a constant.
    """
    if mask.constant is not None:
        return quote_text(mask.constant) if isinstance(mask.constant, str) else str(mask.constant)
    if mask.keyed_hash is not None and key is not None:
        return f"if({value} is null, null, {key.hash_sql(value)})"
    if mask.shift_days is not None or mask.truncate is not None:
        return _date(value, kind, mask, key, person)
    if mask.email is not None or mask.phone is not None:
        return _text(value, mask)
    limits = [n for n in (mask.round, mask.top, mask.bottom) if n is not None]
    if kind in _WHOLE and all(number == int(number) for number in limits):
        return _whole(value, mask)
    return _double(value, mask)


def _date(value: str, kind: str, mask: Mask, key: Key | None, person: str | None) -> str:
    date = value
    if mask.shift_days is not None and key is not None:
        number = f"('0x' || left({key.hash_sql(str(person))}, 13))::bigint % {2 * mask.shift_days}"
        days = f"{number} - {mask.shift_days} + if({number} < {mask.shift_days}, 0, 1)"
        date = f"({value} + to_days(cast({days} as integer)))"
    if mask.truncate is not None:
        date = f"date_trunc({quote_text(mask.truncate)}, {date})"
    return f"cast({date} as {kind})"


def _text(value: str, mask: Mask) -> str:
    if mask.email is not None:
        return (
            f"case when {value} is null then null "
            f"when regexp_full_match({value}, '[^@]*@[a-zA-Z0-9.-]+', 's') "
            f"then '***@' || lower(regexp_extract({value}, '@(.+)$', 1)) else '***' end"
        )
    digits = f"regexp_replace({value}, '[^0-9]', '', 'g')"
    enough = f"strlen({digits}) > {(mask.phone or 0) + 3}"
    return (
        f"case when {value} is not null then "
        f"'***' || case when {enough} then right({digits}, {mask.phone}) else '' end end"
    )


def _whole(value: str, mask: Mask) -> str:
    number = f"cast({value} as hugeint)"
    for function, limit in (("least", mask.top), ("greatest", mask.bottom)):
        if limit is not None:
            number = f"{function}({number}, {int(limit)})"
    # Both skip NULL.
    number = f"if({value} is null, null, {number})"
    if mask.round is not None:
        width = int(mask.round)
        rest = f"(({number} % {width} + {width}) % {width})"
        number = f"{number} - {rest} + if(2 * {rest} >= {width}, {width}, 0)"
    return f"cast({number} as bigint)"


def _double(value: str, mask: Mask) -> str:
    number = f"cast({value} as double)"
    for function, limit in (("least", mask.top), ("greatest", mask.bottom)):
        if limit is not None:
            number = f"{function}({number}, cast({_plain(limit)} as double))"
    if mask.round is not None:
        width = _plain(mask.round)
        decimals = len(width.partition(".")[2])
        multiple = f"floor({number} / {width}::double + 0.5)"
        number = f"round({multiple} * {width}::double, {decimals})"
    nan = "'nan'::double"
    read = f"cast({value} as double)"
    return (
        f"case when {value} is null then null when isnan({read}) then {nan} else {number} + 0 end"
    )


def _plain(number: Number) -> str:
    """Return a number as a plain decimal."""
    return f"{Decimal(repr(number)):f}"
