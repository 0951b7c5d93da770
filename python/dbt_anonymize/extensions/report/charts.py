"""The charts of a report, by Altair; each draws the data of a section.

Colours are of Okabe and Ito, which people with colour vision deficiency tell apart; what matters
differs in shape or place too.
"""

from __future__ import annotations

from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from dbt_anonymize.project.sections import Section

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#6b6b6b"
PALETTE = [BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#888888"]
# Validate charts against the schema of Vega-Lite; this takes longer than drawing them.
IS_CHECKED = False
_WIDTH = 620
_WIDE = 760
_CHOSEN = "chosen"
_DASHES = [[1, 0], [6, 3]]
_LINES = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolSize=400)
_UNIT = alt.Scale(domain=[0, 1])
_PERCENT = alt.Axis(format="%")
_SLANTED = alt.Axis(labelAngle=-30)
_NO_LABELS = alt.Axis(labels=False, ticks=False)


def spec_of(section: Section) -> dict[str, Any] | None:
    """Return the chart of a section as Vega-Lite, or None where it has none.

    Only tests validate the charts.
    """
    if section.chart is None:
        return None
    with debug_mode(IS_CHECKED):
        return _vega_lite(section, section.chart)


def _vega_lite(section: Section, kind: str) -> dict[str, Any]:
    chart = _CHARTS[kind](section).configure(
        font="system-ui, sans-serif",
        axis=alt.AxisConfig(
            labelFontSize=12, titleFontSize=13, titleFontWeight="normal", labelFlush=False
        ),
        header=alt.HeaderConfig(labelFontSize=13, titleFontSize=13),
        legend=alt.LegendConfig(labelFontSize=12, titleFontSize=12, labelLimit=260),
        view=alt.ViewConfig(stroke="#dddddd"),
    )
    content: dict[str, Any] = chart.to_dict(validate=IS_CHECKED)
    return content


class _Chart(alt.Chart):  # type: ignore[misc]
    """A chart whose channels are typed at once: Altair compares all its schemas to find a type."""

    def encode(self, *channels: Any, **named: Any) -> Any:
        """Encode channels, each by its name."""
        typed = {
            name: [_typed(name, part) for part in channel]
            if isinstance(channel, list)
            else _typed(name, channel)
            for name, channel in named.items()
        }
        return super().encode(*channels, **typed)


def _typed(name: str, channel: Any) -> Any:
    """Return a channel, which may be a shorthand or a condition, as Altair's own type."""
    kind = name[0].upper() + name[1:]
    if isinstance(channel, str):
        return getattr(alt, kind)(channel)
    if isinstance(channel, dict):
        return getattr(alt, f"{kind}Value")(**channel)
    return channel


def _chart(section: Section) -> alt.Chart:
    return _Chart(alt.InlineData(values=list(section.data)))


def _zero_rule(base: alt.Chart, y: str) -> list[alt.Chart]:
    """Return a line at the zero rule, and its name."""
    marks = (
        base.mark_rule(strokeDash=[6, 4], color=GREY),
        base.mark_text(align="left", dx=4, dy=-7, x=0, color=GREY, text="zero rule"),
    )
    return [mark.encode(y=y) for mark in marks]


def _color_and_shape(
    field: str, domain: list[str], colors: list[str], shapes: list[str], **options: Any
) -> dict[str, Any]:
    """Return color and shape of points of several kinds."""
    color, shape = (alt.Scale(domain=domain, range=values) for values in (colors, shapes))
    return {
        "color": alt.Color(field, title=None, scale=color, **options),
        "shape": alt.Shape(field, title=None, scale=shape),
    }


def _effort(title: str | None = "effort") -> alt.X:
    return alt.X("effort:O", title=title, axis=alt.Axis(labelAngle=0))


def _quality(section: Section) -> Any:
    """Three rows over the efforts; `alpha` and `chosen` are signals that the page sets."""
    options = section.options
    alpha = alt.param(name="alpha", value=options["alpha"])
    chosen = alt.param(name="chosen", value=options["chosen"] if options["chosen"] else -1)
    base = _chart(section).properties(width=_WIDE, height=130)
    is_chosen = "datum.effort === chosen"
    color = alt.condition(is_chosen, alt.value(ORANGE), alt.value(BLUE))
    shape = alt.condition(is_chosen, alt.value("diamond"), alt.value("circle"))
    size = alt.condition(is_chosen, alt.value(170), alt.value(70))
    marks = {"color": color, "shape": shape, "size": size}
    scale = alt.Scale(zero=False, nice=True)
    error = base.mark_rule(strokeWidth=2).encode(
        x=_effort(None), y=alt.Y("low:Q", scale=scale), y2="high:Q", color=color
    )
    mean = base.mark_point(filled=True, opacity=1).encode(
        x=_effort(None),
        y=alt.Y("qf:Q", title=f"QF ({options['measure']})", scale=scale),
        tooltip=["effort:O", "qf:Q", "low:Q", "high:Q"],
        **marks,
    )
    layers = [error, mean]
    if options["zero_rule"] is not None:
        zero = alt.InlineData(values=[{"zero": options["zero_rule"]}])
        layers += _zero_rule(_Chart(zero), "zero:Q")
    private = base.mark_point(filled=True, opacity=1).encode(
        x=_effort(None),
        y=alt.Y("qnf:Q", title="QNF", scale=scale),
        tooltip=["effort:O", "qnf:Q", "k:Q"],
        **marks,
    )
    sums = (
        base.transform_calculate(now="datum.qf + alpha * datum.qnf")
        .mark_point(filled=True, opacity=1)
        .encode(
            x=_effort(),
            y=alt.Y("now:Q", title="Q = QF + alpha * QNF", scale=scale),
            tooltip=["effort:O", alt.Tooltip("now:Q", title="Q")],
            **marks,
        )
    )
    return alt.vconcat(alt.layer(*layers), private, sums).add_params(alpha, chosen)


