{#
  Load a seed without ever showing a line of it. DuckDB's own error for a cell that does not fit its column quotes the
  whole line, with the names and addresses of whoever it is about, and dbt writes that into console and log. Here the
  lines that do not fit are set aside and counted, and the seed fails with their numbers.

  In the project of this package it takes the place of dbt-duckdb's macro; another project asks for it in
  dbt_project.yml: dispatch: [{macro_namespace: dbt, search_order: [<the project>, dbt_anonymize, dbt]}]
#}
{% macro duckdb__load_csv_rows(model, agate_table) -%}
    {#- What it stands for, values bound one by one, is what the adapter says of a value that does not fit. -#}
    {%- if not config.get("fast", true) -%}
        {{ exceptions.raise_compiler_error(
            "seed " ~ model.name ~ ": `fast` must be true where dbt_anonymize loads seeds; got false, which has"
            ~ " dbt-duckdb insert rows value by value and print a value that does not fit. Remove it; column_types of"
            ~ " the seed say what type each column has."
        ) }}
    {%- endif -%}
    {%- set columns = adapter.get_columns_in_relation(this) -%}
    {%- set names = columns | map(attribute="name") | list -%}
    {#- Cells are loaded by position: another order of columns would put names where numbers of patients belong. The
        first line of a file without a header is somebody's, so that it is not repeated. -#}
    {%- if names != agate_table.column_names | list -%}
        {{ exceptions.raise_compiler_error(
            "seed " ~ model.name ~ ": the file must have a first line with the columns of the table, in their order;"
            ~ " the table has "
            ~ names | join(", ") ~ "; of these the file has "
            ~ (agate_table.column_names | select("in", names) | join(", ") or "none")
            ~ ", and " ~ agate_table.column_names | reject("in", names) | list | length ~ " others. If the file and"
            ~ " its header are right, run `dbt seed --full-refresh -s " ~ model.name ~ "`."
        ) }}
    {%- endif -%}
    {#- dbt takes a blank first line for the header and makes up names. Read as one column, which ends with its line;
        DuckDB reads on behind it, and would quote a line that is too long. -#}
    {%- set file = dbt_anonymize._literal(adapter.get_seed_file_path(model)) -%}
    {%- set first = run_query(
        "select coalesce(trim(line, chr(9) || chr(13) || ' '), '') = '' from read_csv(" ~ file ~ ", auto_detect ="
        ~ " false, header = false, delim = chr(1), quote = '', escape = '', columns = {'line': 'varchar'}, strict_mode"
        ~ " = false, parallel = false, ignore_errors = true) limit 1"
    ).rows -%}
    {%- if first and first[0][0] -%}
        {{ exceptions.raise_compiler_error(
            "seed " ~ model.name ~ ": the file must begin with the names of its columns; its first line is blank."
            ~ " Remove the line."
        ) }}
    {%- endif -%}
    {%- set types = [] -%}
    {%- for column in columns -%}
        {%- do types.append(dbt_anonymize._literal(column.name) ~ ": " ~ dbt_anonymize._literal(column.data_type)) -%}
    {%- endfor -%}
    {%- set sql -%}
        insert into {{ this.render() }}
        select *
        from read_csv(
            {{ file }},
            auto_detect = false,
            header = true,
            delim = {{ dbt_anonymize._literal(config.get("delimiter", ",")) }},
            quote = '"',
            escape = '"',
            columns = { {{- types | join(", ") -}} },
            store_rejects = true,
            rejects_table = 'seed_rejects',
            rejects_scan = 'seed_rejects_scans',
            rejects_limit = 10
        )
    {%- endset -%}
    {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
    {%- set rejects = run_query(
        "select line, coalesce(column_name, '') as column_name, lower(cast(error_type as varchar)) as reason from"
        ~ " seed_rejects order by line, column_name"
    ).rows -%}
    {%- if rejects | length > 0 -%}
        {%- set places = [] -%}
        {%- for reject in rejects -%}
            {%- set column = " column " ~ reject[1] if reject[1] else "" -%}
            {%- do places.append("line " ~ reject[0] ~ column ~ " (" ~ reject[2] ~ ")") -%}
        {%- endfor -%}
        {{ exceptions.raise_compiler_error(
            "seed " ~ model.name ~ ": every line of the file must fit the table; the first that do not: "
            ~ places | join(", ")
            ~ ". Correct them (dates are written year-month-day), or change column_types of the seed and run"
            ~ " `dbt seed --full-refresh -s " ~ model.name ~ "`."
        ) }}
    {%- endif -%}
    {%- set loaded = run_query("select count(*) from " ~ this.render()).rows[0][0] -%}
    {%- set lines = agate_table.rows | length -%}
    {#- DuckDB skips blank lines, of which dbt makes rows without a value. -#}
    {%- set blank = [] -%}
    {%- for row in agate_table.rows if loaded != lines and not row.values() | reject("none") | list -%}
        {%- do blank.append(1) -%}
    {%- endfor -%}
    {%- if loaded > lines or loaded < lines - blank | length -%}
        {{ exceptions.raise_compiler_error(
            "seed " ~ model.name ~ ": every line of the file must become one row; dbt counts " ~ lines ~ " lines, "
            ~ blank | length ~ " of them blank, and DuckDB loaded " ~ loaded ~ ". Look for open quotes."
        ) }}
    {%- endif -%}
    {#- The thread may load another seed. -#}
    {%- do adapter.add_query("drop table seed_rejects") -%}
    {%- do adapter.add_query("drop table seed_rejects_scans") -%}
    {{ return(sql) }}
{%- endmacro %}
