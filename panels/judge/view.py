"""What the Judge tab draws of a round: every lab's pitch, its claims, scores and reasons."""

from collections.abc import Sequence

from markupsafe import Markup

from panels.ui.curve import curve
from panels.ui.look import folded, note
from sauda.evaluation.pitching import LEARNER, ROUNDS
from sauda.records.schemas.pitching import Finding, ShownGame, Verdict

TONES = {"holds": "good", "false": "bad"}  # of a claim; all others are left grey


def round_view(game: ShownGame, index: int) -> Markup:
    """One recorded round: who won and why, and every lab's pitch with its score."""
    row = game.rounds[index]
    cards = [
        card(lab, verdict, lab == row.winner, told=lab == row.winner)
        for lab, verdict in row.verdicts.items()
    ]
    shocks = Markup("").join(Markup('<p class="sauda-bad">{}</p>').format(s) for s in row.shocks)
    return Markup(
        '<p class="sauda-verdict"><b>Round {}: {}</b> {}</p>{}<div class="sauda-cards">{}</div>'
    ).format(
        row.round + 1,
        f"{row.winner} convinces the judge." if row.winner else "nobody convinces the judge.",
        row.reason,
        shocks,
        Markup("").join(cards),
    )


def card(lab: str, verdict: Verdict, won: bool = False, told: bool = True) -> Markup:
    """A pitch with its claims marked, its five scores as bars, and the reasons.

    The reasons are unfolded where `told`.
    """
    bars = Markup("").join(
        Markup(
            '<div class="sauda-score"><span>{}</span><meter min="0" max="1" value="{}"'
            ' aria-label="{}: {:.2f}"></meter><b>{:.2f}</b></div>'
        ).format(name.replace("_", " "), score, name, score, score)
        for name, score in verdict.scores.items()
    )
    return Markup(
        '<section class="sauda-card sauda-pitch{}"><h3>{}'
        ' <span class="sauda-interval">{:.3f}</span>{}</h3>'
        "<blockquote><bdi>{}</bdi></blockquote>{}{}</section>"
    ).format(
        " sauda-won" if won else "",
        "You, as lab_0" if lab == LEARNER else lab,
        verdict.total,
        Markup(' <span class="sauda-good">✓ won</span>') if won else "",
        marked(verdict.text, verdict.findings) or "(silence)",
        bars,
        folded("Why", reasons(verdict.findings), told),
    )


def marked(text: str, findings: Sequence[Finding]) -> Markup:
    """The pitch with each claim underlined by what the judge found; overlaps go to the first."""
    parts, at = [], 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if finding.start < at:
            continue
        parts.append(Markup("{}").format(text[at : finding.start]))
        tone = TONES.get(finding.status, "open")
        words = text[finding.start : finding.end]
        parts.append(
            Markup('<mark class="sauda-{}" title="{}">{}</mark>').format(
                tone, finding.reason, words
            )
        )
        at = finding.end
    return Markup("").join([*parts, Markup("{}").format(text[at:])])


def reasons(findings: Sequence[Finding]) -> Markup:
    """Why, one line a claim."""
    if not findings:
        return note("No claim that can be checked: nothing is scored.")
    lines = Markup("").join(
        Markup('<li><b class="sauda-{}">{}</b> <bdi>{}</bdi></li>').format(
            TONES.get(finding.status, "open"),
            f"{finding.dimension.replace('_', ' ')} {finding.points:+.2f}"
            if finding.points
            else finding.dimension.replace("_", " "),
            finding.reason,
        )
        for finding in findings
    )
    return Markup('<ul class="sauda-talk">{}</ul>').format(lines)


def trend(game: ShownGame, index: int) -> Markup:
    """The totals so far: lab_0 against the best of the others, and how many rounds it won."""
    seen = game.rounds[: index + 1]
    own = [row.verdicts[LEARNER].total for row in seen]
    best = [max(v.total for lab, v in row.verdicts.items() if lab != LEARNER) for row in seen]
    wins = sum(row.winner == LEARNER for row in seen)
    sentence = (
        f"lab_0 won {wins} of {len(seen)} rounds so far; its total went from {own[0]:.2f} to"
        f" {own[-1]:.2f}."
    )
    picture = curve(
        {"lab_0": own, "best of the others": best},
        ROUNDS - 1,
        "the judge’s total",
        sentence,
        "round",
    )
    return picture + Markup("<p>{}</p>").format(sentence)
