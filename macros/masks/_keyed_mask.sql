{#
  Masks with a key: HMAC-SHA256 (RFC 2104) under keys that are drawn once and stay in the vault. Each hashed column has
  a key of its own; all shifted dates of a spec share one, so that the dates of a person move together.
#}

{# What keys of some masks are for, as they are stored. #}
{% macro _mask_purposes(masks) -%}
    {%- set purposes = [] -%}
    {%- for column, mask in masks.items() -%}
        {%- if "keyed_hash" in mask -%}{%- do purposes.append("hash " ~ column) -%}{%- endif -%}
        {%- if "shift_days" in mask and "shift" not in purposes -%}{%- do purposes.append("shift") -%}{%- endif -%}
    {%- endfor -%}
    {{ return(purposes) }}
{%- endmacro %}


{# CTEs `key_<i>`, one for each purpose: the key of the inner and of the outer hash. #}
{% macro _mask_keys_as_ctes(mask_keys, masks) -%}
{%- for purpose in dbt_anonymize._mask_purposes(masks) %}

key_{{ loop.index }} as (

    select
        {{ dbt_anonymize._hmac_pad("token", "36") }} as inner_pad,
        {{ dbt_anonymize._hmac_pad("token", "5c") }} as outer_pad
    from {{ mask_keys }}
    where person = {{ dbt_anonymize._literal(purpose) }}

),
{%- endfor %}
{%- endmacro %}


{# The name of such a CTE. #}
{% macro _mask_key(masks, purpose) -%}
    {%- for known in dbt_anonymize._mask_purposes(masks) if known == purpose -%}
        {{ return("key_" ~ (dbt_anonymize._mask_purposes(masks).index(known) + 1)) }}
    {%- endfor -%}
{%- endmacro %}


{# 64 hexadecimal digits that nobody computes without the key; NULL for NULL. Without the key the statement stops. #}
{% macro _keyed_hash(value, key) -%}
    {%- set inner = "(select " ~ key ~ ".inner_pad from " ~ key ~ ")" -%}
    {%- set outer = "(select " ~ key ~ ".outer_pad from " ~ key ~ ")" -%}
    {%- set hashed = dbt_anonymize._hmac(inner, outer, "coalesce(" ~ dbt_anonymize._as_text(value) ~ ", '')") -%}
    {{ return(
        "case when " ~ inner ~ " is null then " ~ dbt_anonymize._raise_in_sql(
            model.name ~ ": a key of a mask is not in the vault. Build again with everything before.",
            dbt_anonymize._as_text(value)
        ) ~ " when " ~ value ~ " is not null then " ~ hashed ~ " end"
    ) }}
{%- endmacro %}


{# A date, moved by the days of its person: from 1 to the limit, forwards or backwards, all equally likely. #}
{% macro _shifted(value, person, days, key) -%}
    {%- set hashed = dbt_anonymize._keyed_hash(person, key) -%}
    {%- set drawn = "mod(" ~ dbt_anonymize._number_of_digits(hashed) ~ ", " ~ 2 * days ~ ")" -%}
    {%- set forwards = drawn ~ " - " ~ (days - 1) -%}
    {%- set shift = (
        "case when " ~ drawn ~ " < " ~ days ~ " then " ~ drawn ~ " - " ~ days ~ " else " ~ forwards ~ " end"
    ) -%}
    {{ return(dbt.dateadd("day", "(" ~ shift ~ ")", value)) }}
{%- endmacro %}


{% macro _hmac_pad(key, byte) -%}{{ return(adapter.dispatch("_hmac_pad", "dbt_anonymize")(key, byte)) }}{%- endmacro %}

{% macro default___hmac_pad(key, byte) -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize: the masks keyed_hash and shift_days need DuckDB; " ~ target.type
        ~ " by itself computes no HMAC-SHA256. Use another mask."
    ) }}
{%- endmacro %}

{# A block of 64 bytes: the 32 characters of the key, then zeros. #}
{% macro duckdb___hmac_pad(key, byte) -%}
    {%- set block = "unhex(hex(encode(" ~ key ~ ")) || repeat('00', 32))" -%}
    {{ return(
        "cast(xor(cast(" ~ block ~ " as bit), cast(unhex(repeat('" ~ byte ~ "', 64)) as bit)) as blob)"
    ) }}
{%- endmacro %}


{% macro _hmac(inner, outer, text) -%}
    {{ return(adapter.dispatch("_hmac", "dbt_anonymize")(inner, outer, text)) }}
{%- endmacro %}

{% macro default___hmac(inner, outer, text) -%}
    {{ return("sha256(" ~ outer ~ " || unhex(sha256(" ~ inner ~ " || encode(" ~ text ~ "))))") }}
{%- endmacro %}


{# The first 13 hexadecimal digits of a hash as a number. #}
{% macro _number_of_digits(hashed) -%}
    {{ return(adapter.dispatch("_number_of_digits", "dbt_anonymize")(hashed)) }}
{%- endmacro %}

{% macro default___number_of_digits(hashed) -%}
    {{ return("cast('0x' || substr(" ~ hashed ~ ", 1, 13) as " ~ dbt.type_bigint() ~ ")") }}
{%- endmacro %}
