{# Select with one row per effort and its `classification_metric`: of the target, or the mean over several by weight. #}
{% macro classification_metric(classes, generalization_suppression_factor=0.5, target=none, target_weights={}) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
{%- set names, costs = [], [] -%}
{%- for name, weight in target_weights.items() -%}
    {%- if weight is not number or weight is boolean or not weight > 0 -%}
        {{ exceptions.raise_compiler_error(
            "the weight of the target " ~ name ~ " must be a number > 0; got: " ~ weight
            ~ ". Correct information_loss.targets in the spec."
        ) }}
    {%- endif -%}
    {%- do names.append("" if name == target else name ~ "_") -%}
{%- endfor -%}
{%- set weights = dbt_anonymize._target_weights(target_weights.values() | list) -%}
select
    effort,
    {% for prefix in names or [""] -%}
    {%- set has_majority = dbt_anonymize._quote(prefix ~ "has_majority") if prefix else "has_majority" -%}
    {%- set majority = dbt_anonymize._quote(prefix ~ "majority_records") if prefix else "majority_records" -%}
    {{ weights[loop.index0] ~ " * " if names | length > 1 }}sum(case
        when is_suppressed or not {{ has_majority }} then {{ dbt_anonymize._times(factors.suppression, "records") }}
        else {{ dbt_anonymize._times(factors.generalization, "(records - " ~ majority ~ ")") }}
    end) / cast(sum(records) as {{ dbt_anonymize._type_double() }}){{ "\n    + " if not loop.last }}
    {%- endfor %} as classification_metric
from {{ classes }}
group by effort
{%- endmacro %}


{# Each weight as an SQL expression, relative to their sum. #}
{% macro _target_weights(weights) -%}
    {%- set numbers, relative = [], [] -%}
    {%- for weight in weights -%}{%- do numbers.append(dbt_anonymize._number(weight)) -%}{%- endfor -%}
    {%- for number in numbers -%}
        {%- do relative.append(
            "cast(" ~ number ~ " as " ~ dbt_anonymize._type_double() ~ ") / (" ~ numbers | join(" + ") ~ ")"
        ) -%}
    {%- endfor -%}
    {{ return(relative) }}
{%- endmacro %}


{# The same where no column is a target: unknown. #}
{% macro _without_target(classes) -%}
select
    effort,
    cast(null as {{ dbt_anonymize._type_double() }}) as classification_metric
from {{ classes }}
group by effort
{%- endmacro %}
