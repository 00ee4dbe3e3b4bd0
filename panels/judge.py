"""Judge: recorded rounds with checked claims, a pitch of the visitor's own, whether one learns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import fmean

import gradio as gr
import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup

from env import arena
from panels.gpu_arena.view import papers
from panels.gpu_arena.words import due, job_names
from panels.measured import FORM, GAIN
from panels.ui.html import macros
from panels.ui.look import (
    QUIET,
    heading,
    line_style,
    note,
    style_figure,
    table,
    trouble,
    whiskers,
    with_minus_signs,
)
from panels.ui.offers import curve
from panels.ui.provenance import load_or_say, offer_again, provenance, side_by_side
from panels.ui.tables import points, with_interval
from panels.ui.terms import capital, term
from panels.ui.wiring import (
    Updates,
    bound,
    fill_on_opening,
    in_address,
    lay_out_address,
    on_address,
    region,
)
from sauda.games.negotiation import ADVOCATES, LEARNER, ROUNDS, Round, negotiation, round_json
from sauda.records.schemas.arena import ShownGame, Verdict
from sauda.records.schemas.base import Row
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact, load

HTML = macros("judge")
TITLE = "Judge"
PART = "rounds"  # id of the sub-tab
SAMPLE = 20  # negotiations that are played again
TO_THE_PITCH = """() => {
    const field = document.querySelector("#judge-pitch textarea");
    document.getElementById("judge-write").scrollIntoView();
    field.focus({preventScroll: true});
    return [];
}"""
Games = Mapping[int, ShownGame]  # recorded games by seed
EXAMPLE = "evidence_first"
LIE = 4  # that is added to a true number
LETTERS = "ABCD"  # of the other labs, from lab_1
LAB = re.compile(r"\blab_\d+\b")
TONES = {"holds": "good", "outweighed": "good", "false": "bad"}  # of a claim; others stay grey
COMPARED = {  # what the judge compares a claim about a job with, where it names no job; by its kind
    "hours_needed": "the hours of each open job",
    "worth": "what each open job pays",
    "worth_without_unit": "what each open job pays",
    "due_round": "the deadline of each open job",
    "rounds_left": "the deadline of each open job",
    "due_soon": "the deadline of each open job",
}
Jobs = Mapping[str, str]  # what the page calls the own lab's jobs, by id


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    gr.HTML(
        heading(
            TITLE,
            "Labs argue for GPU time. A rule-based judge checks each pitch against the facts: only"
            " claims that are true and new count.",
        )
    )
    judged, missing = load_or_say("pitching.json")
    if judged is None:
        gr.HTML(missing)
        return
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab("Rounds and your own pitch", id=PART) as tab:
            _rounds(judged, tab)
        with gr.Tab("Does an advocate learn?", id="learning") as tab:
            _learning(judged, tab)


def _rounds(judged: Artifact, tab: gr.Tab) -> None:
    # The first on show is one whose first round can be won.
    games = sorted(judged.data.shown, key=lambda game: game.rounds[0].winner != LEARNER)
    games = {game.seed: game for game in games}
    first = next(iter(games))
    seed, number = _pickers(judged, games)
    down = gr.Button("Write your own pitch ↓", elem_id="judge-down")  # on a phone alone
    down.click(None, None, None, js=TO_THE_PITCH, **QUIET)
    with gr.Row():
        with gr.Column(scale=6, min_width=320):
            shown = gr.HTML(elem_id="judge-shown")
        with gr.Column(scale=5, min_width=320):
            totals = gr.HTML(elem_id="judge-trend")
            pitch, known = _pitch_form(seed, number)

    def play_again(chosen: int) -> Iterator[Markup]:
        yield from rounds_again(games[chosen])

    source = provenance(judged, "the best, the median and the worst game of the adapting advocate")
    form = HTML.write_a_pitch(arena.LONGEST_MESSAGE, arena.URGENT_WITHIN, arena.LIE_PENALTY)
    offer_again(f"play these {ROUNDS} rounds again, now", play_again, [seed], "judge-rounds")
    address = lay_out_address("judge", PART, ("seed", "round"), tab)

    def show_round(chosen: int, number: float) -> Updates:
        game, index = games[chosen], int(number) - 1
        return {
            shown: recorded_round(game, index) + source,
            totals: trend(game, index) + form,
            known: knowledge(chosen, index),
            pitch: gr.Textbox(placeholder=example_pitch(chosen, index)),
            address.shown: in_address(named_in_address(first, chosen, index)),
        }

    def follow_round(query: Mapping[str, str]) -> Updates:
        chosen, index = find_round(games, query)
        return show_round(chosen, index + 1) | {seed: chosen, number: index + 1}

    outputs = [shown, totals, known, pitch, address.shown]
    gr.on([number.change, seed.change], show_round, [seed, number], outputs, **QUIET)
    on_address(address, follow_round, [*outputs, seed, number])


def named_in_address(first: int, seed: int, index: int) -> dict[str, str]:
    """What the page's address says of round `index` from 0; nothing of the one shown `first`."""
    return {"seed": str(seed), "round": str(index + 1)} if (seed, index) != (first, 0) else {}


