"""Growth as SVG: both axes logarithmic, one line a command, its exponent beside its name."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

WIDTH, HEIGHT = 880, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 350, 30, 50
COLORS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a", "#bf3989")
Points = Sequence[tuple[float, float]]


def exponent(points: Points) -> float | None:
    """The slope of a straight line through the points, both axes logarithmic (least squares)."""
    logs = [(log10(x), log10(y)) for x, y in points if x > 0 and y > 0]
    if len(logs) < 2:
        return None
    middle = sum(x for x, _ in logs) / len(logs), sum(y for _, y in logs) / len(logs)
    across = sum((x - middle[0]) ** 2 for x, _ in logs)
    if not across:
        return None
    return sum((x - middle[0]) * (y - middle[1]) for x, y in logs) / across


def growth(title: str, across: str, lines: Mapping[str, Points]) -> str:
    """A chart of seconds of processor time over a count."""
    points = [point for line in lines.values() for point in line]
    low_x, high_x = _decades([x for x, _ in points])
    low_y, high_y = _decades([y for _, y in points])

    def at(x: float, y: float) -> tuple[float, float]:
        right, up = (log10(x) - low_x) / (high_x - low_x), (log10(y) - low_y) / (high_y - low_y)
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold">{title}</text>',
    ]
    for power in range(low_x, high_x + 1):
        x, y = at(10**power, 10**low_y)
        parts += [_line(x, y, x, TOP), _text(x, y + 18, f"{10**power:,}", "middle")]
    for power in range(low_y, high_y + 1):
        x, y = at(10**low_x, 10**power)
        parts += [_line(x, y, WIDTH - RIGHT, y), _text(x - 6, y + 4, f"{10.0**power:g} s", "end")]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across, "middle"))
    for number, (name, line) in enumerate(lines.items()):
        color = COLORS[number % len(COLORS)]
        where = [at(x, y) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in where]
        slope = exponent(line)
        said = name if slope is None else f"{name}: exponent {slope:.2f}"
        x, y = WIDTH - RIGHT + 12, TOP + 14 + 18 * number
        parts.append(f'<text x="{x}" y="{y}" fill="{color}">{said}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    where = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {where} stroke="#d0d7de"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
