{#
  CTEs that end in `judged`: the rows of the CTE `classes` with `is_suppressed`: whether a class breaks a guarantee by
  itself, or has to go so that the average risk of all released classes holds. For the latter the classes go from the
  smallest upward (by class_size, then by the labels), as few as suffice. Columns are called as no column of the table
  may be.
#}
{% macro _sample_based_suppression(guarantees, names) -%}
{%- set limits = dbt_anonymize._average_risks(guarantees) -%}
{%- if not limits %}

judged as (

    select
        *,
        is_violating as is_suppressed
    from classes

),
{%- else %}
{%- set order -%}
partition by effort, is_violating
            order by class_size{% for name in names %}, {{ dbt_anonymize._quote(name) }}{% endfor %}
{%- endset %}

positioned as (

    select
        *,
        row_number() over (
            {{ order }}
        ) as position_by_size,
        sum(class_size) over (
            {{ order }}
            rows between unbounded preceding and current row
        ) as subjects_up_to
    from classes

),

remaining as (

    select
        effort,
        count(*) as classes,
        sum(class_size) as subjects
    from classes
    where not is_violating
    group by effort

),

judged as (

    select
        positioned.*,
        case
            when positioned.is_violating then true
            {#- It goes where the risk is too high before it goes; that of the larger classes after it is lower. #}
            {%- for limit in limits %}
            when
                remaining.classes - positioned.position_by_size + 1
                > {{ dbt_anonymize._number(limit) }}
                * (remaining.subjects - positioned.subjects_up_to + positioned.class_size)
                then true
            {%- endfor %}
            else false
        end as is_suppressed
    from positioned
    left join remaining on positioned.effort = remaining.effort

),
{%- endif %}
{%- endmacro %}


{# The limits that guarantees set to the average risk of all released classes. #}
{% macro _average_risks(guarantees) -%}
    {%- set limits = [] -%}
    {%- for guarantee in guarantees -%}
        {%- set average = dbt_anonymize._privacy_model(guarantee).average_risk -%}
        {%- if average -%}{%- do limits.append(average) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(limits) }}
{%- endmacro %}
