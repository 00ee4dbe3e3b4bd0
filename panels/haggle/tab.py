"""Haggle: a visitor sells to Sauda or to a scripted buyer, or buys from a seller.

A language model's move is asked for in an event of its own, which streams; scripts answer at once.
"""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import CATALOGUE, TYPES, Accept, IllegalAction, Offer, WalkAway, rupees
from panels.haggle.game_view import (
    brief,
    bubbles,
    chart,
    compared_games,
    messages,
    raw,
    result,
    sells,
)
from panels.haggle.reads import reading
from panels.haggle.voices import (
    MODELS,
    READY_SOON,
    SAUDA,
    SELLERS,
    STAND_IN,
    Floor,
    badge_of,
    healths,
    voices,
)
from panels.haggle.words import ENGLISH, HINDI, Say, speaking
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED, heading, note, trouble
from sauda.language.money import price as price_in
from sauda.language.numerals import fold
from sauda.llm.backends.served import HERE
from sauda.llm.backends.worker import Loading, Ready, Resident, Waiting
from sauda.llm.types import Reply, ReplyError
from sauda.policies import BUYERS
from sauda.records.seeds import drawn_seed
from sauda.sessions.bazaar import (
    Game,
    Quick,
    answer,
    asked,
    back,
    hear,
    missed,
    moves_of,
    offer,
    quick_moves,
    start,
    unsaid,
)

TITLE = "Haggle"

BUY, SELL = "buy", "sell"
HIDDEN = "Hidden till the end"
SELLING = "bazaar/seller_brief"
SELLING_CHAT = ["sauda-selling"]  # the user of the chat is in the seller's colour
SPEAKING = 24  # visitors who wait for a model at once, a thread each; the page has 40 threads
ANYTHING = "Anything"
YES, NO, CONFIRM = (
    frozenset(" ".join(map(fold, words.split())) for words in said.split(", "))
    for said in (
        "accept, i accept, deal, done, done deal, ok, okay, yes, haan, theek hai, pakka, manzoor, "
        "हाँ, हां, मंज़ूर, मंजूर, ठीक है",
        "walk away, i walk away, goodbye, bye, rehne do, nahi chahiye, रहने दो, नहीं चाहिए",
        "yes, y, haan, ha, ji, ji haan, ok, okay, हाँ, हां, जी, जी हाँ",
    )
)

MARKETS = {
    "A stall with goods of our catalogue": "classic/amazon_realistic",
    "A plain seller": "classic/single_deal",
    "A seller who bluffs": "classic/deceptive_seller",
    "An impatient seller": "classic/impatient_seller",
    "A fair-minded seller": "classic/collaborative_seller",
    "You have a deadline": "classic/asymmetric_pressure",
    "Two rounds only, five times": "classic/read_the_tells",
    "Ten deals with one seller": "classic/career_10",
    "Against two other buyers": "classic/marketplace_arena",
    "Open market: a stranger": "bazaar/open",
    "Open market: you are in a hurry": "bazaar/rushed",
    "Open market: a seller who talks": "bazaar/bluff",
    "Open market: ten deals, one purse": "bazaar/career",
    "Open market: two rivals": "bazaar/crowd",
}
FIRST = next(iter(MARKETS))


@cache
def wares() -> tuple[str, ...]:
    """What a visitor can choose to sell."""
    return (ANYTHING, *dict.fromkeys(item.name for item in CATALOGUE))


def new_game(seat: str, market: str, other: str, ready: bool = True) -> Game:
    """A fresh game at a secret seed: in a market to buy in, or as the seller of a ware.

    A language model that is not `ready` is stood in for. Raises ValueError on a choice that does
    not go with the seat.
    """
    place = SELLING if seat == SELL else MARKETS.get(market)
    if place is None or other not in others(place) or (seat == SELL and market not in wares()):
        raise ValueError("choose a market to buy in, or a ware and a buyer to sell it to")
    absent = ""
    if other == HIDDEN:
        other = secrets.choice(tuple(BUYERS)) if seat == SELL else ""
    elif other in SAUDA:
        other, absent = (SAUDA[other], "") if ready else (STAND_IN, SAUDA[other])
    elif other in SELLERS:
        other, absent = (SELLERS[other], "") if ready else ("", SELLERS[other])
    while True:
        # A ware is drawn like all else, so it is drawn for.
        game = start(place, other, drawn_seed())
        if seat != SELL or market in (ANYTHING, game.observation.table.item.name):
            return replace(game, stands_in_for=absent)


