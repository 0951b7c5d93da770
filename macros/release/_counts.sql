{#
  A release that is counted: `<n>_anonymized__counts` has each distinct row of it once, with the `records` that it
  stands for, and `<n>_anonymized` is a view that repeats it. What is checked are the counts, and the rows are written
  once only, into the file that is published.
#}
{% macro _counts_of(release) -%}
    {{ return(release.incorporate(path={"identifier": release.identifier ~ "__counts"}, type="table")) }}
{%- endmacro %}


{# Whether rows are counted here; elsewhere the release is a table, and the only copy of its rows. #}
{% macro _is_counted_here() -%}
    {{ return(adapter.dispatch("_is_counted_here", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___is_counted_here() -%}{{ return(false) }}{%- endmacro %}

{% macro duckdb___is_counted_here() -%}{{ return(true) }}{%- endmacro %}


{# Query of the rows, in the order of the counts: only their scan is in between. The lists of 2,048 rows are in memory
   at once, beside memory_limit, so counts are taken apart first: a list has at most 32 KB. Shorter ones cost more. #}
{% macro _rows_of_counts(counts) -%}
    {%- set columns = [] -%}
    {%- for column in model.config.meta.dbt_anonymize.columns -%}
        {%- do columns.append(dbt_anonymize._quote(column)) -%}
    {%- endfor -%}
select
    {{ columns | join(",\n    ") }}
from (
    select * replace (unnest(repeat([true], records)) as records)
    from (
        select * replace (unnest(repeat([32768], records // 32768) || [records % 32768]) as records)
        from {{ counts }}
    ) as parts
) as repeated
{%- endmacro %}


{# A candidate: its counts by the query of the model, and the view of its rows. #}
{% macro _create_counts(candidate, sql) -%}
    {%- set counts = dbt_anonymize._counts_of(candidate) -%}
    {% call statement("main") -%}
        create table {{ counts }} as
        {{ sql }}
    {%- endcall %}
    {% call statement("rows") -%}
        {{ create_view_as(candidate.incorporate(type="view"), dbt_anonymize._rows_of_counts(counts)) }}
    {%- endcall %}
{%- endmacro %}


{# As _swap_in, with the counts; returns the relation that is released. #}
{% macro _swap_in_counts(candidate, target_relation, existing_relation) -%}
    {%- set counts = dbt_anonymize._counts_of(target_relation) -%}
    {%- set release = target_relation.incorporate(type="view") -%}
    {{ drop_relation_if_exists(existing_relation) }}
    {{ drop_relation_if_exists(candidate.incorporate(type="view")) }}
    {%- do dbt_anonymize._drop_counts(target_relation) -%}
    {% call statement("counts") -%}
        alter table {{ dbt_anonymize._counts_of(candidate) }} rename to
            {{ dbt_anonymize._quote(counts.identifier) }}
    {%- endcall %}
    {% call statement("rows") -%}
        {{ create_view_as(release, dbt_anonymize._rows_of_counts(counts)) }}
    {%- endcall %}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ return(release) }}
{%- endmacro %}


{# Also where a release is no longer counted: the counts of an earlier one would stay. #}
{% macro _drop_counts(release) -%}
    {% call statement("drop_counts") -%}
        drop table if exists {{ dbt_anonymize._counts_of(release) }}
    {%- endcall %}
{%- endmacro %}
