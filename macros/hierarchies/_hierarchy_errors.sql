{# The rules that the hierarchy of a quasi-identifier breaks, as messages. #}
{% macro _hierarchy_errors(quasi_identifier) -%}
    {%- set name = "hierarchy " ~ quasi_identifier.hierarchy ~ " of " ~ quasi_identifier.name -%}
    {%- set expected = ["lower_bound", "upper_bound"] if quasi_identifier.kind == "interval" else ["value"] -%}
    {%- for level in range(1, quasi_identifier.levels + 1) -%}
        {%- do expected.append("level_" ~ level) -%}
    {%- endfor -%}
    {%- set found = adapter.get_columns_in_relation(quasi_identifier.hierarchy) | map(attribute="name") | map("lower") | list -%}
    {%- if expected | reject("in", found) | list or found | reject("in", expected) | list -%}
        {{ return([
            name ~ " must have the columns " ~ expected | join(", ") ~ "; got " ~ (found | join(", ") or "no such relation")
            ~ ". Correct the seed, or `kind` and `levels` in the spec."
        ]) }}
    {%- endif -%}
    {%- if quasi_identifier.kind == "interval" -%}
        {%- set violations = dbt_anonymize.interval_hierarchy_violations(quasi_identifier.hierarchy, quasi_identifier.levels, quasi_identifier.nested) -%}
    {%- else -%}
        {%- set violations = dbt_anonymize.categorical_hierarchy_violations(quasi_identifier.hierarchy, quasi_identifier.levels, quasi_identifier.nested) -%}
    {%- endif -%}
    {%- set errors = [] -%}
    {%- for violation in run_query(violations).rows -%}
        {%- do errors.append(
            name ~ " breaks the rule: " ~ violation[0]
            ~ (" (level " ~ violation[1] ~ ")" if violation[1] is not none else "")
            ~ "; violations: " ~ violation[2] ~ ". Correct the seed."
        ) -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}