def find_round(games: Games, query: Mapping[str, str]) -> tuple[int, int]:
    """The seed and the round, from 0, that an address names; the first ones where it names none."""
    seeds = {str(seed): seed for seed in games}
    numbers = {str(index + 1): index for index in range(ROUNDS)}
    seed = seeds.get(query.get("seed", ""), next(iter(games)))
    return seed, numbers.get(query.get("round", ""), 0)


def _pickers(judged: Artifact, games: Games) -> tuple[gr.Dropdown, gr.Slider]:
    """Which game, and which of its rounds."""
    choices = [
        (f"{game.why}: won {game.wins}, control {game.control_wins}", seed)
        for seed, game in games.items()
    ]  # fmt: skip
    with gr.Row(elem_classes="sauda-actions"):
        seed = gr.Dropdown(
            choices,
            value=choices[0][1],
            label=f"Game, of {judged.config['episodes']}: rounds won",
            filterable=False,
            scale=3,
            min_width=240,
        )
        number = gr.Slider(
            1, ROUNDS, value=1, step=1, label="Round (← →)", scale=3, min_width=200,
            elem_classes="sauda-steps", elem_id="judge-round",
        )  # fmt: skip
        back = gr.Button("Previous", scale=0, min_width=100, elem_id="judge-previous")
        forward = gr.Button("Next", scale=0, min_width=84, elem_id="judge-next")
    back.click(lambda n: max(1, n - 1), number, number, **QUIET)
    forward.click(lambda n: min(ROUNDS, n + 1), number, number, **QUIET)
    return seed, number


def _pitch_form(seed: gr.Dropdown, number: gr.Slider) -> tuple[gr.Textbox, gr.HTML]:
    """Where the visitor writes a pitch; the verdict on it above what its lab knows."""
    pitch = gr.Textbox(label="Your pitch", lines=3, elem_id="judge-pitch")
    with gr.Row(elem_classes="sauda-actions"):
        judge = gr.Button("Judge it", variant="primary", scale=0, min_width=110)
        example = gr.Button("Show an example", scale=0, min_width=150)
    known = gr.HTML(elem_id="judge-papers")

    def judge_pitch(seed: int, number: float, text: str) -> Markup:
        index = int(number) - 1
        verdict = region("judge-verdict", own_pitch(seed, index, text))
        return verdict + knowledge(seed, index)

    def show_example(seed: int, number: float) -> tuple[str, Markup]:
        index = int(number) - 1  # no verdict, which would be on another pitch
        return example_pitch(seed, index), knowledge(seed, index)

    gr.on([judge.click, pitch.submit], judge_pitch, [seed, number, pitch], known, **QUIET)
    example.click(show_example, [seed, number], [pitch, known], **QUIET)
    return pitch, known


# The judged rounds -----------------------------------------------------------------------------


@lru_cache(maxsize=16)
def rounds_of(seed: int) -> tuple[Round, ...]:
    """The judged rounds of a seed as the adapting advocate played them, their states included."""
    return tuple(negotiation(ADVOCATES["adapting"], seed))


def lab_title(lab: str) -> str:
    """A lab in a sentence: "your lab" for lab_0, "Lab A" for lab_1, as its market names it."""
    return "your lab" if lab == LEARNER else f"Lab {LETTERS[int(lab.removeprefix('lab_')) - 1]}"


def in_titles(text: str) -> str:
    """A sentence with its labs' names in place of ids: "Lab A wins with 0.14"."""
    return capital(LAB.sub(lambda match: lab_title(match[0]), text))


