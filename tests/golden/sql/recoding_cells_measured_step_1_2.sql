create temporary table dbt_anonymize_next_cells as
select
    cells.base_1,
    case when moved.cell_1 is null then cells.cell_1 else '*' end as cell_1,
    cells.base_2,
    cells.cell_2,
    cells.value_1,
    cells.records
from dbt_anonymize_cells as cells
left join dbt_anonymize_moved as moved
    on
        cells.cell_1 = moved.cell_1
        and cells.cell_2 = moved.cell_2
