{# CTEs that end in `parted`: the rows of the parts that are cut, in the parts that their sides become. #}
{% macro _mondrian_parted(plan, cuts) -%}
{%- set carried = ["attempts"] + plan.carried + ["records"] -%}
sided as (

    select
        cuts.part as whole,
        cuts.child,
        cuts.boundary,
        {%- if not plan.is_strict %}
        cuts.shared,
        {%- endif %}
        cuts.from_code,
        cuts.to_code,
        {{ dbt_anonymize._of_attribute("cuts.attribute", plan, "unfinished.code_") | indent(8) }} as code,
        cuts.attempts,
        {{ dbt_anonymize._columns_of("unfinished", plan.carried + ["records"]) | join(",\n        ") }}
    from {{ dbt_anonymize._scratch("rows") }} as unfinished
    inner join {{ cuts }} as cuts on unfinished.part = cuts.part

),
{%- if not plan.is_strict %}

middle as (

    select
        *,
        row_number() over (
            partition by child order by {{ (plan.codes + ["record_key"]) | join(", ") }}
        ) as place
    from sided
    where code = boundary

),
{%- endif %}

parted as (

    select
        whole,
        child + case when code > boundary then 1 else 0 end as part,
        {{ carried | join(",\n        ") }}
    from sided
    where
        code between from_code and to_code
        {%- if not plan.is_strict %}
        and (boundary is null or code <> boundary)
    union all
    select
        whole,
        child + case when place > shared then 1 else 0 end as part,
        {{ carried | join(",\n        ") }}
    from middle
        {%- endif %}

)
{%- endmacro %}
