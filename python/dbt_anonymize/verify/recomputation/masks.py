"""What each mask gives, by SQL that the build does not share."""

from __future__ import annotations

from decimal import Decimal

from dbt_anonymize.literals import quote_text
from dbt_anonymize.spec.masks import Mask, Number

_WHOLE = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
)


def masked(value: str, kind: str, mask: Mask) -> str:
    """Return SQL of what is released instead of a value of a type.

    Whole numbers under whole limits are computed in 128 bits, others as doubles; NULL stays NULL
    but under a constant.
    """
    if mask.constant is not None:
        return quote_text(mask.constant) if isinstance(mask.constant, str) else str(mask.constant)
    if mask.truncate is not None:
        return f"cast(date_trunc({quote_text(mask.truncate)}, {value}) as {kind})"
    if mask.email is not None:
        return (
            f"case when {value} is null then null "
            f"when regexp_full_match({value}, '[^@]*@[a-zA-Z0-9.-]+', 's') "
            f"then '***@' || lower(regexp_extract({value}, '@(.+)$', 1)) else '***' end"
        )
    if mask.phone is not None:
        digits = f"regexp_replace({value}, '[^0-9]', '', 'g')"
        enough = f"strlen({digits}) > {mask.phone + 3}"
        return (
            f"case when {value} is not null then "
            f"'***' || case when {enough} then right({digits}, {mask.phone}) else '' end end"
        )
    limits = [n for n in (mask.round, mask.top, mask.bottom) if n is not None]
    if kind in _WHOLE and all(number == int(number) for number in limits):
        return _whole(value, mask)
    return _double(value, mask)


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
    """Write a number as a plain decimal."""
    return f"{Decimal(repr(number)):f}"
