"""AI labs share scarce GPUs: a policy plays `lab_0` step by step, or the visitor does."""

import json

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, IllegalAction, arena
from panels.gpu_arena import view
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED, heading, note, trouble
from sauda.policies import LAB_LABELS, LABS
from sauda.records.arena_transcript import in_words
from sauda.records.seeds import drawn_seed, whole_seed
from sauda.sessions.arena import ArenaGame, act, start, step

TITLE = "GPU arena"

FIRST, SEED, EXPERT = "arena/coalition_market", "5", "planner"  # the first world, to look at
PACE = 0.7  # seconds between two steps of a run
TERMS = ("payment", "conditions", "message")  # what a form can change of a choice
PLAIN = {name: name.replace("_", " ") for name in arena.KINDS}


def new_game(task_name: str, seed: str) -> ArenaGame:
    """A fresh game at the seed that was typed, or at a secret one where there is none.

    ValueError with one sentence on a bad task or seed.
    """
    if task_name not in ARENA_TASKS:
        raise ValueError("choose one of the arena’s tasks")
    if not (seed or "").strip():
        return start(task_name, drawn_seed(), secret=True)
    return start(task_name, whole_seed(seed))


def stepped(game: ArenaGame, name: str) -> ArenaGame:
    """The game after an action of the scripted policy called `name`; ValueError on another name."""
    if not isinstance(name, str) or name not in LABS:
        raise ValueError(f"the policies of lab_0 are {', '.join(LABS)}")
    return step(game, name)


def introduced(name: str) -> Markup:
    """What the policy called `name` does, in a line."""
    return note(f"{name}: {LAB_LABELS.get(name, '')}.")


# Taking over -------------------------------------------------------------------------------------


def choices(game: ArenaGame) -> dict[str, list[tuple[str, str]]]:
    """What `lab_0` may do now: for each type of action (words, JSON), terms left aside."""
    found: dict[str, dict[str, str]] = {}
    if game.over:
        return {}
    for action in arena.legal_actions(game.observation):
        bare = bare_of(action)
        words = (
            in_words(bare._replace(message=""))
            if changeable(action.action_type)
            else in_words(bare)
        )
        found.setdefault(action.action_type, {}).setdefault(words, json.dumps(action.as_json()))
    return {kind: list(options.items()) for kind, options in found.items()}


def changeable(kind: str) -> tuple[str, ...]:
    """Which of TERMS a form of this type of action offers."""
    fields = (*arena.KINDS[kind].required, *arena.KINDS[kind].optional)
    return tuple(name for name in TERMS if name in fields)


def bare_of(action: arena.Action) -> arena.Action:
    """The choice without the terms that its form can change."""
    fields = changeable(action.action_type)
    if "payment" in fields:
        action = action._replace(payment=0.0)
    return action._replace(conditions=()) if "conditions" in fields else action


def composed(
    choice: str, payment: float | None, ask: float | None, share: float | None, message: str
) -> arena.Action | arena.Malformed:
    """The chosen action with the terms of the form; Malformed where they cannot be read."""
    row = json.loads(choice)
    fields = changeable(row["action_type"])
    if "payment" in fields:
        row["payment"] = payment or 0.0
    if "conditions" in fields:
        name, value = ("share", share) if row["action_type"] == "form_coalition" else ("ask", ask)
        row["conditions"] = {name: value} if value else {}
    if "message" in fields:
        row["message"] = message or ""
    return arena.action_from(row)


