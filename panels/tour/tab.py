"""Tour: one scroll that answers what was trained, how, at what cost, and what it gained."""

from collections.abc import Callable

import gradio as gr
from markupsafe import Markup

from panels.results.model_comparison import FILE as COMPARISON
from panels.tour import figures, race
from panels.tour.facts import chain, facts, in_short
from panels.ui.look import empty, heading
from panels.ui.provenance import load_or_say, provenance
from sauda.records.kinds import ArtifactError
from sauda.records.store import Artifact

TITLE = "Tour"

PROMISE = "Can a tiny language model learn to haggle?"
GAMES = (  # a game, what it is about, the tab to open and the button's words
    (
        "The bazaar",
        "One item, a buyer and a seller, each with a limit the other does not know. A deal splits"
        " what lies between the limits; no deal is worth nothing. In the open market a bid stands"
        " and the right word moves a seller. Sauda learnt to buy. You can buy or sell, in English,"
        " Hinglish or Hindi.",
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
SECTIONS = (  # a question, the answer's place: sentence, address, words of the link
    ("Did it help?", "Every stage beside scripts, planners and an oracle, on games it never"
     " trained on.", "?tab=results&part=market", "Who wins the open market"),
    ("Did each stage of training help?", "The gain of each stage, with its interval.",
     "?tab=results&part=training", "Does training help"),
    ("What beats it, and why?", "The parts of what it loses to a player that knows the seller.",
     "?tab=results&part=gap", "Where it is lost"),
    ("What are words worth?", "The same planner with and without reading and speaking.",
     "?tab=results&part=words", "What words are worth"),
    ("How did it learn?", "The curves of every run, read from its log: loss, reward, tokens,"
     " minutes.", "?tab=training", "Training curves"),
    ("What does it learn from?", "One training sample, with the act beside each turn.",
     "?tab=training&part=data", "Data explorer"),
    ("How do two games differ?", "One seed, up to four players, side by side.",
     "?tab=transcripts", "Read a game"),
    ("How are rewards and actions made in the arena?", "The rules, the reward and who wins.",
     "?tab=results&part=arena", "Who wins the arena"),
    ("Who judges a claim?", "Labs argue for GPU time and a judge checks every claim; write a pitch"
     " of your own.", "?tab=judge", "Judge"),
    ("Can I enter a player of my own?", "It plays hidden seeds and stands beside ours.",
     "?tab=results&part=leaderboard", "Leaderboard"),
    ("How do I check a number?", "Download any file; one command plays it again and names the"
     " first digit that differs. Endpoints for OpenEnv and MCP.",
     "?tab=artifacts", "Artifacts & API"),
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
    _trained(lambda runs: Markup('<p class="sauda-tour-about">{}</p>').format(in_short(runs)))
    race.build(first_buttons)
    gr.HTML(heading("How it learnt, and what it gained"), elem_id="tour-learnt")
    _trained(facts)
    _glance()
    gr.HTML(heading("Two games"))
    links += _games()
    gr.HTML(sections())
    return links


def title() -> Markup:
    """The page's sentence."""
    return Markup('<h2 class="sauda-tour-title">{}</h2>').format(PROMISE)


def sections() -> Markup:
    """Every question that another tab answers, with the link that opens it."""
    rows = Markup("").join(
        Markup(
            '<div class="sauda-card"><h3>{}</h3><p>{}</p>'
            '<a class="sauda-inpage" href="{}">{} →</a></div>'
        ).format(*section)
        for section in SECTIONS
    )
    return heading("Everything else, by question") + Markup(
        '<div class="sauda-cards">{}</div>'
    ).format(rows)


def _trained(shown: Callable[[list[Artifact]], Markup]) -> None:
    """What `shown` makes of the runs behind the served stage."""
    try:
        gr.HTML(shown(chain()))
    except ArtifactError as error:
        gr.HTML(empty(f"This cannot be shown: {error.fault}.", error.command))


def _games() -> list[tuple[gr.Button, str]]:
    links = []
    with gr.Row():
        for title, words, tab, label in GAMES:
            told = f"{words} {figures.as_a_lab()}" if tab == "gpu_arena" else words
            with gr.Column(min_width=280):
                gr.HTML(Markup("<h3>{}</h3><p>{}</p>").format(title, told))
                links.append((gr.Button(label, scale=0, min_width=180), tab))
    return links


def _glance() -> None:
    files = (COMPARISON, "evaluation/reproduction.json", "words.json")
    loaded = [load_or_say(file) for file in files]
    missing = [sentence for artifact, sentence in loaded if artifact is None]
    if missing:
        gr.HTML(missing[0])
        return
    artifacts = [artifact for artifact, _ in loaded]
    try:
        gr.HTML(figures.glance(*artifacts))
    except ArtifactError as error:
        gr.HTML(empty(f"This cannot be shown: {error.fault}.", error.command))
        return
    gr.HTML(provenance(artifacts[0], "with reproduction.json and words.json"))
