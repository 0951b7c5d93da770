{% macro classes(
    frequencies, quasi_identifiers, sensitive, target, efforts, guarantees, suppression_limit, has_subject=false, population=none,
    population_size=none, sensitive_hierarchies={}, record_key=none
) -%}
{{ config(materialized="table") }}
{%- set measured = (sensitive + dbt_anonymize._guaranteed_attributes(guarantees)) | unique(case_sensitive=true) | list -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
{%- set measures = [] -%}
{%- for attribute in measured -%}
    {%- do measures.extend(dbt_anonymize._attribute_measures(attribute, guarantees, true) | map(attribute="column")) -%}
{%- endfor -%}
{%- do dbt_anonymize._check_population_of(guarantees, population, population_size, efforts) -%}
with

frequencies as (

    select * from {{ frequencies }}

),
{%- if population %}

population as (

    select * from {{ population }}

),
{%- endif %}
{{- dbt_anonymize._global_distributions(
    "frequencies", measured, guarantees, "table_", "sum(records)", has_subject, population_size, sensitive_hierarchies
) }}
{%- for number, effort in efforts.items() %}
{{- dbt_anonymize._classes_of_effort(
    number, effort, quasi_identifiers, measured, target, guarantees, has_subject, population is not none and effort.levels is defined,
    sensitive_hierarchies, record_key
) }}
{%- endfor %}

classes as (

    {%- for number, effort in efforts.items() %}
    select
        {{ number }} as effort,
        {%- for name in names %}
        classes.{{ dbt_anonymize._quote(name) }},
        classes.{{ dbt_anonymize._quote(name ~ "_share") }},
        classes.{{ dbt_anonymize._quote(name ~ "_level") }},
        {%- endfor %}
        {{ dbt_anonymize.equivalence_class(quasi_identifiers, "classes") }} as equivalence_class,
        classes.class_size,
        classes.records,
        {{ "classes.population_size" if population and effort.levels else "cast(null as " ~ dbt.type_bigint() ~ ") as population_size" }},
        majorities.majority_records,
        majorities.has_majority,
        {%- for measure in measures %}
        classes.{{ dbt_anonymize._quote(measure) }},
        {%- endfor %}
        classes.is_violating
    from effort_{{ number }}_classes as classes
    inner join effort_{{ number }}_majorities as majorities
        on
        {%- for name in names %}
            {{ "and " if not loop.first }}{{ dbt_anonymize._quote(name, "classes") }} = {{ dbt_anonymize._quote(name, "majorities") }}
        {%- endfor %}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),
{{- dbt_anonymize._sample_based_suppression(guarantees, names) }}

limits as (

    select
        effort,
        {{ dbt_anonymize._may_be_suppressed(suppression_limit, "sum(records)") }} as may_be_suppressed,
        sum(case when is_suppressed then records else 0 end) as violating_records
    from judged
    group by effort

)

select
    judged.effort,
    {%- for name in names %}
    judged.{{ dbt_anonymize._quote(name) }},
    judged.{{ dbt_anonymize._quote(name ~ "_share") }},
    judged.{{ dbt_anonymize._quote(name ~ "_level") }},
    {%- endfor %}
    judged.equivalence_class,
    judged.class_size,
    judged.records,
    judged.population_size,
    judged.majority_records,
    judged.has_majority,
    {%- for measure in measures %}
    judged.{{ dbt_anonymize._quote(measure) }},
    {%- endfor %}
    judged.is_suppressed as is_violating,
    {#- Effort 0 is the untouched baseline: nothing is suppressed in it, and nothing is released from it. #}
    judged.effort > 0 and judged.is_suppressed and limits.violating_records <= limits.may_be_suppressed as is_suppressed
from judged
inner join limits on judged.effort = limits.effort
{%- endmacro %}


{# CTEs that end in `effort_<number>_classes` and `effort_<number>_majorities`. #}
{% macro _classes_of_effort(
    number, effort, quasi_identifiers, sensitive, target, guarantees, has_subject, has_population, sensitive_hierarchies, record_key
) -%}
{%- set prefix = "effort_" ~ number ~ "_" -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
{%- set columns = (sensitive + [target]) | unique(case_sensitive=true) | list + (["subject"] if has_subject else []) -%}
{%- set generalized = [] -%}
{%- set further = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- set level = effort.levels[quasi_identifier.name] if effort.levels else none -%}
    {%- do generalized.append(dict(quasi_identifier, level=level)) -%}
    {%- do further.append({
        "name": quasi_identifier.name ~ "_share", "sql": "max(" ~ dbt_anonymize._quote(quasi_identifier.name ~ "_share") ~ ")"
    }) -%}
    {%- do further.append({
        "name": quasi_identifier.name ~ "_level",
        "sql": "cast(" ~ (level if level is not none else "max(" ~ dbt_anonymize._quote(quasi_identifier.name ~ "_level") ~ ")") ~ " as integer)",
    }) -%}
{%- endfor -%}
{%- if effort.levels -%}
{{ dbt_anonymize.generalize("frequencies", generalized, columns + ["records"], prefix, true) }}
{%- else -%}
{{ dbt_anonymize._recoded_shares(effort, quasi_identifiers, columns, record_key, prefix) }}
{%- endif -%}
{%- if has_population %}
{{- dbt_anonymize.generalize("population", generalized, ["records"], prefix ~ "population_") }}

{{ prefix }}population as (

    select
        {%- for name in names %}
        {{ dbt_anonymize._quote(name) }},
        {%- endfor %}
        cast(sum(records) as {{ dbt.type_bigint() }}) as population_size
    from {{ prefix }}population_generalized
    group by
        {%- for name in names %}
        {{ dbt_anonymize._quote(name) }}{{ "," if not loop.last }}
        {%- endfor %}

),
{%- endif %}
{{- dbt_anonymize._measured_classes(
    names,
    guarantees + ([{"model": "k_anonymity", "k": effort.k}] if effort.k else []),
    sensitive,
    prefix,
    "sum(records)",
    has_subject,
    "table_",
    prefix ~ "population" if has_population else none,
    sensitive_hierarchies=sensitive_hierarchies,
    has_all_measures=true,
    further=further,
) }}

{#- Ties are found by counting equal counts, which needs no order of all values. #}

{{ prefix }}majorities as (

    select
        {%- for name in names %}
        {{ dbt_anonymize._quote(name) }},
        {%- endfor %}
        cast(max(records) as {{ dbt.type_bigint() }}) as majority_records,
        coalesce(max(records) = max(case when number_of_values = 1 then records end), false) as has_majority
    from (
        select
            {%- for name in names %}
            {{ dbt_anonymize._quote(name) }},
            {%- endfor %}
            records,
            count(*) as number_of_values
        from (
            select
                {%- for name in names %}
                {{ dbt_anonymize._quote(name) }},
                {%- endfor %}
                sum(records) as records
            from {{ prefix }}generalized
            group by
                {%- for name in names %}
                {{ dbt_anonymize._quote(name) }},
                {%- endfor %}
                {{ dbt_anonymize._quote(target) }}
        ) as counted
        group by
            {%- for name in names %}
            {{ dbt_anonymize._quote(name) }},
            {%- endfor %}
            records
    ) as tied
    group by
        {%- for name in names %}
        {{ dbt_anonymize._quote(name) }}{{ "," if not loop.last }}
        {%- endfor %}

),
{%- endmacro %}


{#
  CTEs that end in `<prefix>generalized` for an effort whose level differs per record: labels, levels and shares. The
  share of a category is looked up by level and label; that of an interval is its width.
#}
{% macro _recoded_shares(effort, quasi_identifiers, columns, record_key, prefix) -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- if not record_key -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": `record_key` must be given where an effort has a recoding; got: " ~ record_key ~ ". Run `dbt-anonymize generate`."
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
            and {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level", "recoding") }} = {{ prefix }}shares_{{ loop.index }}.level
    {%- endif %}
    {%- endfor %}

),
{%- endmacro %}


{# Stops where a guarantee needs a population that is not there, or that recoded records have no classes in. #}
{% macro _check_population_of(guarantees, population, population_size, efforts) -%}
    {%- for guarantee in guarantees -%}
        {%- set privacy_model = dbt_anonymize._privacy_model(guarantee) -%}
        {%- if privacy_model.needs_population -%}
            {%- if not population -%}
                {{ exceptions.raise_compiler_error(
                    model.name ~ ": the guarantee " ~ guarantee.model ~ " needs a table of the population; got none."
                    ~ " Name it under population in the spec and generate again."
                ) }}
            {%- endif -%}
            {%- for number, effort in efforts.items() if effort.recoding -%}
                {{ exceptions.raise_compiler_error(
                    model.name ~ ": the guarantee " ~ guarantee.model ~ " needs efforts with levels, since a population has no classes of"
                    ~ " records that are recoded one by one; got a recoding in effort " ~ number ~ ". Write levels, or remove the guarantee."
                ) }}
            {%- endfor -%}
        {%- elif privacy_model.is_estimated -%}
            {%- do dbt_anonymize._check_population_size("the guarantee " ~ guarantee.model, population_size) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
