{# Counts of values, texts and subsets. #}

{# Postgres sorts what it counts so, which is faster than a hash table for whole numbers alone. #}
{% macro postgres___count_distinct(relation, name) -%}
    {%- for column in adapter.get_columns_in_relation(relation) if column.name == name and column.is_integer() -%}
        {{ return(dbt_anonymize.default___count_distinct(relation, name)) }}
    {%- endfor -%}
    {%- set column = dbt_anonymize._quote(name) -%}
    {{ return(run_query(
        "select count(*) from (select distinct " ~ column ~ " from " ~ relation ~ " where " ~ column
        ~ " is not null) as found"
    ).rows[0][0] | int) }}
{%- endmacro %}


{# Postgres sorts what it counts so; what is grouped is looked at once for each value. #}
{% macro postgres___count_phrases(relation, column) -%}
    {{ return(
        "select coalesce(sum(records), 0) as known, coalesce(max(length(value)), 0) as longest,"
        ~ " count(case when trim(value) like '% %' then 1 end) as phrases from (select " ~ column
        ~ " as value, count(*) as records from " ~ relation ~ " where " ~ column ~ " is not null group by " ~ column
        ~ ") as texts"
    ) }}
{%- endmacro %}


{# A hash table takes ten times as long as on DuckDB, and bases much less from ten thousand rows on. #}
{% macro postgres___are_subsets_planned(frequencies, counted_whole) -%}
    {{ return(dbt_anonymize.default___are_subsets_planned(frequencies, [counted_whole, 10000] | min)) }}
{%- endmacro %}


{% macro postgres___kept_bases(bases) -%}
    {%- set names = [] -%}
    {%- for base in bases -%}{%- do names.append("base_" ~ loop.index) -%}{%- endfor -%}
    {{ return(names) }}
{%- endmacro %}
