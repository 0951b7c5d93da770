{#
  For each class-based guarantee the condition under which a class breaks it, over the columns of the measured classes.
  Limits of the average risk, which is about all classes together, are not among them. `declared` are all guarantees of
  the classes, by which measures and estimated sizes are numbered; `whole` is the prefix of _global_distributions. A
  guarantee with the key `effort` is about the classes of that effort, which is then one of their columns.
#}
{% macro _violated_conditions(guarantees, whole="", declared=none) -%}
    {%- set declared = guarantees if declared is none else declared -%}
    {%- set conditions, estimated = [], [] -%}
    {%- for guarantee in guarantees -%}
        {%- set privacy_model = dbt_anonymize._privacy_model(guarantee) -%}
        {%- set own = [] -%}
        {%- do own.extend(privacy_model.conditions) -%}
        {%- for measure in privacy_model.measures if measure.breaks -%}
            {%- do own.extend(dbt_anonymize._violated_measure(measure, guarantee.attribute, declared)) -%}
        {%- endfor -%}
        {%- if guarantee.effort and own -%}
            {%- do conditions.append("(effort = " ~ guarantee.effort ~ " and (" ~ own | join(" or ") ~ "))") -%}
        {%- else -%}
            {%- do conditions.extend(own) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for guarantee in declared if dbt_anonymize._privacy_model(guarantee).is_estimated -%}
        {%- if guarantee in guarantees -%}
            {%- do conditions.append("class_size < (select k from " ~ whole ~ "derived_k_" ~ loop.index ~ ")") -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(conditions | unique(case_sensitive=true) | list) }}
{%- endmacro %}


{# The conditions under which a class breaks the limit of one measure. #}
{% macro _violated_measure(measure, attribute, declared) -%}
    {%- set conditions = [] -%}
    {%- for known in dbt_anonymize._attribute_measures(attribute, declared) -%}
        {%- if known.kind == measure.kind and known.parameter == measure.parameter -%}
            {%- set column = dbt_anonymize._quote(known.column) -%}
            {%- if measure.is_infinite_if_null -%}{%- do conditions.append(column ~ " is null") -%}{%- endif -%}
            {#- Rounding, by a few units of the 16th digit, must not refuse a class that meets a limit exactly. -#}
            {%- set tolerance = " * (1 - 1e-12)" if measure.is_rounded else "" -%}
            {%- set limit = dbt_anonymize._number(measure.limit) ~ tolerance -%}
            {%- do conditions.append(column ~ " " ~ measure.breaks ~ " " ~ limit) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(conditions) }}
{%- endmacro %}
