{% macro classes(
    frequencies,
    quasi_identifiers,
    sensitive,
    target,
    efforts,
    guarantees,
    suppression_limit,
    has_subject=false,
    population=none,
    population_size=none,
    sensitive_hierarchies={},
    record_key=none,
    further_targets=[]
) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set measured = dbt_anonymize._measured_columns(sensitive, guarantees) -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
{%- set voted = dbt_anonymize._voted_targets(target, further_targets) -%}
{#- A target that is a quasi-identifier is among the labels. -#}
{%- set columns = (measured + [target] + further_targets) | unique(case_sensitive=true) | reject("in", names) | list
    + (["subject"] if has_subject else []) -%}
{%- set leveled, recoded, stricter, further, shares = {}, {}, [], [], [] -%}
{%- for number, effort in efforts.items() -%}
    {%- if effort.share -%}{%- do shares.append(effort.share) -%}{%- endif -%}
    {%- do (leveled if effort.levels else recoded).update({number: effort}) -%}
    {%- if effort.k -%}
        {%- do stricter.append("(effort = " ~ number ~ " and class_size < " ~ effort.k ~ ")") -%}
    {%- endif -%}
{%- endfor -%}
{%- for name in names -%}
    {%- for column in [name ~ "_share", name ~ "_level"] -%}
        {%- do further.append({"name": column, "sql": "max(" ~ dbt_anonymize._quote(column) ~ ")"}) -%}
    {%- endfor -%}
{%- endfor -%}
{%- set losses = dbt_anonymize._loss_of_classes(guarantees, quasi_identifiers) -%}
{%- do further.extend(losses) -%}
{%- do dbt_anonymize._check_population_of(guarantees, population, population_size, efforts) -%}
with

frequencies as (

    select * from {{ frequencies }}

),
{{- dbt_anonymize._generalized_efforts(leveled, recoded, quasi_identifiers, columns, record_key) }}
{%- if population %}
{{- dbt_anonymize._population_of_efforts(population, quasi_identifiers, leveled) }}
{%- endif %}
{{- dbt_anonymize._global_distributions(
    "frequencies", measured, guarantees, "", "sum(records)", has_subject, population_size, sensitive_hierarchies,
    shares | max if shares else none
) }}
{{- dbt_anonymize._measured_classes(
    ["effort"] + names,
    guarantees,
    measured,
    has_subject=has_subject,
    distributions="",
    population="population_classes" if population else none,
    sensitive_hierarchies=sensitive_hierarchies,
    has_all_measures=true,
    further=further,
    stricter=stricter,
) }}
{%- for one in voted %}
{{- dbt_anonymize._majorities(["effort"] + names, one.target, one.suffix) }}
{%- endfor %}
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
    {{ dbt_anonymize.equivalence_class(quasi_identifiers, "judged") }} as equivalence_class,
    judged.class_size,
    judged.records,
    {%- for column in losses %}
    judged.{{ column.name }},
    {%- endfor %}
    {{ "judged.population_size" if population else "cast(null as " ~ dbt.type_bigint() ~ ") as population_size" }},
    {%- for one in voted %}
    {{ one.columns | join(",\n    ") }},
    {%- endfor %}
    {%- for attribute in measured %}
    {%- for measure in dbt_anonymize._attribute_measures(attribute, guarantees, true) %}
    judged.{{ dbt_anonymize._quote(measure.column) }},
    {%- endfor %}
    {%- endfor %}
    judged.is_suppressed as is_violating,
    {#- Effort 0 is the untouched baseline: nothing is suppressed in it, and nothing is released from it. #}
    judged.effort > 0
    and judged.is_suppressed
    and limits.violating_records <= limits.may_be_suppressed as is_suppressed
from judged
{%- for one in voted %}
inner join {{ one.relation }}
    on
        judged.effort = {{ one.relation }}.effort
        {%- for name in names %}
        and {{ dbt_anonymize._quote(name, "judged") }} = {{ dbt_anonymize._quote(name, one.relation) }}
        {%- endfor %}
{%- endfor %}
inner join limits on judged.effort = limits.effort
{%- endmacro %}


{# CTEs that end in `generalized`: the records in every effort, counted where it has levels, else one by one. #}
{% macro _generalized_efforts(leveled, recoded, quasi_identifiers, columns, record_key) -%}
{%- if leveled %}
{{- dbt_anonymize._levels_of_efforts(leveled, quasi_identifiers) }}
{%- endif %}
{%- for number, effort in recoded.items() %}
{{- dbt_anonymize._recoded_shares(effort, quasi_identifiers, columns, record_key, "effort_" ~ number ~ "_") }}
{%- endfor %}

generalized as {{ dbt_anonymize._not_materialized() }}(
{% if leveled %}
    {{- dbt_anonymize._labels_of_efforts("frequencies", quasi_identifiers, columns + ["records"], leveled, true) }}
{%- endif %}
{%- for number in recoded %}
    {{- "\n    union all" if leveled or not loop.first }}
    select
        {{ number }} as effort,
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column) }},
        {%- endfor %}
        records,
        {%- for quasi_identifier in quasi_identifiers %}
        {{ dbt_anonymize._quote(quasi_identifier.name) }},
        {{ dbt_anonymize._quote(quasi_identifier.name ~ "_share") }},
        {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level") }}{{ "," if not loop.last }}
        {%- endfor %}
    from effort_{{ number }}_generalized
{%- endfor %}

),
{%- endmacro %}


{# The attributes that are measured: the sensitive ones, and those that a guarantee is about. #}
{% macro _measured_columns(sensitive, guarantees) -%}
    {{ return((sensitive + dbt_anonymize._guaranteed_attributes(guarantees)) | unique(case_sensitive=true) | list) }}
{%- endmacro %}


{# CTEs that end in `population_classes`: the people of the population in the classes of every effort with levels. #}
{% macro _population_of_efforts(population, quasi_identifiers, efforts) %}

population as (

    select * from {{ population }}

),

population_generalized as {{ dbt_anonymize._not_materialized() }}(
{{ dbt_anonymize._labels_of_efforts("population", quasi_identifiers, ["records"], efforts) }}

),

population_classes as (

    select
        effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {{ dbt_anonymize._quote(quasi_identifier.name) }},
        {%- endfor %}
        cast(sum(records) as {{ dbt.type_bigint() }}) as population_size
    from population_generalized
    group by
        effort,
        {%- for quasi_identifier in quasi_identifiers %}
        {{ dbt_anonymize._quote(quasi_identifier.name) }}{{ "," if not loop.last }}
        {%- endfor %}

),
{%- endmacro %}


{# Each target with the suffix of its CTEs, their last one, and the columns of it that the classes have. #}
{% macro _voted_targets(target, further_targets) -%}
    {%- set found = [{
        "target": target, "suffix": "", "relation": "majorities",
        "columns": ["majorities.majority_records", "majorities.has_majority"],
    }] -%}
    {%- for further in further_targets -%}
        {%- set relation, columns = "majorities_" ~ loop.index, [] -%}
        {%- for column in ["majority_records", "has_majority"] -%}
            {%- do columns.append(
                relation ~ "." ~ column ~ " as " ~ dbt_anonymize._quote(further ~ "_" ~ column)
            ) -%}
        {%- endfor -%}
        {%- do found.append(
            {"target": further, "suffix": "_" ~ loop.index, "relation": relation, "columns": columns}
        ) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro %}


{# CTEs that end in `majorities<suffix>`, of a target in each class. Ties are equal counts: no order of values is
   needed. #}
{% macro _majorities(keys, target, suffix="") -%}
{%- set quoted = [] -%}
{%- for key in keys -%}{%- do quoted.append(dbt_anonymize._quote(key)) -%}{%- endfor %}

counted{{ suffix }} as (

    select
        {{ quoted | join(",\n        ") }},
        sum(records) as records
    from generalized
    group by
        {{ quoted | join(",\n        ") }},
        {{ dbt_anonymize._quote(target) }}

),

tied{{ suffix }} as (

    select
        {{ quoted | join(",\n        ") }},
        records,
        count(*) as number_of_values
    from counted{{ suffix }}
    group by
        {{ quoted | join(",\n        ") }},
        records

),

majorities{{ suffix }} as (

    select
        {{ quoted | join(",\n        ") }},
        cast(max(records) as {{ dbt.type_bigint() }}) as majority_records,
        coalesce(max(records) = max(case when number_of_values = 1 then records end), false) as has_majority
    from tied{{ suffix }}
    group by
        {{ quoted | join(",\n        ") }}

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
                    model.name ~ ": the guarantee " ~ guarantee.model ~ " needs efforts with levels, since a population"
                    ~ " has no classes of records that are recoded one by one; got a recoding in effort " ~ number
                    ~ ". Write levels, or remove the guarantee."
                ) }}
            {%- endfor -%}
        {%- elif privacy_model.is_estimated -%}
            {%- do dbt_anonymize._check_population_size("the guarantee " ~ guarantee.model, population_size) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