def from_text(text: str) -> arena.Action | arena.Malformed:
    """The action that a visitor typed as JSON; ValueError where it is no JSON."""
    try:
        return arena.action_from(json.loads(text))
    except (ValueError, RecursionError):  # a number of 5,000 digits is a plain ValueError
        raise ValueError(
            'an action is JSON such as {"action_type": "wait"}; this is none'
        ) from None


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(
        heading(
            TITLE,
            "Labs trade GPU time before their deadlines. The rule expert plays lab_0; step, run, or"
            " take over at any moment.",
        )
    )
    first = new_game(FIRST, SEED)
    game = gr.State(first, time_to_live=3600)
    clock = gr.Timer(PACE, active=False)
    with gr.Row(elem_classes="sauda-actions"):
        task = gr.Dropdown(list(ARENA_TASKS), value=FIRST, label="Task", scale=2, min_width=190)
        seed = gr.Textbox(
            "", label="Seed", placeholder="empty: a secret one", scale=1, min_width=150, max_lines=1
        )
        name = gr.Dropdown(
            list(LABS), value=EXPERT, label="Policy of lab_0", scale=2, min_width=190
        )
        one = gr.Button("Step", variant="primary", scale=0, min_width=84)
        run = gr.Button("Run", variant="secondary", scale=0, min_width=84)
        again = gr.Button("New world", variant="secondary", scale=0, min_width=110)
    about = gr.HTML(introduced(EXPERT))
    problem = gr.HTML(elem_id="arena-problem")
    end = gr.HTML(elem_id="arena-end")
    with gr.Row():
        with gr.Column(scale=6, min_width=320):
            board = gr.HTML(view.calendar(first), elem_id="arena-board")
            floor = gr.HTML(view.floor(first), elem_id="arena-floor")
        with gr.Column(scale=5, min_width=320):
            papers = gr.HTML(view.papers(first.observation), elem_id="arena-papers")
            reward = gr.HTML(view.reward(first), elem_id="arena-reward")
            log = gr.HTML(view.log(first), elem_id="arena-log")
    with gr.Accordion("Take over lab_0", open=False, elem_id="arena-hand"):
        gr.HTML(note("Only what the rules allow now is offered; amounts and words are yours."))
        with gr.Row(elem_classes="sauda-actions"):
            kind = gr.Dropdown([], label="Action", scale=1, min_width=170, elem_id="arena-kind")
            choice = gr.Dropdown([], label="Choice", scale=3, min_width=260, elem_id="arena-choice")
            act_now = gr.Button("Act", variant="primary", scale=0, min_width=84)
        purpose = gr.HTML()
        with gr.Row():
            payment = gr.Number(0, label="You pay, credits", minimum=0, visible=False)
            ask = gr.Number(0, label="They pay you, credits", minimum=0, visible=False)
            share = gr.Number(0.5, label="Owner’s share of a pooled gain, 0 to 1", visible=False)
            message = gr.Textbox(
                "", label="What you say", max_length=arena.LONGEST_MESSAGE, visible=False
            )
        with gr.Row(elem_classes="sauda-actions"):
            raw = gr.Textbox(
                "", label="Or as JSON", placeholder='{"action_type": "wait"}', max_lines=3, scale=4
            )
            send = gr.Button("Send JSON", variant="secondary", scale=0, min_width=110)

    shown = [game, board, floor, papers, reward, log, end, problem]
    form = [kind, choice]
    terms = [purpose, payment, ask, share, message]
    buttons = [one, run, clock]

    def drawn(now: ArenaGame, name: str, wrong: Exception | None = None):
        return (
            now,
            view.calendar(now),
            view.floor(now),
            view.papers(now.observation),
            view.reward(now),
            view.log(now),
            view.settlement(now),
            trouble(wrong) if wrong else "",
        )

    def able(now: ArenaGame, running: bool):
        return (
            gr.Button(interactive=not now.over),
            gr.Button("Pause" if running and not now.over else "Run", interactive=not now.over),
            gr.Timer(active=running and not now.over),
        )

    def offered(now: ArenaGame, wanted: str | None = None):
        """The two pickers, kept at the type of action that the visitor looks at."""
        options = choices(now)
        chosen = wanted if wanted in options else next(iter(options), None)
        listed = options.get(chosen, [])
        return (
            gr.Dropdown([(PLAIN[k], k) for k in options], value=chosen),
            gr.Dropdown(listed, value=listed[0][1] if listed else None),
        )

    def kept(wrong: Exception):
        return [
            trouble(wrong) if part is problem else gr.skip() for part in (*shown, *form, *buttons)
        ]

    def after(now: ArenaGame, name: str, running: bool = False, wanted: str | None = None):
        return (*drawn(now, name), *offered(now, wanted), *able(now, running))

    def begin(task: str, seed: str, name: str):
        try:
            return after(new_game(task, seed), name)
        except ValueError as error:
            return kept(error)

    def once(now: ArenaGame | None, name: str, wanted: str | None):
        try:
            return after(stepped(_still_there(now), name), name, wanted=wanted)
        except ValueError as error:
            return kept(error)

    def tick(now: ArenaGame | None, name: str, wanted: str | None):
        try:
            return after(stepped(_still_there(now), name), name, running=True, wanted=wanted)
        except ValueError as error:
            return kept(error)

    def toggle(now: ArenaGame | None, label: str):
        try:
            return able(_still_there(now), label == "Run")
        except ValueError:
            return able(first, False)

    def by_hand(now, name, wanted, choice, payment, ask, share, message):
        try:
            if not choice:
                raise ValueError("choose an action first")
            action = composed(choice, payment, ask, share, message)
            return after(act(_still_there(now), action), name, wanted=wanted)
        except ValueError as error:
            return kept(error)

    def by_json(now, name, wanted, text):
        try:
            return after(act(_still_there(now), from_text(text or "")), name, wanted=wanted)
        except ValueError as error:
            return kept(error)

    def of_kind(now: ArenaGame | None, wanted: str | None):
        try:
            return offered(_still_there(now), wanted)[1]
        except ValueError:
            return gr.skip()

    def of_choice(choice: str | None):
        """The fields that the chosen type of action takes, with what the choice suggests."""
        if not choice:
            return "", *[gr.skip()] * 4
        action = arena.action_from(json.loads(choice))
        fields = changeable(action.action_type)
        pool = action.action_type == "form_coalition"
        return (
            Markup("<p>{}</p>").format(arena.KINDS[action.action_type].purpose),
            gr.Number(action.payment, visible="payment" in fields),
            gr.Number(action.condition("ask", 0.0), visible="conditions" in fields and not pool),
            gr.Number(action.condition("share", 0.5), visible=pool),
            gr.Textbox(action.message, visible="message" in fields),
        )

    everything = [*shown, *form, *buttons]
    name.change(introduced, name, about, **QUIET)
    gr.on([again.click, task.input, seed.submit], begin, [task, seed, name], everything, **QUIET)
    # A step that ends the game also draws its settlement, which plays every policy and solves for
    # an upper bound: up to five seconds.
    heavy = {**QUEUED, "preprocess": False, "concurrency_id": "arena", "concurrency_limit": 4}
    one.click(once, [game, name, kind], everything, **heavy)
    clock.tick(tick, [game, name, kind], everything, **heavy)
    run.click(toggle, [game, run], buttons, **QUIET)
    gr.on(None, lambda: offered(first), None, form, **QUIET)
    kind.input(of_kind, [game, kind], choice, **QUIET_UNCHECKED)
    choice.change(of_choice, choice, terms, **QUIET_UNCHECKED)
    hand = [game, name, kind]
    act_now.click(by_hand, [*hand, choice, payment, ask, share, message], everything, **heavy)
    gr.on([send.click, raw.submit], by_json, [*hand, raw], everything, **heavy)


def _still_there(game: ArenaGame | None) -> ArenaGame:
    if game is None:
        raise IllegalAction("this world was put away after an hour; press “New world”")
    return game
