{% macro frequencies_of_parts(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["frequencies"]) -%}
{{ dbt_anonymize.frequencies(given.frequencies, {
    "records": "cast(sum(records) as " ~ dbt.type_bigint() ~ ")",
}) }}
{%- endmacro %}
