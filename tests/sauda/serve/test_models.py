"""Language models behind OpenAI's protocol, and those that play an entry by prompts and replies."""

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from env import TASKS, advance, begin, prompt_of, rollout
from sauda.games import game_of
from sauda.llm.backends import Endpoint, serve_in_threads
from sauda.llm.engine import Decoder, Sampling
from sauda.llm.model import Model
from sauda.llm.server import Begin, Broken, Failed, Load, Piece, Ready, ReplyService
from sauda.llm.turn import LLMPolicy, PromptSeat
from sauda.llm.types import Reply
from sauda.serve.chats import TRIES, Turn, play_reply, take_turn, typical_entry
from sauda.serve.game import WORST, start
from sauda.serve.leaderboard import RANKED, entry_faults, record_of, rules_of
from sauda.serve.models import MOST_BYTES, MOST_CHARACTERS, Chat, models_app
from tests.support.entries import OPEN, entered
from tests.support.models import tiny_network

ROUTE = "/v1/chat/completions"
ASKED = {"model": "toy", "messages": [{"role": "user", "content": "A kettle. Limit 60."}]}


class Instant:
    """An engine that replies at once, by the words of the last message; it keeps its orders."""

    def __init__(self, report) -> None:
        self.report, self.orders = report, []

    def send(self, order) -> None:
        self.orders.append(order)
        if isinstance(order, Load):
            no_weights = Failed(order.name, "no weights")
            self.report(no_weights if order.name == "lost" else Ready(order.name, "here", 0.0))
        elif isinstance(order, Begin):
            words = order.request.messages[-1]["content"]
            self.report(Piece(order.key, Reply("ab", "here", 1)))
            broken = Broken(order.key, "it broke")
            whole = Reply("abहै", "here", 2, "length" if words == "long" else "object", 7)
            self.report(broken if words == "break" else Piece(order.key, whole))


@pytest.fixture(scope="module")
def instant() -> Iterator[TestClient]:
    service = ReplyService(Instant)
    for name in ("toy", "lost"):
        service.start(name)
    with TestClient(models_app(service, ["toy", "lost"])) as client:
        client.service = service
        yield client


@pytest.fixture(scope="module")
def toy() -> Iterator[TestClient]:
    decoder = Decoder(*tiny_network(), Sampling(max_new_tokens=60))
    worker = serve_in_threads("toy", lambda: Model(decoder, "toy", "fp32", "made here", "0"))
    assert isinstance(worker.wait(), Ready)
    with TestClient(models_app(worker.service, ["toy"])) as client:
        yield client


def ask(client: TestClient, words: str = "60?", **options):
    messages = [{"role": "user", "content": words}]
    return client.post(ROUTE, json=ASKED | {"messages": messages} | options)


def events(text: str) -> list[dict]:
    """The events of a stream, which ends as OpenAI's do."""
    *lines, end = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert end == "[DONE]"
    return [json.loads(line) for line in lines]


def test_a_model_replies_whole_and_in_a_stream_with_the_same_text_and_usage(toy):
    for seed in range(3):
        drawn = {"seed": seed, "temperature": 1.0, "max_tokens": 20}
        whole = ask(toy, **drawn).json()
        *pieces, usage = events(
            ask(toy, stream=True, stream_options={"include_usage": True}, **drawn).text
        )
        (choice,) = whole["choices"]
        deltas = [piece["choices"][0]["delta"].get("content", "") for piece in pieces]
        assert "".join(deltas) == choice["message"]["content"]
        assert pieces[-1]["choices"][0]["finish_reason"] == choice["finish_reason"]
        assert len({row["id"] for row in (*pieces, usage)}) == 1
        assert usage["usage"] == whole["usage"]
        assert whole["usage"]["prompt_tokens"] > len("60?")  # a token a byte, and the template


def test_a_reply_under_a_games_schema_is_a_legal_move_of_it(toy):
    for name in ("bazaar/open-3", "arena/market_round"):
        task = TASKS[name]
        play = advance(task, task.opponents, begin(task, 50_000))
        obs = task.env.observe(play.state, task.learner)
        prompt = prompt_of(task)
        form = {"name": "move", "schema": prompt.schema(obs), "strict": True}
        asked = {"messages": prompt.render(obs), "max_tokens": 200}
        asked["response_format"] = {"type": "json_schema", "json_schema": form}
        reply = toy.post(ROUTE, json=ASKED | asked).json()
        task.env.step(play.state, prompt.parse(reply["choices"][0]["message"]["content"], obs))


