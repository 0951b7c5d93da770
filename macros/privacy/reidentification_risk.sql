{#
  The risk that somebody who knows a person's quasi-identifiers finds the record: 1/n in a class of n. `highest` limits
  it for everybody, `average` the mean over all subjects (classes / subjects); the row of the latter has no class_size.
#}
{% macro reidentification_risk(relation, quasi_identifiers, average=none, highest=none, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "reidentification_risk",
    {"average": [average, "a number > 0 and <= 1 or none"], "highest": [highest, "a number > 0 and <= 1 or none"]},
    [[average is not none or highest is not none, "limit `average` or `highest`"]],
) -%}
{%- set double = dbt_anonymize._type_double() -%}
with

{{ dbt_anonymize._keyed_rows("relation_rows", relation, quasi_identifiers, subject=subject) }}

classes as (

    select
        {{ "count(distinct subject)" if subject else "count(*)" }} as class_size,
        count(*) as records
    from relation_rows
    group by equivalence_class

),

violating as (

    {%- if highest is not none %}
    select
        class_size,
        records,
        cast(1 as {{ double }}) / nullif(class_size, 0) as risk
    from classes
    where {{ dbt_anonymize._violated_conditions([guarantee]) | join(" or ") }}
    {%- endif %}
    {{- "\n    union all" if highest is not none and average is not none }}
    {%- if average is not none %}
    select
        cast(null as {{ dbt.type_bigint() }}) as class_size,
        sum(records) as records,
        cast(count(*) as {{ double }}) / nullif(sum(class_size), 0) as risk
    from classes
    having count(*) > {{ dbt_anonymize._number(average) }} * sum(class_size)
    {%- endif %}

)

select * from violating
{%- endmacro %}


{% test reidentification_risk(model, quasi_identifiers, average=none, highest=none, subject=none) %}
{{ dbt_anonymize._explain_failures("reidentification_risk", {"average": average, "highest": highest}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.reidentification_risk(model, quasi_identifiers, average, highest, subject),
    ["class_size", "records", "risk"],
    model,
    [subject],
) }}
{% endtest %}


{% macro _reidentification_risk_model(guarantee) -%}
    {%- set highest = guarantee.highest -%}
    {{ return({
        "conditions": ["class_size * " ~ dbt_anonymize._number(highest) ~ " < 1"] if highest else [],
        "average_risk": guarantee.average,
        "in_release": guarantee,
    }) }}
{%- endmacro %}