def recorded_round(game: ShownGame, index: int) -> Markup:
    """One recorded round: who won and why, and every lab's pitch with its score."""
    row, state = game.rounds[index], rounds_of(game.seed)[index].state
    cards = [
        card(lab, verdict, state, won=lab == row.winner, unfolded=lab == row.winner)
        for lab, verdict in row.verdicts.items()
    ]
    who = capital(lab_title(row.winner)) if row.winner else "nobody"
    return HTML.round_view(row.round, who, in_titles(row.reason), row.shocks, cards)


def card(lab: str, verdict: Verdict, state: arena.State, won: bool, unfolded: bool) -> Markup:
    """A pitch with its claims marked, its scores, and the reasons, open where `unfolded`."""
    jobs = job_names(state.private[LEARNER].jobs)
    text = mark(verdict.text, verdict.findings, jobs)
    why = reasons(lab, verdict, state, jobs)
    return HTML.card(capital(lab_title(lab)), verdict, text, why, won, unfolded)


def without_ids(text: str, jobs: Jobs) -> str:
    """The text without the ids after the names of `jobs`, and names in place of other ids."""
    for job_id, name in jobs.items():
        text = re.sub(rf"({re.escape(name)}) \({job_id}\)", r"\1", text, flags=re.IGNORECASE)
        text = re.sub(rf"\b{job_id}\b", name, text)
    return text


def mark(text: str, findings: Sequence[Row], jobs: Jobs) -> Markup:
    """The pitch with each claim underlined by what the judge found; overlaps go to the first."""
    parts, at = [], 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if finding.start >= at:
            tone, words = TONES.get(finding.status, "open"), text[finding.start : finding.end]
            parts += [("", "", text[at : finding.start]), (tone, finding.reason, words)]
            at = finding.end
    parts.append(("", "", text[at:]))
    return HTML.marked(
        [(tone, *(without_ids(part, jobs) for part in rest)) for tone, *rest in parts]
    )


def reasons(lab: str, verdict: Verdict, state: arena.State, jobs: Jobs) -> Markup:
    """Why, one line per claim, with what the judge compared it with.

    The figures of jobs are told of the own lab alone: those of others stay hidden.
    """
    compared = {
        (claim.start, claim.end): _compared(lab, claim, state, jobs)
        for claim in arena.claims(state.market, lab, verdict.text)
        if claim.kind in COMPARED
    }
    lines = []
    for finding in verdict.findings:
        name, tone = finding.dimension.replace("_", " "), TONES.get(finding.status)
        points = -arena.LIE_PENALTY if finding.status == "false" else finding.points
        about = with_minus_signs(f"{name} {points:+.2f}") if points else name
        other = compared.get((finding.start, finding.end)) if tone else None
        lines.append((tone or "open", about, without_ids(finding.reason, jobs), other))
    lost = sum(verdict.scores.values()) < arena.LIE_PENALTY * verdict.lies
    return HTML.reasons(lines, lost)


def _compared(lab: str, claim: arena.Claim, state: arena.State, jobs: Jobs) -> str:
    """What a claim about a job was compared with, for the own lab with the true figures."""
    if lab != LEARNER:
        return f"{jobs.get(claim.job, 'the job')} alone" if claim.job else COMPARED[claim.kind]
    asked = [job for job in state.seen_by(lab).open_jobs if claim.job in ("", job.job_id)]
    if claim.kind == "hours_needed":
        figures = [f"{job.gpu_hours_required} h" for job in asked]
        left = sum(job.gpu_hours_required - job.on_time - job.late for job in asked)
        rest = f"; {left} h in all" if len(asked) > 1 else ""
    else:
        is_worth, rest = claim.kind.startswith("worth"), ""
        figures = [
            f"{job.full_value:.1f} credits" if is_worth else due(job, state.market) for job in asked
        ]
    named = [f"{jobs[job.job_id]}: {figure}" for job, figure in zip(asked, figures, strict=True)]
    return f"{'; '.join(named)}{rest}" if named else "no open job"


def trend(game: ShownGame, index: int) -> Markup:
    """The totals so far: the own lab against the best of the others, and the rounds it won."""
    seen = game.rounds[: index + 1]
    totals = [row.verdicts[LEARNER].total for row in seen]
    best = [max(v.total for lab, v in row.verdicts.items() if lab != LEARNER) for row in seen]
    wins = sum(row.winner == LEARNER for row in seen)
    end = "won" if wins else "did not win"
    sentence = f"Your lab {end} this round: its total is {totals[0]:.2f}."
    if index:
        sentence = (
            f"Your lab won {wins} of {len(seen)} rounds so far; its total went from {totals[0]:.2f}"
            f" to {totals[-1]:.2f}."
        )
    lines = {"your lab": totals, "best of the others": best}
    picture = curve(lines, ROUNDS - 1, "the judge’s total", sentence, "round")
    return picture + Markup("<p>{}</p>").format(sentence)


