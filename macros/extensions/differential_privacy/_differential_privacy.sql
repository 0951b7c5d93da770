{#
  Li, Qardaji and Su 2012: of a random sample, classes of less than k people are suppressed. Python computes k from
  epsilon, delta and the probability to be in the sample. No dbt test: a relation alone does not show how it was made.
#}
{% macro _differential_privacy_model(guarantee) -%}
    {%- set counted = {"model": "k_anonymity", "k": guarantee.k} -%}
    {{ return({
        "conditions": ["class_size < " ~ guarantee.k],
        "in_release": counted,
        "in_release_of_subjects": counted,
        "needs_seeds": true,
        "requires": dbt_anonymize._required_k(guarantee.k),
    }) }}
{%- endmacro %}
