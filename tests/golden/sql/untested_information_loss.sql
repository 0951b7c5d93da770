with

efforts as (

    select 0 as effort
    union all
    select 1 as effort
    union all
    select 2 as effort
    union all
    select 3 as effort

),

covered_tuples as (

    with

    found as (

        select
            count(distinct "birth_date") as values_1,
            max(case when "birth_date" is null then 1 else 0 end) as nulls_1,
            (select count(*) from "shop"."main"."customers_hierarchy_zip") as values_2,
            max(case when "zip" is null then 1 else 0 end) as nulls_2,
            (select count(*) from "shop"."main"."customers_hierarchy_gender") as values_3,
            max(case when "gender" is null then 1 else 0 end) as nulls_3
        from "shop"."main"."untested_frequencies"

    ),

    leaves_1 as (

        select
            "birth_date_leaf" as leaf,
            count(distinct "birth_date") as covered
        from "shop"."main"."untested_frequencies"
        where "birth_date" is not null
        group by "birth_date_leaf"

    ),

    labels_1 as (

        select
            1 as level,
            cast(hierarchy.level_1 as TEXT) as label,
            sum(leaves_1.covered) as covered
        from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
        inner join leaves_1 on hierarchy.lower_bound = leaves_1.leaf
        group by hierarchy.level_1

        union all

        select
            2 as level,
            cast(hierarchy.level_2 as TEXT) as label,
            sum(leaves_1.covered) as covered
        from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
        inner join leaves_1 on hierarchy.lower_bound = leaves_1.leaf
        group by hierarchy.level_2

        union all

        select
            3 as level,
            cast(hierarchy.level_3 as TEXT) as label,
            sum(leaves_1.covered) as covered
        from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
        inner join leaves_1 on hierarchy.lower_bound = leaves_1.leaf
        group by hierarchy.level_3

        union all

        select
            4 as level,
            cast(hierarchy.level_4 as TEXT) as label,
            sum(leaves_1.covered) as covered
        from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
        inner join leaves_1 on hierarchy.lower_bound = leaves_1.leaf
        group by hierarchy.level_4

    ),

    domains as (

        select
            cast(values_1 as double) as values_1,
            cast(values_1 + nulls_1 as double) as domain_1,
            cast(values_2 as double) as values_2,
            cast(values_2 + nulls_2 as double) as domain_2,
            cast(values_3 as double) as values_3,
            cast(values_3 + nulls_3 as double) as domain_3
        from found

    ),

    labels as (

        select
            classes.effort,
            classes.records,
            classes.is_suppressed,
            case
                when classes."birth_date" = '*' then domains.domain_1
                when classes."birth_date_level" = 0 then 1
                when labels_1.covered is not null then labels_1.covered
                when classes."birth_date_share" * domains.values_1 < 1 then 1
                else classes."birth_date_share" * domains.values_1
            end as covered_1,
            case when classes."birth_date_level" is null and classes."birth_date" <> '*' then 1 else 0 end as without_level_1,
            domains.domain_1,
            case
                when classes."zip" = '*' then domains.domain_2
                else classes."zip_share" * domains.values_2
            end as covered_2,
            domains.domain_2,
            case
                when classes."gender" = '*' then domains.domain_3
                else classes."gender_share" * domains.values_3
            end as covered_3,
            domains.domain_3
        from "shop"."main"."untested_classes" as classes
        cross join domains
        left join labels_1
            on
                classes."birth_date_level" = labels_1.level
                and classes."birth_date" = labels_1.label

    )

    select
        effort,
        records,
        is_suppressed,
        covered_1 * covered_2 * covered_3 as covered,
        domain_1 * domain_2 * domain_3 as domain,
        without_level_1 = 0 as is_exact
    from labels

),

