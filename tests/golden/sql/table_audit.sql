select
    efforts.effort,
    efforts."birth_date",
    efforts."zip",
    efforts."churned",
    efforts."zip_level",
    efforts.measure,
    case efforts.measure
        when 'people' then cells."people"
        when 'spending' then cells."spending"
    end as value,
    efforts.lowest,
    efforts.highest,
    efforts.demanded
from "shop"."main"."counts_table_efforts" as efforts
inner join "shop"."main"."counts_table_cells" as cells
    on
        efforts.effort = cells.effort
        and efforts.cell = cells.cell
where efforts.kind = 'small'
