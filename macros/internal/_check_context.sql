{#
  The guarantees that the released rows alone cannot show, counted again on the rows of the chosen effort: against the
  population as it is now, and along the hierarchies of sensitive attributes. `<n>_classes` may be older than these.
  `levels`: of the chosen effort, where there is a population.
#}
{% macro _check_context(
    anonymization, effort, quasi_identifiers, guarantees, frequencies, population, population_size, sensitive_hierarchies, levels,
    microdata, record_key
) -%}
    {%- set checked = [] -%}
    {%- for guarantee in guarantees if guarantee.model in ["k_map", "delta_presence"] or guarantee.distance == "hierarchical" -%}
        {%- do checked.append(guarantee) -%}
    {%- endfor -%}
    {%- if not checked -%}{{ return("") }}{%- endif -%}
    {%- set counts = run_query(dbt_anonymize._release_counts(
        dbt_anonymize._rows_of_effort(effort, checked, microdata, record_key),
        ["key_of_text"],
        checked,
        frequencies,
        microdata is not none,
        dbt_anonymize._population_in_classes(population, quasi_identifiers, levels) if population and levels else "",
        population_size,
        sensitive_hierarchies,
    )).rows[0] -%}
    {%- set errors = [] -%}
    {%- for guarantee in checked -%}
        {%- set broken = counts[1 + loop.index] -%}
        {%- if broken > 0 -%}
            {%- do errors.append(
                dbt_anonymize._guarantee_text(guarantee) ~ "; " ~ broken ~ " of " ~ counts[0] ~ " classes break it."
                ~ " The results are of other data; run `dbt build -s +" ~ model.name ~ "`."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_anonymize._raise_errors(anonymization, errors) -%}
{%- endmacro %}


{# CTEs that end in `population_classes`: the population in the classes of an effort, by their text. #}
{% macro _population_in_classes(population, quasi_identifiers, levels) -%}
{%- set generalized = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do generalized.append(dict(quasi_identifier, level=levels[quasi_identifier.name])) -%}
{%- endfor -%}
{%- set key = dbt_anonymize._as_bytes(dbt_anonymize.equivalence_class(quasi_identifiers, "population_generalized")) %}

population as (

    select * from {{ population }}

),
{{- dbt_anonymize.generalize("population", generalized, ["records"], "population_") }}

population_classes as (

    select
        {{ key }} as key_of_text,
        cast(sum(records) as {{ dbt.type_bigint() }}) as population_size
    from population_generalized
    group by {{ key }}

),
{%- endmacro %}