loss_by_effort as (

    with

    smallest_shares as (

        select
            cast(0 as double) as smallest_1,
            (select cast(1 as double) / count(*) from "shop"."main"."customers_hierarchy_zip") as smallest_2,
            (select cast(1 as double) / count(*) from "shop"."main"."customers_hierarchy_gender") as smallest_3

    ),

    sums as (

        select
            effort,
            sum(case
                when is_suppressed then records
                else records * "birth_date_share"
            end) as lost_1,
            sum(case
                when is_suppressed then records
                else records * "zip_share"
            end) as lost_2,
            sum(case
                when is_suppressed then records
                else records * "gender_share"
            end) as lost_3,
            cast(sum(records) as double) as records
        from "shop"."main"."untested_classes"
        group by effort

    ),

    losses as (

        select
            sums.effort,
            case
                when sums.lost_1 <= sums.records * smallest_shares.smallest_1 then 0
                else (sums.lost_1 - sums.records * smallest_shares.smallest_1) / (sums.records - sums.records * smallest_shares.smallest_1)
            end as loss_1,
            case
                when sums.lost_2 <= sums.records * smallest_shares.smallest_2 then 0
                else (sums.lost_2 - sums.records * smallest_shares.smallest_2) / (sums.records - sums.records * smallest_shares.smallest_2)
            end as loss_2,
            case
                when sums.lost_3 <= sums.records * smallest_shares.smallest_3 then 0
                else (sums.lost_3 - sums.records * smallest_shares.smallest_3) / (sums.records - sums.records * smallest_shares.smallest_3)
            end as loss_3
        from sums
        cross join smallest_shares

    )

    select
        effort,
        floor((loss_1) * 1e12 + 0.5) / 1e12 as "birth_date_loss",
        floor((loss_2) * 1e12 + 0.5) / 1e12 as "zip_loss",
        floor((loss_3) * 1e12 + 0.5) / 1e12 as "gender_loss",
        floor((power((1 + loss_1) * (1 + loss_2) * (1 + loss_3), cast(1 as double) / 3) - 1) * 1e12 + 0.5) / 1e12 as loss
    from losses

),

granularity_by_effort as (

    with

    smallest_shares as (

        select
            cast(0 as double) as smallest_1,
            (select cast(1 as double) / count(*) from "shop"."main"."customers_hierarchy_zip") as smallest_2,
            (select cast(1 as double) / count(*) from "shop"."main"."customers_hierarchy_gender") as smallest_3

    ),

    shares as (

        select
            effort,
            sum(case when is_suppressed then records else records * "birth_date_share" end)
            / cast(sum(records) as double) as share_1,
            sum(case when is_suppressed then records else records * "zip_share" end)
            / cast(sum(records) as double) as share_2,
            sum(case when is_suppressed then records else records * "gender_share" end)
            / cast(sum(records) as double) as share_3
        from "shop"."main"."untested_classes"
        group by effort

    )

    select
        shares.effort,
        floor((coalesce((1 - shares.share_1) / nullif(1 - smallest_shares.smallest_1, 0), 1)) * 1e12 + 0.5) / 1e12 as "birth_date_granularity",
        floor((coalesce((1 - shares.share_2) / nullif(1 - smallest_shares.smallest_2, 0), 1)) * 1e12 + 0.5) / 1e12 as "zip_granularity",
        floor((coalesce((1 - shares.share_3) / nullif(1 - smallest_shares.smallest_3, 0), 1)) * 1e12 + 0.5) / 1e12 as "gender_granularity",
        floor((coalesce((1 - ((shares.share_1 + shares.share_2 + shares.share_3) / 3)) / nullif(1 - ((smallest_shares.smallest_1 + smallest_shares.smallest_2 + smallest_shares.smallest_3) / 3), 0), 1)) * 1e12 + 0.5) / 1e12 as granularity
    from shares
    cross join smallest_shares

),

