"""Lines that grow with a game, as SVG in the page's own colours."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from panels.ui.offers import nice_ticks

WIDTH, HEIGHT = 420, 170  # of the viewBox
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 32


def curve(
    lines: Mapping[str, Sequence[float]],
    length: int,
    unit: str,
    sentence: str,
    x_name: str = "step",
    span: Sequence[float] = (),
) -> Markup:
    """Each line against 0, 1, …; the axis has room for `length` steps, or for those there are.

    The first line takes the buyer's style, the second the seller's; two lines are labelled. `unit`
    names the vertical axis, which holds the values of `span`, too; `sentence` is the description
    for screen readers.
    """
    values = [*span, *(value for line in lines.values() for value in line)]
    steps = max(length, *(len(line) - 1 for line in lines.values()), 1)
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
    drawn = [
        Markup('<g class="{}"><polyline points="{}"/><circle cx="{}" cy="{}" r="4"/>{}</g>').format(
            style,
            " ".join(f"{x(i)},{y(value)}" for i, value in enumerate(line)),
            x(len(line) - 1),
            y(line[-1]),
            Markup('<text x="{}" y="{}">{}</text>').format(LEFT + 8 + 150 * i, TOP, name)
            if len(lines) > 1
            else "",
        )
        for i, (style, (name, line)) in enumerate(
            zip(("buyer", "seller"), lines.items(), strict=False)
        )
    ]
    axis = Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>')
    return Markup(
        '<svg class="sauda-offers" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>'
    ).format(
        WIDTH, HEIGHT, sentence, Markup("").join(grid), Markup("").join(drawn),
        axis.format((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, f"{x_name}s; {unit}"),
    )  # fmt: skip
