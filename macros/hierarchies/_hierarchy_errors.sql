{# The rules that the hierarchy of a quasi-identifier breaks, as messages. #}
{% macro _hierarchy_errors(quasi_identifier, is_frozen=false) -%}
    {%- set kind, levels = quasi_identifier.kind, quasi_identifier.levels -%}
    {%- set name = "hierarchy " ~ quasi_identifier.hierarchy ~ " of " ~ quasi_identifier.name -%}
    {%- set expected = dbt_anonymize._hierarchy_columns(kind, levels) -%}
    {%- set stored = dbt_anonymize._stored_columns(quasi_identifier.hierarchy) -%}
    {%- if expected | sort != stored | sort -%}
        {{ return([
            name ~ " must have the columns " ~ expected | join(", ") ~ "; got "
            ~ (stored | join(", ") or "no such relation") ~ ". Correct the seed, or `kind` and `levels` in the spec."
        ]) }}
    {%- endif -%}
    {%- set violations = dbt_anonymize._hierarchy_violations(
        quasi_identifier.hierarchy, kind, levels, quasi_identifier.nested
    ) -%}
    {%- set errors = dbt_anonymize._label_type_errors(
        quasi_identifier.hierarchy, quasi_identifier.name, levels, is_frozen
    ) -%}
    {%- do errors.extend(dbt_anonymize._collation_errors(
        quasi_identifier.hierarchy, adapter.get_columns_in_relation(quasi_identifier.hierarchy)
    )) -%}
    {%- for violation in run_query(violations).rows -%}
        {%- do errors.append(
            name ~ " breaks the rule: " ~ violation[0]
            ~ (" (level " ~ violation[1] ~ ")" if violation[1] is not none else "")
            ~ "; violations: " ~ violation[2] ~ ". Correct the seed."
        ) -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}


{# The columns that a hierarchy must have, and those that it has, without regard to case. #}
{% macro _hierarchy_columns(kind, levels) -%}
    {%- set columns = ["lower_bound", "upper_bound"] if kind == "interval" else ["value"] -%}
    {%- for level in range(1, levels + 1) -%}{%- do columns.append("level_" ~ level) -%}{%- endfor -%}
    {{ return(columns) }}
{%- endmacro %}

{% macro _stored_columns(hierarchy) -%}
    {{ return(adapter.get_columns_in_relation(hierarchy) | map(attribute="name") | map("lower") | list) }}
{%- endmacro %}


{% macro _hierarchy_violations(hierarchy, kind, levels, nested) -%}
    {%- if kind == "interval" -%}
        {{ return(dbt_anonymize.interval_hierarchy_violations(hierarchy, levels, nested)) }}
    {%- endif -%}
    {{ return(dbt_anonymize.categorical_hierarchy_violations(hierarchy, levels, nested)) }}
{%- endmacro %}
