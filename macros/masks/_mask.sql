{#
  An expression of what is released instead of a value; docs/masks.md defines each mask.
    column  of the source, as the adapter describes it; none while the source does not exist
    value   SQL of the value
    mask    {'round': 100, 'top': 150000}, ...; see the masks of a spec
    key     name of the CTE with its key, if it has one
    person  SQL of who somebody is, for shifted dates
  NULL stays NULL, but for a constant. What has not the expected form is hidden altogether.
#}
{% macro _mask(column, value, mask, key=none, person=none) -%}
    {%- if "constant" in mask -%}
        {{ return(
            dbt_anonymize._literal(mask.constant) if mask.constant is string else dbt_anonymize._number(mask.constant)
        ) }}
    {%- elif "email" in mask -%}
        {{ return(dbt_anonymize._mask_email(value)) }}
    {%- elif "phone" in mask -%}
        {{ return(dbt_anonymize._mask_phone(value, mask.phone)) }}
    {%- elif "keyed_hash" in mask -%}
        {{ return(dbt_anonymize._keyed_hash(value, key)) }}
    {%- elif "truncate" in mask or "shift_days" in mask -%}
        {%- set date = dbt_anonymize._shifted(value, person, mask.shift_days, key) if mask.shift_days else value -%}
        {%- set date = dbt_anonymize._mask_truncated(date, mask.truncate) if mask.truncate else date -%}
        {{ return("cast(" ~ date ~ " as " ~ (column.dtype if column else "date") ~ ")") }}
    {%- endif -%}
    {{ return(dbt_anonymize._mask_number(column, value, mask)) }}
{%- endmacro %}


{# Whole numbers by whole numbers stay exact; all others become doubles, with one NaN, which stays, and one zero. #}
{% macro _mask_number(column, value, mask) -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set fractions = [] -%}
    {%- for number in mask.values() if number != number | int -%}{%- do fractions.append(number) -%}{%- endfor -%}
    {%- if column and column.dtype | lower in dbt_anonymize._mask_integers() and not fractions -%}
        {%- set number = dbt_anonymize._mask_capped("cast(" ~ value ~ " as decimal(38, 0))", mask) -%}
        {%- if "round" in mask -%}
            {%- set width = mask.round | int -%}
            {%- set shifted = "(" ~ number ~ " + " ~ width // 2 ~ ")" -%}
            {%- set number = (
                shifted ~ " - mod(mod(" ~ shifted ~ ", " ~ width ~ ") + " ~ width ~ ", " ~ width ~ ")"
            ) -%}
        {%- endif -%}
        {{ return("cast(" ~ number ~ " as " ~ dbt.type_bigint() ~ ")") }}
    {%- endif -%}
    {%- set nan, read = "cast('NaN' as " ~ double ~ ")", "cast(" ~ value ~ " as " ~ double ~ ")" -%}
    {%- set number = dbt_anonymize._mask_capped(read, mask) -%}
    {%- if "round" in mask -%}
        {%- set width = dbt_anonymize._number(mask.round) -%}
        {%- set decimals = (width ~ ".").split(".")[1] | length -%}
        {%- set read_width = "cast(" ~ width ~ " as " ~ double ~ ")" -%}
        {%- set number = dbt_anonymize._mask_decimals(
            dbt_anonymize._mask_floor(number ~ " / " ~ read_width ~ " + 0.5") ~ " * " ~ read_width, decimals
        ) -%}
    {%- endif -%}
    {{ return("case when " ~ read ~ " = " ~ nan ~ " then " ~ nan ~ " else " ~ number ~ " + 0 end") }}
{%- endmacro %}


{# The largest whole double that is not above a double. #}
{% macro _mask_floor(number) -%}
    {{ return(adapter.dispatch("_mask_floor", "dbt_anonymize")(number)) }}
{%- endmacro %}

{% macro default___mask_floor(number) -%}{{ return("floor(" ~ number ~ ")") }}{%- endmacro %}


{# The start of a unit of a date, or of a point in time without zone. #}
{% macro _mask_truncated(date, unit) -%}
    {{ return(adapter.dispatch("_mask_truncated", "dbt_anonymize")(date, unit)) }}
{%- endmacro %}

{% macro default___mask_truncated(date, unit) -%}
    {{ return("date_trunc('" ~ unit ~ "', " ~ date ~ ")") }}
{%- endmacro %}


{# A pattern of the types of dates, and of points in time that have no zone in which they would be truncated. #}
{% macro _mask_dates() -%}{{ return(adapter.dispatch("_mask_dates", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___mask_dates() -%}{{ return("date|timestamp(?!.*with time z).*") }}{%- endmacro %}


{# Types whose values and their neighbours fit into a decimal of 38 digits and, but for the widest, into 64 bits. #}
{% macro _mask_integers() -%}
    {{ return(["tinyint", "smallint", "integer", "int", "bigint", "utinyint", "usmallint", "uinteger"]) }}
{%- endmacro %}


{# A number between the declared ends. #}
{% macro _mask_capped(number, mask) -%}
    {%- set branches = [] -%}
    {%- for end, sign in [("top", ">"), ("bottom", "<")] if end in mask -%}
        {%- set limit = dbt_anonymize._number(mask[end]) -%}
        {%- do branches.append("when " ~ number ~ " " ~ sign ~ " " ~ limit ~ " then " ~ limit) -%}
    {%- endfor -%}
    {{ return("case " ~ branches | join(" ") ~ " else " ~ number ~ " end" if branches else number) }}
{%- endmacro %}


{# A product of a decimal without the noise of its last bits: 0.3, not 0.30000000000000004. #}
{% macro _mask_decimals(number, decimals) -%}
    {{ return(adapter.dispatch("_mask_decimals", "dbt_anonymize")(number, decimals)) }}
{%- endmacro %}

{% macro default___mask_decimals(number, decimals) -%}
    {{ return("round(" ~ number ~ ", " ~ decimals ~ ")") }}
{%- endmacro %}


{# `***@example.org`; what is no address with one plain domain is `***`. coalesce(): DuckDB 2.0 fails to plan functions
   of a column of NULLs alone. #}
{% macro _mask_email(value) -%}
    {%- set known, letters = "coalesce(" ~ value ~ ", '')", "abcdefghijklmnopqrstuvwxyz" -%}
    {%- set domain = "split_part(" ~ known ~ ", '@', 2)" -%}
    {%- set other = "translate(" ~ domain ~ ", '" ~ letters ~ letters | upper ~ "0123456789.-', '')" -%}
    {%- set has_one_at = "length(" ~ known ~ ") - length(replace(" ~ known ~ ", '@', '')) = 1" -%}
    {{ return(
        "case\n        when\n            " ~ has_one_at ~ "\n            and " ~ domain ~ " <> ''\n            and "
        ~ other ~ " = ''\n            then '***@' || lower(" ~ domain ~ ")\n        when " ~ value
        ~ " is not null then '***'\n    end"
    ) }}
{%- endmacro %}


{# `***67`: of the digits only the last; four more at least stay hidden. #}
{% macro _mask_phone(value, digits) -%}
    {%- set known = "coalesce(" ~ value ~ ", '')" -%}
    {%- set all_digits = "translate(" ~ known ~ ", translate(" ~ known ~ ", '0123456789', ''), '')" -%}
    {{ return(
        "case\n        when length(" ~ all_digits ~ ") >= " ~ (digits + 4)
        ~ "\n            then '***' || right(" ~ all_digits ~ ", " ~ digits
        ~ ")\n        when " ~ value ~ " is not null then '***'\n    end"
    ) }}
{%- endmacro %}


{# Why a column cannot have its mask, as messages. #}
{% macro _mask_errors(column, mask) -%}
    {%- if not column -%}{{ return([]) }}{%- endif -%}
    {%- set type = column.dtype | lower -%}
    {%- set kind = mask.keys() | first -%}
    {%- set numbers = "[a-z]*int[0-9]*(eger)?|(float|real|double|decimal|numeric).*" -%}
    {%- set number = {"needs": "a number", "types": numbers} -%}
    {%- set date = {
        "needs": "a date, or a timestamp without time zone", "types": dbt_anonymize._mask_dates()
    } -%}
    {%- set text = {"needs": "a text", "types": "(var)?char.*|text|string"} -%}
    {%- set rule = {
        "round": number, "top": number, "bottom": number, "truncate": date, "shift_days": date, "email": text,
        "phone": text
    }.get(kind) -%}
    {%- if not rule or modules.re.fullmatch(rule.types, type) -%}{{ return([]) }}{%- endif -%}
    {{ return([
        "the mask " ~ kind ~ " of " ~ column.name ~ " needs " ~ rule.needs ~ "; got "
        ~ dbt_anonymize._shown_type(type) ~ ". Cast it in a model before, or use another mask."
    ]) }}
{%- endmacro %}
