{# The rules that both kinds of hierarchy must keep, as further members of a union. #}
{% macro _level_violations(levels, nested) %}

    union all

    {{ dbt_anonymize._violation("the top level is the root *", levels, "count(*)") }}
    from leaves
    where level_{{ levels }} is null or level_{{ levels }} <> '*'
    {%- for level in range(1, levels + 1) %}

    union all

    {{ dbt_anonymize._violation("labels are not empty", level, "count(*)") }}
    from leaves
    where level_{{ level }} is null or level_{{ level }} = ''
    {%- endfor %}
    {%- if nested %}
    {%- for level in range(1, levels) %}

    union all

    {{ dbt_anonymize._violation("a label has one parent (declare nested: false to relax it)", level, "count(*)") }}
    from (
        select level_{{ level }}
        from leaves
        group by level_{{ level }}
        having count(distinct level_{{ level + 1 }}) > 1
    ) as ambiguous

    union all

    {#- NULL is * at every level: whoever joins it there must stay with it, or a class of k is parted again. #}
    {{ dbt_anonymize._violation("the label * stays * at every higher level", level, "count(*)") }}
    from leaves
    where level_{{ level }} = '*' and level_{{ level + 1 }} <> '*'
    {%- endfor %}
    {%- endif %}
{%- endmacro %}
