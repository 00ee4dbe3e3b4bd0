"""Tour: one scroll that answers what was trained, how, at what cost, and what it gained."""

from collections.abc import Callable, Mapping

import gradio as gr
from markupsafe import Markup

from env import arena
from panels.results.models import FILE as COMPARISON
from panels.tour import facts, race
from panels.training.runs import sample
from panels.ui.look import code, heading, in_columns
from panels.ui.provenance import missing, provenance
from sauda.games import arena_prompt, bazaar_prompt
from sauda.records.kinds import ArtifactError
from sauda.records.store import load

TITLE = "Tour"

PROMISE = "Can a tiny language model learn to haggle?"
GAMES = (  # a game, what it is about, the tab to open and the button's words
    (
        "The bazaar",
        "One item, a buyer and a seller, each with a limit the other does not know. In the open"
        " market a bid stands and the right word moves a seller. Sauda learnt to buy. You can buy"
        " or sell, in English, Hinglish or Hindi.",
        "haggle",
        "Haggle with Sauda",
    ),
    (
        "The GPU arena",
        "Labs own hours on GPUs and have jobs with deadlines. Who trades hours well gets more jobs"
        " done. You run a lab among scripted ones.",
        "gpu_arena",
        "Run a lab",
    ),
)
REWARDS: Mapping[str, str] = {  # how a game is scored, and the prompt with its actions
    "In the bazaar the reward comes once, at the end: the buyer’s part of what lies between the two"
    " limits, less the price of each round. Leaving counts 1 where no price serves both sides, a"
    " price above the own limit counts against the buyer. The model reads:": bazaar_prompt.RULES[
        "market"
    ],
    f"In the arena each step is rewarded: {len(arena.COMPONENTS)} named components add up to the"
    " change of the lab’s utility and of half the value of its best plan (a potential, so that a"
    " good trade counts when it is made), less fixed penalties for refused, malformed and repeated"
    " actions. The model reads:": arena_prompt.RULES.format(lab="lab_0"),
}
CHECK = "python -m sauda verify evaluation/model-comparison.json\npython -m sauda verify"
SECTIONS = (  # what else there is: a title, a sentence, its address
    ("The bargain of the day", "One item and one seller for everybody, once a day.",
     "?tab=haggle&part=daily"),
    ("Spot the trained one", "Two hidden buyers, one of them trained. Which?",
     "?tab=haggle&part=spot"),
    ("Read a game", "One seed, up to four players, side by side.", "?tab=transcripts"),
    ("Judge", "Labs argue for GPU time and a judge checks every claim; write a pitch of your own.",
     "?tab=judge"),
    ("For the record", "Five bargains at hidden seeds; Sauda plays the same ones.",
     "?tab=haggle&part=people"),
    ("Leaderboard", "People and agents at hidden seeds, in one table. Enter your own.",
     "?tab=results&part=leaderboard"),
)  # fmt: skip


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(title() + _or_what_makes_it(_about))
    race.build()
    with gr.Column(elem_classes="sauda-story"):
        try:
            _learnt()
        except ArtifactError as error:
            gr.HTML(missing(error))
        parts = map(_or_what_makes_it, (_ran, _compared, _rewards, _games))
        gr.HTML(Markup("").join([*parts, sections()]))


def title() -> Markup:
    """The page's sentence."""
    return Markup('<h2 class="sauda-tour-title">{}</h2>').format(PROMISE)


def sections() -> Markup:
    """What else the page holds; each card opens it."""
    cards = Markup("").join(
        Markup(
            '<a class="sauda-card sauda-inpage" href="{}"><h3>{} →</h3><p>{}</p></a>'
        ).format(address, title, told)
        for title, told, address in SECTIONS
    )  # fmt: skip
    return heading("What else there is") + Markup('<div class="sauda-cards">{}</div>').format(cards)


def _or_what_makes_it(part: Callable[[], Markup]) -> Markup:
    """A part of the story, or which artifact it lacks and what makes it."""
    try:
        return part()
    except ArtifactError as error:
        return missing(error)


