{% macro frequencies_in_parts(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["frequencies"]) -%}
{%- set counted = model.name | replace("_frequencies_parts", "_microdata_parts") -%}
{{ dbt_anonymize.frequencies(given.frequencies, dbt_anonymize._in_parts(counted, {
    "condition": dbt_anonymize._due_digests(),
    "columns": [dbt_anonymize._digest_of_part("partition_digest") ~ " as partition_digest"],
    "groups": ["partition_digest"],
})) }}
{%- endmacro %}
