{# Li et al. 2007: in every class the attribute is distributed almost as in the whole relation. #}
{% macro t_closeness(
    relation, quasi_identifiers, attribute, t, distance="equal", hierarchy=none, levels=none, subject=none
) -%}
{%- set is_tree = distance == "hierarchical" -%}
{%- set has_tree = hierarchy is not none and levels is integer and levels >= 1 -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "t_closeness",
    {
        "attribute": [attribute, "the name of a column"],
        "t": [t, "a number > 0 and <= 1"],
        "distance": [distance, ["equal", "ordered", "hierarchical"]],
    },
    [[has_tree or not is_tree, dbt_anonymize._needs_hierarchy()]],
) -%}
{%- set measure = "attribute_" ~ dbt_anonymize._closeness(guarantee).kind -%}
{{ dbt_anonymize._violating_classes(
    relation,
    quasi_identifiers,
    guarantee,
    {"t": measure},
    subject,
    {"hierarchy": hierarchy if is_tree else none, "levels": levels},
) }}
{%- endmacro %}


{% test t_closeness(
    model, attribute, t, quasi_identifiers, distance="equal", hierarchy=none, levels=none, subject=none
) %}
{{ dbt_anonymize._explain_failures("t_closeness", {"attribute": attribute, "t": t, "distance": distance}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.t_closeness(model, quasi_identifiers, attribute, t, distance, hierarchy, levels, subject),
    ["class_size", "records", "t"],
    model,
    [attribute, subject],
) }}
{% endtest %}


{% macro _t_closeness_model(guarantee) -%}
    {{ return({
        "measures": [dbt_anonymize._closeness(guarantee)],
        "in_release": guarantee if guarantee.distance != "hierarchical" else none,
    }) }}
{%- endmacro %}


{% macro _needs_hierarchy() -%}
    {{ return("have `hierarchy` (a relation) and `levels` (an integer >= 1) where the distance is hierarchical") }}
{%- endmacro %}


{# The distance from the whole table; ordered, NULL where the class has a value that the table does not have. #}
{% macro _closeness(guarantee) -%}
    {%- set t = guarantee.t -%}
    {%- if guarantee.distance == "ordered" -%}
        {{ return(dict(dbt_anonymize._measure("ordered_t", ">", t, source="ordered"), is_infinite_if_null=true)) }}
    {%- elif guarantee.distance == "hierarchical" -%}
        {{ return(dbt_anonymize._measure("hierarchical_t", ">", t, source="hierarchical")) }}
    {%- endif -%}
    {{ return(dbt_anonymize._measure("t", ">", t,
        "sum(case when subjects * table_subjects > class_subjects * table_value_subjects"
        ~ " then subjects * table_subjects - class_subjects * table_value_subjects else 0 end)"
        ~ " / max(class_subjects * table_subjects)"
    )) }}
{%- endmacro %}
