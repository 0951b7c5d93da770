{# Before statements that read every record, in their transaction: what the engine must be told of them. #}
{% macro _expect_many_rows() -%}
    {%- if dbt_anonymize._is_building() -%}
        {%- do adapter.dispatch("_expect_many_rows", "dbt_anonymize")() -%}
    {%- endif -%}
{%- endmacro %}

{% macro default___expect_many_rows() -%}{%- endmacro %}

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
