{# Where a measure ends: the least and the greatest value that it can have, none: without end. #}
{% macro _measure_ranges() -%}
    {{ return([
        {
            "lowest": 0, "highest": 1,
            "measures": [
                "accuracy", "balanced_accuracy", "precision", "recall", "sensitivity", "specificity", "f1", "roc_auc",
                "concordance_index", "top_overlap",
            ],
        },
        {"lowest": -1, "highest": 1, "measures": ["matthews_correlation", "silhouette", "rank_correlation"]},
        {"lowest": -0.5, "highest": 1, "measures": ["adjusted_rand_index"]},
        {"lowest": 0, "highest": 2, "measures": ["brier_score"]},
        {"lowest": 0, "highest": none, "measures": ["log_loss", "mae", "rmse"]},
        {"lowest": none, "highest": 1, "measures": ["r2"]},
    ]) }}
{%- endmacro %}


{# `end` of the scale of the column `measure`, or the `width` of the scale; NULL: without end. #}
{% macro _end_of_range(end) -%}
case
    {%- for range in dbt_anonymize._measure_ranges() %}
    {%- set is_bounded = range.lowest is not none and range.highest is not none %}
    {%- set value = range[end] if end != "width" else (range.highest - range.lowest if is_bounded else none) %}
    {%- if value is not none %}
    when measure in ({{ dbt_anonymize._literals(range.measures) }}) then {{ value }}
    {%- endif %}
    {%- endfor %}
end
{%- endmacro %}


{# A number that is not beyond the ends, which may be NULL. #}
{% macro _clipped(number, lowest, highest) -%}
case
    when {{ number }} < {{ lowest }} then {{ lowest }}
    when {{ number }} > {{ highest }} then {{ highest }}
    else {{ number }}
end
{%- endmacro %}
