{# The measures of `<n>_information_loss` in the order of its columns: each has what selects one row per effort, and the
   quasi-identifiers that have a column of their own in it. They may read the CTE `covered_tuples`. #}
{% macro _loss_measures(given) -%}
    {%- set classes, frequencies, quasi_identifiers = given.classes, given.frequencies, given.quasi_identifiers -%}
    {%- set factor = given.generalization_suppression_factor -%}
    {%- set all, none_ = quasi_identifiers, [] -%}
    {%- set numbers = quasi_identifiers | selectattr("kind", "equalto", "interval") | list -%}
    {{ return({
        "loss": [dbt_anonymize.loss(classes, quasi_identifiers, factor, given.aggregate), all],
        "granularity": [dbt_anonymize.granularity(classes, quasi_identifiers), all],
        "precision": [dbt_anonymize.precision(classes, quasi_identifiers, factor), all],
        "discernibility": [dbt_anonymize.discernibility(classes), none_],
        "average_class_size": [dbt_anonymize.average_class_size(classes), none_],
        "non_uniform_entropy": [
            dbt_anonymize.non_uniform_entropy(classes, frequencies, quasi_identifiers, factor), all
        ],
        "ambiguity": [dbt_anonymize.ambiguity("covered_tuples"), none_],
        "kl_divergence": [dbt_anonymize.kl_divergence("covered_tuples", frequencies, quasi_identifiers), none_],
        "entropy_based_loss": [dbt_anonymize.entropy_based_loss("covered_tuples", factor), none_],
        "classification_metric": [
            dbt_anonymize.classification_metric(classes, factor, given.target, given.target_weights)
            if given.has_target else dbt_anonymize._without_target(classes), none_
        ],
        "sse_sst": [dbt_anonymize.sse_sst(classes, frequencies, quasi_identifiers, given.sample_shares), numbers],
        "total_information_loss": [
            dbt_anonymize.total_information_loss(classes, quasi_identifiers, factor, given.has_modes), none_
        ],
    }) }}
{%- endmacro %}
