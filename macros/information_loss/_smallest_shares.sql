{# One row: for each quasi-identifier the share of its hierarchy that a raw value covers, `smallest_<i>`.
   A raw number is a point of its range and covers nothing of it. #}
{% macro _smallest_shares(quasi_identifiers) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set shares = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- set share = "cast(0 as " ~ double ~ ")" -%}
    {%- if quasi_identifier.kind != "interval" -%}
        {%- set share = "(select cast(1 as " ~ double ~ ") / count(*) from " ~ quasi_identifier.hierarchy ~ ")" -%}
    {%- endif -%}
    {%- do shares.append(share ~ " as smallest_" ~ loop.index) -%}
{%- endfor -%}
select{{ " " ~ shares[0] if shares | length == 1 else "\n    " ~ shares | join(",\n    ") }}
{%- endmacro %}
