"""What the Haggle tab shows of a finished game: the card, limits, leaderboard, link."""

from collections.abc import Sequence
from urllib.parse import urlencode

from markupsafe import Markup

from env import Episode, Task, bonus, ear, market, rupees, shares
from panels.haggle import ending
from panels.haggle.conversation import chart_words, ending_of, with_extras
from panels.haggle.game_view import HTML, IN_ENGLISH, chart, extras_sold, limits, most_bonus, sells
from panels.haggle.opponents import BUY, SELL, about_script, chosen_opponent, opponent_name
from panels.haggle.words import ENGLISH, Translate
from panels.site.card import AGAINST, NO_DEAL, SEED, TASK, WON
from panels.ui.look import code, folded, note, short_seed, table, with_minus_signs
from panels.ui.offers import SMALL
from panels.ui.offers import ending as how_ended
from panels.ui.terms import term
from sauda.games.bazaar_columns import PLANNED
from sauda.language.lines import name_in
from sauda.sessions import bazaar, ladder, nerves
from sauda.sessions.bazaar import Game, Standing, hears_words
from sauda.sessions.review import informed_grade, is_recorded

LISTINGS = "classic/amazon_realistic"  # the one published task whose prices are drawn
ASK = "ask"  # of a finished game's address, beside those of its picture
MOST_LOST = -9.99  # a larger loss is told as this one
Step = tuple[str, str, str]  # a label, and the move or the address that it stands for


Board = Sequence[Standing]  # every player's result at the seed of a finished game


def board_of(game: Game) -> Board:
    """The visitor and every scripted policy at the same seed; nobody before the end.

    Nor against a model buyer, whose moves the model makes: no policy can replay such a game. A
    model seller only words moves that code makes.
    """
    return () if not game.over or is_recorded(game) else bazaar.standings(game)


def result(
    game: Game,
    translate: Translate = IN_ENGLISH,
    language: str = ENGLISH,
    board: Board | None = None,
) -> Markup:
    """After the end: limits, opponent and leaderboard. Before it: a note on what is hidden.

    `board` is the game's, where it is known already.
    """
    if not game.over:
        fixed = game.task_name.startswith("classic/") and game.task_name != LISTINGS
        return note(translate("hidden_limit") + (translate("hidden_same") if fixed else ""))
    board, played = board_of(game) if board is None else board, bazaar.as_episode(game)
    parts = []
    if played.final.table.deals > 1:
        parts.append(_deals_table(played, translate, language))
    if game.task_name in PLANNED:
        parts += [seller_line(played, translate), oracle_line(game.task, played, translate)]
    elif hears_words(game):
        parts.append(seller_line(played, translate))
    if sells(game):
        parts += map(_paragraph, _seller_sentences(game, translate))
    if game.undone:
        parts.append(_paragraph(translate("undone", count=game.undone)))
    if board:
        parts += [compare(board, translate), replay_note(game, board, translate)]
    return Markup("").join(parts)


def _paragraph(sentence: str) -> Markup:
    return Markup("<p>{}</p>").format(sentence)


def _seller_sentences(game: Game, translate: Translate) -> list[str]:
    """For a visitor who sold: the bonus, the best possible price, and who wrote the moves."""
    (_, limit), obs, past = limits(game), game.observation, game.play.state.table.past
    ask, price = obs.table.item.list_price, past[-1].price if past else None
    earned, most = (rupees(bonus(at, ask, obs.reservation)) for at in (price, ask))
    sentences = [translate("best_ask", price=rupees(limit))] if limit > obs.reservation else []
    if most_bonus(game) is not None:
        sentences.insert(0, translate("your_bonus", earned=earned, most=most))
    if sources := {move.source for move in game.model_moves}:
        sentences.append(translate("written_by", source=", ".join(sorted(sources))))
    elif game.opponent:
        sentences.append(translate("buyer_was", name=opponent_name(game.opponent, translate)))
    return sentences


def _deals_table(played: Episode, translate: Translate, language: str) -> Markup:
    """How each deal of a career ended."""
    past, won, say = played.final.table.past, shares(played.final, "buyer"), chart_words(translate)
    rows = [
        (f"{number} {name_in(language, instance.item.name)}", how_ended(deal, say), f"{share:.0%}")
        for number, (instance, deal, share) in enumerate(
            zip(played.final.private["nature"], past, won, strict=False), start=1
        )
    ]
    heads = [translate(key) for key in ("deals_deal", "deals_end", "board_share")]
    return table(heads, rows, align="llr", caption=translate("deals"))


def seller_line(played: Episode, translate: Translate = IN_ENGLISH) -> Markup:
    """The seller's type and hidden facts, what moves it, and whether the buyer said that."""
    stance = played.final.private["nature"][-1].seller["stance"]
    key, moves = market.KEYS[stance.type], played.final.table.moves
    acts = {ear.act_in(m.action.message)[0] for m in moves if m.agent == "buyer"}
    return HTML.seller(stance, key, key in acts, translate)