def rounds_again(game: ShownGame) -> Iterator[Markup]:
    """The rounds of a recorded game, played again beside the record, after a word."""
    yield note(f"Playing the {len(game.rounds)} rounds …")
    recorded = [row.as_json() for row in game.rounds]
    fresh = [round_json(played) for played in negotiation(ADVOCATES["adapting"], game.seed)]
    won = tuple([fmean(row["winner"] == LEARNER for row in rows)] for rows in (recorded, fresh))
    old, new = (
        {name: [row[name] for row in rows] for name in rows[0]} for rows in (recorded, fresh)
    )
    yield side_by_side("rounds that your lab won", won, old, new)


# The visitor's own pitch ------------------------------------------------------------------------


def observe(seed: int, index: int) -> arena.Observation:
    """What the own lab sees in a round."""
    state = rounds_of(seed)[index].state
    return arena.Observation(LEARNER, state.market, state.private[LEARNER])


def knowledge(seed: int, index: int) -> Markup:
    """The facts of the own lab in this round, against which its claims are checked."""
    return known_facts(observe(seed, index))


def known_facts(obs: arena.Observation) -> Markup:
    """The jobs of the own lab, and what else can be claimed of it."""
    lab = obs.market.labs[LEARNER]
    spare = len(arena.spare_blocks(obs, arena.own_plan(obs)))
    return papers(obs) + HTML.facts(lab, spare, obs.market.market_pressure)


