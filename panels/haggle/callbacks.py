"""What the Haggle tab does on each event: choices, moves, a model's replies, review, stages.

A callback takes the tab's `Screen` and a `Visit`, and returns new values by component. A component
that it leaves out keeps its value. What takes more than a moment runs in a thread, since all
visitors share the event loop. Gradio empties the outputs of a generator that yields nothing, and
sends what was yielded last once more.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import gradio as gr
from markupsafe import Markup

from env import IllegalAction, rollout
from panels.haggle import opponents
from panels.haggle.conversation import SILENT, converse
from panels.haggle.game_view import HTML, bubbles, open_moves, sells
from panels.haggle.result import board_of
from panels.haggle.review import answer_of, is_reviewed, review_pending, show_review
from panels.haggle.screen import Request, Screen, Updates, Visit
from panels.haggle.words import Translate, Trouble, translate_error
from panels.transcripts.episodes import wait_until_loaded, within
from panels.ui.look import note, trouble
from sauda.games import game_of
from sauda.language.lines import ENGLISH
from sauda.language.phrases import language_of
from sauda.llm.server import Loading, ModelWorker, Ready, Waiting
from sauda.llm.types import Reply, ReplyError
from sauda.players import player_spec
from sauda.sessions import bazaar, ladder
from sauda.sessions.bazaar import Game, Standing
from sauda.sessions.review import review

QUOTED = 160  # characters of a reply without a legal move

# Choices ------------------------------------------------------------------------------------------


def begin(screen: Screen, visit: Visit, also: Updates | None = None) -> Updates:
    """A new game as chosen, with what `also` changes; nothing where a later choice came first.

    A choice that cannot be leaves the former game on show.
    """
    generation = visit.generation
    choice = generation.choose()
    generation.place = visit.seat, visit.market
    try:
        ready = screen.is_ready(visit.opponent, visit.backend)
        game = opponents.new_game(visit.seat, visit.market, visit.opponent, ready)
        updates = screen.show(replace(visit, game=game, first_game=None, talk=SILENT))
    except ValueError as error:
        generation.place = None
        return screen.problem(error, visit)
    return updates | (also or {}) if generation.settles(choice) else screen.unchanged


def take_seat(screen: Screen, visit: Visit) -> Updates:
    """A new game in the seat and market, against the first opponent there, whose pickers follow.

    Nothing where they are chosen already: a list tells its value again as it closes.
    """
    market, opponent = opponents.choose_offered(visit.seat, visit.market, "")
    if visit.generation.place == (visit.seat, market):
        return screen.unchanged
    chosen = replace(visit, market=market, opponent=opponent)
    return begin(screen, chosen, _pickers(screen, chosen))


def change_seat(screen: Screen, seat: str, visit: Visit) -> Updates:
    """A new game in a seat that its button names; `show_place` tells the pickers."""
    market, opponent = opponents.choose_offered(seat, visit.market, "")
    chosen = replace(visit, seat=seat, market=market, opponent=opponent)
    picker = screen.page.opponent
    return begin(screen, chosen, {picker: _pickers(screen, chosen)[picker]})


def change_opponent(screen: Screen, visit: Visit) -> Updates:
    """The same item and seed from the start, against another opponent; nothing for the same one."""
    now = visit.game
    is_here = now and opponents.leads_to(visit.seat, visit.market, now)
    is_same = is_here and visit.opponent == opponents.chosen_opponent(now)  # as a list closes
    return screen.unchanged if is_same else replay_item(screen, visit)


def replay_item(screen: Screen, visit: Visit) -> Updates:
    """The same item and seed from the start, against any opponent; nothing where none is picked.

    Where the game of another seat or market is still on its way, a new game there instead.
    """
    now, picker = visit.game, {screen.page.opponent: gr.update(value=visit.opponent)}
    if not visit.opponent:  # the line that asks for a choice
        return screen.unchanged
    if now and not opponents.leads_to(visit.seat, visit.market, now):
        return begin(screen, visit, picker)
    if now and not bazaar.moves_of(now) and visit.opponent == opponents.chosen_opponent(now):
        return screen.unchanged  # a picker may tell of one choice twice
    choice = visit.generation.choose()
    try:
        game = visit.kept_game
        ready = screen.is_ready(visit.opponent, visit.backend)
        again = opponents.game_at(game.task_name, game.play.seed, visit.opponent, ready)
    except ValueError as error:
        return screen.problem(error, visit)
    updates = screen.show(replace(visit, game=again, first_game=None, talk=SILENT)) | picker
    if game.play.turns:  # something was begun that begins again
        updates |= screen.remark(note(visit.translate("same_item")), updates[screen.page.visit])
    return updates if visit.generation.settles(choice) else screen.unchanged


def play_level(screen: Screen, number: int | None, visit: Visit) -> Updates:
    """The game of a level of the ladder, which `show_place` tells the pickers."""
    if number not in range(1, len(ladder.LEVELS) + 1):
        return screen.problem(Trouble("bad_choice"), visit)
    level, choice = ladder.LEVELS[number - 1], visit.generation.choose()
    game = opponents.game_at(level.task, level.seed, opponents.HIDDEN)
    seat, market = visit.generation.place = opponents.seat_and_market(level.task)
    apart = {"seat": seat, "market": market, "opponent": opponents.HIDDEN}
    visit = replace(visit, game=game, first_game=None, talk=SILENT, **apart)
    updates, opponent = screen.show(visit), screen.page.opponent
    updates[opponent] = _pickers(screen, visit)[opponent]
    return updates if visit.generation.settles(choice) else screen.unchanged


def show_place(screen: Screen, visit: Visit) -> Updates:
    """The pickers of seat and market, as the game that the session keeps has them."""
    market = screen.page.market
    return {screen.page.seat: visit.seat, market: _pickers(screen, visit)[market]}


def _pickers(screen: Screen, visit: Visit) -> Updates:
    """The pickers of market and opponent; what they do not offer gives way to their first choice.

    A value may come from the choices of another seat, or from a stranger's call.
    """
    page, translate, seat = screen.page, visit.translate, visit.seat
    market, opponent = opponents.choose_offered(seat, visit.market, visit.opponent)
    offered = opponents.opponent_choices(seat, market, visit.language)
    return {
        page.market: gr.Dropdown(
            opponents.market_choices(seat, visit.language),
            value=market,
            label=translate("ware" if seat == opponents.SELL else "market"),
        ),
        page.opponent: gr.Dropdown(
            offered,
            value=opponent,
            label=translate("buyer" if seat == opponents.SELL else "seller"),
            visible=len(offered) > 1,
        ),
    }


def change_language(screen: Screen, visit: Visit, is_open: bool = True) -> Updates:
    """The words of every component in the visit's language; the game stays as it is.

    The fold of the pickers `is_open`: the visitor has just chosen in it, and may choose more.
    """
    page, translate = screen.page, visit.translate
    return {
        page.head: HTML.head(translate, is_open),
        page.language: gr.Radio(label=translate("language")),
        page.seat: gr.Radio(opponents.seat_choices(translate), label=translate("seat")),
        **_pickers(screen, visit),
        page.new_game: translate("new"),
        page.message: gr.Textbox(label=translate("price"), placeholder=translate("placeholder")),
        page.send: translate("send"),
        page.details: gr.Accordion(label=translate("raw")),
        page.backend: gr.Radio(label=translate("backend")),
    }


# Moves --------------------------------------------------------------------------------------------


def send(screen: Screen, visit: Visit, text: str) -> Updates:
    """The move in the visitor's `text`, or the answer to it where it makes none.

    Text stays in the box while the other side thinks, and where it cannot be answered or kept.
    Where the model gave no reply, a move takes the place of the unanswered one, and talk asks it
    again.
    """
    page = screen.page
    try:
        game = visit.open_game
        if visit.reply_request is None and game.waiting:  # it is to open, and has yet to reply
            return screen.show(visit)
        if game.waiting or not (text or "").strip():
            key = "kept_words" if game.waiting else "say_price"
            return screen.remark(note(visit.translate(key)), visit)
        if game.over and (sentence := screen.after_the_end(visit)):
            return screen.remark(note(sentence), visit)
        turns = len(visit.game.play.turns)
        moved, talk = converse(game, visit.talk, text)
        if moved.play is game.play and moved.unconfirmed is None:  # talk, and no move
            moved, talk = replace(visit.game, unconfirmed=None), talk.last_at(turns)
        after = replace(visit, game=moved, talk=talk)
    except IllegalAction as error:
        if visit.game is None:
            return screen.problem(error, visit)
        cleared = replace(visit, game=replace(visit.game, unconfirmed=None))
        return screen.problem(error, cleared) | {page.visit: cleared}
    updates = screen.show_move(visit, after)
    return updates | ({page.message: ""} if page.visit in updates else {})


def press_quick_move(screen: Screen, name: str, visit: Visit) -> Updates:
    """The quick move called `name`, where it can still be made."""
    try:
        game = visit.open_game
        moves = {} if game.over or game.waiting else open_moves(game)
        if name not in moves:
            raise Trouble("old_button")
        after = bazaar.propose(game, moves[name][1])
    except IllegalAction as error:
        return screen.problem(error, visit)
    return screen.show_move(visit, replace(visit, game=after))


def take_back(screen: Screen, visit: Visit) -> Updates:
    """The game before the visitor's last move."""
    visit.generation.advance()
    try:
        moves = bazaar.moves_of(visit.kept_game)
        if not moves:
            raise Trouble("nothing_to_undo")
        return _show_earlier(screen, visit, len(moves) - 1)
    except IllegalAction as error:
        return screen.problem(error, visit)


