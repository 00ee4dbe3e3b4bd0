"""A line that grows with a game, as SVG in the page's own colours."""

from collections.abc import Sequence

from markupsafe import Markup

from panels.offers import nice_ticks

WIDTH, HEIGHT = 420, 170  # of the viewBox
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 32


def curve(values: Sequence[float], length: int, unit: str, sentence: str) -> Markup:
    """`values` against steps 0, 1, …; the axis has room for `length` steps, or for those there are.

    `unit` names the vertical axis, `sentence` says what is seen to who cannot see it.
    """
    steps = max(length, len(values) - 1, 1)
    ticks = nice_ticks(min(0.0, *values), max(0.0, *values, min(values) + 0.1), count=3)
    low, high = ticks[0], ticks[-1]

    def x(step: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * step / steps, 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low), 1)

    grid = [
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{y}" y2="{y}"/>'
            '<text class="tick" x="{}" y="{}" text-anchor="end">{:g}</text>'
        ).format(LEFT, WIDTH - RIGHT, LEFT - 6, y(tick) + 4, tick, y=y(tick))
        for tick in ticks
    ]
    path = " ".join(f"{x(i)},{y(value)}" for i, value in enumerate(values))
    last = Markup('<circle cx="{}" cy="{}" r="4"/>').format(x(len(values) - 1), y(values[-1]))
    axis = Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>')
    return Markup(
        '<svg class="sauda-offers" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<g class="buyer"><polyline points="{}"/>{}</g>{}</svg>'
    ).format(
        WIDTH, HEIGHT, sentence, Markup("").join(grid), path, last,
        axis.format((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, f"steps; {unit}"),
    )  # fmt: skip