precision_by_effort as (

    with

    heights as (

        select
            classes.effort,
            case
                when count(case when not classes.is_suppressed and classes."birth_date_level" is null and classes."birth_date" <> '*' then 1 end) = 0
                    then
                        sum(case
                            when classes.is_suppressed then classes.records
                            else classes.records * case when classes."birth_date" = '*' then 1 else cast(classes."birth_date_level" as double) / 4 end
                        end) / cast(sum(classes.records) as double)
            end as height_1,
            case
                when count(case when not classes.is_suppressed and classes."zip_level" is null and classes."zip" <> '*' then 1 end) = 0
                    then
                        sum(case
                            when classes.is_suppressed then classes.records
                            else classes.records * case when classes."zip" = '*' then 1 else cast(classes."zip_level" as double) / 3 end
                        end) / cast(sum(classes.records) as double)
            end as height_2,
            case
                when count(case when not classes.is_suppressed and classes."gender_level" is null and classes."gender" <> '*' then 1 end) = 0
                    then
                        sum(case
                            when classes.is_suppressed then classes.records
                            else classes.records * case when classes."gender" = '*' then 1 else cast(classes."gender_level" as double) / 1 end
                        end) / cast(sum(classes.records) as double)
            end as height_3
        from "shop"."main"."untested_classes" as classes
        group by classes.effort

    )

    select
        effort,
        floor((1 - height_1) * 1e12 + 0.5) / 1e12 as "birth_date_precision",
        floor((1 - height_2) * 1e12 + 0.5) / 1e12 as "zip_precision",
        floor((1 - height_3) * 1e12 + 0.5) / 1e12 as "gender_precision",
        floor((1 - ((height_1 + height_2 + height_3) / 3)) * 1e12 + 0.5) / 1e12 as precision
    from heights

),

discernibility_by_effort as (

    select
        effort,
        sum(case when is_suppressed then 0 else cast(records as double) * records end)
        + cast(sum(records) as double) * sum(case when is_suppressed then records else 0 end) as discernibility
    from "shop"."main"."untested_classes"
    group by effort

),

average_class_size_by_effort as (

    select
        effort,
        cast(sum(records) as double)
        / (
            count(case when not is_suppressed then 1 end) + max(case when is_suppressed then 1 else 0 end)
        ) as average_class_size
    from "shop"."main"."untested_classes"
    group by effort

),

