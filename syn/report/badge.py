"""The verdict as a badge: one SVG without fonts, links or scripts, for a README.

It repeats what a run said; nothing checks an image. A README links it to the report.
"""

from syn.model.finding import Level
from syn.model.report import Report

_LABEL = "syn verify"
_COLORS = {"pass": "#1a7f37", "fail": "#cf222e", "incomplete": "#9a6700"}
_CHAR = 6.6
"""Width of a character at 11 px; `textLength` makes every font take exactly that."""
_PADDING = 7
_RADIUS = 3

_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{label}: {value}">
<title>{label}: {value}</title>
<rect width="{width}" height="20" rx="3" fill="#30363d"/>
<path d="M{left} 0h{right}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="{color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{x1}" y="14" textLength="{l1}" lengthAdjust="spacingAndGlyphs">{label}</text>
<text x="{x2}" y="14" textLength="{l2}" lengthAdjust="spacingAndGlyphs">{value}</text>
</g>
</svg>
"""


def render(report: Report, *, required: Level | None = None) -> str:
    """The SVG. It holds words of ours only, nothing from a fact."""
    value, color = _value(report, required)
    label_length, value_length = round(len(_LABEL) * _CHAR), round(len(value) * _CHAR)
    left = label_length + 2 * _PADDING
    right = value_length + 2 * _PADDING
    return _SVG.format(
        label=_LABEL,
        value=value,
        color=color,
        width=left + right,
        left=left,
        right=right - _RADIUS,
        x1=_PADDING,
        l1=label_length,
        x2=left + _PADDING,
        l2=value_length,
    )


def _value(report: Report, required: Level | None) -> tuple[str, str]:
    if report.verdict != "pass":
        return report.verdict, _COLORS[report.verdict]
    if required is not None and report.level.value < required.value:
        return f"{report.level.name}, below {required.name}", _COLORS["incomplete"]
    return f"pass {report.level.name}", _COLORS["pass"]
