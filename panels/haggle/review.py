"""The review of a finished game: its board move by move, a question about each move, the answer."""

from collections.abc import Iterator
from dataclasses import asdict, replace

from markupsafe import Markup

from env import IllegalAction, Offer, WalkAway, corpus, ear, rupees, zopa_width
from env.language.money import price as price_in
from panels.haggle.conversation import tell_move
from panels.haggle.game_view import HTML, chart, limits
from panels.haggle.opponents import model_name
from panels.haggle.words import ENGLISH, Translate, Trouble
from panels.ui.look import note, with_minus_signs
from panels.ui.offers import SMALL
from panels.ui.provenance import missing
from sauda.language.spoken import is_last
from sauda.policies.values import difficulty
from sauda.records.kinds import ArtifactError
from sauda.sessions import bazaar, nerves
from sauda.sessions.bazaar import Action, Game
from sauda.sessions.review import (
    LEAST_COST,
    Choice,
    Gap,
    OwnMove,
    Review,
    is_loss,
    is_planned,
    is_recorded,
)


def is_reviewed(game: Game) -> bool:
    """Whether `game` gets a review: it is over, and the visitor made a move in it."""
    return game.over and bool(bazaar.moves_of(game))


def review_pending(translate: Translate) -> Markup:
    """What stands in the place of the review until it is there."""
    return HTML.review_section(note(translate("review_wait")), translate)


def answer_of(review: Review, number: int, text: str) -> Choice:
    """What a typed price would have been worth in the place of an own move.

    Raises IllegalAction for what is no price, is beyond the own limit, or cannot be named there.
    """
    obs = review.moves[number].turn.observation
    try:
        extras = getattr(review.moves[number].turn.action, "extras", ())
        action = Offer(obs.priced(price_in(text)), extras=frozenset(extras))
    except ValueError as error:
        raise Trouble("say_price") from error
    if bazaar.is_too_late(obs):
        price, standing = rupees(action.price), rupees(obs.bid)
        raise Trouble("rule_late", price=price, standing=standing)
    if is_loss(obs, action):
        raise Trouble("review_beyond", limit=rupees(obs.reservation))
    return review.weigh(number, action)


def show_review(
    review: Review,
    translate: Translate,
    language: str = ENGLISH,
    number: int | None = None,
    answer: Choice | None = None,
    problem: IllegalAction | None = None,
) -> Markup:
    """The review at one move, by default the costliest, once the visitor has given an `answer`."""
    game, costly = review.game, review.costly
    if number is None:
        number = costly[0].number if costly else 0
    move = review.moves[number]
    rows = [
        (
            own_move.number,
            tell_move(own_move.turn, translate),
            _kind(own_move, review),
            _points(-own_move.cost),
            own_move.is_gamble,
        )
        for own_move in review.moves
    ]
    later = [own_move.number for own_move in costly[costly.index(move) + 1 :]] if move.cost else []
    board = chart(bazaar.back(game, number), SMALL, translate)
    question = HTML.review_question(
        number, rows[number][1], board, _choices(move, answer, translate, language),
        [*_reply(review, move, answer, bool(later), translate, language)], problem,
        later[:1], translate,
    )  # fmt: skip
    judged = translate("review_judged") if is_planned(game) else ""
    verdict, notes = _verdict(review, translate, language), _notes(review, translate, language)
    return HTML.review_section(
        HTML.review(judged, verdict, rows, number, question, notes, translate), translate
    )


def _points(grade: float) -> str:
    return with_minus_signs(f"{100 * grade:.0f}")


def _kind(move: OwnMove, review: Review) -> str:
    """The class of a move; that of bad luck where the other side left against the odds."""
    unlucky = move.cost and move is review.moves[-1] and nerves.was_unlucky(review.game)
    return "unlucky" if unlucky else move.kind


def _choices(
    move: OwnMove, answer: Choice | None, translate: Translate, language: str
) -> list[tuple[str, str, bool, bool]]:
    """What can be chosen instead, its worth once answered, whether it was chosen, and is best."""
    choices = [*move.choices]
    if answer is not None and answer not in choices:
        choices.append(answer)
    return [
        (
            _tell(choice.action, move, translate, language),
            "" if answer is None else _worth(choice, move, translate),
            choice is answer,
            choice is move.better,
        )
        for choice in choices
    ]


def _worth(choice: Choice, move: OwnMove, translate: Translate) -> str:
    """What a choice is worth; of leaving, where a planner weighed it, in which games."""
    is_leaving = move.reasons is not None and isinstance(choice.action, WalkAway)
    key = "review_points_walk" if is_leaving and choice.grade > 0 else "review_points"
    return translate(key, points=_points(choice.grade))


def _tell(action: Action, move: OwnMove, translate: Translate, language: str) -> str:
    """A move in the place of an own one, with its words."""
    obs = move.turn.observation
    phrase = tell_move(replace(move.turn, action=action), translate)
    if not isinstance(action, Offer) or not action.message:
        return phrase
    words, (act, named) = action.message, ear.act_in(action.message)
    if act and obs.agent != "seller":
        words = corpus.buyer_line(act, named, 0.0, language, obs.table.item)
    return f"{phrase} “{words}”"