non_uniform_entropy_by_effort as (

    with

    value_counts as (

        select
            grouping("birth_date") as is_other_1,
            grouping("zip") as is_other_2,
            grouping("gender") as is_other_3,
            cast(sum(records) as double) as records
        from "shop"."main"."untested_frequencies"
        group by grouping sets (  -- noqa: PRS
            ("birth_date"),
            ("zip"),
            ("gender")
        )

    ),

    raw_values as (

        select
            coalesce(sum(case when is_other_1 = 0 then records * ln(nullif(records, 0)) end), 0) as n_ln_n_1,
            coalesce(sum(case when is_other_2 = 0 then records * ln(nullif(records, 0)) end), 0) as n_ln_n_2,
            coalesce(sum(case when is_other_3 = 0 then records * ln(nullif(records, 0)) end), 0) as n_ln_n_3,
            sum(case when is_other_1 = 0 then records end) as records
        from value_counts

    ),

    label_counts as (

        select
            effort,
            grouping("birth_date") as is_other_1,
            grouping("zip") as is_other_2,
            grouping("gender") as is_other_3,
            cast(sum(records) as double) as records,
            cast(sum(case when is_suppressed then records else 0 end) as double) as suppressed_records
        from "shop"."main"."untested_classes"
        group by grouping sets (  -- noqa: PRS
            (effort, "birth_date"),
            (effort, "zip"),
            (effort, "gender")
        )

    ),

    labels as (

        select
            effort,
            coalesce(sum(case when is_other_1 = 0 then records * ln(nullif(records, 0)) end), 0) as n_ln_n_1,
            coalesce(sum(case when is_other_1 = 0 then suppressed_records * ln(nullif(suppressed_records, 0)) end), 0) as suppressed_n_ln_n_1,
            coalesce(sum(case when is_other_2 = 0 then records * ln(nullif(records, 0)) end), 0) as n_ln_n_2,
            coalesce(sum(case when is_other_2 = 0 then suppressed_records * ln(nullif(suppressed_records, 0)) end), 0) as suppressed_n_ln_n_2,
            coalesce(sum(case when is_other_3 = 0 then records * ln(nullif(records, 0)) end), 0) as n_ln_n_3,
            coalesce(sum(case when is_other_3 = 0 then suppressed_records * ln(nullif(suppressed_records, 0)) end), 0) as suppressed_n_ln_n_3,
            sum(case when is_other_1 = 0 then records end) as records,
            sum(case when is_other_1 = 0 then suppressed_records end) as suppressed_records
        from label_counts
        group by effort

    ),

    levels as (

        select
            effort,
            count("birth_date_level") = count(*) and min("birth_date_level") = max("birth_date_level") as is_one_1,
            count("zip_level") = count(*) and min("zip_level") = max("zip_level") as is_one_2,
            count("gender_level") = count(*) and min("gender_level") = max("gender_level") as is_one_3
        from "shop"."main"."untested_classes"
        group by effort

    ),

    entropies as (

        select
            labels.effort,
            case
                when not levels.is_one_1 or labels.records <> raw_values.records then null
                else (
                    case when labels.n_ln_n_1 - raw_values.n_ln_n_1 > 1e-12 * labels.n_ln_n_1 then labels.n_ln_n_1 - raw_values.n_ln_n_1 else 0 end
                    + case when coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) - labels.suppressed_n_ln_n_1 > 1e-12 * coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) then coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) - labels.suppressed_n_ln_n_1 else 0 end
                ) / ln(2)
            end as entropy_1,
            case
                when not levels.is_one_2 or labels.records <> raw_values.records then null
                else (
                    case when labels.n_ln_n_2 - raw_values.n_ln_n_2 > 1e-12 * labels.n_ln_n_2 then labels.n_ln_n_2 - raw_values.n_ln_n_2 else 0 end
                    + case when coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) - labels.suppressed_n_ln_n_2 > 1e-12 * coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) then coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) - labels.suppressed_n_ln_n_2 else 0 end
                ) / ln(2)
            end as entropy_2,
            case
                when not levels.is_one_3 or labels.records <> raw_values.records then null
                else (
                    case when labels.n_ln_n_3 - raw_values.n_ln_n_3 > 1e-12 * labels.n_ln_n_3 then labels.n_ln_n_3 - raw_values.n_ln_n_3 else 0 end
                    + case when coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) - labels.suppressed_n_ln_n_3 > 1e-12 * coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) then coalesce(labels.suppressed_records * ln(nullif(labels.suppressed_records, 0)), 0) - labels.suppressed_n_ln_n_3 else 0 end
                ) / ln(2)
            end as entropy_3
        from labels
        inner join levels on labels.effort = levels.effort
        cross join raw_values

    )

    select
        effort,
        entropy_1 as "birth_date_non_uniform_entropy",
        entropy_2 as "zip_non_uniform_entropy",
        entropy_3 as "gender_non_uniform_entropy",
        entropy_1 + entropy_2 + entropy_3 as non_uniform_entropy
    from entropies

),

ambiguity_by_effort as (

    select
        effort,
        sum(records * case when is_suppressed then domain else covered end) as ambiguity
    from covered_tuples
    group by effort

),