def test_a_chat_is_sampled_as_it_asks_and_otherwise_as_the_recorded_games_were(instant):
    for options, temperature, median, tokens in (
        ({}, 0.0, True, 64),
        ({"temperature": 0, "seed": 5, "max_completion_tokens": 9}, 0.0, True, 9),
        ({"temperature": 0.7, "max_tokens": 9_999}, 0.7, False, 512),
    ):
        assert ask(instant, **options).status_code == 200
        *_, last = (o for o in instant.service.engine.orders if isinstance(o, Begin))
        sampling = last.request.sampling
        drawn = (sampling.temperature, sampling.median, sampling.max_new_tokens)
        assert drawn == (temperature, median, tokens)

        assert last.request.seed == options.get("seed", 0)
    assert ask(instant, "long").json()["choices"][0]["finish_reason"] == "length"


def test_our_own_client_reads_the_server(instant, monkeypatch):
    monkeypatch.setattr(
        "httpx.post", lambda url, json, headers, timeout: instant.post(url.path, json=json)
    )
    reply = Endpoint("http://127.0.0.1:8000/v1", "toy")(ASKED["messages"], 7, {"type": "object"})
    assert (reply.text, reply.tokens, reply.finish) == ("abहै", 2, "stop")


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"model": "gpt"}, 404, "the models of this server are toy, lost"),
        ({"model": "lost"}, 503, "lost cannot reply: no weights"),
        ({"messages": []}, 400, "messages: "),
        ({"messages": [{"role": "tool", "content": "x"}]}, 400, "messages.0.role: "),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "type: "),
        ({"messages": [{"role": "user", "content": "x" * MOST_CHARACTERS + "x"}]}, 400, "at most"),
        ({"seed": "7.5"}, 400, "seed: "),
        ({"temperature": 9}, 400, "temperature: "),
        ({"n": 2}, 400, "n: "),
        ({"tools": [{"type": "function"}]}, 400, "tools: "),
        ({"response_format": {"type": "json_schema"}}, 400, "in its field schema"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 7}}}},
            400,
            "no grammar comes of it",
        ),
        ({"messages": [{"role": "user", "content": "x" * MOST_BYTES}]}, 413, "128 KiB"),
        ({"messages": [{"role": "user", "content": "break"}]}, 502, "it broke"),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(instant, change, status, words):
    answer = instant.post(ROUTE, json=ASKED | change)
    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]


def test_options_that_ask_for_nothing_are_no_mistake(instant):
    nothing = {"stop": None, "tools": [], "presence_penalty": 0, "logprobs": False, "user": "me"}
    assert ask(instant, **nothing).status_code == 200


def test_a_reply_that_breaks_off_in_its_stream_says_so(instant):
    text = ask(instant, "break", stream=True).text
    last = json.loads(text.strip().split("data: ")[-1])
    assert "it broke" in last["error"]["message"]
    assert "[DONE]" not in text


def test_the_models_are_listed_and_any_page_may_ask(instant):
    answer = instant.get("/v1/models", headers={"Origin": "https://example.org"})
    assert [row["id"] for row in answer.json()["data"]] == ["toy", "lost"]
    assert answer.headers["access-control-allow-origin"] == "*"
    before = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST",
              "Access-Control-Request-Headers": "authorization,content-type"}  # fmt: skip
    assert instant.options(ROUTE, headers=before).status_code == 200


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.sampled_from([*Chat.model_fields, "tools", "stop"]), JSON)


@settings(deadline=None)
@given(FIELDS | JSON, st.booleans())
def test_no_body_is_answered_with_an_error_of_ours(instant, body, is_chat):
    sent = ASKED | body if is_chat and isinstance(body, dict) else body
    answer = instant.post(ROUTE, content=json.dumps(sent))
    assert answer.status_code in (200, 400, 404)
    if answer.status_code != 200:
        assert answer.json()["error"]["message"]


@given(st.binary())
def test_no_bytes_are_answered_with_an_error_of_ours(instant, body):
    assert instant.post(ROUTE, content=body).status_code == 400


# Entries that a language model plays by prompts and replies


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
