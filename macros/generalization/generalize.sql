{# CTEs that end in `<prefix>generalized`: every row of `rows` with its quasi-identifiers generalized. #}
{% macro generalize(rows, quasi_identifiers, columns, prefix="") -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {{ dbt_anonymize._hierarchy_level(
            quasi_identifier, prefix ~ "hierarchy_" ~ loop.index, prefix ~ "range_" ~ loop.index
        ) }}
    {%- endfor %}

{{ prefix }}generalized as {{ dbt_anonymize._not_materialized() }}(

    select
    {%- for column in columns %}
        {{ dbt_anonymize._quote(column, rows) }},
    {%- endfor %}
    {%- for quasi_identifier in quasi_identifiers %}
        {{ dbt_anonymize._generalized_columns(
            quasi_identifier, rows, prefix ~ "hierarchy_" ~ loop.index, prefix ~ "range_" ~ loop.index
        ) }}{{ "," if not loop.last }}
    {%- endfor %}
    from {{ rows }}
    {%- for quasi_identifier in quasi_identifiers %}
    {%- if quasi_identifier.kind == "interval" %}
    cross join {{ prefix }}range_{{ loop.index }}
    {%- endif %}
    {%- if quasi_identifier.level > 0 %}
    {%- set hierarchy = prefix ~ "hierarchy_" ~ loop.index %}
    left join {{ hierarchy }}
        on {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf", rows) }} = {{ hierarchy }}.leaf
    {%- endif %}
    {%- endfor %}

),
{%- endmacro %}


{# One level of a hierarchy: leaf -> label and, for intervals, the bounds of the label. One row per leaf whatever
   became of the seed since it was checked: a leaf that stands there twice must not count every person twice. #}
{% macro _hierarchy_level(quasi_identifier, level_name, range_name) -%}
    {%- set level = quasi_identifier.level -%}
    {%- set label = dbt_anonymize._as_text("level_" ~ level) -%}
    {%- if quasi_identifier.kind == "interval" %}

{{ range_name }} as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from {{ quasi_identifier.hierarchy }}

),
        {%- if level > 0 %}

{{ level_name }} as (

    select
        leaf,
        min(label) as label,
        min(label_lower) as label_lower,
        max(label_upper) as label_upper
    from (
        select
            lower_bound as leaf,
            {{ label }} as label,
            min(lower_bound) over (partition by level_{{ level }}) as label_lower,
            max(upper_bound) over (partition by level_{{ level }}) as label_upper
        from {{ quasi_identifier.hierarchy }}
    ) as leaves
    group by leaf

),
        {%- endif -%}
    {%- elif level > 0 %}

{{ level_name }} as (

    select
        {{ dbt_anonymize._as_text("value") }} as leaf,
        min({{ label }}) as label
    from {{ quasi_identifier.hierarchy }}
    group by {{ dbt_anonymize._as_text("value") }}

),
    {%- endif -%}
{%- endmacro %}


{# Label, bounds and share of one quasi-identifier. None of them is ever NULL; NULL itself is the value `*`. #}
{% macro _generalized_columns(quasi_identifier, rows, level_name, range_name) -%}
    {%- set raw = dbt_anonymize._quote(quasi_identifier.name, rows) -%}
    {%- set label = dbt_anonymize._quote(quasi_identifier.name) -%}
    {%- if quasi_identifier.level == 0 -%}
        coalesce({{ dbt_anonymize._as_text(raw) }}, '*') as {{ label }}
    {%- else -%}
        case
            when {{ raw }} is null then '*'
            when {{ level_name }}.label is null
                then {{ dbt_anonymize._raise_uncovered(quasi_identifier, level_name ~ ".label") }}
            else {{ level_name }}.label
        end as {{ label }}
    {%- endif -%}
    {%- if quasi_identifier.kind == "interval" -%}
        {%- for end in ["lower", "upper"] -%}
        {%- set bound = raw if quasi_identifier.level == 0 else level_name ~ ".label_" ~ end -%}
        {%- set name = dbt_anonymize._quote(quasi_identifier.name ~ "_" ~ end) -%},
        coalesce({{ bound }}, {{ range_name }}.range_{{ end }}) as {{ name }}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}


{# An expression that stops the statement: a value has no leaf, since the hierarchy is not that of the microdata. #}
{% macro _raise_uncovered(quasi_identifier, like) -%}
    {{ return(dbt_anonymize._raise_in_sql(
        model.name ~ ": a value of " ~ quasi_identifier.name ~ " is not in the hierarchy "
        ~ quasi_identifier.hierarchy.identifier ~ ". Build again from the microdata on.",
        like
    )) }}
{%- endmacro %}
