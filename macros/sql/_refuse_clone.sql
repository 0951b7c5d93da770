{#
  A pre-hook of what `dbt clone` must leave alone: a clone is a view into the other target, and no hook of the project
  closes its schema. It would show the vault, draws of new people would go through it, and a release is published by who
  has checked it. The plugin of the Python package gives it to seeds and models of the project that lie in the vault.
#}
{% macro _refuse_clone() -%}
    {%- if execute and flags.WHICH == "clone" -%}
        {{ exceptions.raise_compiler_error(
            this ~ ": relations of the vault and releases must be built by their own target; a clone would be a view"
            ~ " into another one. Exclude it from the clone, as docs/dbt.md says, and build it then."
        ) }}
    {%- endif -%}
{%- endmacro %}