kl_divergence_by_effort as (

    with

    tuples as (

        select
            coalesce(sum(records * ln(nullif(records, 0))), 0) as n_ln_n,
            sum(records) as records
        from (
            select cast(sum(records) as double) as records
            from "shop"."main"."untested_frequencies"
            group by
                "birth_date",
                "zip",
                "gender"
        ) as counted

    ),

    sums as (

        select
            effort,
            cast(sum(records) as double) as records,
            cast(sum(case when is_suppressed then records else 0 end) as double) as suppressed_records,
            coalesce(sum(case when is_suppressed then 0 else cast(records as double) end * ln(nullif(case when is_suppressed then 0 else cast(records as double) end, 0))), 0) as n_ln_n,
            sum(records * ln(case when is_suppressed then domain else covered end)) as n_ln_covered,
            sum(case when is_suppressed or is_exact then 0 else 1 end) as approximate_classes
        from covered_tuples
        group by effort

    ),

    divergences as (

        select
            sums.effort,
            case
                when sums.approximate_classes = 0 and sums.records = tuples.records
                    then (
                        tuples.n_ln_n - sums.n_ln_n
                        - coalesce(sums.suppressed_records * ln(nullif(sums.suppressed_records, 0)), 0)
                        + sums.n_ln_covered
                    ) / sums.records / ln(2)
            end as kl_divergence
        from sums
        cross join tuples

    )

    select
        effort,
        case when kl_divergence < 1e-12 then 0 else kl_divergence end as kl_divergence
    from divergences

),

entropy_based_loss_by_effort as (

    select
        effort,
        sum(case
            when is_suppressed then records
            when domain > 1 then records * ln(covered) / ln(domain)
            else 0
        end) as entropy_based_loss
    from covered_tuples
    group by effort

),

classification_metric_by_effort as (

    select
        effort,
        cast(null as double) as classification_metric
    from "shop"."main"."untested_classes"
    group by effort

),

sse_sst_by_effort as (

    with

    offsets_1 as (

        select
            frequencies."birth_date_leaf" as leaf,
            frequencies.records,
            cast(frequencies."birth_date" - lowest.bound as double) as distance
        from "shop"."main"."untested_frequencies" as frequencies
        cross join (
            select min("birth_date") as bound
            from "shop"."main"."untested_frequencies"
        ) as lowest
        where frequencies."birth_date" is not null

    ),

    means_1 as (

        select
            sum(records * distance) / sum(records) as mean,
            nullif(max(distance) - min(distance), 0) as spread
        from offsets_1

    ),

    leaves_1 as (

        select
            leaf,
            sum(records) as records,
            sum(records * from_mean) as distances,
            sum(records * from_mean * from_mean) as squares
        from (
            select
                offsets.leaf,
                offsets.records,
                (offsets.distance - means.mean) / means.spread as from_mean
            from offsets_1 as offsets
            cross join means_1 as means
        ) as centred
        group by
            leaf

    ),

    totals_1 as (

        select sum(squares) as squares
        from leaves_1

    ),

    errors_1 as (

        select
            0 as level,
            cast(0 as double) as squares

        union all

        select
            1 as level,
            sum(squares - distances * distances / records) as squares
        from (
            select
                sum(leaves.records) as records,
                sum(leaves.distances) as distances,
                sum(leaves.squares) as squares
            from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
            inner join leaves_1 as leaves on hierarchy.lower_bound = leaves.leaf
            group by
                hierarchy.level_1
        ) as labels

        union all

        select
            2 as level,
            sum(squares - distances * distances / records) as squares
        from (
            select
                sum(leaves.records) as records,
                sum(leaves.distances) as distances,
                sum(leaves.squares) as squares
            from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
            inner join leaves_1 as leaves on hierarchy.lower_bound = leaves.leaf
            group by
                hierarchy.level_2
        ) as labels

        union all

        select
            3 as level,
            sum(squares - distances * distances / records) as squares
        from (
            select
                sum(leaves.records) as records,
                sum(leaves.distances) as distances,
                sum(leaves.squares) as squares
            from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
            inner join leaves_1 as leaves on hierarchy.lower_bound = leaves.leaf
            group by
                hierarchy.level_3
        ) as labels

        union all

        select
            4 as level,
            sum(squares - distances * distances / records) as squares
        from (
            select
                sum(leaves.records) as records,
                sum(leaves.distances) as distances,
                sum(leaves.squares) as squares
            from "shop"."main"."customers_hierarchy_birth_date" as hierarchy
            inner join leaves_1 as leaves on hierarchy.lower_bound = leaves.leaf
            group by
                hierarchy.level_4
        ) as labels

    ),

    levels_1 as (
        select
            effort,
            case
                when count("birth_date_level") = count(*) and min("birth_date_level") = max("birth_date_level") then max("birth_date_level")
            end as level
        from "shop"."main"."untested_classes"
        group by effort

    ),

    ratios as (

        select
            efforts.effort,
            case
                when levels_1.level is null then null
                when totals_1.squares > 0
                    then errors_1.squares / totals_1.squares
                else 0
            end as ratio_1
        from (select distinct effort from "shop"."main"."untested_classes") as efforts
        inner join levels_1 on efforts.effort = levels_1.effort
        left join errors_1 on levels_1.level = errors_1.level
        cross join totals_1

    )

    select
        effort,
        floor((ratio_1) * 1e12 + 0.5) / 1e12 as "birth_date_sse_sst",
        floor(((ratio_1) / 1) * 1e12 + 0.5) / 1e12 as sse_sst
    from ratios

),

