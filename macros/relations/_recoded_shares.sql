{#
  CTEs that end in `<prefix>generalized` for an effort whose level differs per record: labels, levels and shares. The
  share of a category is looked up by level and label; that of an interval is its width.
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

    {%- for level in range(quasi_identifier.levels + 1) %}
    {%- set label = dbt_anonymize._as_text("value" if level == 0 else "level_" ~ level) %}
    select
        {{ level }} as level,
        {{ label }} as label,
        cast(count(*) as {{ double }}) / (select count(*) from {{ quasi_identifier.hierarchy }}) as share
    from {{ quasi_identifier.hierarchy }}
    group by {{ label }}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endif %}
{%- endfor %}

{{ prefix }}generalized as {{ dbt_anonymize._not_materialized() }}(

    select
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set label = dbt_anonymize._quote(quasi_identifier.name, "recoding") %}
        {{ label }},
        {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level", "recoding") }},
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
