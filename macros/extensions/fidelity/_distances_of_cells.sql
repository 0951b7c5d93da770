{#
  CTE `distances`, one row per view and effort: the total variation distance; `pmse`, the propensity score mean squared
  error of a model with a parameter for each cell; and `pmse_ratio`, to what is expected of records drawn from the
  original (Snoke et al. 2018). With o original and r released records in a cell, O and R in all, N = O + R and
  c = R / N the score is r / (o + r), and the sum of (o + r) (score - c)^2 is (O R / N)^2 times the separation. Expected
  is (cells - 1) (1 - c)^2 c / N: of a single cell nothing.
#}
{% macro _distances_of_cells() %}

separations as (

    select
        compared.view_id,
        compared.effort,
        sum(abs(compared.original - compared.released)) / 2 as distance,
        sum(
            (compared.released - compared.original) * (compared.released - compared.original)
            / (totals.original_records * compared.original + totals.records * compared.released)
        ) as separation,
        count(case when compared.original > 0 then 1 end) as original_cells
    from compared
    inner join totals on compared.effort = totals.effort
    group by
        compared.view_id,
        compared.effort

),

distances as (

    select
        separations.view_id,
        separations.effort,
        separations.distance,
        separations.separation / (totals.original_records + totals.records)
        * power(totals.original_records * totals.records / (totals.original_records + totals.records), 2) as pmse,
        case
            when separations.separation = 0 then 0
            else
                separations.separation * totals.records * (totals.original_records + totals.records)
                / nullif(separations.original_cells - 1, 0)
        end as pmse_ratio
    from separations
    inner join totals on separations.effort = totals.effort

),
{%- endmacro %}
