"""Sauda's belief about a seller as an SVG picture: its reservation price and its type.

The SVG uses the page's colour classes, so it follows dark mode and redraws with each reply.
"""

import numpy as np
from markupsafe import Markup

from env import rupees
from panels.haggle.words import Translate
from panels.ui.offers import nice_ticks
from sauda.policies.belief import Belief

WIDTH, HILL, AXIS, ROW = 320, 96, 42, 20  # px: the viewBox; the hill, what is under it, a type
SIDE, NAMES, SHARES = 8, 64, 40  # margins: of the hill, of the names and shares of the types
BINS = 32
SPAN = (0.02, 0.98)  # of each belief, to be seen; what lies beyond would flatten the rest


def belief_picture(before: Belief | None, after: Belief, translate: Translate) -> Markup:
    """Two beliefs over one seller: its reservation price as hills, its type as bars.

    `before` is faint, None where nothing was believed yet; `after` is full. 320 units wide.
    """
    shown = [belief for belief in (before, after) if belief is not None]
    ends = np.concatenate([belief.quantile(SPAN) for belief in shown])
    low, high = float(ends.min()), float(ends.max())
    high = max(high, low + 1)
    edges = np.linspace(low, high, BINS + 1)
    top = max(belief.histogram(edges).max() for belief in shown)
    names = ("after",) if before is None else ("before", "after")
    hills = [
        _hill(belief.histogram(edges) / top, name)
        for belief, name in zip(shown, names, strict=True)
    ]
    types = [
        _type(i, translate(name), after.types()[name], before and before.types()[name])
        for i, name in enumerate(after.types())
    ]
    title = translate("belief_axis") + ("" if before is None else translate("belief_dashed"))
    height = HILL + AXIS + ROW * len(types)
    return Markup(
        '<svg class="sauda-belief" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, height, picture_sentence(after, translate), Markup("").join([
        *hills, _axis(low, high, title), *types,
    ]))  # fmt: skip


def picture_sentence(belief: Belief, translate: Translate) -> str:
    """What the picture shows, in words."""
    low, middle, high = (rupees(round(price)) for price in belief.quantile([0.1, 0.5, 0.9]))
    types = belief.types()
    likely = max(types, key=types.__getitem__)
    return translate(
        "belief_sentence",
        low=low,
        middle=middle,
        high=high,
        likely=translate(likely),
        share=f"{types[likely]:.0%}",
    )


def _hill(heights: np.ndarray, name: str) -> Markup:
    """A histogram, its heights as shares of the tallest, as one closed outline."""
    x = SIDE + (WIDTH - 2 * SIDE) * np.arange(len(heights) + 1) / len(heights)
    y = HILL - (HILL - 8) * heights
    steps = [f"{a:.1f},{h:.1f} {b:.1f},{h:.1f}" for a, b, h in zip(x, x[1:], y, strict=False)]
    outline = f"{x[0]:.1f},{HILL} {' '.join(steps)} {x[-1]:.1f},{HILL}"
    return Markup('<polygon class="{}" points="{}"/>').format(name, outline)


def _axis(low: float, high: float, title: str) -> Markup:
    """The rupees under the hills, and what they are."""
    rule = Markup('<line class="rule" x1="{}" x2="{}" y1="{y}" y2="{y}"/>')
    tick = Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>')
    parts = [rule.format(SIDE, WIDTH - SIDE, y=HILL)]
    for value in nice_ticks(low, high, 5):
        x = SIDE + (WIDTH - 2 * SIDE) * (value - low) / (high - low)
        if 24 <= x <= WIDTH - 24:  # so that no label is cut off
            parts.append(tick.format(x, HILL + 15, rupees(value)))
    parts.append(
        Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>').format(
            WIDTH / 2, HILL + 31, title
        )
    )
    return Markup("").join(parts)


def _type(row: int, name: str, after: float, before: float | None) -> Markup:
    """One type's bar, with where it stood before as a faint one behind it."""
    y, full = HILL + AXIS + ROW * row, WIDTH - NAMES - SHARES
    bar = Markup('<rect class="{}" x="{}" y="{}" width="{:.1f}" height="{}" rx="1"/>')
    parts = [Markup('<text x="{}" y="{}">{}</text>').format(SIDE, y + 11, name)]
    if before is not None:
        parts.append(bar.format("before", NAMES, y, full * before, 14))
    parts.append(bar.format("after", NAMES, y + 4, full * after, 6))
    share = Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{:.0%}</text>')
    return Markup("").join([*parts, share.format(WIDTH - SIDE, y + 11, after)])
