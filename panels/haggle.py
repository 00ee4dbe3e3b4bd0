"""Haggle: a visitor buys from a scripted seller, or sells to a scripted buyer."""

import secrets

import gradio as gr
from markupsafe import Markup

from env import Accept, IllegalAction, Offer, bonus, rupees, zopa_width
from panels.look import heading, note, stat, strip, table, trouble
from panels.offers import Offers, ending, offer_chart
from sauda.haggle import Game, Quick, answer, finished, quick_moves, standings, start
from sauda.language.acts import line
from sauda.language.money import price as price_in
from sauda.policies import BUYERS

TITLE = "Haggle"

BUY, SELL = "I buy", "I sell"
SELLING = "bazaar/seller_brief"
SELLING_CHAT = ["sauda-selling"]  # the user of the chat is in the seller's colour
SEEDS = range(1_000_000, 1_000_000_000)  # far from every training and hold-out seed
YES = {"accept", "deal", "done", "ok", "okay", "yes", "haan", "theek hai", "pakka", "मंज़ूर", "ठीक है"}

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
}


def new_game(seat: str, choice: str) -> Game:
    """A fresh game at a secret seed; `choice` is a market to buy in or a buyer to sell to."""
    seed = SEEDS[secrets.randbelow(len(SEEDS))]
    return start(SELLING, choice, seed) if seat == SELL else start(MARKETS[choice], "", seed)


def say(game: Game, text: str) -> Game:
    """The game after the visitor said `text`; raises ValueError with one sentence if it cannot."""
    if text.strip().strip(".! ").lower() in YES:
        return answer(game, Accept(text.strip()))
    amount = price_in(text)
    amount = int(amount) if amount == int(amount) else amount
    return answer(game, Offer(amount, text.strip()))


# What the page shows of a game -------------------------------------------------------------------


def messages(game: Game) -> list[dict[str, str]]:
    """The conversation, for `gr.Chatbot`: the visitor is the user."""
    said: list[dict[str, str]] = []
    count: dict[str, int] = {}
    for turn in game.play.turns:
        if turn.agent not in ("seller", "buyer") or turn.action is None:
            continue  # rivals bid under seal
        table = turn.observation.table
        number = 0 if (len(table.moves) < 2) else count.get(turn.agent, 0)
        count[turn.agent] = count.get(turn.agent, 0) + 1
        theirs = table.bids if turn.agent == "seller" else table.asks
        standing = theirs[-1] if theirs else None
        text = line(turn.action, turn.agent, standing, table.item.name, number)
        role = "user" if turn.agent == game.task.learner else "assistant"
        said.append({"role": role, "content": text})
    return said


def brief(game: Game) -> Markup:
    """What the visitor is told: the item, their limit, the rules of this game."""
    obs = game.observation
    item, sell = obs.table.item, obs.agent == "seller"
    facts = [
        ("Your limit", f"{'sell above' if sell else 'pay at most'} {rupees(obs.reservation)}"),
        ("Rounds", f"{min(obs.round, obs.table.rounds)} of {obs.table.rounds} used"),
    ]
    if sell:
        facts.insert(0, ("List price", rupees(item.list_price)))
        most = bonus(item.list_price, item.list_price, obs.reservation)
        facts.append(
            (
                "Bonus",
                f"₹1 per full ₹10 above your limit; all {rupees(most)} at the list price",
            )
        )
    if obs.own.get("deadline"):
        facts.append(("Your deadline", f"round {obs.own['deadline']}; a later deal counts half"))
    if obs.table.deals > 1:
        facts.append(
            ("Deal", f"{min(len(obs.table.past) + 1, obs.table.deals)} of {obs.table.deals}")
        )
    for rival in obs.table.rivals:
        doing = f"has bid {rival.bids} times" if rival.active else "has left"
        facts.append((rival.name.replace("_", " "), doing))
    if obs.table.outbid:
        facts.append(("Last round", "somebody bid more than you"))
    rows = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts)
    condition = item.condition.replace("_", " ")
    return Markup(
        '<div class="sauda-brief"><p class="sauda-label">{}</p><h3>{}</h3>'
        '<p class="sauda-note">{}, {}</p><dl>{}</dl></div>'
    ).format(
        "You sell" if sell else "You buy", item.name.capitalize(), item.category, condition, rows
    )


def chart(game: Game) -> Markup:
    """The visitor's own view of the offers; the ZOPA once the game is over."""
    table = game.observation.table
    deal = table.past[-1] if game.over and table.past else None
    zopa = limits(game) if game.over else None
    return offer_chart(Offers(table.asks, table.bids, table.rounds, deal, zopa))


def limits(game: Game) -> tuple[float, float]:
    """Both reservation prices of the last deal: for the reveal, never before."""
    instance = game.play.state.private["nature"][-1]
    return instance.seller["reservation"], instance.buyer["reservation"]


