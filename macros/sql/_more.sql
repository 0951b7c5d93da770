{#
  Keys of `more`, the second argument of a body macro: what a macro of an extension adds to the relation. Generated
  models call that macro, and it calls the body macro.
    materialized  in place of a table
    meta          what its own macros read of the model, under `dbt_anonymize`; beside it stands the `definition`, a
                  digest of the SQL as it is without data
    checks        post hooks before our own
    condition     of the rows that are read; the data may decide it while a model is built
    is_of_people  false where the record key is not that of people, whom the vault may withhold
    ctes          each with a comma behind it
    joins         to the source
    columns       behind our own
    groups        what rows are grouped by beside our own columns
    records       number of records of a group
#}
{% macro _more(more) -%}
    {{ return(dbt_anonymize._checked_keys(more, [], {
        "materialized": "table", "meta": {}, "checks": [], "condition": none, "is_of_people": true, "ctes": "",
        "joins": "", "columns": [], "groups": [], "records": "count(*)",
    })) }}
{%- endmacro %}
