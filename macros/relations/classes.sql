{% macro classes(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "frequencies", "quasi_identifiers", "sensitive", "target", "efforts", "guarantees", "suppression_limit",
], {
    "has_subject": false, "population": none, "population_size": none, "sensitive_hierarchies": {}, "record_key": none,
    "further_targets": [], "has_sample": false, "is_frozen": false,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._after_steps() + dbt_anonymize._analyzed()) }}
{%- set quasi_identifiers = given.quasi_identifiers -%}
{%- set measured = dbt_anonymize._measured_columns(given.sensitive, given.guarantees) -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
{%- set targets = dbt_anonymize._voted_targets(given.target, given.further_targets) -%}
{%- set voted = targets | list -%}
{#- A target that is a quasi-identifier is among the labels. -#}
{%- set columns = (measured + targets | map(attribute="target") | list) | unique(case_sensitive=true)
    | reject("in", names) | list + (["subject"] if given.has_subject else []) -%}
{%- set leveled, recoded, shares = {}, {}, [] -%}
{%- for number, effort in given.efforts.items() -%}
    {%- if effort.share -%}{%- do shares.append(effort.share) -%}{%- endif -%}
    {%- do (leveled if effort.levels else recoded).update({number: effort}) -%}
{%- endfor -%}
{%- set keys = dbt_anonymize._class_keys(quasi_identifiers) -%}
{%- set losses = dbt_anonymize._loss_of_classes(given.guarantees, quasi_identifiers, aggregate="") -%}
{%- do dbt_anonymize._check_sensitive_labels(given.sensitive_hierarchies, given.is_frozen) -%}
{%- do dbt_anonymize._check_population_of(given.guarantees, given.population, given.population_size, given.efforts) -%}
{% call dbt_anonymize._in_steps(dbt_anonymize._steps_of_classes(leveled, quasi_identifiers)) -%}
with

frequencies as {{ dbt_anonymize._not_materialized() }}(

    select * from {{ given.frequencies }}

),
{%- if given.population %}

population as {{ dbt_anonymize._not_materialized() }}(

    select * from {{ given.population }}

),
{%- endif %}
{{- dbt_anonymize._generalized_efforts(
    leveled, recoded, quasi_identifiers, columns, given.record_key,
    ["frequencies"] + (["population"] if given.population else []), given.has_sample
) }}
{%- if given.population %}
{{- dbt_anonymize._population_of_efforts(keys, quasi_identifiers, leveled) }}
{%- endif %}
{%- set subjects, share = dbt_anonymize._counted_subjects(given.has_subject), shares | max if shares else none %}
{{- dbt_anonymize._global_distributions(
    "frequencies", measured, given.guarantees, "", subjects, given.population_size, given.sensitive_hierarchies, share
) }}
{#- The only column that is counted is the target, and measured: its majority is one more measure. #}
{%- set majority = voted.pop(0).columns if columns == [given.target] and measured == columns else none %}
{%- for one in voted %}
{{- dbt_anonymize._tied(keys, one, names, columns == [one.target]) }}
{%- endfor %}
{#- Records are counted with the majorities of the first target, subjects are not. #}
{%- set sized = none if given.has_subject or majority or not voted else voted.pop(0) %}
{{- dbt_anonymize._class_measures({
    "grouped_by": keys,
    "guarantees": given.guarantees,
    "attributes": measured,
    "has_subject": given.has_subject,
    "population": "population_classes" if given.population else none,
    "sensitive_hierarchies": given.sensitive_hierarchies,
    "has_all_measures": true,
    "further": dbt_anonymize._majority(sized.columns) if sized else [],
    "counted_by": columns,
    "sized": {"rows": "tied", "count": "sum(records * number_of_values)"} if sized else none,
    "majority": majority,
}) }}
{{- dbt_anonymize._joined_majorities(keys, voted) }}
{{- dbt_anonymize._judged_classes("measured" if voted else "measures", given, leveled, recoded, keys, losses) }}

limits as (

    select
        effort,
        {{ dbt_anonymize._may_be_suppressed(given.suppression_limit, "sum(records)") }} as may_be_suppressed,
        sum(case when is_suppressed then records else 0 end) as violating_records
    from judged
    group by effort

)
{#- Numbers come first: a warehouse of rows reads a column by way of those before it, and most measures read these. #}

select
    found.effort,
    found.class_size,
    found.records,
    {%- for column in losses %}
    found.{{ column.name }},
    {%- endfor %}
    {{ "found.population_size" if given.population else "cast(null as " ~ dbt.type_bigint() ~ ") as population_size" }},
    {%- for column in dbt_anonymize._columns_of_targets(targets) %}
    found.{{ dbt_anonymize._quote(column) }},
    {%- endfor %}
    found.is_suppressed as is_violating,
    {#- Effort 0 is the untouched baseline: nothing is suppressed in it, and nothing is released from it. #}
    found.effort > 0
    and found.is_suppressed
    and limits.violating_records <= limits.may_be_suppressed as is_suppressed,
    {%- for name in names %}
    found.{{ dbt_anonymize._quote(name) }},
    found.{{ dbt_anonymize._quote(name ~ "_share") }},
    found.{{ dbt_anonymize._quote(name ~ "_level") }},
    {%- endfor %}
    {%- for attribute in measured %}
    {%- for measure in dbt_anonymize._attribute_measures(attribute, given.guarantees, true) %}
    found.{{ dbt_anonymize._quote(measure.column) }},
    {%- endfor %}
    {%- endfor %}
    {{ dbt_anonymize.equivalence_class(quasi_identifiers, "found") }} as equivalence_class
from {{ "judged" if dbt_anonymize._judge_labels(given.guarantees) else "labeled" }} as found
inner join limits on found.effort = limits.effort
{%- endcall %}
{%- endmacro %}


{# CTEs to be kept: codes are read thrice, and joined with all rows. #}
{% macro _steps_of_classes(leveled, quasi_identifiers) -%}
    {%- set steps = [] -%}
    {%- if leveled -%}
        {%- for quasi_identifier in quasi_identifiers -%}{%- do steps.append("codes_" ~ loop.index) -%}{%- endfor -%}
        {%- if dbt_anonymize._coded_rows("", [], [], {}) -%}{%- do steps.append("coded_frequencies") -%}{%- endif -%}
    {%- endif -%}
    {{ return(steps + ["generalized", "judged"]) }}
{%- endmacro %}


{#
  CTEs that end in `generalized`: how many records a class of an effort has with each value of the columns. A class is
  its effort and codes. Where labels differ from record to record, the first code is a number in `recoded_classes`, with
  labels, shares and levels, and the others are 0. Effort 0, by far the largest, of which nothing is released, has the
  rows of the frequencies as they are.
#}
{% macro _generalized_efforts(leveled, recoded, quasi_identifiers, columns, record_key, relations, are_sampled) -%}
{%- set labels, keys, counted = [], dbt_anonymize._class_keys(quasi_identifiers), columns + ["records"] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do labels.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
{%- endfor -%}
{#- Rows are split by shares where there is a sample; values of a population may be equal by its type only. -#}
{%- set raw, grouped = {}, {} -%}
{%- for number, effort in leveled.items() -%}
    {%- set has_rows = not are_sampled and relations | length == 1 -%}
    {%- set is_raw = has_rows and number == 0 and effort.levels.values() | max == 0 -%}
    {%- do (raw if is_raw else grouped).update({number: effort}) -%}
{%- endfor -%}
{%- if leveled %}
{{- dbt_anonymize._levels_of_efforts(leveled, quasi_identifiers, relations) }}
{{- dbt_anonymize._coded_rows(
    "frequencies", quasi_identifiers, counted + (["sample_share"] if are_sampled else []), leveled
) }}
{%- endif %}
{%- for number, effort in recoded.items() %}
{{- dbt_anonymize._recoded_shares(effort, quasi_identifiers, columns, record_key, "effort_" ~ number ~ "_") }}
{%- endfor %}
{%- if recoded %}
{{- dbt_anonymize._recoded_classes(recoded, quasi_identifiers, labels) }}
{%- endif %}
{%- if grouped or recoded %}

coded as {{ dbt_anonymize._not_materialized() }}(
{% if grouped %}
    {{- dbt_anonymize._codes_of_efforts("frequencies", quasi_identifiers, counted, grouped, are_sampled) }}
{%- endif %}
{{- "\n    union all" if grouped and recoded }}
{%- if recoded %}
    select
        recoded.effort,
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column, "recoded") }},
        {%- endfor %}
        recoded.records,
        {%- for label in labels %}
        {{ "recoded_classes.number" if loop.first else "0" }} as {{ dbt_anonymize._code(loop.index) }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from recoded
    inner join recoded_classes
        on
            recoded.effort = recoded_classes.effort
            {%- for label in labels %}
            and recoded.{{ label }} = recoded_classes.{{ label }}
            {%- endfor %}
{%- endif %}

),
{%- endif %}

generalized as (
{% if raw %}
    {{- dbt_anonymize._codes_of_efforts("frequencies", quasi_identifiers, counted, raw) }}
{%- endif %}
{{- "\n    union all" if raw and (grouped or recoded) }}
{%- if grouped or recoded %}
    select
        effort,
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column) }},
        {%- endfor %}
        cast(sum(records) as {{ dbt.type_bigint() }}) as records,
        {{ keys[1:] | join(",\n        ") }}
    from coded
    group by
        effort,
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column) }},
        {%- endfor %}
        {{ keys[1:] | join(",\n        ") }}
{%- endif %}

),
{%- endmacro %}


{# CTEs of the efforts whose labels differ from record to record: `recoded`, their records, and `recoded_classes`. #}
{% macro _recoded_classes(recoded, quasi_identifiers, labels) %}

recoded as (

    {%- for number in recoded %}
    select
        {{ number }} as effort,
        *
    from effort_{{ number }}_generalized
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),

recoded_classes as (

    select
        effort,
        {%- for label in labels %}
        {{ label }},
        {%- endfor %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- for column in [quasi_identifier.name ~ "_share", quasi_identifier.name ~ "_level"] %}
        max({{ dbt_anonymize._quote(column) }}) as {{ dbt_anonymize._quote(column) }},
        {%- endfor %}
        {%- endfor %}
        cast(row_number() over (
            order by
                effort,
                {{ labels | join(",\n                ") }}
        ) as {{ dbt.type_int() }}) as number
    from recoded
    group by
        effort,
        {{ labels | join(",\n        ") }}

),
{%- endmacro %}


{# CTEs that end in `judged`, and in `labeled` where labels decide nothing: then they are looked up last, so that of the
   classes which are judged and counted no text has to be kept. #}
{% macro _judged_classes(rows, given, leveled, recoded, keys, losses) -%}
{%- set guarantees, quasi_identifiers = given.guarantees, given.quasi_identifiers -%}
{%- set are_labels_judged = dbt_anonymize._judge_labels(guarantees) -%}
{%- if are_labels_judged %}
{{- dbt_anonymize._labeled_classes(rows, leveled, recoded, quasi_identifiers, keys) }}
{%- endif %}
{%- if losses %}

losing as (

    select
        *
        {%- for column in losses %},
        {{ column.sql }} as {{ column.name }}
        {%- endfor %}
    from labeled

),
{%- endif %}
{{- dbt_anonymize._violating(
    "losing" if losses else "labeled" if are_labels_judged else rows, guarantees,
    dbt_anonymize._stricter_efforts(given.efforts)
) }}
{{- dbt_anonymize._sample_based_suppression(guarantees, quasi_identifiers | map(attribute="name")) }}
{%- if not are_labels_judged %}
{{- dbt_anonymize._labeled_classes("judged", leveled, recoded, quasi_identifiers, keys) }}
{%- endif %}
{%- endmacro %}


{# Whether labels decide what is suppressed: by what they lose, or by the order in which classes go. #}
{% macro _judge_labels(guarantees) -%}
    {%- set reads_labels = dbt_anonymize._is_any(guarantees, "needs_loss") -%}
    {{ return(reads_labels or dbt_anonymize._average_risks(guarantees) | length > 0) }}
{%- endmacro %}


{# CTE `labeled`: classes by effort and codes, with their labels. #}
{% macro _labeled_classes(rows, leveled, recoded, quasi_identifiers, keys) %}

labeled as (
{% if leveled %}
    {{- dbt_anonymize._labels_of_efforts(rows, quasi_identifiers, leveled) }}
{%- endif %}
{{- "\n    union all" if leveled and recoded }}
{%- if recoded %}
    select
        {{ rows }}.*,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- for column in [quasi_identifier.name, quasi_identifier.name ~ "_share", quasi_identifier.name ~ "_level"] %}
        {{ dbt_anonymize._quote(column, "recoded_classes") }}
        {{- "," if not loop.last }}
        {%- endfor %}
        {{- "," if not loop.last }}
        {%- endfor %}
    from {{ rows }}
    inner join recoded_classes
        on {{ rows }}.effort = recoded_classes.effort and {{ rows }}.{{ keys[1] }} = recoded_classes.number
{%- endif %}

),
{%- endmacro %}


{# The conditions under which a class is smaller than its own effort demands. #}
{% macro _stricter_efforts(efforts) -%}
    {%- set conditions = [] -%}
    {%- for number, effort in efforts.items() if effort.k -%}
        {%- do conditions.append("(effort = " ~ number ~ " and class_size < " ~ effort.k ~ ")") -%}
    {%- endfor -%}
    {{ return(conditions) }}
{%- endmacro %}


{# The attributes that are measured: the sensitive ones, and those that a guarantee is about. #}
{% macro _measured_columns(sensitive, guarantees) -%}
    {{ return((sensitive + dbt_anonymize._guaranteed_attributes(guarantees)) | unique(case_sensitive=true) | list) }}
{%- endmacro %}


{# CTEs that end in `population_classes`: the people of the population in the classes of every effort with levels. #}
{% macro _population_of_efforts(keys, quasi_identifiers, efforts) %}

{{- dbt_anonymize._coded_rows("population", quasi_identifiers, ["records"], efforts) }}

population_generalized as {{ dbt_anonymize._not_materialized() }}(
{{ dbt_anonymize._codes_of_efforts("population", quasi_identifiers, ["records"], efforts) }}

),

population_classes as (

    select
        {{ keys | join(",\n        ") }},
        cast(sum(records) as {{ dbt.type_bigint() }}) as population_size
    from population_generalized
    group by
        {{ keys | join(",\n        ") }}

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
