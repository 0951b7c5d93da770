{% macro microdata_in_parts(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["partition_by", "partitions", "microdata"]) -%}
{%- set counted = model.name | replace("_microdata_parts", "_partitions") -%}
{%- set value = dbt_anonymize._quote(given.partition_by, "source") -%}
{{ dbt_anonymize.microdata(given.microdata, dbt_anonymize._in_parts(counted, {
    "condition": dbt_anonymize._due_partitions(given.microdata.source, given.partition_by),
    "ctes": dbt_anonymize._digests_of_partitions(given.partitions),
    "joins": "left join partitions on " ~ value ~ " = partitions.partition_value",
    "columns": [dbt_anonymize._digest_of_partition(value)],
})) }}
{%- endmacro %}
