{#
  Li et al. 2010: every class is distributed nearly as in a natural superset of n subjects or more. Supersets are the
  class itself and the whole relation.
#}
{% macro n_t_closeness(
    relation, quasi_identifiers, attribute, n, t, distance="equal", hierarchy=none, levels=none, subject=none
) -%}
{%- set is_tree = distance == "hierarchical" -%}
{%- set has_tree = hierarchy is not none and levels is integer and levels >= 1 -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "n_t_closeness",
    {
        "attribute": [attribute, "the name of a column"],
        "n": [n, "an integer >= 2"],
        "t": [t, "a number > 0 and <= 1"],
        "distance": [distance, ["equal", "ordered", "hierarchical"]],
    },
    [[has_tree or not is_tree, dbt_anonymize._needs_hierarchy()]],
) -%}
{{ dbt_anonymize._violating_classes(
    relation,
    quasi_identifiers,
    guarantee,
    {"n_t": "attribute_n_t"},
    subject,
    {"hierarchy": hierarchy if is_tree else none, "levels": levels},
) }}
{%- endmacro %}


{% test n_t_closeness(
    model, attribute, n, t, quasi_identifiers, distance="equal", hierarchy=none, levels=none, subject=none
) %}
{{ dbt_anonymize._explain_failures("n_t_closeness", {"attribute": attribute, "n": n, "t": t, "distance": distance}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.n_t_closeness(model, quasi_identifiers, attribute, n, t, distance, hierarchy, levels, subject),
    ["class_size", "records", "n_t"],
    model,
    [attribute, subject],
) }}
{% endtest %}


{# The distance from the nearest superset of n subjects; NULL where none is as large, or as in t-closeness. #}
{% macro _n_t_closeness_model(guarantee) -%}
    {%- set n, closeness = guarantee.n, dbt_anonymize._closeness(guarantee) -%}
    {%- set nearest -%}
        case when sizes.class_size >= {{ n }} then 0 when <subjects> >= {{ n }} then <value> end
    {%- endset -%}
    {%- set measure = dict(
        closeness,
        kind="n_t",
        parameter=[n, closeness.kind],
        of=closeness.kind,
        class_sql=nearest | trim,
        is_infinite_if_null=true,
    ) -%}
    {{ return({
        "measures": [dict(closeness, breaks=none), measure],
        "counts_everybody": true,
        "in_release": guarantee if guarantee.distance != "hierarchical" else none,
    }) }}
{%- endmacro %}
