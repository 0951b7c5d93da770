{% macro class_losses(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["classes", "quasi_identifiers"], {
    "generalization_suppression_factor": 0.5, "has_modes": false,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set quasi_identifiers = given.quasi_identifiers -%}
{#- The classes of the untouched table are its distinct records. -#}
with

released_efforts as (

    select * from {{ given.classes }}
    where effort > 0

),
{{- dbt_anonymize._costs(
    "released_efforts", quasi_identifiers, given.generalization_suppression_factor, given.has_modes,
    ["equivalence_class", "records", "is_suppressed"],
) }},

losses as (

    select
        effort,
        equivalence_class,
        records,
        is_suppressed,
        cast({{ dbt_anonymize._sum_of_costs(quasi_identifiers) }} as {{ dbt_anonymize._type_double() }})
            as total_information_loss
    from costs

)

select
    effort,
    equivalence_class,
    records,
    is_suppressed,
    total_information_loss,
    total_information_loss / records as loss_per_record,
    total_information_loss / nullif(sum(total_information_loss) over (partition by effort), 0) as loss_share
from losses
{%- endmacro %}
