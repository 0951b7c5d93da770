{#
  CTEs about a whole table, written once for all classes that are measured against it:
    <prefix>everybody         where a guarantee counts them: one row, `subjects` (distinct subjects; without, records)
    <prefix>derived_k_<i>     one row: `k`, the size that the i-th estimated guarantee demands of a class
    <prefix>distribution_<j>  one row per value of the j-th attribute, NULL included: `value`, `position` (order of the
                              data type, NULL last), `subjects` and `subjects_up_to` (of this and earlier values)
    <prefix>total_<j>         one row: `subjects`, `number_of_values`, `missing` (subjects whose value is NULL)
    <prefix>branches_<j>      with a hierarchy: `level`, `label`, `subjects`, for the levels below the root
  Arguments
    rows                   name of a CTE: the attributes, and what `subjects` counts
    sensitive              names of the attributes, in the order of <j>
    guarantees             flat list; only estimated ones are read here
    subjects               aggregate that counts them, see _counted_subjects
    population_size        number of people in the population, for estimates
    sensitive_hierarchies  {attribute: {'hierarchy': relation, 'levels': int}} for hierarchical t-closeness
    share                  of the sample that is released: `everybody` are its subjects, while values are compared with
                           the whole table, from which it is drawn
#}
{% macro _global_distributions(
    rows,
    sensitive,
    guarantees=[],
    prefix="",
    subjects="sum(records)",
    population_size=none,
    sensitive_hierarchies={},
    share=none
) -%}
{%- set bigint = dbt.type_bigint() %}
{%- for guarantee in guarantees if dbt_anonymize._privacy_model(guarantee).counts_everybody %}
{%- if loop.first %}

{{ prefix }}everybody as (

    select cast(coalesce({{ subjects }}, 0) as {{ bigint }}) as subjects
    from {{ rows }}
    {%- if share %}
    where {{ dbt_anonymize._is_sampled(share) }}
    {%- endif %}

),
{%- endif %}
{%- endfor %}
{%- for guarantee in guarantees if dbt_anonymize._privacy_model(guarantee).is_estimated %}

{{ prefix }}derived_k_{{ loop.index }} as (

    {{ dbt_anonymize._privacy_model(guarantee, prefix ~ "everybody", population_size).demanded_size }}

),
{%- endfor %}
{%- for attribute in sensitive %}

{{ prefix }}distribution_{{ loop.index }} as (

    select
        value,
        subjects,
        row_number() over (order by case when value is null then 1 else 0 end, value) as position,
        cast(sum(subjects) over (
            order by case when value is null then 1 else 0 end, value rows between unbounded preceding and current row
        ) as {{ bigint }}) as subjects_up_to
    from (
        select
            {{ dbt_anonymize._quote(attribute) }} as value,
            cast({{ subjects }} as {{ bigint }}) as subjects
        from {{ rows }}
        group by {{ dbt_anonymize._quote(attribute) }}
    ) as counted

),

{{ prefix }}total_{{ loop.index }} as (

    select
        cast(coalesce(sum(subjects), 0) as {{ bigint }}) as subjects,
        count(*) as number_of_values,
        cast(coalesce(sum(case when value is null then subjects end), 0) as {{ bigint }}) as missing
    from {{ prefix }}distribution_{{ loop.index }}

),
{%- if attribute in sensitive_hierarchies %}
{{- dbt_anonymize._branches(attribute, sensitive_hierarchies[attribute], prefix, loop.index) }}
{%- endif %}
{%- endfor %}
{%- endmacro %}


{# The aggregate that counts subjects: of records that say whose they are, or of rows that stand for people. #}
{% macro _counted_subjects(has_subject, count="sum(records)") -%}
    {{ return("count(distinct subject)" if has_subject else count) }}
{%- endmacro %}


{# CTEs about the hierarchy of a sensitive attribute: the label of each value at each level below the root, and the
   subjects under it. #}
{% macro _branches(attribute, tree, prefix, number) %}

{{ prefix }}tree_{{ number }} as (

    select
        {{ dbt_anonymize._as_text("value") }} as leaf
        {%- for level in range(1, tree.levels) %},
        min({{ dbt_anonymize._as_text("level_" ~ level) }}) as level_{{ level }}
        {%- endfor %}
    from {{ tree.hierarchy }}
    group by {{ dbt_anonymize._as_text("value") }}

),

{{ prefix }}labels_{{ number }} as (

    select
        distribution.value,
        distribution.subjects
        {%- for level in range(1, tree.levels) %},
        case
            when distribution.value is null then '*'
            when tree.level_{{ level }} is null
                then {{ dbt_anonymize._raise_in_sql(
                    model.name ~ ": a value of " ~ attribute ~ " is not in the hierarchy " ~ tree.hierarchy.identifier
                    ~ ". Extend it, or correct the data.",
                    "tree.level_" ~ level
                ) }}
            else tree.level_{{ level }}
        end as level_{{ level }}
        {%- endfor %}
    from {{ prefix }}distribution_{{ number }} as distribution
    left join {{ prefix }}tree_{{ number }} as tree
        on {{ dbt_anonymize._as_text("distribution.value") }} = tree.leaf

),

{{ prefix }}branches_{{ number }} as (

    {%- for level in range(1, tree.levels) %}
    select
        {{ level }} as level,
        level_{{ level }} as label,
        cast(sum(subjects) as {{ dbt.type_bigint() }}) as subjects
    from {{ prefix }}labels_{{ number }}
    group by level_{{ level }}
    {{- "\n    union all" if not loop.last }}
    {%- else %}
    select
        0 as level,
        '*' as label,
        0 as subjects
    {%- endfor %}

),
{%- endmacro %}
