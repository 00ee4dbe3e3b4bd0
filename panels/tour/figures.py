"""The Tour's three figures with a sentence each, and who still wins more than the model."""

from markupsafe import Markup

from panels.results.model_comparison import LAB_FILE
from panels.results.model_labels import policy_label
from panels.results.model_summary import (
    best_script,
    in_percent,
    rows_by_policy,
    standing,
    tuned_sentence,
)
from panels.results.questions.verdict import buyer_name, capital, listed
from panels.ui.look import stat, strip
from panels.ui.provenance import load_or_say
from panels.ui.tables import with_interval
from sauda.experiments.comparison import AUTARKY, LAB, LEAVE, LISTENER, OURS, TUNED
from sauda.llm.registry import is_model
from sauda.records.kinds import ArtifactError, entry
from sauda.records.store import Artifact

MARKET = "bazaar/open"  # the task of the figures
ORACLE = "oracle"  # knows the seller's limit, so it is a bound and no player
LAB_TASK = "arena/market_round"  # of the sentence about the lab
COUNTS = ("No player", "One player", "Two players", "Three players", "Four players")


def glance(comparison: Artifact, reproduction: Artifact, words: Artifact) -> Markup:
    """Three figures, each computed from an artifact, with its interval or its count and a sentence.

    Raises ArtifactError where an artifact lacks a figure.
    """
    agreement = reproduction.data.agreement
    agree = agreement.within_three + agreement.without_error_equal
    cards = strip(
        *trained(comparison),
        stat(
            f"{agree} of {agreement.figures}",
            "figures of the published game, reproduced",
            note="On 1,000 seeds each, within three standard errors, or equal to four decimals"
            " where nothing varies.",
        ),
    )
    sentences = (
        what_pays(comparison, words),
        still_ahead(comparison),
        tuned_sentence(comparison, MARKET),
    )
    told = " ".join(filter(None, sentences))
    return Markup('{}<p class="sauda-answer">{}</p>').format(cards, told)


def trained(comparison: Artifact) -> tuple[Markup, Markup]:
    """The trained model's grade on the open market, and the share of the gap training closed."""
    place = standing(comparison, MARKET)
    if place is None or place.gap_closed is None:
        command = entry(comparison.file).command
        fault = f"artifacts/{comparison.file} lacks a trained model on {MARKET}"
        raise ArtifactError(fault, command)
    grade, (script, best) = place.row.grade, place.script
    rows = rows_by_policy(comparison, MARKET)
    planner, most = rows[LISTENER].grade.mean, rows[ORACLE].grade.mean
    part, interval = in_percent(place.gap_closed)
    return (
        stat(
            f"{grade.mean:z.3f}",
            f"mean grade of Sauda in the open market; {most:.3f} is the most that can be won",
            f"[{grade.low:z.3f}, {grade.high:z.3f}]",
            f"On {place.row.n} games that it never trained on. The best untuned script,"
            f" {policy_label(script)}, scores {best:z.3f}.",
        ),
        stat(
            part,
            f"of the way from the untrained base to {buyer_name(LISTENER)}, whose moves SFT copied",
            interval,
            f"The untrained base scores {place.base:z.3f}, {buyer_name(LISTENER)} {planner:z.3f},"
            f" n = {place.gap_closed.n}.",
        ),
    )


def what_pays(comparison: Artifact, words: Artifact) -> str:
    """What bargaining and words are worth in the open market, in a sentence with n."""
    rows = rows_by_policy(comparison, MARKET)
    script, best = best_script(rows)
    worth = next(row.all for row in words.data.worth if row.what == "reading and speaking")
    return (
        f"The open market pays for bargaining and for words: leaving at once scores"
        f" {rows[LEAVE].grade.mean:z.3f}, the best untuned script {best:z.3f}"
        f" (n = {rows[script].n:,}), and reading and speaking add {with_interval(worth, '+z.3f')}"
        f" to a planner (n = {len(words.data.types):,})."
    )


def still_ahead(comparison: Artifact) -> str:
    """Who scores more than Sauda on the open market without a language model, with n.

    The tuned script has a sentence of its own.
    """
    rows = rows_by_policy(comparison, MARKET)
    ours = rows[OURS].grade.mean
    ahead = sorted(
        (
            row
            for name, row in rows.items()
            if name not in (ORACLE, TUNED) and not is_model(name) and row.grade.mean > ours
        ),
        key=lambda row: -row.grade.mean,
    )
    if not ahead:
        return f"{COUNTS[0]} without a language model scores more, n = {rows[OURS].n}."
    count = COUNTS[len(ahead)] if len(ahead) < len(COUNTS) else f"{len(ahead)} players"
    names = listed([f"{buyer_name(row.policy)} ({row.grade.mean:z.3f})" for row in ahead])
    verb = "scores" if len(ahead) == 1 else "score"
    fewest = min(row.n for row in ahead)
    each = " each" if len(ahead) > 1 else ""
    return (
        f"{capital(count)} without a language model still {verb} more: {names},"
        f" n = {fewest} games{each}."
    )


def as_a_lab() -> str:
    """How the model fares as a lab beside one that never trades; "" without the artifact."""
    artifact, _ = load_or_say(LAB_FILE)
    return lab_sentence(artifact) if artifact else ""


def lab_sentence(comparison: Artifact) -> str:
    """The trained lab against the lab that never trades, with grades and n."""
    rows = rows_by_policy(comparison, LAB_TASK)
    model, alone = rows[LAB], rows[AUTARKY].grade.mean
    if model.grade.high < alone:
        verdict = "still earns less than one that never trades"
    elif model.grade.low > alone:
        verdict = "earns more than one that never trades"
    else:
        verdict = "earns about as much as one that never trades"
    return (
        f"As a lab the model {verdict} (mean grades {model.grade.mean:z.3f} and {alone:z.3f},"
        f" n = {model.n})."
    )
