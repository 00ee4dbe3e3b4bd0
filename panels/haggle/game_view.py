"""What the Haggle tab shows of a running game: chat, brief, offers and quick moves."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from env import Accept, Offer, Turn, bonus, rupees
from panels.haggle.words import ENGLISH, Translate, translator
from panels.ui.look import as_typed, trouble
from panels.ui.offers import LARGE, Offers, ending, offer_chart
from sauda.language.acts import line
from sauda.sessions.bazaar import Game, Quick

IN_ENGLISH = translator(ENGLISH)


def sells(game: Game) -> bool:
    """Whether the visitor is the seller."""
    return game.task.learner == "seller"


def messages(game: Game) -> list[dict[str, str]]:
    """The conversation as plain text, the visitor as the user; `bubbles` makes it a chat."""
    conversation: list[dict[str, str]] = []
    closed = 0  # deals whose end the conversation reports
    for turn in game.play.turns:
        if turn.agent not in ("seller", "buyer") or turn.action is None:
            continue  # rivals bid under seal
        now = turn.observation.table
        if len(now.past) > closed:
            closed = len(now.past)
            end = ending(now.past[-1])
            conversation.append(_narrator(f"Deal {closed}: {end}. Next: {now.item.name}."))
        conversation.append({"role": _role(game, turn), "content": _words(game, turn)})
    return conversation


def bubbles(conversation: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The messages escaped: `gr.Chatbot` renders HTML even where Markdown is off."""
    return [{**message, "content": as_typed(message["content"])} for message in conversation]


def _role(game: Game, turn: Turn) -> str:
    return "user" if turn.agent == game.task.learner else "assistant"


def _narrator(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": f"({text})"}


def _words(game: Game, turn: Turn) -> str:
    now = turn.observation.table
    last = turn is game.play.turns[-1]
    winner = game.play.state.table.past[-1].buyer if game.over and last else "buyer"
    if isinstance(turn.action, Accept) and turn.agent == "seller" and winner != "buyer":
        return f"({winner.capitalize().replace('_', ' ')} bought it.)"
    theirs = now.bids if turn.agent == "seller" else now.asks
    number = len(now.asks if turn.agent == "seller" else now.bids)
    standing = theirs[-1] if theirs else None
    return line(turn.action, turn.agent, standing, now.item.name, number)


def brief(game: Game, translate: Translate = IN_ENGLISH) -> Markup:
    """The visitor's brief: the item, their limit, the rules of this game."""
    obs = game.observation
    item, sell = obs.table.item, obs.agent == "seller"
    limit = translate("sell_above" if sell else "pay_at_most", price=rupees(obs.reservation))
    used = min(obs.round, obs.table.rounds)
    facts = [
        (translate("limit"), limit),
        (translate("rounds"), translate("rounds_used", used=used, all=obs.table.rounds)),
    ]
    if sell:
        facts.insert(0, (translate("list_price"), rupees(item.list_price)))
        most = bonus(item.list_price, item.list_price, obs.reservation)
        facts.append((translate("bonus"), translate("bonus_rule", most=rupees(most))))
    if obs.own.get("deadline"):
        late = "late_nothing" if "discount" in obs.own else "late_half"
        facts.append((translate("deadline"), translate(late, round=obs.own["deadline"])))
    if "discount" in obs.own:
        facts.append(
            (translate("time"), translate("time_costs", share=f"{1 - obs.own['discount']:.1%}"))
        )
    if "purse" in obs.own:
        facts.append((translate("purse"), translate("purse_holds", price=rupees(obs.own["purse"]))))
    if obs.table.deals > 1:
        now = min(len(obs.table.past) + 1, obs.table.deals)
        facts.append((translate("deal"), translate("deal_of", now=now, all=obs.table.deals)))
    for rival in obs.table.rivals:
        doing = translate("bids_so_far", bids=rival.bids) if rival.active else translate("has_left")
        facts.append((rival.name.replace("_", " "), doing))
    if obs.table.outbid and not game.over:
        facts.append((translate("last_round"), translate("outbid")))
    rows = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts)
    condition = item.condition.replace("_", " ")
    return Markup(
        '<div class="sauda-brief"><p class="sauda-label">{}</p><h3>{}</h3>'
        '<p class="sauda-note">{}, {}</p><dl>{}</dl></div>'
    ).format(
        translate("you_sell" if sell else "you_buy"),
        item.name[0].upper() + item.name[1:],
        item.category,
        condition,
        rows,
    )


def chart(game: Game, size: tuple[int, int] = LARGE) -> Markup:
    """The offers as the visitor sees them, with the ZOPA once the game is over."""
    table = game.observation.table
    deal = table.past[-1] if game.over and table.past else None
    zopa = limits(game) if game.over else None
    return offer_chart(Offers(table.asks, table.bids, table.rounds, deal, zopa), size)


def limits(game: Game) -> tuple[float, float]:
    """Both reservation prices of the last deal, in rupees: shown only after the end."""
    instance = game.play.state.private["nature"][-1]
    return instance.seller["reservation"], instance.buyer["reservation"]


def question(game: Game, translate: Translate) -> Markup | str:
    """Asks whether the visitor meant a far-off price; empty where none is unconfirmed."""
    if game.unconfirmed is None:
        return ""
    price = rupees(game.unconfirmed.price)
    return trouble(ValueError(translate("did_you_mean", price=price)))


def quick_label(game: Game, move: Quick, translate: Translate) -> str:
    """The label of a quick button, with the price of its move."""
    label = translate(f"quick_{move.label}")
    if isinstance(move.action, Offer):
        return f"{label} {rupees(move.action.price)}"
    if isinstance(move.action, Accept):
        table = game.observation.table
        standing_offers = table.bids if sells(game) else table.asks
        return f"{label} {rupees(standing_offers[-1])}"
    return label


def past_moves(game: Game, translate: Translate) -> list[tuple[str, int]]:
    """The visitor's moves as choices: what was said, and the number of the move."""
    texts = [message["content"] for message in messages(game) if message["role"] == "user"]
    return [
        (translate("whatif_move", number=number + 1, said=text), number)
        for number, text in enumerate(texts)
    ]