def _plane(section: Section) -> Any:
    base = _chart(section).properties(width=_WIDTH, height=320)
    scale = alt.Scale(zero=False, nice=True, padding=20)
    x, y = (
        alt.X("qnf:Q", title="QNF: further right is more private", scale=scale),
        alt.Y("qf:Q", title="QF: further up is more useful", scale=scale),
    )
    kind = (
        "datum.is_chosen ? 'chosen' : datum.effort === 0 ? 'untouched table' : "
        "datum.qualifies ? 'qualifies' : 'does not qualify'"
    )
    kinds = ["chosen", "qualifies", "does not qualify", "untouched table"]
    shapes = ["diamond", "circle", "cross", "square"]
    points = base.transform_calculate(kind=kind)
    dots = points.mark_point(filled=True, size=130, opacity=1).encode(
        x=x,
        y=y,
        tooltip=["effort:O", "qnf:Q", "qf:Q"],
        **_color_and_shape("kind:N", kinds, [ORANGE, BLUE, GREY, "#888888"], shapes),
    )
    front = (
        base.transform_filter("datum.is_on_front")
        .mark_line(color=GREEN, strokeWidth=1.5)
        .encode(x=x, y=y, order="qnf:Q")
    )
    names = base.transform_calculate(
        dx="indexof(datum.side, 'left') < 0 ? 11 : -11",
        dy="indexof(datum.side, 'below') < 0 ? -9 : 12",
    ).mark_text(dx=alt.expr("datum.dx"), dy=alt.expr("datum.dy"), fontSize=13)
    names = names.encode(x=x, y=y, text="effort:O")
    zero = base.transform_filter("datum.effort === 0 && datum.zero_rule !== null")
    return alt.layer(front, *_zero_rule(zero, "zero_rule:Q"), dots, names)