def with_one_lie() -> tuple[Markup, list[tuple[str, bool, str]]]:
    """A recorded pitch with one number changed: the lab's facts; each sentence, its truth, why.

    Each of its sentences makes one claim.
    Raises ArtifactError without the record.
    """
    games = load("pitching.json").data.shown
    game = next((each for each in games if each.rounds[0].winner == LEARNER), games[0])
    played = next(iter(negotiation(ADVOCATES["adapting"], game.seed)))
    text = game.rounds[0].verdicts[LEARNER].text
    numbers = list(re.finditer(r"\d+", text))
    at = numbers[len(numbers) // 2]
    text = f"{text[: at.start()]}{int(at[0]) + LIE}{text[at.end() :]}"
    claims = arena.decide(played.state, {LEARNER: text}).verdicts[LEARNER].findings
    obs = arena.Observation(LEARNER, played.state.market, played.state.private[LEARNER])
    jobs = job_names(obs.own.jobs)
    sentences = list(re.finditer(r"\S.*?(?:\.(?=\s|$)|$)", text))
    judged = [
        (
            next(sentence[0] for sentence in sentences if claim.start < sentence.end()),
            claim.status != "false",
            without_ids(claim.reason, jobs),
        )
        for claim in claims
    ]
    return known_facts(obs), judged


def example_pitch(seed: int, index: int) -> str:
    """The pitch of a lab that leads with evidence, in this round."""
    return arena.pitch_of(observe(seed, index), EXAMPLE, np.random.default_rng([seed, index]))


def own_pitch(seed: int, index: int, text: str) -> Markup:
    """The visitor's pitch judged against the state on screen and the others' pitches.

    A sentence where there is nothing to judge.
    """
    played = rounds_of(seed)[index]
    text = with_job_ids((text or "").strip(), job_names(played.state.private[LEARNER].jobs))
    if not text:
        return trouble(ValueError("write a pitch first, such as the example"))
    if len(text) > arena.LONGEST_MESSAGE:
        most = f"a pitch has at most {arena.LONGEST_MESSAGE} characters; this one has {len(text)}"
        return trouble(ValueError(f"{most}, with the id that the judge reads after a job’s name"))
    pitches = {lab: verdict.text for lab, verdict in played.decision.verdicts.items()}
    decision = arena.decide(played.state, pitches | {LEARNER: text})
    own_verdict = Verdict.model_validate(decision.verdicts[LEARNER].as_json())
    won = decision.winner == LEARNER
    reason = Markup("<p>{}</p>").format(in_titles(decision.reason))
    return reason + card(LEARNER, own_verdict, played.state, won, unfolded=True)


def with_job_ids(text: str, jobs: Jobs) -> str:
    """The pitch with each job's id after the name by which the page calls it.

    The judge knows a job by its id alone, and compares a claim without one with any open job.
    """
    for job_id, name in jobs.items():
        named = re.compile(rf"\b{re.escape(name)}\b(?! \({job_id}\))", re.IGNORECASE)
        text = named.sub(lambda match, id_=job_id: f"{match[0]} ({id_})", text)
    return text


# Whether an advocate learns -----------------------------------------------------------------------


def _learning(judged: Artifact, tab: gr.Tab) -> None:
    """Lay out the sub-tab, which is filled as `tab` is opened."""
    values = {
        gr.HTML(): answer(judged),
        gr.Plot(show_label=False, elem_id="judge-learning"): learning_figure(judged),
        gr.HTML(): provenance(judged, f"n = {judged.config['episodes']:,} seeds per advocate")
        + advocates_table(judged),
    }
    fill_on_opening(tab, lambda _: values, list(values))
    advocate = gr.Dropdown(
        [(name.replace("_", " ").capitalize(), name) for name in judged.data.wins],
        value="adapting", label="Advocate to play again", filterable=False,
    )  # fmt: skip
    label = f"play {SAMPLE} of its negotiations again, now"
    offer_again(label, bound(played_again, judged), [advocate], "judge-learning")


def learning_figure(judged: Artifact) -> go.Figure:
    """The share of games won, round by round: the adapting advocate against the control."""
    figure = go.Figure()
    for name, role in (("adapting", "buyer"), (judged.data.control, "scripted")):
        cells = judged.data.curves[name]["won"]
        figure.add_scatter(
            x=list(range(1, len(cells) + 1)),
            y=[cell.mean for cell in cells],
            error_y=whiskers(cells),
            name=name,
            hovertemplate=f"{name}, round %{{x}}: %{{y:.0%}}<extra></extra>",
            **line_style(role),
        )
    figure.update_xaxes(title="round", dtick=5)
    figure.update_yaxes(title="games won", range=[0, 1], tickformat=".0%")
    return style_figure(figure, 320)


def answer(judged: Artifact) -> Markup:
    """Whether the advocate learns, and the figures behind the answer with n and intervals."""
    rows = {row.advocate: row for row in judged.data.rows}
    adapting, control = rows["adapting"], rows[judged.data.control]
    learned = judged.data.learning
    measured = (
        f"In percentage points it wins {points(adapting.difference)} more, n = {adapting.n} paired"
        f" seeds; after the first {judged.data.early_rounds} rounds the difference is larger by"
        f" {points(learned)}. Whiskers are 95% bootstrap intervals."
    )
    shares = (f"{row.win_rate.mean:.0%}" for row in (adapting, control))
    return HTML.learning("Yes" if learned.low > 0 else "Not shown", *shares, measured)


def played_again(judged: Artifact, advocate: str) -> Iterator[Markup]:
    """The first negotiations of an advocate, played again beside the record, after a word."""
    seeds = first_seeds(judged.config["episodes"], judged.config["split"])[:SAMPLE]
    recorded = judged.data.wins[advocate][:SAMPLE]
    yield note(f"Playing {len(seeds)} negotiations of {ROUNDS} rounds …")
    fresh = [
        sum(played.decision.winner == LEARNER for played in negotiation(ADVOCATES[advocate], seed))
        for seed in seeds
    ]
    what = f"rounds that the {advocate.replace('_', ' ')} advocate won"
    columns = {"rounds won": recorded}, {"rounds won": fresh}
    shares = tuple([wins / ROUNDS for wins in games] for games in (recorded, fresh))
    yield side_by_side(what, shares, *columns, seeds=seeds)


def advocates_table(judged: Artifact) -> Markup:
    """Every advocate, the hostile ones among them, best first."""
    heads = (
        "advocate", "n", "rounds won [95% interval]", "gain over the control", "mean total",
        "lies per pitch",
    )  # fmt: skip
    rows = [
        (
            term(row.advocate.replace("_", " "), row.advocate) + note(row.label),
            f"{row.n:,}", with_interval(row.win_rate, FORM),
            with_interval(row.difference, GAIN), f"{row.total.mean:.2f}", f"{row.lies:.2f}",
        )
        for row in sorted(judged.data.rows, key=lambda row: -row.win_rate.mean)
    ]  # fmt: skip
    caption = "The advocate of one lab; with equal chances each wins one round in four"
    return table(heads, rows, caption=caption)
