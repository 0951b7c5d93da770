{# The last gate, on the very rows that are about to be published: it trusts no table that was built before. #}
{% macro _check_release(candidate) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set errors = dbt_anonymize._setting_errors() -%}
    {%- set columns = adapter.get_columns_in_relation(candidate) | map(attribute="name") | list -%}
    {%- if columns != declaration.columns -%}
        {%- do errors.append(
            "the release must have exactly the columns " ~ declaration.columns | join(", ") ~ "; got " ~ columns | join(", ")
            ~ ". Run `dbt-anonymize generate " ~ declaration.anonymization ~ "`."
        ) -%}
    {%- else -%}
        {%- do errors.extend(dbt_anonymize._class_errors(candidate, declaration)) -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, errors) -%}
{%- endmacro %}


{# Classes as everybody will see them: by the bytes of every generalized value. #}
{% macro _class_errors(candidate, declaration) -%}
    {%- set generalized = [dbt_anonymize._as_bytes("cqi")] -%}
    {%- for quasi_identifier in declaration.quasi_identifiers -%}
        {%- for column in dbt_anonymize._label_columns(quasi_identifier) -%}
            {%- set quoted = dbt_anonymize._quote(column) -%}
            {%- do generalized.append(dbt_anonymize._as_bytes(quoted) if loop.first else quoted) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set counts = run_query(
        "select count(*), coalesce(sum(case when class_size < " ~ declaration.k ~ " then 1 else 0 end), 0), coalesce(sum(class_size), 0) from ("
        ~ "select count(*) as class_size from " ~ candidate ~ " group by " ~ generalized | join(", ") ~ ") as classes"
    ).rows[0] -%}
    {%- set classes, small_classes, released = counts[0], counts[1], counts[2] -%}
    {%- set limits = run_query(
        "select records, " ~ dbt_anonymize._may_be_suppressed(declaration.suppression_limit, "records")
        ~ " from (select coalesce(max(records), 0) as records from " ~ ref(declaration.anonymization ~ "_results") ~ ") as results"
    ).rows[0] -%}
    {%- set records, may_be_suppressed = limits[0], limits[1] -%}
    {%- set errors = [] -%}
    {%- if released == 0 -%}
        {%- do errors.append("the release would be empty. Add a stronger effort or raise the suppression limit.") -%}
    {%- endif -%}
    {%- if small_classes > 0 -%}
        {%- do errors.append(
            "k_anonymity requires at least " ~ declaration.k ~ " records in each equivalence class; "
            ~ small_classes ~ " of " ~ classes ~ " classes have fewer. The results are of other data; run `dbt build -s +" ~ model.name ~ "`."
        ) -%}
    {%- endif -%}
    {%- if released > records or records - released > may_be_suppressed -%}
        {%- do errors.append(
            "at most " ~ declaration.suppression_limit ~ " of the records may be suppressed; " ~ released ~ " of " ~ records
            ~ " would be released. The results are of other data or of another limit; run `dbt build -s +" ~ model.name ~ "`."
        ) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}