def go_back(screen: Screen, number: object, visit: Visit) -> Updates:
    """The game before its move `number`, counted from 0, as a branch beside the first one."""
    visit.generation.advance()
    try:
        first = visit.first_game or visit.kept_game
        if not isinstance(number, int):
            raise Trouble("pick_move")
        return _show_earlier(screen, replace(visit, first_game=first), number)
    except IllegalAction as error:
        return screen.problem(error, visit)


def _show_earlier(screen: Screen, visit: Visit, number: int) -> Updates:
    """The game before its move `number`; IllegalAction if there is none."""
    earlier = bazaar.back(visit.game, number)
    talk = visit.talk.back_to(len(earlier.play.turns))
    return screen.show(replace(visit, game=earlier, talk=talk))


# The model's move ---------------------------------------------------------------------------------


async def stream_reply(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The language model's move while it is written, then the game after it.

    Changes nothing where none is requested. A reply without a legal move is asked for again, up
    to the model's limit; then the model forfeits.
    """
    generation = visit.generation
    # The last piece of a stream that was cut may come after the answer that cut it.
    yield _typing(screen, visit) if visit.game and generation.mend() else screen.unchanged
    if visit.reply_request is None or not visit.reply_request.claim():
        return
    page, game, problem = screen.page, visit.game, ""
    current = generation.begin_stream()
    while game.waiting and not problem:
        now = replace(visit, game=game)
        thinking = visit.translate("thinking", name=visit.model_name)
        yield _typing(screen, now, thinking) | {page.moves: screen.moves(visit)}
        try:
            async with aclosing(_pieces(screen, now)) as pieces:
                async for text, piece in pieces:
                    if generation.number != current:
                        yield screen.unchanged
                        return
                    reply = piece
                    yield _typing(screen, now, text)
            game = await asyncio.to_thread(bazaar.after_reply, game, reply)
        except ReplyError as error:
            why = trouble(translate_error(error, visit.language))
            problem = why + _way_on(game, visit.translate)
            break
        if game.out_of_tries:
            game, wrote = bazaar.forfeit(game), game.invalid_replies[-1][:QUOTED]
            problem = note(visit.translate("no_move", name=visit.model_name, wrote=wrote))
    shown = await asyncio.to_thread(screen.show, replace(visit, game=game), problem)
    yield shown if generation.end_stream(current) else screen.unchanged


def _typing(screen: Screen, visit: Visit, *texts: str) -> Updates:
    """The chat as it is, with messages of the other side that are still being written."""
    written = [{"role": "assistant", "content": text} for text in texts]
    return {screen.page.chat: bubbles([*visit.chat.messages, *written])}


async def _pieces(screen: Screen, visit: Visit) -> AsyncIterator[tuple[str, Reply | Waiting]]:
    """What the model streams for its move, each piece with its text for the chat.

    Where the chat will tell the move in its own language, words in another one do not show.
    """
    game, thinking = visit.game, visit.translate("thinking", name=visit.model_name)
    as_written = game.play.state.table.version > 0
    question = await asyncio.to_thread(bazaar.request, game)
    obs = game.model_observation
    model = screen.model_facing(visit).for_visitor(visit.visitor, guesses=True)
    async for piece in model.stream_async(question.messages, question.seed, question.schema):
        if isinstance(piece, Waiting):
            yield visit.translate("line", name=visit.model_name, **piece._asdict()), piece
        else:
            words = game.model_seat.preview(piece.text, obs)
            whole = words.rpartition(" ")[0]  # the last word still grows
            shows = as_written or (whole and (language_of(whole) or ENGLISH) == visit.chat.language)
            yield (words if words and shows else thinking), piece


def stop(screen: Screen, visit: Visit) -> Updates:
    """The game without the reply that was being written."""
    visit.generation.advance()
    if visit.game is None or not visit.game.waiting:
        return screen.unchanged
    stopped = note(visit.translate("stopped"))
    return screen.show(visit, stopped + _way_on(visit.game, visit.translate))


def _way_on(game: Game, translate: Translate) -> str:
    """What a visitor may do whose last move has no answer; empty where there is no such move."""
    return "" if bazaar.before_unanswered(game) is game else note(translate("unanswered"))


def show_again(screen: Screen, visit: Visit) -> Updates:
    """The game as it is; a language model that is to move is asked again."""
    return screen.show(visit) if visit.game else screen.unchanged


def play_stand_in(screen: Screen, visit: Visit) -> Updates:
    """The game from where it stands, a script in the place of the language model.

    A script that sells is of the same type as the model.
    """
    visit.generation.advance()
    try:
        game = visit.kept_game
        script = opponents.STAND_IN if sells(game) else opponents.persona_of(game.opponent)
        played = bazaar.play_on(game, script)
    except IllegalAction as error:
        return screen.problem(error, visit)
    why = note(visit.translate("stand_in_why", name=visit.model_name))
    return screen.show(replace(visit, game=played), why)


# Whether the models reply -------------------------------------------------------------------------


def tick(screen: Screen, visit: Visit) -> Updates:
    """The load status; a model that has loaded before the first move takes its seat.

    The clock stops once nothing is loading. Where the visitor has moved or has chosen another game
    meanwhile, the next tick looks at that.
    """
    page, game, current = screen.page, visit.game, visit.generation.number
    is_loading = any(isinstance(model.stage, Loading) for model in _models(screen, visit))
    status = {page.model: screen.model(visit), page.clock: gr.Timer(active=is_loading)}
    if game is None:
        return status
    is_ready = isinstance(screen.model_facing(visit).stage, Ready)
    if visit.seat_request is None or not is_ready:
        return status | {page.brief: screen.brief(visit)}
    begun = bazaar.start(game.task_name, game.stands_in_for, game.play.seed)
    game = replace(begun, hidden=game.hidden)
    shown = screen.show(replace(visit, game=game, talk=visit.talk.back_to(0)))
    visit.generation.seated = shown[page.visit]
    is_free = visit.generation.number == current and visit.seat_request.claim()
    return status | (shown if is_free else {page.clock: gr.Timer(active=True)})


def check_health(screen: Screen, visit: Visit) -> Updates:
    """Load the models that failed once more."""
    for model in _models(screen, visit):
        model.start(again=True)
    shown = {screen.page.model: screen.model(visit)}
    return shown | ({screen.page.brief: screen.brief(visit)} if visit.game else {})


def _models(screen: Screen, visit: Visit) -> list[ModelWorker]:
    """The language models that buy, and the one across from the visitor."""
    across = [screen.model_facing(visit)] if visit.game else []
    return [*screen.models["buyer"].values(), *across]


# After the end ------------------------------------------------------------------------------------


async def stream_review(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The review of a finished game, worked out beside the page's event loop; empty before.

    Changes nothing where it was made already, or once the visitor has gone on to another game.
    """
    shown, request, current = screen.page.review, visit.review_request, visit.generation.number
    if request is None or not request.claim():
        yield {shown: gr.skip() if _is_reviewed(visit) else ""}
        return
    yield {shown: review_pending(visit.translate)}
    reviewed = await asyncio.to_thread(review, visit.game)
    visit.generation.reviewed = reviewed
    is_current = visit.generation.number == current
    yield {
        shown: show_review(reviewed, visit.translate, visit.language) if is_current else gr.skip()
    }


def ask_of_move(
    screen: Screen, number: int | None, visit: Visit, choice: int | None = None, text: str = ""
) -> Updates:
    """The review's question about an own move; the answer to a `choice` of it or a typed price."""
    reviewed, answer, problem = visit.generation.reviewed, None, None
    if (
        reviewed is None
        or reviewed.game is not visit.game
        or number not in range(len(reviewed.moves))
    ):
        return screen.unchanged
    choices = reviewed.moves[number].choices
    try:
        if choice in range(len(choices)):
            answer = choices[choice]
        elif text:
            answer = answer_of(reviewed, number, text)
    except IllegalAction as error:
        problem = translate_error(error, visit.language)
    shown = show_review(reviewed, visit.translate, visit.language, number, answer, problem)
    return {screen.page.review: shown}


async def review_former(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The review of the game that the page opened with, which asks for none as its card is drawn.

    What comes while the tab is being drawn may be lost in the browser, so this comes later.
    """
    asked = replace(visit, review_request=Request()) if _is_reviewed(visit) else visit
    async with aclosing(stream_review(screen, asked)) as reviews:
        async for updates in reviews:
            yield updates


def _is_reviewed(visit: Visit) -> bool:
    return visit.game is not None and is_reviewed(visit.game)


async def ask_stages(screen: Screen, visit: Visit) -> AsyncIterator[Updates]:
    """The card and the leaderboard after each stage has played the seed of the finished game.

    Ends once the visitor has gone on to another game.
    """
    page, game, current = screen.page, visit.game, visit.generation.number
    if game is None or not game.over:
        yield {page.side: gr.skip()}
        return
    stages, board = opponents.bare_stages(game.task_name), await asyncio.to_thread(board_of, game)
    fault = ""  # of the last stage that could not play

    def show(remark: Markup) -> Updates:
        return {
            page.after: screen.after(visit, board),
            page.side: screen.side(visit, board, remark),
        }

    for done, stage in enumerate(stages):
        name = opponents.stage_name(stage, visit.translate)
        yield show(note(visit.translate("board_asking", name=name, done=done, all=len(stages))))
        model = screen.by_name(opponents.weights_of(stage)).for_visitor(visit.visitor)
        try:
            standing = await asyncio.to_thread(_play_stage, game, stage, model)
            board = bazaar.rank_standings([*board, standing])
        except ReplyError as error:
            fault = f"{name}: {translate_error(error, visit.language)}"
        if visit.generation.number != current:
            yield {page.side: gr.skip()}
            return
    stopped = visit.translate("board_stopped", reason=fault)
    yield show(trouble(IllegalAction(stopped)) if fault else Markup(""))


def _play_stage(game: Game, stage: str, model: ModelWorker) -> Standing:
    """How a stage, bare, fares in the visitor's place at the seed of `game`.

    Waits for a model that loads. Raises ReplyError where it cannot reply in time.
    """
    player = replace(player_spec(stage), generate=wait_until_loaded(model))
    policy = within(player.policy(game_of(game.task)))
    return bazaar.stand(stage, game.task, rollout(game.task, policy, game.play.seed))
