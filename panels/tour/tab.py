"""Tour: one scroll that answers what was trained, how, at what cost, and what it gained."""

from collections.abc import Callable, Mapping

import gradio as gr
from markupsafe import Markup

from env import arena
from panels.results.model_comparison import FILE as COMPARISON
from panels.tour import facts, race
from panels.training.runs import sample
from panels.ui.look import code, empty, heading
from panels.ui.provenance import provenance
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
SHOW_LEARNT = """() => {
    document.getElementById("tour-learnt").scrollIntoView({block: "start"});
}"""


def build() -> list[tuple[gr.Button, str]]:
    """Lay out the tab. Returns the buttons that open another tab, each with that tab's id."""
    links: list[tuple[gr.Button, str]] = []

    def first_buttons() -> None:
        links.append((gr.Button("Beat it", variant="primary", scale=0, min_width=120), "haggle"))
        learnt = gr.Button("See how it learnt", scale=0, min_width=160)
        learnt.click(None, js=SHOW_LEARNT)

    gr.HTML(title())
    _lay_out_part(_about)
    race.build(first_buttons)
    with gr.Column(elem_classes="sauda-story"):
        _lay_out_part(_learnt)
        _lay_out_part(_compared)
        _lay_out_part(_rewards)
        gr.HTML(heading("Two games"))
        links += _games()
        gr.HTML(sections())
    return links


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


def _lay_out_part(part: Callable[[], None]) -> None:
    """Lay out a part of the story, or say which artifact it lacks and what makes it."""
    try:
        part()
    except ArtifactError as error:
        gr.HTML(empty(f"This cannot be shown: {error.fault}.", error.command))


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


def _about() -> None:
    gr.HTML(Markup('<p class="sauda-tour-about">{}</p>').format(facts.in_short(facts.chain())))


def _learnt() -> None:
    """How Sauda learnt beside what it gained; then its stages, one a row."""
    runs, comparison = facts.chain(), load(COMPARISON)
    with gr.Row(elem_id="tour-learnt"):
        with gr.Column(min_width=320):
            gr.HTML(
                _answer(
                    "How did it learn?",
                    "SFT: the model copies the moves of a planner that reads and speaks, in"
                    f" {runs[0].data.rows.rows:,} bargains at training seeds. Only a LoRA adapter"
                    " learns; every point below is read from the log of the run.",
                    address="?tab=training", words="Training",
                )
            )  # fmt: skip
            gr.Plot(facts.curve(runs, comparison), show_label=False, elem_id="tour-curve")
        with gr.Column(min_width=320):
            told = facts.gain(comparison)
            gr.HTML(
                _answer("Did it help?", told, address="?tab=results&part=market", words="Results")
            )
            gr.Plot(facts.grades_figure(comparison), show_label=False, elem_id="tour-grades")
    gr.HTML(facts.stages(runs, comparison))
    gr.HTML(Markup("").join(provenance(run, f"n = {len(run.data.log)} steps") for run in runs))
    gr.HTML(provenance(comparison, "95 % bootstrap intervals over games"))


def _compared() -> None:
    """What beats Sauda and why, and what words are worth."""
    comparison, words = load(COMPARISON), load("words.json")
    with gr.Row():
        with gr.Column(min_width=320):
            gr.HTML(
                _answer(
                    "What beats it, and why?",
                    facts.still_ahead(comparison), facts.why_behind(comparison),
                    address="?tab=results&part=gap", words="Results",
                )
            )  # fmt: skip
        with gr.Column(min_width=320):
            gr.HTML(
                _answer(
                    "What are words worth?", facts.what_pays(words),
                    address="?tab=results&part=words", words="Results",
                )
                + provenance(words)
            )  # fmt: skip


def _rewards() -> None:
    """How rewards and actions are made, one training sample, and how to check a number."""
    gr.HTML(_answer("How are rewards and actions made?"))
    with gr.Row():
        for told, prompt in REWARDS.items():
            with gr.Column(min_width=320):
                gr.HTML(Markup("<p>{}</p>").format(told) + code(prompt))
    gr.HTML(
        _answer("What does it learn from?", address="?tab=training&part=data", words="Training")
        + sample(facts.chain()[-1])
    )
    agreement = load("evaluation/reproduction.json").data.agreement
    agree = agreement.within_three + agreement.without_error_equal
    gr.HTML(
        _answer(
            "How do I check a number?",
            "“check it” under a figure names the command that made it. The command below plays a"
            " sample of its games again and names the first digit that differs; “Reproduce” in"
            " Results does so in this page. Of the figures of the published game"
            f" {agree} of {agreement.figures} come out here, within three standard errors on 1,000"
            " seeds each, or equal to four decimals where nothing varies.",
            address="?tab=artifacts", words="Artifacts & API",
        )
        + code(CHECK)
    )  # fmt: skip


def _games() -> list[tuple[gr.Button, str]]:
    links = []
    with gr.Row():
        for title, words, tab, label in GAMES:
            told = f"{words} {facts.as_a_lab()}" if tab == "gpu_arena" else words
            with gr.Column(min_width=280):
                gr.HTML(Markup("<h3>{}</h3><p>{}</p>").format(title, told))
                links.append((gr.Button(label, scale=0, min_width=180), tab))
    return links
