{# Select with one row per class of a relation: `class_size` (subjects) and `records`. #}
{% macro _risk_classes(relation, quasi_identifiers, subject=none) -%}
select
    {{ dbt_anonymize._subjects(subject) }} as class_size,
    count(*) as records
from {{ relation }}
group by
    {%- for name in quasi_identifiers %}
    {{ dbt_anonymize._quote(name) }}{{ "," if not loop.last }}
    {%- endfor %}
{%- endmacro %}


{# Select with one row per class of a relation: `class_size` (subjects) and `population_size`. Both are counted in one
   group by, in which NULL is a value of its own; a join would lose it or could not hash it. #}
{% macro _population_classes(relation, population, quasi_identifiers, subject=none) -%}
{%- set names = [] -%}
{%- for name in quasi_identifiers -%}
    {%- do names.append(dbt_anonymize._quote(name)) -%}
{%- endfor -%}
select
    class_size,
    case
        when population_size < class_size
            then {{ dbt_anonymize._raise_in_sql(
                "the population has fewer people in an equivalence class than the relation itself;"
                ~ " the population must contain everybody in the relation.",
                "population_size"
            ) }}
        else population_size
    end as population_size
from (
    select
        cast(sum(class_size) as {{ dbt.type_bigint() }}) as class_size,
        cast(sum(population_size) as {{ dbt.type_bigint() }}) as population_size
    from (
        select
            {{ names | join(",\n            ") }},
            {{ dbt_anonymize._subjects(subject) }} as class_size,
            0 as population_size
        from {{ relation }}
        group by
            {{ names | join(",\n            ") }}
        union all
        select
            {{ names | join(",\n            ") }},
            0 as class_size,
            count(*) as population_size
        from {{ population }}
        group by
            {{ names | join(",\n            ") }}
    ) as counted
    group by
        {{ names | join(",\n        ") }}
) as classes
where class_size > 0
{%- endmacro %}


{# How many subjects there are: distinct subjects, or records where no subject is known. #}
{% macro _subjects(subject) -%}
    {{ return("count(*)" if subject is none else "count(distinct " ~ dbt_anonymize._quote(subject) ~ ")") }}
{%- endmacro %}


{# Aggregate over classes: the share of the subjects of the relation whose risk, 1 / size, is above the threshold. #}
{% macro _share_at_risk(size, threshold) -%}
    {%- if threshold is not number or threshold is boolean or threshold <= 0 or threshold > 1 -%}
        {{ exceptions.raise_compiler_error(
            "`threshold` must be a number in (0, 1]; got: " ~ threshold ~ ". A class of k subjects has the risk 1/k."
        ) }}
    {%- endif -%}
    {%- set is_above = dbt_anonymize._number(threshold) ~ " * " ~ size ~ " < 1" -%}
    {{ return(
        "cast(1 as " ~ dbt_anonymize._type_double() ~ ") * sum(case when " ~ is_above ~ " then class_size else 0 end)"
        ~ "\n/ nullif(sum(class_size), 0)"
    ) }}
{%- endmacro %}
