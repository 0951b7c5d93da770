{#
  One row per label along a dimension, and margin of the others, that is no total but has the sum of the other labels.
  As `totals.py`: where everything is shown, nine lines of ten add up, which is no chance (a count of n has one of about
  n + 1 values); or it is named like a total, and of few totals a part.
#}
{% macro _unnamed_totals(dimensions, dimension, total) -%}
    {%- set column = dbt_anonymize._quote(dimension) -%}
    {%- set is_total = dbt_anonymize._is_total_of_table(column, total) -%}
    {%- set others, margin = [], [] -%}
    {%- for name in dimensions if name != dimension -%}
        {%- do others.append(dbt_anonymize._quote(name)) -%}
        {%- set is_other_total = dbt_anonymize._is_total_of_table(dbt_anonymize._quote(name), total) -%}
        {%- do margin.append("case when " ~ is_other_total ~ " then 1 else 0 end") -%}
    {%- endfor -%}
    {%- set line = "over (" ~ ("partition by " ~ others | join(", ") if others else "") ~ ")" -%}
    select label
    from (
        select
            *,
            coalesce(measured, 0) > 0 and hidden_cells = 0 as is_whole,
            coalesce(
                measured > 0 and hidden_cells = 0 and 2 * measured = shown_measured
                and coalesce(total_measured, measured) = measured, false
            ) as is_sum,
            coalesce(measured > 0 and shown_measured > measured, false) and total_measured is not null as is_told,
            coalesce(measured > 0 and total_measured >= shown_measured, false) as is_part
        from (
            select
                {{ dbt_anonymize._as_text(column) }} as label,
                {{ is_total }} as is_total,
                measured,
                {% for one in margin -%}
                {{ one }} as margin_{{ loop.index }},
                {% endfor -%}
                count(case when not ({{ is_total }}) and measured is null then 1 end) {{ line }} as hidden_cells,
                sum(case when not ({{ is_total }}) then measured end) {{ line }} as shown_measured,
                max(case when {{ is_total }} then measured end) {{ line }} as total_measured
            from cells
        ) as by_line
        where not is_total
    ) as compared
    group by label{% for one in margin %}, margin_{{ loop.index }}{% endfor %}
    having (
        sum(case when is_sum then 1 else 0 end) >= 0.9 * sum(case when is_whole then 1 else 0 end)
        and sum(case when is_sum then ln(measured + 1.0) else 0 end) >= ln(1000)
    )
    or (
        lower(label) in ('all', 'total', 'overall', 'sum', 'gesamt', 'insgesamt')
        and 2 * sum(case when is_told and is_part then 1 else 0 end) <= sum(case when is_told then 1 else 0 end)
    )
{%- endmacro %}


{# Condition: a row is the total over a dimension. #}
{% macro _is_total_of_table(column, total) -%}
    {%- if total is none -%}
        {{ column }} is null
    {%- else -%}
        coalesce({{ dbt_anonymize._as_text(column) }} = {{ dbt_anonymize._literal(total) }}, false)
    {%- endif -%}
{%- endmacro %}
