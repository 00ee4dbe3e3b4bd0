"""What the Haggle tab shows of a running game: brief, offers and quick moves."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from env import Accept, Offer, bonus, rupees
from panels.haggle.conversation import chart_words, rival_name
from panels.haggle.words import ENGLISH, Translate, translator
from panels.ui.look import as_typed
from panels.ui.offers import LARGE, Offers, offer_chart
from panels.ui.pictures import goods
from panels.ui.wiring import button
from sauda.language.lines import name_in
from sauda.language.money import prices
from sauda.sessions.bazaar import Game, Quick, quick_moves

IN_ENGLISH = translator(ENGLISH)


def sells(game: Game) -> bool:
    """Whether the visitor is the seller."""
    return game.task.learner == "seller"


def bubbles(conversation: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The messages as HTML: `gr.Chatbot` renders it even where Markdown is off."""
    return [{"role": message["role"], "content": _bubble(message)} for message in conversation]


def _bubble(message: Mapping[str, str]) -> str:
    """The words as they were typed, under the price that was read in them if there is one.

    Words that were read as that price stand beside it, "8k2 = ₹8,200"; digits are not repeated.
    The tags bear no attributes: Gradio names a message for screen readers by its source.
    """
    words, price = message["content"], message.get("price")
    if price is None:
        return as_typed(words)
    read = next((words[m.start : m.end] for m in prices(words) if rupees(m.amount) == price), "")
    is_other = bool(read) and _digits(read) != _digits(price)
    tag = f"<b><i>{as_typed(read)} =</i> {price}</b>" if is_other else f"<b>{price}</b>"
    says_more = words.strip(" .!?,") != read.strip()
    return f"{tag} {as_typed(words)}" if says_more else tag


def _digits(text: str) -> str:
    """The ASCII digits of a price, with its point; "35.5" for "₹35.50"."""
    digits = "".join(c for c in text if c in "0123456789.").strip(".")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def brief(game: Game, translate: Translate = IN_ENGLISH, language: str = ENGLISH) -> Markup:
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
    if obs.own.get("quote") is not None and not sell:
        facts.append((translate("shop"), translate("shop_asks", price=rupees(obs.own["quote"]))))
    if obs.table.deals > 1:
        now = min(len(obs.table.past) + 1, obs.table.deals)
        facts.append((translate("deal"), translate("deal_of", now=now, all=obs.table.deals)))
    for rival in obs.table.rivals:
        doing = translate("bids_so_far", bids=rival.bids) if rival.active else translate("has_left")
        facts.append((rival_name(rival.name, translate), doing))
    if obs.table.outbid and not game.over:
        facts.append((translate("last_round"), translate("outbid")))
    rows = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts)
    name = name_in(language, item.name)
    return Markup(
        '<div class="sauda-brief">{}<div><p class="sauda-label">{}</p><h3>{}</h3>'
        '<p class="sauda-note">{}, {}</p></div><dl>{}</dl></div>'
    ).format(
        goods(item.category),
        translate("you_sell" if sell else "you_buy"),
        name[0].upper() + name[1:],
        name_in(language, item.category),
        name_in(language, item.condition),
        rows,
    )


def chart(game: Game, size: tuple[int, int] = LARGE, translate: Translate = IN_ENGLISH) -> Markup:
    """The offers as the visitor sees them, with the ZOPA once the game is over."""
    table = game.observation.table
    deal = table.past[-1] if game.over and table.past else None
    zopa = limits(game) if game.over else None
    offers = Offers(table.asks, table.bids, table.rounds, deal, zopa)
    return offer_chart(offers, size, say=chart_words(translate))


def limits(game: Game) -> tuple[float, float]:
    """Both reservation prices of the last deal, in rupees: shown only after the end."""
    instance = game.play.state.private["nature"][-1]
    return instance.seller["reservation"], instance.buyer["reservation"]


def quick_buttons(game: Game, shown_turns: int, translate: Translate) -> Markup:
    """The moves that can be made now as buttons, or that there is none.

    `shown_turns` counts the turns that the browser shows: a press that comes late makes no move.
    """
    if game.over or game.waiting:
        buttons = [button("…", is_off=True)]
    else:
        buttons = [
            button(quick_label(game, move, translate), press="quick", number=i, turns=shown_turns)
            for i, move in enumerate(quick_moves(game.observation))
            if move.action is not None
        ]
    return Markup('<div class="sauda-quick sauda-quick-moves">{}</div>').format(
        Markup("").join(buttons)
    )


def quick_label(game: Game, move: Quick, translate: Translate) -> str:
    """The label of a quick button, with the price of its move."""
    label = translate(f"quick_{move.label}")
    if isinstance(move.action, Offer):
        return f"{label} {rupees(move.action.price)}"
    if isinstance(move.action, Accept):
        table = game.observation.table
        return f"{label} {rupees(table.bid if sells(game) else table.asks[-1])}"
    return label


def past_moves(own_words: Sequence[str], translate: Translate) -> list[tuple[str, int]]:
    """The visitor's moves as choices: what was said, and the number of the move."""
    return [
        (translate("whatif_move", number=number + 1, said=text), number)
        for number, text in enumerate(own_words)
    ]