def result(game: Game) -> Markup:
    """After the end: the share won, the ZOPA, the comparison; before it, nothing."""
    if not game.over:
        return Markup('<p class="sauda-note">The other side’s limit shows when the game ends.</p>')
    rows = standings(game)
    you = next(row for row in rows if row.visitor)
    played = finished(game)
    seller, buyer = limits(game)
    lines = [
        strip(
            stat(f"{you.share:.0%}", "of the ZOPA is yours"),
            stat(f"{you.grade:.2f}", "grade, from 0 to 1"),
            stat(f"{rows.index(you) + 1} of {len(rows)}", "your place on this seed"),
        ),
        zopa_bar(game, seller, buyer),
    ]
    if sells(game):
        lines.append(bonus_line(game, played.final.table.past[-1].price))
    lines.append(
        table(
            ("player", "grade", "share", "price"),
            [
                (
                    Markup('<b class="sauda-you">you</b>') if row.visitor else row.name,
                    f"{row.grade:.3f}",
                    f"{row.share:.3f}",
                    "–" if row.price is None else rupees(row.price),
                )
                for row in rows
            ],
            caption="The same game, the same seed, played by every policy",
        )
    )
    name = next(row.name for row in rows if not row.visitor)
    lines.append(
        note(
            f"Played now. The game was {game.task_name} at seed {game.play.seed}"
            + (f" against {game.opponent}" if game.opponent else "")
            + f"; play it again: python -m sauda play --task {game.task_name} --policy {name}"
            + f" --seed {game.play.seed}"
            + (f" --against {game.opponent}" if game.opponent else "")
        )
    )
    return Markup("").join(lines)


def zopa_bar(game: Game, seller: float, buyer: float) -> Markup:
    """The span between the limits, cut where the price fell."""
    past = game.play.state.table.past
    deal = past[-1] if past else None
    width = zopa_width(buyer, seller)
    span = f"The seller’s limit was {rupees(round(seller, 2))}, the buyer’s {rupees(buyer)}."
    if deal is None or deal.price is None or not width:
        how = "a forfeit ended it" if game.play.forfeit else ending(deal)
        return Markup("<p>{} {}, so nobody won anything.</p>").format(
            span, how[0].upper() + how[1:]
        )
    part = min(1.0, max(0.0, (deal.price - seller) / width))
    return Markup(
        '<div class="sauda-zopa" role="img" aria-label="{} The price was {}.">'
        '<span class="sauda-zopa-seller" style="width:{}%"></span>'
        '<span class="sauda-zopa-buyer" style="width:{}%"></span></div>'
        '<p>{} The price fell at {}: {} to the seller, {} to the buyer.</p>'
    ).format(
        span, rupees(deal.price), round(100 * part, 1), round(100 - 100 * part, 1),
        span, rupees(deal.price), f"{part:.0%}", f"{1 - part:.0%}",
    )  # fmt: skip


def bonus_line(game: Game, price: float | None) -> Markup:
    """What the seller's brief pays."""
    obs = game.observation
    ask = obs.table.item.list_price
    earned, most = bonus(price, ask, obs.reservation), bonus(ask, ask, obs.reservation)
    return Markup("<p>Your bonus: {} of at most {}.</p>").format(rupees(earned), rupees(most))


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "Name a price, in digits or in words. The other side answers at once."))
    game = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="sauda-actions"):
        seat = gr.Radio([BUY, SELL], value=BUY, label="Your seat", scale=1, min_width=160)
        choice = gr.Dropdown(
            list(MARKETS), value=next(iter(MARKETS)), label="Market", scale=2, min_width=300
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

    outputs = [game, told, chat, box, problem, *quick, picture, score]
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
            *buttons,
            chart(now),
            result(now),
        )

    def begin(seat: str, choice: str):
        return shown(new_game(seat, choice))

    def gone():
        late = IllegalAction("your game was put away after an hour; here is a new one")
        return shown(new_game(BUY, next(iter(MARKETS))), "", late)

    def reply(now: Game | None, text: str):
        if now is None:
            return gone()
        try:
            return shown(say(now, text))
        except ValueError as error:  # IllegalAction is one too
            return shown(now, text[:200], error)

    def press(number: int):
        def pressed(now: Game | None, text: str):
            if now is None:
                return gone()
            action = None if now.over else quick_moves(now.observation)[number].action
            if action is None:
                return shown(now, text, IllegalAction("that move cannot be made now"))
            return shown(answer(now, action), text)

        return pressed

    def take_seat(seat: str):
        if seat == SELL:
            return gr.Dropdown(list(BUYERS), value="linear", label="Buyer")
        return gr.Dropdown(list(MARKETS), value=next(iter(MARKETS)), label="Market")

    gr.on(None, lambda: begin(BUY, next(iter(MARKETS))), None, outputs, **quiet)
    again.click(begin, [seat, choice], outputs, **quiet)
    seat.input(take_seat, seat, choice, **quiet).then(begin, [seat, choice], outputs, **quiet)
    choice.input(begin, [seat, choice], outputs, **quiet)
    gr.on([box.submit, send.click], reply, [game, box], outputs, **quiet)
    for number, pressed in enumerate(quick):
        pressed.click(press(number), [game, box], outputs, **quiet)


def sells(game: Game) -> bool:
    """Whether the visitor is the seller."""
    return game.task.learner == "seller"


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