total_information_loss_by_effort as (

    with

    costs as (

        select
            classes.effort,
            sum(case
                when classes.is_suppressed then classes.records
                else classes.records * classes."birth_date_share"
            end) as cost_1,
            sum(case
                when classes.is_suppressed then classes.records
                else classes.records * case when classes."zip" = '*' then 1 else cast(classes."zip_level" as double) / 3 end
            end) as cost_2,
            sum(case
                when classes.is_suppressed then classes.records
                else classes.records * case when classes."gender" = '*' then 1 else cast(classes."gender_level" as double) / 1 end
            end) as cost_3
        from "shop"."main"."untested_classes" as classes
        group by classes.effort

    )

    select
        effort,
        cost_1 + cost_2 + cost_3 as total_information_loss
    from costs

)

select
    efforts.effort,
    loss_by_effort.loss,
    granularity_by_effort.granularity,
    precision_by_effort.precision,
    discernibility_by_effort.discernibility,
    average_class_size_by_effort.average_class_size,
    non_uniform_entropy_by_effort.non_uniform_entropy,
    ambiguity_by_effort.ambiguity,
    kl_divergence_by_effort.kl_divergence,
    entropy_based_loss_by_effort.entropy_based_loss,
    classification_metric_by_effort.classification_metric,
    sse_sst_by_effort.sse_sst,
    total_information_loss_by_effort.total_information_loss,
    loss_by_effort."birth_date_loss",
    granularity_by_effort."birth_date_granularity",
    precision_by_effort."birth_date_precision",
    non_uniform_entropy_by_effort."birth_date_non_uniform_entropy",
    sse_sst_by_effort."birth_date_sse_sst",
    loss_by_effort."zip_loss",
    granularity_by_effort."zip_granularity",
    precision_by_effort."zip_precision",
    non_uniform_entropy_by_effort."zip_non_uniform_entropy",
    loss_by_effort."gender_loss",
    granularity_by_effort."gender_granularity",
    precision_by_effort."gender_precision",
    non_uniform_entropy_by_effort."gender_non_uniform_entropy"
from efforts
left join loss_by_effort on efforts.effort = loss_by_effort.effort
left join granularity_by_effort on efforts.effort = granularity_by_effort.effort
left join precision_by_effort on efforts.effort = precision_by_effort.effort
left join discernibility_by_effort on efforts.effort = discernibility_by_effort.effort
left join average_class_size_by_effort on efforts.effort = average_class_size_by_effort.effort
left join non_uniform_entropy_by_effort on efforts.effort = non_uniform_entropy_by_effort.effort
left join ambiguity_by_effort on efforts.effort = ambiguity_by_effort.effort
left join kl_divergence_by_effort on efforts.effort = kl_divergence_by_effort.effort
left join entropy_based_loss_by_effort on efforts.effort = entropy_based_loss_by_effort.effort
left join classification_metric_by_effort on efforts.effort = classification_metric_by_effort.effort
left join sse_sst_by_effort on efforts.effort = sse_sst_by_effort.effort
left join total_information_loss_by_effort on efforts.effort = total_information_loss_by_effort.effort
order by efforts.effort
