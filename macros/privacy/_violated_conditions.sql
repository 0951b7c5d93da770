{#
  For each class-based guarantee the condition under which a class breaks it, over the columns of the measured classes.
  A measure that is NULL is infinite and breaks every limit. Limits of the average risk, which is about all
  classes together, are not among them. `declared` are all guarantees of the classes, by which measures are numbered.
#}
{% macro _violated_conditions(guarantees, distributions="", declared=none) -%}
    {%- set declared = guarantees if declared is none else declared -%}
    {%- set conditions = [] -%}
    {%- for guarantee in guarantees -%}
        {%- if guarantee.model in ["k_anonymity", "alpha_k_anonymity"] -%}
            {%- do conditions.append("class_size < " ~ guarantee.k) -%}
        {%- elif guarantee.model == "k_map" and not guarantee.estimator -%}
            {%- do conditions.append("coalesce(population_size, 0) < " ~ guarantee.k) -%}
        {%- elif guarantee.model == "delta_presence" -%}
            {#- Shares of the population that are in the table: class_size / population_size, as decimal numbers. -#}
            {%- do conditions.append("coalesce(population_size, 0) = 0") -%}
            {%- do conditions.append("class_size < " ~ dbt_anonymize._number(guarantee.minimum) ~ " * population_size") -%}
            {%- do conditions.append("class_size > " ~ dbt_anonymize._number(guarantee.maximum) ~ " * population_size") -%}
        {%- elif guarantee.model == "reidentification_risk" and guarantee.highest -%}
            {%- do conditions.append("class_size * " ~ dbt_anonymize._number(guarantee.highest) ~ " < 1") -%}
        {%- endif -%}
        {%- if guarantee.attribute -%}
            {%- do conditions.extend(dbt_anonymize._violated_measures(guarantee, declared)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for guarantee in declared if guarantee.model == "k_map" and guarantee.estimator -%}
        {%- if guarantee in guarantees -%}
            {%- do conditions.append("class_size < (select k from " ~ distributions ~ "derived_k_" ~ loop.index ~ ")") -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(conditions | unique(case_sensitive=true) | list) }}
{%- endmacro %}


{# The same for the guarantees of a sensitive attribute. #}
{% macro _violated_measures(guarantee, guarantees) -%}
    {%- set attribute = guarantee.attribute -%}
    {%- set of_attribute = [] -%}
    {%- for other in guarantees if other.attribute == attribute -%}
        {%- do of_attribute.extend(dbt_anonymize._needed_measures(other, guarantees)) -%}
    {%- endfor -%}
    {#- Rounding must not refuse a class that meets a limit exactly; it does so by a few units of the 16th digit. -#}
    {%- set less, more = "(1 - 1e-12)", "(1 + 1e-12)" -%}
    {%- set parameter = {
        "alpha_k_anonymity": "alpha", "l_diversity": "l", "t_closeness": "t", "beta_likeness": "beta", "delta_disclosure": "delta"
    }[guarantee.model] -%}
    {%- set limit = dbt_anonymize._number(guarantee[parameter]) -%}
    {%- set limits = {
        "highest_share": "> " ~ limit,
        "limited_share": "> " ~ limit,
        "distinct_l": "< " ~ limit,
        "entropy_l": "< " ~ limit ~ " * " ~ less,
        "grassberger_l": "< " ~ limit ~ " * " ~ less,
        "recursive_c": ">= " ~ dbt_anonymize._number(guarantee.c),
        "t": "> " ~ limit,
        "ordered_t": "> " ~ limit,
        "hierarchical_t": "> " ~ limit,
        "beta": "> " ~ limit,
        "enhanced_beta": "> 0",
        "delta": ">= " ~ limit ~ " * " ~ less,
    } -%}
    {%- set can_be_infinite = ["recursive_c", "beta", "enhanced_beta", "delta", "ordered_t"] -%}
    {%- set conditions = [] -%}
    {%- for measure in dbt_anonymize._needed_measures(guarantee, guarantees) -%}
        {%- set column = dbt_anonymize._quote(attribute ~ "_" ~ dbt_anonymize._measure_alias(measure, of_attribute)) -%}
        {%- if measure.kind in can_be_infinite -%}{%- do conditions.append(column ~ " is null") -%}{%- endif -%}
        {%- do conditions.append(column ~ " " ~ limits[measure.kind]) -%}
    {%- endfor -%}
    {{ return(conditions) }}
{%- endmacro %}


{# The attributes that guarantees are about, each once. #}
{% macro _guaranteed_attributes(guarantees) -%}
    {%- set attributes = [] -%}
    {%- for guarantee in guarantees if guarantee.attribute and guarantee.attribute not in attributes -%}
        {%- do attributes.append(guarantee.attribute) -%}
    {%- endfor -%}
    {{ return(attributes) }}
{%- endmacro %}