def _reply(
    review: Review,
    move: OwnMove,
    answer: Choice | None,
    goes_on: bool,
    translate: Translate,
    language: str,
) -> Iterator[str]:
    """Lines on how good the answer was, what was best and why; none before there is one.

    Where no move was better, what could be known of one that ended the game without a deal.
    """
    phrase = tell_move(move.turn, translate)
    if answer is None:
        if not move.choices:
            yield from _no_deal(review.game, move, translate)
        return
    best = move.better or answer
    key = "right" if answer.grade >= best.grade else "worse"
    if key == "worse" and answer.grade > move.grade:
        key = "closer"
    played = translate("review_own", said=phrase, points=_points(move.grade))
    yield f"{translate(f'review_{key}')} {played}"
    yield _advice(best, move, translate, language)
    yield from _reasons(move, best, phrase, translate, language)
    yield from _no_deal(review.game, move, translate)
    if not goes_on:
        yield translate("review_done")


def _reasons(
    move: OwnMove, best: Choice, phrase: str, translate: Translate, language: str
) -> Iterator[str]:
    """Why a planner has another move for better: what follows each at once, and what words add."""
    reasons, obs = move.reasons, move.turn.observation
    if reasons is None or not move.cost:
        return
    if move.is_taken:
        yield translate("review_gamble" if move.is_gamble else "review_gave")
    key = "review_after_last" if obs.agent == "buyer" and is_last(obs.table) else "review_after"
    better = tell_move(replace(move.turn, action=best.action), translate)
    if better == phrase:
        better = _tell(best.action, move, translate, language)
    for named, after in ((phrase, reasons.after), (better, reasons.after_best)):
        if after is not None:
            chances = {"takes": _points(after.takes), "leaves": _points(after.leaves)}
            yield translate(key, move=named, **chances)
    after, best_after = reasons.after, reasons.after_best
    if after and after.is_small and not (best_after and best_after.is_small):
        yield translate("review_small")
    silent = replace(best.action, message="")
    without = next((each for each in move.others if each.action == silent), best)
    if best.grade - without.grade >= LEAST_COST:
        yield translate("review_words", points=_points(best.grade - without.grade))


def _no_deal(game: Game, move: OwnMove, translate: Translate) -> Iterator[str]:
    """How often no price suits both sides where that made leaving, or a late price, worth much."""
    actions = [move.turn.action, *(choice.action for choice in move.others[:1])]
    is_late = bazaar.is_too_late(move.turn.observation) and isinstance(actions[0], Offer)
    is_leaving = any(isinstance(action, WalkAway) for action in actions)
    if move.reasons is None or not (is_late or is_leaving):
        return
    line = translate("review_no_deal", none=_points(move.reasons.no_deal))
    width = zopa_width(*limits(game)[::-1])
    yield f"{line} {translate('review_was_deal', width=rupees(width))}" if width else line


def _advice(best: Choice, move: OwnMove, translate: Translate, language: str) -> str:
    """What would have been better than an own move, and how it would have ended, if certain."""
    phrase, deal = _tell(best.action, move, translate, language), best.deal
    if deal is None or not isinstance(best.action, Offer) or deal.price is None:
        return translate("review_best", move=phrase)
    if deal.price == best.action.price:
        return translate("review_at", price=phrase)
    return translate("review_later", first=phrase, price=rupees(deal.price))


def _verdict(review: Review, translate: Translate, language: str) -> str:
    """The move that cost most and a better one, or that none cost anything."""
    if not review.costly:
        return translate("review_none_planned" if is_planned(review.game) else "review_none")
    worst = review.costly[0]
    if _kind(worst, review) == "unlucky":
        return translate("left_luck")
    phrase, points = tell_move(worst.turn, translate), _points(worst.cost)
    return translate("review_cost", number=worst.number + 1, said=phrase, points=points)


def _notes(review: Review, translate: Translate, language: str) -> list[Markup | str]:
    """Where the points went, how the review was made, how hard the game was."""
    game, parts = review.game, []
    if review.gap and (gap := _gap(review, review.gap, translate)):
        parts.append(note(gap))
    name = model_name(game.opponent, translate) if is_recorded(game) else ""
    key = "planned" if is_planned(game) else "stood_in" if name else "searched"
    parts.append(note(translate(f"review_{key}", name=name)))
    if game.play.state.table.deals > 1:
        parts.append(note(translate("review_deals")))
    return [*parts, _difficulty(game, translate, language)] if review.gap else parts


def _gap(review: Review, gap: Gap, translate: Translate) -> str:
    """What the visitor missed in whole points, which add up to what is shown; "" for nothing."""
    grade = review.game.task.grade(review.game.play.state)
    points = {
        "made": round(100 * grade),
        "informed": round(100 * (grade + sum(asdict(gap).values()))),
        "control": round(100 * gap.control),
        "inference": round(100 * gap.inference),
    }
    points["every"] = points["informed"] - points["made"]
    points["unknown"] = points["every"] - points["control"] - points["inference"]
    if points["every"] <= 0:
        return ""
    shown = {name: with_minus_signs(f"{number}") for name, number in points.items()}
    loss = f" {translate('review_loss')}" if grade < 0 else ""
    return translate("review_gap", **shown) + loss


def _difficulty(game: Game, translate: Translate, language: str) -> Markup:
    """How hard the finished game was; in English also why. The reason where it is not measured."""
    try:
        place, why = difficulty(game.task, game.play.seed)
    except ArtifactError as error:
        return missing(error)
    sentence = translate("review_difficulty", place=place)
    return note(f"{sentence} {why[0].upper()}{why[1:]}." if language == ENGLISH else sentence)
