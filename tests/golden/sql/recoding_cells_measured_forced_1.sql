create temporary table dbt_anonymize_next_cells as
select
    cells.base_1,
    case when weak.cell_1 is not null then '*' else cells.cell_1 end as cell_1,
    cells.base_2,
    case when weak.cell_1 is not null and cells.cell_1 = '*' then '*' else cells.cell_2 end as cell_2,
    cells.value_1,
    cells.records
from dbt_anonymize_cells as cells
left join dbt_anonymize_weak as weak
    on
        cells.cell_1 = weak.cell_1
        and cells.cell_2 = weak.cell_2
