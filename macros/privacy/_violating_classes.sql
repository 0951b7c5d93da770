{#
  Query with one row for each equivalence class of any relation that breaks one class-based guarantee: `class_size`,
  `records`, and the measures of the model. Never a value.
    guarantee          checked, as _checked_guarantee returns it
    quasi_identifiers  column names; NULL is a value of its own
    measures           {column of the query: expression over the columns of the measured classes}; the attribute is
                       called `attribute` there
    beside             for some models: `population` (relation with the quasi-identifiers of everybody) or its
                       `population_size`; `hierarchy` of the attribute and its `levels`; `information_loss` (column
                       with what the labels of each record lose; a class has the largest)
#}
{% macro _violating_classes(relation, quasi_identifiers, guarantee, measures={}, subject=none, beside={}) -%}
{%- set beside = dbt_anonymize._checked_keys(beside, [], {
    "population": none, "population_size": none, "hierarchy": none, "levels": none, "information_loss": none,
}) -%}
{%- set information_loss = beside.information_loss -%}
{%- set attribute = guarantee.attribute -%}
{%- set guarantee = dict(guarantee, attribute="attribute") if attribute else guarantee -%}
with

{{ dbt_anonymize._keyed_rows("generalized", relation, quasi_identifiers, attribute, subject, information_loss) }}
{%- if beside.population %}

{{ dbt_anonymize._population_by_class(beside.population, quasi_identifiers) }}
{%- endif %}
{%- set tree = {"hierarchy": beside.hierarchy, "levels": beside.levels} %}
{{- dbt_anonymize._measured_classes({
    "grouped_by": ["equivalence_class"],
    "guarantees": [guarantee],
    "count": "count(*)",
    "has_subject": subject is not none,
    "population": "population" if beside.population else none,
    "population_size": beside.population_size,
    "sensitive_hierarchies": {"attribute": tree} if beside.hierarchy else {},
    "further": [{"name": "class_loss", "sql": "max(class_loss)"}] if information_loss else [],
}) }}

violating as (

    select
        class_size,
        records
        {%- for column, expression in measures.items() %},
        {{ expression }} as {{ column }}
        {%- endfor %}
    from classes
    where is_violating

)

select * from violating
{%- endmacro %}


{# CTE of the records: `equivalence_class` (an injective text of the quasi-identifiers), `attribute`, `subject`,
   `class_loss`. #}
{% macro _keyed_rows(
    name, relation, quasi_identifiers, attribute=none, subject=none, information_loss=none
) -%}
{%- if quasi_identifiers is string or quasi_identifiers is not iterable or quasi_identifiers | list | length == 0 -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": `quasi_identifiers` must be a list of at least one column; got: " ~ quasi_identifiers
        ~ ". Correct the arguments."
    ) }}
{%- endif -%}
{{ name }} as (

    select{{ "\n        " if attribute or subject or information_loss else " " }}
        {{- dbt_anonymize._as_bytes(dbt_anonymize._class_text(quasi_identifiers)) }} as equivalence_class
        {%- if attribute %},
        {{ dbt_anonymize._quote(attribute) }} as attribute
        {%- endif %}
        {%- if subject %},
        {{ dbt_anonymize._quote(subject) }} as subject
        {%- endif %}
        {%- if information_loss %},
        cast({{ dbt_anonymize._quote(information_loss) }} as {{ dbt_anonymize._type_double() }}) as class_loss
        {%- endif %}
    from {{ relation }}

),
{%- endmacro %}


{# CTE `population`: the people of each class in a relation of everybody, `population_size`. #}
{% macro _population_by_class(population, quasi_identifiers) -%}
{{ dbt_anonymize._keyed_rows("population_rows", population, quasi_identifiers) }}

population as (

    select
        equivalence_class,
        count(*) as population_size
    from population_rows
    group by equivalence_class

),
{%- endmacro %}


{# Columns of any type as one text, injectively: `n` for NULL, else `t`, the length, a colon and the value. #}
{% macro _class_text(columns, relation_alias=none) -%}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- set quoted = dbt_anonymize._quote(column, relation_alias) -%}
        {%- set text = dbt_anonymize._as_text(quoted) -%}
        {%- do parts.append(
            "case when " ~ quoted ~ " is null then 'n' else "
            ~ dbt.concat(["'t'", dbt_anonymize._as_text("length(" ~ text ~ ")"), "':'", text]) ~ " end"
        ) -%}
    {%- endfor -%}
    {{ return(dbt.concat(parts)) }}
{%- endmacro %}


{#
  The query of a generic test: the violating classes with their columns, and a row that says how many records have no
  value in a column where NULL cannot be judged (the sensitive attribute, the subject).
    violating  query that ends in `select * from violating`, whose CTEs are read; indenting it as a subquery would
               change a literal of several lines
#}
{% macro _test_rows(violating, columns, model, required) -%}
{{ violating.removesuffix("select * from violating") -}}
select
    {{ columns | join(",\n    ") }},
    {{ dbt_anonymize._as_text("null") }} as missing_in,
    cast(null as {{ dbt.type_bigint() }}) as missing
from violating
{%- for column in required if column is not none %}
union all
select
    {%- for name in columns %}
    null as {{ name }},
    {%- endfor %}
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(column)) }} as missing_in,
    count(*) as missing
from {{ model }}
where {{ dbt_anonymize._quote(column) }} is null
having count(*) > 0
{%- endfor %}
{%- endmacro %}
