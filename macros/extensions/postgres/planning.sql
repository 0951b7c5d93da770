{# Statistics, settings and scratch tables, by which the server plans joins of many rows. #}

{% macro postgres___analyzed() -%}
    {{ return(["{{ dbt_anonymize._analyze(this) }}"]) }}
{%- endmacro %}


{% macro _analyze(relation) -%}analyze {{ relation }}{%- endmacro %}


{#
  Only those that have no statistics and are the builder's own: others must not be analyzed. `pg_class` does not tell:
  its count of rows outlives a build that failed, which the statistics do not. In one order, since each stays locked
  against a second `analyze` until the model is built: two models that share them must not wait for each other.
#}
{% macro postgres___analyze_hierarchies(quasi_identifiers) -%}
    {%- set names = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- set place = dbt_anonymize._literal(quasi_identifier.hierarchy.render()) -%}
        {%- set unknown = run_query(
            "select 1 from pg_class as found inner join pg_namespace as place on found.relnamespace = place.oid"
            ~ " where found.oid = to_regclass(" ~ place ~ ") and found.relkind in ('r', 'm')"
            ~ " and pg_has_role(found.relowner, 'usage') and not exists (select 1 from pg_stats as known"
            ~ " where known.schemaname = place.nspname and known.tablename = found.relname)"
        ).rows -%}
        {%- if unknown -%}{%- do names.append(quasi_identifier.hierarchy.render()) -%}{%- endif -%}
    {%- endfor -%}
    {%- for name in names | unique(case_sensitive=true) | sort(case_sensitive=true) -%}
        {%- do run_query(dbt_anonymize._analyze(name)) -%}
    {%- endfor -%}
{%- endmacro %}


{% macro postgres___apart(name) -%}{{ return("(select * from " ~ name ~ " offset 0) as " ~ name) }}{%- endmacro %}


{% macro postgres___not_materialized() -%}{{ return("not materialized ") }}{%- endmacro %}


{#
  Postgres comes with 4 MB for a sort or a hash table, so that a few thousand rows already went through the disk, and
  compiles each of hundreds of expressions, which takes longer than to run them. To analyze 30,000 rows of a wide table
  takes as long as to write it; 6,000 tell the number of rows and values as well. A larger memory of the session stays.
  A join of all records with a hundred classes by their labels is planned as a merge, for which all records are sorted.
  The settings end with the transaction.
#}
{% macro postgres___expect_many_rows() -%}
    {%- do dbt_anonymize._run_statements([
        "set local jit = off",
        "set local enable_mergejoin = off",
        "set local default_statistics_target = 20",
        "select set_config('work_mem', '64MB', true) where pg_size_bytes(current_setting('work_mem')) < 67108864",
    ]) -%}
{%- endmacro %}


{#
  No statistics are known of a CTE, and every join multiplies the error: hash tables were made for billions of rows, and
  loops for one. Tables that are analyzed have them, those of a value each with its count too. A join by many columns
  is expected to find one row all the same: loops and sorts, which grow with what there is, give way to hash tables.
#}
{% macro postgres___in_steps(names, sql) -%}
    {%- do dbt_anonymize._expect_many_rows() -%}
    {%- if not dbt_anonymize._is_building() or not names -%}{{ return(sql) }}{%- endif -%}
    {%- do dbt_anonymize._run_statements(["set local enable_nestloop = off", "set local enable_sort = off"]) -%}
    {%- set steps = [] -%}
    {%- for name in modules.re.findall("(?m)^(\\w+) as (?:not materialized )?[(]", sql) -%}
        {%- if name in names or modules.re.match("(distribution|total)_[0-9]+$", name) -%}
            {%- do steps.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(dbt_anonymize._kept_steps(steps, sql)) }}
{%- endmacro %}


{% macro postgres___after_steps() -%}{{ return(["{{ dbt_anonymize._forget_scratch() }}"]) }}{%- endmacro %}


{% macro _forget_scratch() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set leftovers = run_query(
        "select relname from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r'"
        ~ " and relname like 'dbt\\_anonymize\\_%'"
    ).columns[0].values() -%}
    {%- if leftovers -%}{%- do run_query("drop table " ~ leftovers | map("tojson") | join(", ")) -%}{%- endif -%}
{%- endmacro %}


{% macro postgres___keep_scratch(name, sql) -%}
    {{ return(
        dbt_anonymize._drop_scratch([name])
        + [dbt_anonymize._create_scratch(name, sql), dbt_anonymize._analyze(dbt_anonymize._scratch(name))]
    ) }}
{%- endmacro %}