def others(task_name: str) -> tuple[str, ...]:
    """Whom a visitor can choose to face: a buyer to sell to, a type of open-market seller."""
    if task_name == SELLING:
        return (*SAUDA, HIDDEN, *BUYERS)
    return (*SELLERS, HIDDEN, *TYPES) if task_name.startswith("bazaar/") else (HIDDEN,)


def say(game: Game, text: str) -> Game:
    """The game after the visitor said `text`; raises ValueError with one sentence if it cannot.

    A far-off price is `unconfirmed`: it waits for the same price again, or for a word of `CONFIRM`.
    """
    text = (text or "").strip()
    spoken = " ".join(map(fold, text.strip(" .!?,।").split()))
    if game.unconfirmed is not None and spoken in CONFIRM:
        return answer(game, game.unconfirmed)
    if spoken in YES:
        return answer(game, Accept(text))
    if spoken in NO:
        return answer(game, WalkAway(text))
    amount = price_in(text)
    amount = int(amount) if amount == int(amount) else amount
    obs = game.observation
    playing = not (game.over or game.waiting)
    if playing and obs.agent != "seller" and amount >= obs.ask:
        raise ValueError(
            f"the seller asks {rupees(obs.ask)}: say “deal” to take it, or name less than that"
        )
    return offer(game, Offer(amount, text))


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    models = voices()
    say_first = speaking(ENGLISH)
    with gr.Row(elem_classes="sauda-head"):
        title = gr.HTML(heading(TITLE, say_first("lead")))
        language = gr.Radio(
            [ENGLISH, HINDI], value=ENGLISH, show_label=False, container=False, scale=0,
            min_width=220, elem_id="haggle-language",
        )  # fmt: skip
    with gr.Row(elem_classes="sauda-actions"):
        seat = gr.Radio(
            seats(say_first), value=SELL, label=say_first("seat"), scale=1, min_width=160,
            elem_id="haggle-seat",
        )  # fmt: skip
        market = gr.Dropdown(
            list(wares()), value=ANYTHING, label=say_first("ware"), scale=2, min_width=240,
            elem_id="haggle-market",
        )  # fmt: skip
        other = gr.Dropdown(
            list(others(SELLING)), value=next(iter(SAUDA)), label=say_first("buyer"), scale=1,
            min_width=190, elem_id="haggle-other",
        )  # fmt: skip
        again = gr.Button(say_first("new"), variant="secondary", scale=0, min_width=120)
    badge = gr.HTML(elem_id="haggle-badge")
    with gr.Row():
        with gr.Column(scale=2, min_width=240):
            told = gr.HTML()
        with gr.Column(scale=4, min_width=320):
            chat = gr.Chatbot(
                height=340, show_label=False, render_markdown=False, latex_delimiters=[],
                buttons=[], layout="bubble", elem_id="haggle-chat",
                placeholder=say_first("unpacking"),
            )  # fmt: skip
            with gr.Row(elem_classes="sauda-actions"):
                box = gr.Textbox(
                    placeholder=say_first("placeholder"), label=say_first("price"), lines=1,
                    max_lines=1, scale=4, min_width=160, elem_id="haggle-price",
                )  # fmt: skip
                send = gr.Button(say_first("send"), variant="primary", scale=0, min_width=96)
            problem = gr.HTML(elem_id="haggle-problem")
            with gr.Row(elem_classes="sauda-quick"):
                quick = [gr.Button("…", size="sm", min_width=90) for _ in range(4)]
            with gr.Row(elem_classes="sauda-quick"):
                stop = gr.Button(say_first("stop"), visible=False, min_width=90)
                retry = gr.Button(say_first("retry"), visible=False, min_width=90)
                undo = gr.Button(say_first("undo"), visible=False, min_width=90)
        with gr.Column(scale=4, min_width=320):
            picture = gr.HTML(elem_id="haggle-chart")
            reads = gr.HTML(elem_id="haggle-reads")
            effect = gr.Button(say_first("effect"), size="md", visible=False, elem_id="haggle-why")
            changed_html = gr.HTML(elem_id="haggle-changed")
            score = gr.HTML(elem_id="haggle-result")
    with gr.Column(visible=False, elem_classes="sauda-whatif") as whatif:
        lead = gr.HTML(heading(say_first("whatif"), say_first("whatif_lead")))
        with gr.Row(elem_classes="sauda-actions"):
            choice = gr.Dropdown([], show_label=False, scale=3, elem_id="haggle-move")
            go = gr.Button(say_first("whatif_go"), scale=0, min_width=120)
    pair = gr.HTML(elem_id="haggle-pair")
    with gr.Accordion(say_first("raw"), open=False) as fold_raw:
        backend = gr.Radio(
            list(models["buyer"]), value=HERE, label=say_first("backend"), elem_id="haggle-backend"
        )
        health = gr.HTML(elem_id="haggle-health")
        check = gr.Button(say_first("check"), scale=0, min_width=120)
        written = gr.HTML(elem_id="haggle-raw")

    game = gr.State(None, time_to_live=3600)
    first = gr.State(None, time_to_live=3600)
    seen = gr.Number(0, visible="hidden")  # moves of the game as this browser shows it
    turn = gr.Textbox("", visible="hidden")  # its change asks the language model for its move
    floor = gr.State(Floor(), time_to_live=3600)
    clock = gr.Timer(1.0)

    outputs = [game, first, told, chat, box, problem, seen, *quick, picture, score, reads, badge,
               stop, retry, undo, turn, written, whatif, choice, pair, effect,
               changed_html]  # fmt: skip
    places = {part: i for i, part in enumerate(outputs)}

    def heard_from(now: Game, backend: str) -> Resident:
        """The language model for the seat across from the visitor."""
        return models["buyer" if sells(now) else "seller"][backend]

    def shown(
        now: Game,
        before: Game | None,
        words: Say,
        backend: str,
        text: str = "",
        problem: Markup | None = None,
    ) -> list[Any]:
        """Every output for `now`; a waiting game asks its model, unless there is a `problem`."""
        moves = [] if now.over or now.waiting else quick_moves(now.observation)
        buttons = [button(now, move, words) for move in moves]
        asks = now.waiting and problem is None
        return [
            now,
            before,
            brief(now, words),
            gr.Chatbot(
                bubbles(messages(now)),
                elem_classes=SELLING_CHAT if sells(now) else [],
                placeholder=words("you_open" if sells(now) else "unpacking"),
            ),
            text,
            problem or question(now, words),
            len(now.play.turns),
            *(buttons or [gr.Button("…", interactive=False)] * 4),
            chart(now),
            result(now, words),
            reading(now, words) if now.speaker else "",  # a belief takes 20 ms: none for scripts
            badge_of(now, heard_from(now, backend), words),
            gr.Button(visible=asks),
            gr.Button(visible=now.waiting and not asks),
            gr.Button(visible=bool(moves_of(now)) and not now.over),
            secrets.token_hex(8) if asks else gr.skip(),
            raw(now, words),
            gr.Column(visible=now.over or before is not None),
            gr.Dropdown(choices := past_moves(before or now, words), value=0 if choices else None),
            compared_games(before, now, words),
            gr.Button(visible=sells(now) and bool(now.heard)),
            "",
        ]

    def only(**changed: Any) -> list[Any]:
        """No output but those named by their variable."""
        names = {"problem": problem, "badge": badge, "chat": chat, "changed": changed_html,
                 "game": game}  # fmt: skip
        given = {places[names[name]]: value for name, value in changed.items()}
        return [given.get(i, gr.skip()) for i in range(len(outputs))]

    def begin(
        floor: Floor, seat: str, market: str, other: str, backend: str, language: str
    ) -> list[Any]:
        floor.take()
        model = models["buyer" if seat == SELL else "seller"][backend]
        ready = other in MODELS and isinstance(model.wait(READY_SOON), Ready)
        try:
            game = new_game(seat, market, other, ready)
        except ValueError as error:
            return only(problem=trouble(error))
        return shown(game, None, speaking(language), backend)

    def reply(now, before, text: str, backend: str, language: str) -> list[Any]:
        try:
            after = say(_still_there(now), text)
        except ValueError as error:  # IllegalAction is one too; the words stay in the box
            if now is None or now.unconfirmed is None:
                return only(problem=trouble(error))
            return only(problem=trouble(error), game=replace(now, unconfirmed=None))
        kept_text = text if after.unconfirmed else ""
        return shown(after, before, speaking(language), backend, kept_text)

    def press(number: int):
        def pressed(now, before, text: str, seen: float, backend: str, language: str) -> list[Any]:
            try:
                now = _still_there(now)
                if seen != len(now.play.turns):
                    raise IllegalAction("that button was for the move before; here is the new one")
                moves = [] if now.over or now.waiting else quick_moves(now.observation)
                if not moves or moves[number].action is None:
                    raise IllegalAction("that move cannot be made now")
                after = answer(now, moves[number].action)
            except IllegalAction as error:
                return only(problem=trouble(error))
            return shown(after, before, speaking(language), backend, text)

        return pressed

    def speak(
        floor: Floor, now, before, text: str, backend: str, language: str
    ) -> Iterator[list[Any]]:
        """The language model's move, as it grows; the game changes only once it is whole."""
        words, mine = speaking(language), floor.take()
        wrong: Markup | None = None
        while now is not None and now.waiting and wrong is None:
            said = messages(now)
            thinking = growing(words("thinking", name=speaks(now)))
            yield only(chat=bubbles([*said, thinking]), problem="")
            try:
                for piece in written_by(now, heard_from(now, backend), words):
                    if floor.number != mine:
                        return
                    if isinstance(piece, str):
                        yield only(chat=bubbles([*said, growing(piece)]))
                now = hear(now, piece)
            except ReplyError as error:
                wrong = trouble(error)
            except IllegalAction:
                now = missed(now, piece)
                if len(now.missed) >= now.speaker.tries:
                    wrong = trouble(ValueError(words("no_move")))
        if now is not None and floor.number == mine:
            yield shown(now, before, words, backend, text, wrong)

    def written_by(now: Game, model: Resident, words: Say) -> Iterator[str | Reply]:
        """What to show while the reply comes, and at last the whole reply itself."""
        question, obs = asked(now), now.theirs
        for piece in model.stream(question.messages, question.seed, question.schema):
            if isinstance(piece, Waiting):
                yield words("line", name=speaks(now), place=piece.place)
            else:
                yield now.speaker.growing(piece.text, obs) or "…"
        yield piece

    def why(now, backend: str, language: str) -> list[Any]:
        """What the model would have done without the visitor's last words."""
        words = speaking(language)
        try:
            question = unsaid(_still_there(now))
            reply = models["buyer"][backend](question.messages, question.seed, question.schema)
        except (IllegalAction, ReplyError) as error:
            return only(changed=trouble(error))
        return only(changed=note(effect_of(now, reply, words)))

    def stopped(floor: Floor, now, before, text: str, backend: str, language: str) -> list[Any]:
        floor.take()
        words = speaking(language)
        if now is None or not now.waiting:
            return only()
        return shown(now, before, words, backend, text, note(words("stopped")))

    def ask_again(now, before, text: str, backend: str, language: str) -> list[Any]:
        if now is None:
            return only()
        return shown(now, before, speaking(language), backend, text)

    def take_back(floor: Floor, now, before, text: str, backend: str, language: str) -> list[Any]:
        floor.take()
        try:
            now = _still_there(now)
            earlier = back(now, len(moves_of(now)) - 1)
        except IllegalAction as error:
            return only(problem=trouble(error))
        return shown(earlier, before, speaking(language), backend, text)

    def return_to(
        floor: Floor, now, before, move: int | None, text: str, backend: str, language: str
    ) -> list[Any]:
        floor.take()
        try:
            origin = before or _still_there(now)
            if move is None:
                raise IllegalAction("pick the move to go back to")
            return shown(back(origin, move), origin, speaking(language), backend, text)
        except IllegalAction as error:
            return only(problem=trouble(error))

    def take_seat(seat: str, market: str, language: str):
        """The two pickers for the seat: what cannot be chosen does not show."""
        words, selling = speaking(language), seat == SELL
        there = wares() if selling else tuple(MARKETS)
        market = market if market in there else there[0]
        facing = others(SELLING if selling else MARKETS[market])
        return (
            gr.Dropdown(list(there), value=market, label=words("ware" if selling else "market")),
            gr.Dropdown(
                list(facing), value=facing[0], label=words("buyer" if selling else "seller"),
                visible=len(facing) > 1,
            ),
        )  # fmt: skip

    def translated(seat: str, language: str) -> list[Any]:
        """Everything that bears words, in `language`; the game as it is."""
        words, selling = speaking(language), seat == SELL
        return [
            heading(TITLE, words("lead")),
            gr.Radio(seats(words), label=words("seat")),
            gr.Dropdown(label=words("ware" if selling else "market")),
            gr.Dropdown(label=words("buyer" if selling else "seller")),
            words("new"),
            gr.Textbox(label=words("price"), placeholder=words("placeholder")),
            words("send"),
            *(gr.Button(words(name)) for name in ("stop", "retry", "undo")),
            heading(words("whatif"), words("whatif_lead")),
            words("whatif_go"),
            gr.Accordion(label=words("raw")),
            gr.Radio(label=words("backend")),
            words("check"),
            gr.Button(words("effect")),
        ]

    def tick(now, before, text: str, backend: str, language: str) -> list[Any]:
        """The badge while a model loads; Sauda takes its seat if it is there before the first move.

        The clock stops once there is nothing to wait for.
        """
        words = speaking(language)
        loading = [model.stage for model in models["buyer"].values()]
        if now is not None:
            loading.append(heard_from(now, backend).stage)
        waits = any(isinstance(stage, Loading) for stage in loading)
        told = healths(models["buyer"], words), gr.Timer(active=waits)
        if now is None:
            return [*only(), *told]
        model = heard_from(now, backend)
        if now.stands_in_for and not moves_of(now) and isinstance(model.stage, Ready):
            now = start(now.task_name, now.stands_in_for, now.play.seed)
            return [*shown(now, before, words, backend, text), *told]
        return [*only(badge=badge_of(now, model, words)), *told]

    def look_again(now, backend: str, language: str) -> list[Any]:
        """Try the models that could not be had once more."""
        for model in models["buyer"].values():
            model.start(again=True)
        words = speaking(language)
        badge = badge_of(now, heard_from(now, backend), words) if now else gr.skip()
        return [badge, healths(models["buyer"], words), gr.Timer(active=True)]

    common = [box, backend, language]
    setting = [floor, seat, market, other, backend, language]
    turn.change(
        speak, [floor, game, first, *common], outputs, show_progress="hidden",
        concurrency_limit=SPEAKING, trigger_mode="multiple", api_visibility="private",
    )  # fmt: skip
    gr.on(
        None,
        lambda floor: begin(floor, SELL, ANYTHING, next(iter(SAUDA)), HERE, ENGLISH),
        floor,
        outputs,
        **QUIET,
    )
    again.click(begin, setting, outputs, **QUIET_UNCHECKED)
    gr.on(
        [seat.input, market.input],
        take_seat,
        [seat, market, language],
        [market, other],
        **QUIET_UNCHECKED,
    ).then(begin, setting, outputs, **QUIET_UNCHECKED)
    gr.on([other.input, backend.input], begin, setting, outputs, **QUIET_UNCHECKED)
    gr.on(  # the model of that seat may have to load first
        [seat.input, other.input, backend.input],
        lambda: gr.Timer(active=True),
        None,
        clock,
        **QUIET,
    )
    gr.on([box.submit, send.click], reply, [game, first, *common], outputs, **QUIET)
    for number, pressed in enumerate(quick):
        pressed.click(press(number), [game, first, box, seen, backend, language], outputs, **QUIET)
    effect.click(why, [game, backend, language], outputs, **QUEUED)
    stop.click(stopped, [floor, game, first, *common], outputs, **QUIET)
    retry.click(ask_again, [game, first, *common], outputs, **QUIET)
    undo.click(take_back, [floor, game, first, *common], outputs, **QUIET)
    go.click(return_to, [floor, game, first, choice, *common], outputs, **QUIET_UNCHECKED)
    labels = [title, seat, market, other, again, box, send, stop, retry, undo, lead, go,
              fold_raw, backend, check, effect]  # fmt: skip
    language.input(translated, [seat, language], labels, **QUIET).then(
        ask_again, [game, first, *common], outputs, **QUIET
    )
    clock.tick(tick, [game, first, *common], [*outputs, health, clock], **QUIET)
    check.click(look_again, [game, backend, language], [badge, health, clock], **QUIET)