def oracle_line(task: Task, played: Episode, translate: Translate = IN_ENGLISH) -> Markup:
    """The expected grade of the best response to this seller."""
    return _paragraph(translate("oracle", grade=f"{informed_grade(task, played.seed):.0%}"))


def revealed(game: Game, translate: Translate) -> Markup:
    """What a finished game hid of its seller, what the words changed, and the best response."""
    played = bazaar.as_episode(game)
    parts = [seller_line(played, translate)]
    if effect := effect_of_words(game, translate):
        parts.append(_paragraph(effect))
    return Markup("").join([*parts, oracle_line(game.task, played, translate)])


# The leaderboard ----------------------------------------------------------------------------------


def compare(
    rows: Sequence[Standing], translate: Translate = IN_ENGLISH, caption: str = ""
) -> Markup:
    """Table of everybody's result at the same seed, the best by what time left of it first."""
    # Time takes nothing from a loss, of which the grade is a share of the list price.
    after = [row.share if row.share < 0 else row.grade for row in rows]
    costs = any(
        f"{row.share:z.0%}" != f"{left:z.0%}" for row, left in zip(rows, after, strict=True)
    )
    names = ("player", "share", *["after"] * costs, "price")
    heads = [translate(f"board_{name}") for name in names]
    you = Markup("<b>{}</b>").format(translate("board_you"))
    cells = []
    for row, left in zip(rows, after, strict=True):
        name = you if row.visitor else opponent_name(row.name, translate)
        if about := "" if row.visitor else about_script(row.name, translate) or row.name:
            name = term(name, about)  # how it plays, or its technical name, in a tooltip
        price = "–" if row.price is None else rupees(row.price)
        grade = f"{translate('board_grade')} {row.grade:.3f}"
        parts = (row.share, left) if costs else (left,)
        *share, last = (with_minus_signs(f"{part:z.0%}") for part in parts)
        cells.append((name, *share, term(last, grade), price))
    return table(heads, cells, caption=caption or translate("board"))


def tell_place(rows: Sequence[Standing], translate: Translate) -> str:
    """The visitor's place among `rows` in words, and that it is shared where it is."""
    number, shared = bazaar.rank(rows)
    place = translate("place_number", place=number, all=len(rows))
    return f"{place}, {translate('place_shared')}" if shared else place


def replay_note(game: Game, rows: Sequence[Standing], translate: Translate = IN_ENGLISH) -> Markup:
    """Which game was played, and the command that plays it again, folded."""
    name = next(row.name for row in rows if not row.visitor)
    against = f" --against {game.opponent}" if game.opponent else ""
    command = (
        f"python -m sauda play --task {game.task_name} --policy {name}"
        f" --seed {game.play.seed}{against}"
    )
    played = translate("board_played", seed=short_seed(game.play.seed))
    return note(played) + folded(translate("board_again"), code(command))


# The card -----------------------------------------------------------------------------------------


def card(
    game: Game,
    translate: Translate = IN_ENGLISH,
    language: str = ENGLISH,
    press: Markup | str = "",
    place: str = "",
    address: str = "",
    after_time: bool = False,
) -> Markup:
    """Who took how much, what may come next, how it came about; empty before the end.

    `press` holds the buttons, `place` is told in a sentence, and `address` opens the game again.
    """
    if not game.over:
        return Markup("")
    split = describe_split(game, translate) if game.play.state.table.deals == 1 else ""
    return HTML.card(
        ending.show(game, translate, language, after_time), press, _headline(game, translate),
        split, place, _reveal(game, translate), address, translate,
    )  # fmt: skip


def describe_place(game: Game, board: Board, translate: Translate) -> str:
    """The visitor's place on the seed of a finished game in a sentence, or why there is none."""
    if not board:
        return translate("no_rank")
    if all(row.share <= 0 for row in board):  # nobody is first of those who all have nothing
        return ""
    return translate("place_here", place=tell_place(board, translate))


def describe_split(game: Game, translate: Translate = IN_ENGLISH) -> str:
    """Why the seller left, if it did, and both limits, in sentences."""
    past, (seller, buyer) = game.play.state.table.past, limits(game)
    sold = rupees(round(seller, 2)) + with_extras(extras_sold(game), translate)
    span = translate("limits", seller=sold, buyer=rupees(buyer))
    if costs := game.play.state.private["nature"][-1].seller.get("costs"):
        worth = game.observation.own["values"]
        each = [f"{translate(f'extra_{extra}')} {rupees(cost)} ({rupees(worth[extra])})"
                for extra, cost in costs.items()]  # fmt: skip
        span = f"{span} {translate('extras_cost', extras=', '.join(each))}"
    deal = past[-1] if past else None
    if walk := nerves.last_walk(game):
        reason, risk = walk
        why = translate(f"left_{reason}", risk=f"{100 * risk:.0f}")
        luck = translate("left_luck" if nerves.was_unlucky(game) else "left_warned")
        span = f"{luck} {why} {span}" if buyer > seller else f"{why} {span}"
    if buyer <= seller and (deal is None or deal.price is None):
        return f"{span} {translate('no_zopa')}"
    return span