def _answer(question: str, *sentences: str, address: str = "", words: str = "") -> Markup:
    """A question with its answer, and the link that opens the whole."""
    link = Markup('<p><a class="sauda-inpage" href="{}">Open in {} →</a></p>')
    return Markup("").join(
        [
            heading(question),
            *(Markup("<p>{}</p>").format(sentence) for sentence in sentences),
            link.format(address, words) if address else "",
        ]
    )


def _about() -> Markup:
    return Markup('<p class="sauda-tour-about">{}</p>').format(facts.in_short(facts.chain()))


def _learnt() -> None:
    """Lay out how Sauda learnt beside what it gained."""
    runs, comparison = facts.chain(), load(COMPARISON)
    learnt = _answer(
        "How did it learn?",
        "SFT: the model copies the moves of a planner that reads and speaks, in"
        f" {runs[0].data.rows.rows:,} bargains at training seeds. Only a LoRA adapter learns; every"
        " point below is read from the log of the run.",
        address="?tab=training", words="Training",
    )  # fmt: skip
    gained = _answer(
        "Did it help?", facts.gain(comparison), address="?tab=results&part=market", words="Results"
    )
    with gr.Row(elem_id="tour-learnt"):
        with gr.Column(min_width=320):
            gr.HTML(learnt)
            gr.Plot(facts.curve(runs, comparison), show_label=False, elem_id="tour-curve")
        with gr.Column(min_width=320):
            gr.HTML(gained)
            gr.Plot(facts.grades_figure(comparison), show_label=False, elem_id="tour-grades")


def _ran() -> Markup:
    """The stages of training, one a row."""
    runs, comparison = facts.chain(), load(COMPARISON)
    return Markup("").join(
        [
            facts.stages(runs, comparison),
            *(provenance(run, f"n = {len(run.data.log)} steps") for run in runs),
            provenance(comparison, "95 % bootstrap intervals over games"),
        ]
    )


def _compared() -> Markup:
    """What beats Sauda and why, and what words are worth."""
    comparison, words = load(COMPARISON), load("words.json")
    return in_columns(
        _answer(
            "What beats it, and why?", facts.still_ahead(comparison), facts.why_behind(comparison),
            address="?tab=results&part=gap", words="Results",
        ),
        _answer(
            "What are words worth?", facts.what_pays(words),
            address="?tab=results&part=words", words="Results",
        )
        + provenance(words),
    )  # fmt: skip


def _rewards() -> Markup:
    """How rewards and actions are made, one training sample, and how to check a number."""
    agreement = load("evaluation/reproduction.json").data.agreement
    agree = agreement.within_three + agreement.without_error_equal
    prompts = (Markup("<p>{}</p>{}").format(told, code(read)) for told, read in REWARDS.items())
    return Markup("").join(
        [
            _answer("How are rewards and actions made?"),
            in_columns(*prompts),
            _answer(
                "What does it learn from?", address="?tab=training&part=data", words="Training"
            ),
            sample(facts.chain()[-1]),
            _answer(
                "How do I check a number?",
                "“check it” under a figure names the command that made it. The command below plays"
                " a sample of its games again and names the first digit that differs; “Reproduce”"
                " in Results does so in this page. Of the figures of the published game"
                f" {agree} of {agreement.figures} come out here, within three standard errors on"
                " 1,000 seeds each, or equal to four decimals where nothing varies.",
                address="?tab=artifacts",
                words="Artifacts & API",
            ),
            code(CHECK),
        ]
    )


def _games() -> Markup:
    """Both games, each with the link to play it."""
    cards = (
        Markup(
            '<h3>{}</h3><p>{}</p><p><a class="sauda-button sauda-inpage" href="?tab={}">{}</a></p>'
        ).format(title, f"{words} {facts.as_a_lab()}" if tab == "gpu_arena" else words, tab, label)
        for title, words, tab, label in GAMES
    )
    return heading("Two games") + in_columns(*cards)