def _class_sizes(section: Section) -> Any:
    order = list(section.options["order"])
    return (
        _chart(section)
        .mark_rect(stroke="white")
        .encode(
            x=alt.X(
                "size:O",
                title="records in the class",
                sort=order,
                scale=alt.Scale(domain=order),
                axis=_SLANTED,
            ),
            y=alt.Y("effort:O", title="effort"),
            color=alt.Color(
                "share:Q",
                title="share of records",
                scale=alt.Scale(scheme="viridis", reverse=True, domain=[0, 1]),
                legend=alt.Legend(format=".0%"),
            ),
            tooltip=["effort:O", "size:O", "classes:Q", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=_WIDTH - 60, height=alt.Step(30))
    )


def _risks(section: Section) -> Any:
    return (
        _chart(section)
        .mark_line(interpolate="step-after", point=True)
        .encode(
            x=alt.X(
                "risk:Q",
                title="risk at most",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~%"),
            ),
            y=alt.Y("share:Q", title="share of records", axis=_PERCENT),
            color=alt.Color(
                "effort:O",
                title="effort",
                scale=alt.Scale(scheme="viridis"),
                legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=3),
            ),
            strokeWidth=alt.condition("datum.is_chosen", alt.value(5), alt.value(1.5)),
            tooltip=["effort:O", "risk:Q", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=_WIDTH - 40, height=280)
    )


def _columns(section: Section) -> Any:
    return (
        _chart(section)
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("uniqueness:Q", title="records singled out", axis=_PERCENT, scale=_UNIT),
            y=alt.Y("columns:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            tooltip=["columns:N", alt.Tooltip("uniqueness:Q", format=".1%")],
        )
        .properties(width=_WIDTH - 140, height=alt.Step(24))
    )


def _attacks(section: Section) -> Any:
    kinds = ["main", "control", "naive"]
    shapes = ["diamond", "circle", "cross"]
    legend = alt.Legend(orient="top")
    return (
        _chart(section)
        .mark_point(filled=True, size=90, opacity=0.9)
        .encode(
            x=alt.X("success:Q", title="success", scale=_UNIT),
            y=alt.Y("attack:N", title=None, sort=None, axis=alt.Axis(labelLimit=520, grid=True)),
            tooltip=["attack:N", "kind:N", "success:Q"],
            **_color_and_shape("kind:N", kinds, [ORANGE, BLUE, GREY], shapes, legend=legend),
        )
        .properties(width=_WIDTH - 330, height=alt.Step(24))
    )


def _labels(section: Section) -> Any:
    chosen = section.options["chosen"]
    header = alt.Header(
        labelExpr=f"'effort ' + datum.value + (datum.value == {chosen} ? ', {_CHOSEN}' : '')"
    )
    return (
        _chart(section)
        .mark_bar()
        .encode(
            y=alt.Y(
                "label:N",
                title=None,
                sort=list(section.options["order"]),
                # Of one width, so that the charts of all efforts stand below each other.
                axis=alt.Axis(minExtent=130, maxExtent=130, labelLimit=125),
            ),
            x=alt.X("records:Q", title="records, about"),
            color=alt.condition(f"datum.effort === {chosen}", alt.value(ORANGE), alt.value(BLUE)),
            tooltip=["effort:O", "label:N", "records:Q"],
        )
        .properties(width=240, height=alt.Step(16))
        .facet(alt.Facet("effort:O", title=None, header=header), columns=2)
        .resolve_scale(y="independent")
    )


def _losses(section: Section) -> Any:
    return (
        _chart(section)
        .mark_bar(color=ORANGE)
        .encode(
            x=alt.X("loss:Q", title="loss", scale=_UNIT),
            y=alt.Y("column:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            tooltip=["column:N", "loss:Q"],
        )
        .properties(width=_WIDTH - 140, height=alt.Step(24))
    )


def _counts(section: Section) -> Any:
    """Bars in the order of the table; a count that is not shown has a label and no bar."""
    order, count = alt.Scale(domain=list(section.options["order"])), section.options["count"]
    return (
        _chart(section)
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X(f"{count}:Q", title=count),
            y=alt.Y("label:N", title=None, scale=order, axis=alt.Axis(labelLimit=260)),
            tooltip=["label:N", f"{count}:Q"],
        )
        .properties(width=_WIDTH - 140, height=alt.Step(24))
    )


def _curve(section: Section) -> Any:
    options = section.options
    tables = list(dict.fromkeys(str(row["table"]) for row in section.data))
    lines = (
        _chart(section)
        .mark_line(point=bool(options.get("has_points")), strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=options["x"], scale=_UNIT),
            y=alt.Y("y:Q", title=options["y"], scale=_UNIT),
            order="place:Q",
            color=alt.Color(
                "table:N",
                title="learned from",
                scale=alt.Scale(domain=tables, range=[BLUE, ORANGE]),
                legend=_LINES,
            ),
            strokeDash=alt.StrokeDash(
                "table:N", title="learned from", scale=alt.Scale(domain=tables, range=_DASHES)
            ),
        )
        .properties(width=360, height=360)
    )
    if not options["has_diagonal"]:
        return lines
    ends = alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    diagonal = _Chart(ends).mark_line(color=GREY, strokeWidth=1).encode(x="x:Q", y="y:Q")
    return alt.layer(diagonal, lines)


def _regions(section: Section) -> Any:
    return (
        _chart(section)
        .mark_rect()
        .encode(
            x=alt.X("x:O", title=section.options["x"], axis=_NO_LABELS),
            y=alt.Y("y:O", title=section.options["y"], sort="descending", axis=_NO_LABELS),
            color=alt.Color(
                "prediction:Q",
                title="prediction",
                scale=alt.Scale(scheme="blueorange", domain=[0, 1]),
            ),
        )
        .properties(width=260, height=260)
        .facet(alt.Facet("table:N", title="learned from"), columns=2)
    )


def _history(section: Section) -> Any:
    return (
        _chart(section)
        .mark_line(point=True, color=BLUE)
        .encode(
            # Another specification may have another target: a line is of one of them.
            detail="fingerprint:N",
            x=alt.X("run_at:O", title="built (UTC)", axis=_SLANTED),
            y=alt.Y("qf:Q", title="QF of the chosen effort", scale=alt.Scale(zero=False)),
            tooltip=["run_at:O", "effort:O", "qf:Q", "q:Q"],
        )
        .properties(width=_WIDE, height=200)
    )


_CHARTS = {
    "quality": _quality,
    "plane": _plane,
    "class_sizes": _class_sizes,
    "risks": _risks,
    "columns": _columns,
    "attacks": _attacks,
    "labels": _labels,
    "losses": _losses,
    "counts": _counts,
    "curve": _curve,
    "regions": _regions,
    "history": _history,
}