def _headline(game: Game, translate: Translate) -> str:
    """How the game ended, in a few words."""
    table = game.play.state.table
    agreed = [deal for deal in table.past if deal.price is not None and deal.buyer == "buyer"]
    if table.deals > 1:
        return translate("card_deals", made=len(agreed), all=table.deals)
    if agreed:
        price = rupees(agreed[-1].price) + with_extras(agreed[-1].extras, translate)
        return translate("card_sold" if sells(game) else "card_bought", price=price)
    return translate("card_no_deal", how=ending_of(game, translate))


def _reveal(game: Game, translate: Translate) -> str:
    """Who the opponent of a finished game was; empty for the one seller of a classic market."""
    if game.opponent:
        return opponent_name(game.opponent, translate)
    if game.play.state.table.standing:
        deal = game.play.state.private["nature"][-1]
        stance = (deal.buyer if sells(game) else deal.seller)["stance"]
        return translate(f"style_{stance.type}")
    return ""


def to_query(game: Game) -> str:
    """The query string that opens the page at the setup of a finished game, with its "?"."""
    if not game.over:
        raise ValueError("a link would tell the seed of a game that still runs")
    ask = first_ask(game) if bazaar.hears_words(game) else None
    address = address_of(game.task_name, game.play.seed, chosen_opponent(game), ask)
    return f"{address}&{WON}={won_in_link(game)}"


def won_in_link(game: Game) -> str:
    """What the visitor won in a finished game as an address tells it: percent, or NO_DEAL."""
    if not ending.has_deal(game):
        return NO_DEAL
    return f"{round(100 * min(1.0, max(MOST_LOST, ending.standing_of(game).share)))}"


def picture_of(game: Game) -> str:
    """The address of the picture of a finished game."""
    values = {TASK: game.task_name, SEED: game.play.seed, WON: won_in_link(game)}
    return f"card.png?{urlencode(values | {AGAINST: chosen_opponent(game)}, safe='/')}"


def address_of(task_name: str, seed: int, opponent: str, ask: int | None) -> str:
    """The query string of a game's setup; an `ask` is the opening by which it is known again."""
    setup = {TASK: task_name, SEED: seed, AGAINST: opponent} | ({ASK: ask} if ask else {})
    return "?" + urlencode({"tab": "haggle", **setup}, safe="/")


def steps_on(game: Game, translate: Translate, language: str) -> list[Step]:
    """What may come next, best first: another game in either seat, or the ladder's next level."""
    level = ladder.level_of(game)
    if level is None:
        other = BUY if sells(game) else SELL
        return [(translate("new"), "begin", ""), (translate(other), f"seat:{other}", "")]
    steps = [(translate("ladder_again"), f"level:{level.number}", "")]
    if ladder.stars(game) and level.number < len(ladder.LEVELS):
        name = ladder.LEVELS[level.number].text("name", language)
        steps.insert(0, (translate("ladder_next", name=name), f"level:{level.number + 1}", ""))
    return [*steps, (translate("ladder_back"), "", "?tab=haggle&part=ladder")]


def first_ask(game: Game) -> int:
    """The seller's opening ask, in rupees, by which a game of the open market is known again."""
    return int(game.play.state.table.asks[0])


# How it ended -------------------------------------------------------------------------------------


def effect_of_words(game: Game, translate: Translate) -> str:
    """What the visitor's words changed: how the finished game ends without them, in a sentence.

    Empty where no words were said or where words do not count.
    """
    actions = [game.play.turns[number].action for number in bazaar.moves_of(game)]
    if not (game.over and hears_words(game) and any(action.message for action in actions)):
        return ""
    silent = bazaar.without_words(game)
    if silent.play.state.table.past == game.play.state.table.past:
        how = translate("effect_same")
    elif silent.over:
        how = translate("effect_end", how=ending_of(silent, translate))
    else:
        how = translate("effect_open", price=rupees(silent.observation.ask))
    return f"{translate('effect')} {how}"


def compared_games(first: Game, now: Game, translate: Translate) -> Markup:
    """The first game beside the branch that started from an earlier move."""
    pair = (("whatif_first", first), ("whatif_now", now))
    return HTML.games(
        [(translate(key), chart(game, SMALL, translate), _outcome(game, translate))
         for key, game in pair]
    )  # fmt: skip


def _outcome(game: Game, translate: Translate) -> str:
    """How a game ended in one line, or that it still runs."""
    if not game.over:
        return how_ended(None, chart_words(translate))
    return f"{ending_of(game, translate)}; {with_minus_signs(share_won(game, translate))}"


def share_won(game: Game, translate: Translate) -> str:
    """The share of what could be won that a finished game brought its player."""
    return translate("of_winnable", share=f"{ending.standing_of(game).share:.0%}")
