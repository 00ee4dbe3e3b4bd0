"""Haggle: a visitor buys from a scripted seller, or sells to a scripted buyer."""

import secrets

import gradio as gr

from env import TYPES, Accept, IllegalAction, Offer, WalkAway, rupees
from panels.game_view import brief, chart, messages, result, sells
from panels.look import heading, trouble
from sauda.haggle import Game, Quick, answer, quick_moves, start
from sauda.language.money import price as price_in
from sauda.language.numerals import fold
from sauda.policies import BUYERS

TITLE = "Haggle"

BUY, SELL = "I buy", "I sell"
HIDDEN = "Hidden till the end"
SELLING = "bazaar/seller_brief"
SELLING_CHAT = ["sauda-selling"]  # the user of the chat is in the seller's colour
SEED_BITS = 64  # so many that a game's hidden draws cannot be searched for from what is said
YES, NO = (
    frozenset(" ".join(map(fold, words.split())) for words in said.split(", "))
    for said in (
        "accept, i accept, deal, done, done deal, ok, okay, yes, haan, theek hai, pakka, manzoor, "
        "हाँ, हां, मंज़ूर, मंजूर, ठीक है",
        "walk away, i walk away, goodbye, bye, rehne do, nahi chahiye, रहने दो, नहीं चाहिए",
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


def new_game(seat: str, market: str, other: str) -> Game:
    """A fresh game at a secret seed, in a market to buy in or as its seller, against `other`.

    Raises ValueError on a choice that does not go with the seat.
    """
    place = SELLING if seat == SELL else MARKETS.get(market)
    if place is None or other not in others(place):
        raise ValueError("choose a market to buy in, or a buyer to sell to")
    if other == HIDDEN:
        other = secrets.choice(tuple(BUYERS)) if seat == SELL else ""
    seed = 1 << SEED_BITS | secrets.randbits(SEED_BITS)  # far from training and hold-out seeds
    return start(place, other, seed)


def others(task_name: str) -> tuple[str, ...]:
    """Whom a visitor can choose to face: a buyer to sell to, a type of open-market seller."""
    if task_name == SELLING:
        return (HIDDEN, *BUYERS)
    return (HIDDEN, *TYPES) if task_name.startswith("bazaar/") else (HIDDEN,)


def say(game: Game, text: str) -> Game:
    """The game after the visitor said `text`; raises ValueError with one sentence if it cannot."""
    text = (text or "").strip()
    spoken = " ".join(map(fold, text.strip(" .!?,।").split()))
    if spoken in YES:
        return answer(game, Accept(text))
    if spoken in NO:
        return answer(game, WalkAway(text))
    amount = price_in(text)
    amount = int(amount) if amount == int(amount) else amount
    obs = game.observation
    if not game.over and obs.agent != "seller" and amount >= obs.ask:
        raise ValueError(
            f"the seller asks {rupees(obs.ask)}: say “deal” to take it, or name less than that"
        )
    return answer(game, Offer(amount, text))


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "Name a price, in digits or in words. The other side answers at once."))
    game = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="sauda-actions"):
        seat = gr.Radio([BUY, SELL], value=BUY, label="Your seat", scale=1, min_width=160)
        market = gr.Dropdown(list(MARKETS), value=FIRST, label="Market", scale=2, min_width=280)
        other = gr.Dropdown(
            [HIDDEN], value=HIDDEN, label="Seller", scale=1, min_width=170, visible=False
        )
        again = gr.Button("New game", variant="secondary", scale=0, min_width=120)
    with gr.Row():
        with gr.Column(scale=2, min_width=240):
            told = gr.HTML()
        with gr.Column(scale=4, min_width=320):
            chat = gr.Chatbot(
                height=340, show_label=False, render_markdown=False, buttons=[], layout="bubble",
                elem_id="haggle-chat", placeholder="The seller is unpacking.",
            )  # fmt: skip
            with gr.Row(elem_classes="sauda-actions"):
                box = gr.Textbox(
                    placeholder="₹450, or “450 mein de do”", label="Your price", lines=1,
                    max_lines=1, scale=4, min_width=160, elem_id="haggle-price",
                )  # fmt: skip
                send = gr.Button("Say it", variant="primary", scale=0, min_width=96)
            problem = gr.HTML(elem_id="haggle-problem")
            with gr.Row(elem_classes="sauda-quick"):
                quick = [gr.Button("…", size="sm", min_width=90) for _ in range(4)]
        with gr.Column(scale=4, min_width=320):
            picture = gr.HTML(elem_id="haggle-chart")
            score = gr.HTML(elem_id="haggle-result")

    seen = gr.Number(0, visible="hidden")  # moves of the game as this browser shows it
    outputs = [game, told, chat, box, problem, seen, *quick, picture, score]
    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}

    def shown(now: Game, text: str = "", wrong: Exception | None = None):
        moves = [] if now.over else quick_moves(now.observation)
        buttons = [button(now, move) for move in moves] or [gr.Button("…", interactive=False)] * 4
        return (
            now,
            brief(now),
            gr.Chatbot(messages(now), elem_classes=SELLING_CHAT if sells(now) else []),
            text,
            trouble(wrong) if wrong else "",
            len(now.play.turns),
            *buttons,
            chart(now),
            result(now),
        )

    def unchanged(wrong: Exception):
        return [trouble(wrong) if part is problem else gr.skip() for part in outputs]

    def begin(seat: str, market: str, other: str):
        try:
            return shown(new_game(seat, market, other))
        except ValueError as error:
            return unchanged(error)

    def reply(now: Game | None, text: str):
        try:
            return shown(say(_still_there(now), text))
        except ValueError as error:  # IllegalAction is one too; the words stay in the box
            return unchanged(error)

    def press(number: int):
        def pressed(now: Game | None, text: str, seen: float):
            try:
                now = _still_there(now)
                if seen != len(now.play.turns):
                    raise IllegalAction("that button was for the move before; here is the new one")
                moves = [] if now.over else quick_moves(now.observation)
                if not moves or moves[number].action is None:
                    raise IllegalAction("that move cannot be made now")
                return shown(answer(now, moves[number].action), text)
            except IllegalAction as error:
                return unchanged(error)

        return pressed

    def take_seat(seat: str, market: str):
        """The two pickers for the seat: what cannot be chosen does not show."""
        there = others(SELLING if seat == SELL else MARKETS.get(market, ""))
        picker = gr.Dropdown(
            list(there),
            value=HIDDEN,
            label="Buyer" if seat == SELL else "Seller",
            visible=len(there) > 1,
        )
        return gr.Dropdown(visible=seat != SELL), picker

    setting = [seat, market, other]
    gr.on(None, lambda: begin(BUY, FIRST, HIDDEN), None, outputs, **quiet)
    again.click(begin, setting, outputs, **quiet)
    gr.on([seat.input, market.input], take_seat, [seat, market], [market, other], **quiet).then(
        begin, setting, outputs, **quiet
    )
    other.input(begin, setting, outputs, **quiet)
    gr.on([box.submit, send.click], reply, [game, box], outputs, **quiet)
    for number, pressed in enumerate(quick):
        pressed.click(press(number), [game, box, seen], outputs, **quiet)


def _still_there(game: Game | None) -> Game:
    if game is None:
        raise IllegalAction("this game was put away after an hour; press “New game”")
    return game


def button(game: Game, move: Quick) -> gr.Button:
    """A quick button as it stands now: its price is on it."""
    if isinstance(move.action, Offer):
        label = f"{move.label} {rupees(move.action.price)}"
    elif isinstance(move.action, Accept):
        obs = game.observation
        theirs = obs.table.bids if obs.agent == "seller" else obs.table.asks
        label = f"{move.label} {rupees(theirs[-1])}"
    else:
        label = move.label
    return gr.Button(label, interactive=move.action is not None)
