{# Each target, of which there may be none, with the suffix of its CTEs and its columns of the classes. #}
{% macro _voted_targets(target, further_targets) -%}
    {%- set majorities = [] -%}
    {%- if target -%}
        {%- do majorities.append({"target": target, "suffix": "", "columns": ["majority_records", "has_majority"]}) -%}
    {%- endif -%}
    {%- for further in further_targets -%}
        {%- do majorities.append({
            "target": further, "suffix": "_" ~ loop.index,
            "columns": [further ~ "_majority_records", further ~ "_has_majority"],
        }) -%}
    {%- endfor -%}
    {{ return(majorities) }}
{%- endmacro %}


{# The names of the columns about the majorities of targets. #}
{% macro _columns_of_targets(targets) -%}
    {%- set columns = [] -%}
    {%- for one in targets -%}{%- do columns.extend(one.columns) -%}{%- endfor -%}
    {{ return(columns) }}
{%- endmacro %}


{# CTE `tied<suffix>`: how many values of a target have the same number of records in a class. `is_counted`: the CTE
   `generalized` has one row per class and value. A class has one label of a target that is a quasi-identifier. #}
{% macro _tied(keys, voted, names, is_counted) -%}
{%- set listed, suffix = keys | join(",\n        "), voted.suffix -%}
{%- if not is_counted %}

counted{{ suffix }} as (

    select
        {{ listed }},
        cast(sum(records) as {{ dbt.type_bigint() }}) as records
    from generalized
    group by
        {{ listed }}
        {{- ",\n        " ~ dbt_anonymize._quote(voted.target) if voted.target not in names }}

),
{%- endif %}

tied{{ suffix }} as (

    select
        {{ listed }},
        records,
        count(*) as number_of_values
    from {{ "generalized" if is_counted else "counted" ~ suffix }}
    group by
        {{ listed }},
        records

),
{%- endmacro %}


{# The columns about the majority of a target as aggregates of `tied`. Ties are equal counts: no order of values is
   needed. #}
{% macro _majority(columns) -%}
    {{ return([
        {"name": columns[0], "sql": "max(records)"},
        {"name": columns[1],
         "sql": "coalesce(max(records) = max(case when number_of_values = 1 then records end), false)"},
    ]) }}
{%- endmacro %}


{# CTE `majorities<suffix>` of a target in each class. #}
{% macro _majorities(keys, voted) %}

majorities{{ voted.suffix }} as (

    select
        {{ keys | join(",\n        ") }}
        {%- for column in dbt_anonymize._majority(voted.columns) %},
        {{ column.sql }} as {{ dbt_anonymize._quote(column.name) }}
        {%- endfor %}
    from tied{{ voted.suffix }}
    group by
        {{ keys | join(",\n        ") }}

),
{%- endmacro %}


{# CTE `measured`, where majorities of targets were counted apart: the measures with them. #}
{% macro _joined_majorities(keys, voted) -%}
{%- for one in voted %}
{{- dbt_anonymize._majorities(keys, one) }}
{%- endfor %}
{%- if voted %}

measured as (

    select
        measures.*
        {%- for column in dbt_anonymize._columns_of_targets(voted) %},
        {{ dbt_anonymize._quote(column) }}
        {%- endfor %}
    from measures
    {%- for one in voted %}
    inner join majorities{{ one.suffix }}
        on
        {%- for key in keys %}
            {{ "and " if not loop.first }}measures.{{ key }} = majorities{{ one.suffix }}.{{ key }}
        {%- endfor %}
    {%- endfor %}

),
{%- endif %}
{%- endmacro %}
