{#
  CTEs that end in `<prefix>generalized` for an effort whose level differs per record: labels, levels and shares. The
  share of a category is looked up by level and label; that of an interval is its width. Where the effort `has_modes`, a
  label may be a leaf below its level: the share is then that of the level, and no level is that of the label.
#}
{% macro _recoded_shares(effort, quasi_identifiers, columns, record_key, prefix) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- if not record_key -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": `record_key` must be given where an effort has a recoding; got: " ~ record_key
        ~ ". Run `dbt-anonymize generate`."
    ) }}
{%- endif -%}
{%- for quasi_identifier in quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}

{{ prefix }}shares_{{ loop.index }} as (

    select {{ dbt_anonymize._width("min(lower_bound)", "max(upper_bound)", quasi_identifier.hierarchy) }} as width
    from {{ quasi_identifier.hierarchy }}

),
{%- else %}

{{ prefix }}shares_{{ loop.index }} as (

    {{ dbt_anonymize._shares_of_labels(quasi_identifier, effort.has_modes) }}

),
{%- endif %}
{%- endfor %}

{{ prefix }}generalized as {{ dbt_anonymize._not_materialized() }}(

    select
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set label = dbt_anonymize._quote(quasi_identifier.name, "recoding") %}
        {{ label }},
        {%- set level = dbt_anonymize._quote(quasi_identifier.name ~ "_level", "recoding") %}
        {%- if effort.has_modes and quasi_identifier.kind != "interval" %}
        case
            when {{ prefix }}shares_{{ loop.index }}.is_mode = 0 then {{ level }}
        end as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level") }},
        {%- else %}
        {{ level }},
        {%- endif %}
        {%- if quasi_identifier.kind == "interval" %}
        case
            when {{ label }} = '*' then 1
            else {{ dbt_anonymize._width(
                dbt_anonymize._quote(quasi_identifier.name ~ "_lower", "recoding"),
                dbt_anonymize._quote(quasi_identifier.name ~ "_upper", "recoding"),
                quasi_identifier.hierarchy,
            ) }} / {{ prefix }}shares_{{ loop.index }}.width
        end as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_share") }},
        {%- else %}
        case
            when {{ label }} = '*' then 1
            when {{ prefix }}shares_{{ loop.index }}.share is null
                then {{ dbt_anonymize._raise_in_sql(
                    model.name ~ ": a label of " ~ quasi_identifier.name ~ " is not in the hierarchy "
                    ~ quasi_identifier.hierarchy.identifier ~ ". Build again from the microdata on.",
                    prefix ~ "shares_" ~ loop.index ~ ".share"
                ) }}
            else {{ prefix }}shares_{{ loop.index }}.share
        end as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_share") }},
        {%- endif %}
        {%- endfor %}
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column, "microdata") }},
        {%- endfor %}
        1 as records
    from {{ effort.microdata }} as microdata
    inner join {{ effort.recoding }} as recoding
        on {{ dbt_anonymize._quote(record_key, "microdata") }} = {{ dbt_anonymize._quote(record_key, "recoding") }}
    {%- for quasi_identifier in quasi_identifiers %}
    {%- if quasi_identifier.kind == "interval" %}
    cross join {{ prefix }}shares_{{ loop.index }}
    {%- else %}
    left join {{ prefix }}shares_{{ loop.index }}
        on
            {{ dbt_anonymize._quote(quasi_identifier.name, "recoding") }} = {{ prefix }}shares_{{ loop.index }}.label
            and {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level", "recoding") }}
            = {{ prefix }}shares_{{ loop.index }}.level
    {%- endif %}
    {%- endfor %}

),
{%- endmacro %}


{# Select of the share of the leaves that each label of each level covers; with modes also what each leaf stands for. #}
{% macro _shares_of_labels(quasi_identifier, has_modes) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set value = dbt_anonymize._as_text("value") -%}
{%- if has_modes -%}
select
        level,
        label,
        {#- A text that is a label of its level is no mode. #}
        coalesce(max(case when is_mode = 0 then share end), max(share)) as share,
        min(is_mode) as is_mode
    from (
        {%- for level in range(quasi_identifier.levels + 1) %}
        {%- set above = dbt_anonymize._as_text("level_" ~ level) if level else value %}
        {%- for label in ([above, value] if level else [value]) %}
        select
            {{ level }} as level,
            {{ label }} as label,
            cast(count(*) over (partition by {{ above }}) as {{ double }}) / count(*) over () as share,
            {{ 0 if loop.first else 1 }} as is_mode
        from {{ quasi_identifier.hierarchy }}
        {{- "\n        union all" if not loop.last }}
        {%- endfor %}
        {{- "\n        union all" if not loop.last }}
        {%- endfor %}
    ) as labels
    group by
        level,
        label
{%- else -%}
    {%- for level in range(quasi_identifier.levels + 1) %}
    {%- set label = dbt_anonymize._as_text("level_" ~ level) if level else value %}
    {{- "\n    " if not loop.first }}select
        {{ level }} as level,
        {{ label }} as label,
        cast(count(*) as {{ double }}) / cast(sum(count(*)) over () as {{ double }}) as share
    from {{ quasi_identifier.hierarchy }}
    group by {{ label }}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}
{%- endif %}
{%- endmacro %}
