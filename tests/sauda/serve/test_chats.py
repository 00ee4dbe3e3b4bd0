"""Entries that a language model plays by prompts and replies."""

import pytest

from env import TASKS, rollout
from sauda.games import game_of
from sauda.games.adapter import Reply
from sauda.llm.turn import LLMPolicy, PromptSeat
from sauda.serve.chats import TRIES, Turn, play_reply, take_turn, typical_entry
from sauda.serve.game import WORST, start
from sauda.serve.leaderboard import RANKED, entry_faults, record_of, rules_of
from tests.support.entries import OPEN, entered

REPLIES = {"bazaar": 'My move is {"offer": 45}, I think.', "arena": '{"wait": true}'}
NO_MOVE = "I would rather talk about the weather."


def play(token: str, reply: str) -> list[Turn]:
    """All turns of an entry whose model answers every prompt alike."""
    turns = [take_turn(token)]
    while turns[-1].messages:
        turns.append(take_turn(token, turns[-1].game, turns[-1].step, reply))
    return turns


@pytest.mark.parametrize("task_name", RANKED)
def test_an_entry_has_the_grades_of_the_same_model_in_an_evaluation(board, task_name):
    task, game = TASKS[task_name], game_of(task_name)
    reply = REPLIES[game.name]
    if task.learner == "seller":
        reply = reply.replace("45", "110")
    ticket = entered(board, task=task_name, games=2)
    turns = play(ticket.token, reply)
    (entry,) = board.entries(task_name, rules_of(task_name))
    seat = PromptSeat(game.prompt)
    player = LLMPolicy(seat, lambda messages, seed, schema: Reply(reply, "test"))
    seeds = [stored.seed for stored in board.games(entry)]
    episodes = [rollout(task, player, seed) for seed in seeds]
    assert [str(episode.end) for episode in episodes] == list(entry.ends)
    grades = [WORST if e.end == "forfeit" else task.grade(e.final) for e in episodes]
    assert list(entry.grades) == grades
    assert [turn.grade for turn in turns if turn.end] == grades
    first = start(task_name, seeds[0], "", 0.0).observation
    assert list(turns[0].messages) == game.prompt.render(first)
    assert list(entry_faults(record_of(board, entry))) == []


@pytest.mark.parametrize("task_name", [OPEN, "arena/market_round"])
def test_replies_without_a_move_change_nothing_and_too_many_in_a_row_lose_the_game(
    board, task_name
):
    ticket = entered(board, task=task_name, games=1)
    legal = REPLIES[game_of(task_name).name]
    first = take_turn(ticket.token)
    turn = first
    for _ in range(TRIES - 1):
        turn = take_turn(ticket.token, 1, turn.step, NO_MOVE)
        assert turn.error
        assert turn.messages == first.messages
    turn = take_turn(ticket.token, 1, turn.step, legal)
    assert (turn.error, turn.end) == ("", "")
    assert turn.messages != first.messages
    for _ in range(TRIES):
        turn = take_turn(ticket.token, 1, turn.step, NO_MOVE)
    assert (turn.end, turn.grade, turn.messages) == ("forfeit", WORST, ())
    (entry,) = board.entries(task_name, rules_of(task_name))
    assert list(entry_faults(record_of(board, entry))) == []
    with pytest.raises(ValueError, match="all 1 games of this entry are over"):
        take_turn(ticket.token)


def test_a_reply_that_is_sent_twice_counts_once(board):
    ticket = entered(board, games=2)
    first = take_turn(ticket.token)
    after = take_turn(ticket.token, first.game, first.step, REPLIES["bazaar"])
    again = take_turn(ticket.token, first.game, first.step, REPLIES["bazaar"])
    assert again == take_turn(ticket.token)
    assert (again.game, again.step, again.messages) == (after.game, after.step, after.messages)


def test_a_move_that_the_rules_refuse_is_no_move():
    game = start(OPEN, 7, "", 0.0)
    purse = game.observation.own["purse"] / game.observation.table.item.list_price
    after, row = play_reply(game, f'{{"offer": {int(100 * purse) + 5}}}')
    assert row["price"] > game.observation.own["purse"]  # what was tried is stored
    assert (after.play, after.refusals) == (game.play, 1)
    assert after.error


def test_the_length_of_an_entry_is_that_of_a_script_s_games():
    typical = typical_entry("bazaar/people")
    assert 50 <= typical.calls <= 50 * 6
    assert typical.read > 200 * typical.calls
    assert 0 < typical.written < typical.read
