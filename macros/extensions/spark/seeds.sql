{#
  Load a seed as it is: the macro of dbt-spark writes values between quotes that it does not escape, makes a text of
  NULL, and prints every line of a seed that cannot be loaded. Here each value is a literal, and a cell that does not
  fit its column is counted and named by its line, never shown.
#}
{% macro spark__load_csv_rows(model, agate_table) -%}
    {%- set names = agate_table.column_names | list -%}
    {%- set overridden = model["config"].get("column_types", {}) -%}
    {%- set types, columns = [], [] -%}
    {%- for name in names -%}
        {%- do types.append(overridden.get(name, adapter.convert_type(agate_table, loop.index0))) -%}
        {%- do columns.append("cell_" ~ loop.index) -%}
    {%- endfor -%}
    {%- set view = dbt_anonymize._quote("dbt_anonymize_seed_" ~ model.name) -%}
    {%- set statements = [] -%}
    {%- for chunk in agate_table.rows | batch(1000) -%}
        {%- set lines = [] -%}
        {%- set first = loop.index0 * 1000 + 2 -%}
        {%- for row in chunk -%}
            {%- set cells = [first + loop.index0] -%}
            {%- for cell in row -%}
                {%- do cells.append("null" if cell is none else dbt_anonymize._literal(cell)) -%}
            {%- endfor -%}
            {%- do lines.append("(" ~ cells | join(", ") ~ ")") -%}
        {%- endfor -%}
        {%- do adapter.add_query(
            "create or replace temporary view " ~ view ~ " as select * from values\n" ~ lines | join(",\n")
            ~ "\nas cells(line, " ~ columns | join(", ") ~ ")", abridge_sql_log=True
        ) -%}
        {%- do dbt_anonymize._check_cells_of_seed(model, view, names, types) -%}
        {%- set cast_columns = [] -%}
        {%- for type in types -%}
            {%- do cast_columns.append("cast(cell_" ~ loop.index ~ " as " ~ type ~ ")") -%}
        {%- endfor -%}
        {%- set sql = "insert into " ~ this.render() ~ "\nselect " ~ cast_columns | join(", ") ~ "\nfrom " ~ view -%}
        {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
        {%- do statements.append(sql) -%}
    {%- endfor -%}
    {%- do adapter.add_query("drop view if exists " ~ view) -%}
    {{ return(statements | first) }}
{%- endmacro %}


{% macro _check_cells_of_seed(model, view, names, types) -%}
    {%- set unfit = [] -%}
    {%- for type in types -%}
        {%- do unfit.append(
            "select line, " ~ loop.index0 ~ " as place from " ~ view ~ " where cell_" ~ loop.index
            ~ " is not null and try_cast(cell_" ~ loop.index ~ " as " ~ type ~ ") is null"
        ) -%}
    {%- endfor -%}
    {%- set cells = run_query(
        "select * from (" ~ unfit | join(" union all ") ~ ") as unfit order by line, place limit 10"
    ).rows -%}
    {%- if cells -%}
        {%- set places = [] -%}
        {%- for cell in cells -%}
            {%- do places.append(
                "line " ~ cell[0] ~ " column " ~ names[cell[1]] ~ " (not " ~ types[cell[1]] ~ ")"
            ) -%}
        {%- endfor -%}
        {{ exceptions.raise_compiler_error(
            "seed " ~ model.name ~ ": every line of the file must fit the table; the first that do not: "
            ~ places | join(", ") ~ ". Correct them (dates are written year-month-day), or change column_types of the"
            ~ " seed and run `dbt seed --full-refresh -s " ~ model.name ~ "`."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# The loader of dbt-spark would build from other values than those of the file. #}
{% macro spark___check_seed_loading() -%}
    {%- set seeds = graph.nodes.values() | selectattr("resource_type", "equalto", "seed") -%}
    {%- set selected = seeds | map(attribute="unique_id") | select("in", selected_resources) | list -%}
    {%- if adapter.dispatch("load_csv_rows", "dbt").macro.package_name == "dbt_spark" and selected -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: seeds must be loaded by the macro of this package on Spark; that of dbt-spark writes NULL"
            ~ " as the text None, and prints the lines of a seed that has a quote. Add to dbt_project.yml:\n"
            ~ "dispatch:\n  - macro_namespace: dbt\n    search_order: [" ~ project_name ~ ", dbt_anonymize, dbt]"
        ) }}
    {%- endif -%}
{%- endmacro %}
