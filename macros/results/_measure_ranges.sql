{# Where a measure ends: the least and the greatest value that it can have, none: without end. #}
{% macro _measure_ranges() -%}
    {{ return([
        {
            "lowest": 0, "highest": 1,
            "measures": [
                "accuracy", "balanced_accuracy", "precision", "recall", "sensitivity", "specificity", "f1", "roc_auc",
                "concordance_index",
            ],
        },
        {"lowest": 0, "highest": 2, "measures": ["brier_score"]},
        {"lowest": 0, "highest": none, "measures": ["log_loss", "mae", "rmse"]},
        {"lowest": none, "highest": 1, "measures": ["r2"]},
    ]) }}
{%- endmacro %}


{# `end` of the scale of the column `measure`, or the `width` of the scale; NULL: without end. #}
{% macro _end_of_range(end) -%}
    {%- set ends = [] -%}
    {%- for range in dbt_anonymize._measure_ranges() -%}
        {%- if end != "width" -%}
            {%- set value = range[end] -%}
        {%- elif range.lowest is not none and range.highest is not none -%}
            {%- set value = range.highest - range.lowest -%}
        {%- else -%}
            {%- set value = none -%}
        {%- endif -%}
        {%- if value is not none -%}
            {%- set names = [] -%}
            {%- for measure in range.measures -%}{%- do names.append(dbt_anonymize._literal(measure)) -%}{%- endfor -%}
            {%- do ends.append("when measure in (" ~ names | join(", ") ~ ") then " ~ value) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return("case " ~ ends | join(" ") ~ " end") }}
{%- endmacro %}


{# A number that is not beyond the ends, which may be NULL. #}
{% macro _clipped(number, lowest, highest) -%}
    {{ return(
        "case when " ~ number ~ " < " ~ lowest ~ " then " ~ lowest ~ " when " ~ number ~ " > " ~ highest ~ " then " ~ highest
        ~ " else " ~ number ~ " end"
    ) }}
{%- endmacro %}
