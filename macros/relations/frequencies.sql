{% macro frequencies(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "microdata", "quasi_identifiers", "sensitive", "target",
], {
    "has_subject": false, "has_sample": false, "further_targets": [], "partitions": none,
}) -%}
{%- set columns = [] -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do columns.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
    {%- do columns.append(dbt_anonymize._quote(quasi_identifier.name ~ "_leaf")) -%}
{%- endfor -%}
{%- set targets = ([given.target] if given.target else []) + given.further_targets -%}
{%- for column in (given.sensitive + targets) | unique(case_sensitive=true) -%}
    {%- if dbt_anonymize._quote(column) not in columns -%}
        {%- do columns.append(dbt_anonymize._quote(column)) -%}
    {%- endif -%}
{%- endfor -%}
{%- if given.has_subject -%}
    {%- do columns.append("subject") -%}
{%- endif -%}
{%- if given.has_sample -%}
    {%- do columns.append("sample_share") -%}
{%- endif -%}
{%- if given.partitions == "apart" -%}
    {%- set parts = dbt_anonymize._parts_of(
        model.name | replace("_frequencies_parts", "_microdata_parts"),
        dbt_anonymize._frequencies_rows(given.microdata, columns, given.partitions)
    ) -%}
    {{ config(
        materialized="dbt_anonymize_partitions",
        meta={"dbt_anonymize": {"parts": parts}},
        post_hook=["{{ dbt_anonymize._check_parts() }}"] + dbt_anonymize._analyzed(),
    ) }}
{%- else -%}
    {{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- endif -%}
{%- do dbt_anonymize._expect_many_rows() -%}
{{ dbt_anonymize._frequencies_rows(given.microdata, columns, given.partitions) }}
{%- endmacro %}


{% macro _frequencies_rows(microdata, columns, partitions) -%}
with

microdata as (

    select * from {{ microdata }}
    {%- if partitions == "apart" and dbt_anonymize._is_building() %}
    where {{ dbt_anonymize._due_digests() }}
    {%- endif %}

)

select
    {{ columns | join(",\n    ") }},
    {%- if partitions == "merged" %}
    cast(sum(records) as {{ dbt.type_bigint() }}) as records
    {%- else %}
    count(*) as records
    {%- endif %}
    {%- if partitions == "apart" %},
    {{ dbt_anonymize._digest_of_part("partition_digest") }} as partition_digest
    {%- endif %}
from microdata
group by
    {{ columns | join(",\n    ") }}{{ ",\n    partition_digest" if partitions == "apart" }}
{%- endmacro %}