def speaks(game: Game) -> str:
    """The name of the language model across the table."""
    return "Sauda" if sells(game) else "SmolLM2"


def seats(words: Say) -> list[tuple[str, str]]:
    """The two seats as a visitor reads them."""
    return [(words("buy"), BUY), (words("sell"), SELL)]


def question(game: Game, words: Say) -> Markup | str:
    """Asks whether a far-off price was meant; empty where none waits for an answer."""
    if game.unconfirmed is None:
        return ""
    return trouble(ValueError(words("did_you_mean", price=rupees(game.unconfirmed.price))))


def effect_of(game: Game, reply: Reply, words: Say) -> str:
    """How the move in `reply` differs from the one that was made, in words."""
    turn = game.play.turns[game.heard[-1].turn]
    try:
        made = game.speaker.made(turn.observation, reply, game.heard[-1].missed).action
    except IllegalAction:
        return words("effect_none")
    if replace(made, message="") == replace(turn.action, message=""):
        return words("effect_same")
    if isinstance(made, Offer):
        return words("effect_other", move=words("would_offer", price=rupees(made.price)))
    kind = "would_accept" if isinstance(made, Accept) else "would_walk"
    return words("effect_other", move=words(kind))


def growing(text: str) -> dict[str, str]:
    """A message of the other side that is still being written."""
    return {"role": "assistant", "content": text}


def past_moves(game: Game, words: Say) -> list[tuple[str, int]]:
    """The visitor's moves as choices to go back to."""
    said = [m["content"] for m in messages(game) if m["role"] == "user"]
    return [(words("whatif_move", number=i + 1, said=text), i) for i, text in enumerate(said)]


def _still_there(game: Game | None) -> Game:
    if game is None:
        raise IllegalAction("this game was put away after an hour; press “New game”")
    return game


def button(game: Game, move: Quick, words: Say) -> gr.Button:
    """A quick button as it stands now: its price is on it."""
    label = words(f"quick_{move.label}")
    if isinstance(move.action, Offer):
        label = f"{label} {rupees(move.action.price)}"
    elif isinstance(move.action, Accept):
        obs = game.observation
        theirs = obs.table.bids if obs.agent == "seller" else obs.table.asks
        label = f"{label} {rupees(theirs[-1])}"
    return gr.Button(label, interactive=move.action is not None)
