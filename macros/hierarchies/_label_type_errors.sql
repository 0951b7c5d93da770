{#
  Why the labels of a hierarchy may not be those that were written, as messages: dbt reads 01 of a file as the number 1,
  and 1.1 and 1.10 as the same one. A frozen release keeps the labels that it has, with a warning.
#}
{% macro _label_type_errors(hierarchy, of, levels, is_frozen=false) -%}
    {%- set wrong = [] -%}
    {%- for column in adapter.get_columns_in_relation(hierarchy) if (column.name | lower).startswith("level_") -%}
        {%- set shown = modules.re.match("[a-z_ ]*", column.dtype | lower).group() | trim -%}
        {%- if not dbt_anonymize._is_text_type(column.dtype) -%}
            {%- do wrong.append((column.name | lower) ~ " is " ~ shown) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not wrong -%}{{ return([]) }}{%- endif -%}
    {%- set rule = "the labels of hierarchy " ~ hierarchy.identifier ~ " of " ~ of ~ " must be text; "
        ~ wrong | join(", ") ~ ", so that labels may be others than were written (1 for 01, one for 1.1 and 1.10). " -%}
    {%- if is_frozen -%}
        {%- do exceptions.warn(
            "dbt_anonymize: " ~ rule ~ "The frozen release keeps them; correct the hierarchy before an effort is chosen"
            ~ " anew. " ~ dbt_anonymize._text_labels_remedy(hierarchy, levels)
        ) -%}
        {{ return([]) }}
    {%- endif -%}
    {{ return([rule ~ dbt_anonymize._text_labels_remedy(hierarchy, levels)]) }}
{%- endmacro %}


{# What makes the labels of a hierarchy text, with the lines to add to its properties. #}
{% macro _text_labels_remedy(hierarchy, levels) -%}
    {%- set seed = dbt_anonymize._seed_of(hierarchy) -%}
    {%- if not seed -%}{{ return("Cast them to text in the model that makes the hierarchy.") }}{%- endif -%}
    {%- set types = dict(seed.config.column_types or {}) -%}
    {%- set text = dbt.type_string() | lower -%}
    {%- set added = [] -%}
    {%- for column in dbt_anonymize._hierarchy_columns("categorical", levels) -%}
        {%- set is_value = loop.first -%}
        {%- set exists = not is_value or "value" in dbt_anonymize._stored_columns(hierarchy) -%}
        {%- if exists and types.get(column) is none -%}
            {%- do added.append(column) -%}
            {%- do types.update({column: text}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set loading = "dbt seed --full-refresh --select " ~ seed.name -%}
    {%- if not added -%}
        {{ return("Its column_types say so, but it was loaded before: run `" ~ loading ~ "`.") }}
    {%- endif -%}
    {%- set lines = [] -%}
    {%- for column, type in types.items() -%}{%- do lines.append(column ~ ": " ~ type) -%}{%- endfor -%}
    {%- set place = (seed.patch_path or "").split("://") | last -%}
    {{ return(
        ("Write into its entry in " ~ place if place else "Write into a file of properties, such as"
        ~ " seeds/hierarchies.yml")
        ~ "\nseeds:\n  - name: " ~ seed.name ~ "\n    config:\n      column_types: {" ~ lines | join(", ")
        ~ "}\nand run `"
        ~ loading ~ "`."
    ) }}
{%- endmacro %}


{# The seed of the project that a relation is loaded from; none of others. #}
{% macro _seed_of(relation) -%}
    {%- for node in (graph or {}).get("nodes", {}).values() if node.resource_type == "seed" -%}
        {%- if node.alias == relation.identifier and node.schema == relation.schema -%}{{ return(node) }}{%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro %}


{# Stops where the hierarchy of a sensitive attribute, of distances has labels that are no text. #}
{% macro _check_sensitive_labels(sensitive_hierarchies, is_frozen) -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set errors = [] -%}
    {%- for name, tree in sensitive_hierarchies.items() -%}
        {%- do errors.extend(dbt_anonymize._label_type_errors(tree.hierarchy, name, tree.levels, is_frozen)) -%}
    {%- endfor -%}
    {%- do dbt_anonymize._raise_errors(model.name, errors) -%}
{%- endmacro %}
