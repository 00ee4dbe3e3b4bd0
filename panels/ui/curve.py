"""Lines that grow with a game, as SVG in the page's own colours."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from panels.ui.offers import HTML, nice_ticks

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

    levels = [(y(tick), f"{tick:g}") for tick in ticks]
    drawn = Markup("")
    styled = zip(("buyer", "seller"), lines.items(), strict=False)
    for i, (style, (name, line)) in enumerate(styled):
        points = [(x(step), y(value)) for step, value in enumerate(line)]
        drawn += HTML.line(style, points, name if len(lines) > 1 else "", (LEFT + 8 + 150 * i, TOP))
    size, right = (WIDTH, HEIGHT), WIDTH - RIGHT
    title = f"{x_name}s; {unit}"
    return HTML.chart(size, LEFT, right, sentence, levels, 6, title, HEIGHT - 8, drawn)
