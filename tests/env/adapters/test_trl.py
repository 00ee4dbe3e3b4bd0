"""TRL's `environment_factory` on served games: the tools, the reward, a step of training."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from env.adapters.trl_env import ServedBazaar
from sauda.records.store import ROOT
from sauda.serve.game import SaudaAction
from sauda.serve.openenv import SaudaEnvironment
from sauda.train.model import toy
from tests.support.site import Site, served_page, without_tabs

pytestmark = [pytest.mark.model, pytest.mark.slow]

SEED = 7


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with served_page(without_tabs) as page:
        yield page


def test_a_model_plays_a_served_game_by_tools_and_is_paid_its_grade(site):
    game, same = ServedBazaar(site.address), SaudaEnvironment()
    same.reset(task="bazaar/open", seed=SEED)
    told = game.reset(seed=SEED, prompt=[])
    assert told.startswith("You are the buyer of ")
    assert f"{same.reset(seed=SEED).bazaar['own']['reservation']:g} rupees to you" in told
    assert (game.get_reward(), game.offer(10**7)[:8]) == (-1.0, "Refused:")
    bid = same.step(SaudaAction(action_type="offer", price=10)).bazaar
    answer = game.offer(10)
    assert f"price is {bid['asks'][-1]:g}." in answer
    assert bid["moves"][-1]["message"] in answer
    assert game.accept() == "The game is over: agreement."
    assert game.get_reward() == same.step(SaudaAction(action_type="accept")).outcome["grade"]
    assert game.walk_away() == "The game is over."
    assert game.reset(seed=SEED) == told


@pytest.mark.parametrize("task", ["bazaar/rushed", "bazaar/open", "classic/asymmetric_pressure"])
def test_a_model_is_told_what_its_seat_alone_knows(site, task):
    told = ServedBazaar(site.address, task).reset(seed=SEED)
    own = SaudaEnvironment().reset(task=task, seed=SEED).bazaar["own"]
    for name, known in own.items():
        assert known is None or f"{known:.3g}" in told or f"{known:g}" in told, name


def test_a_model_is_told_of_the_next_deal_and_of_its_rivals(site):
    career = ServedBazaar(site.address, "classic/career_10")
    assert "Deal 1 of 10" in career.reset(seed=SEED)
    assert "Deal 2 of 10" in career.accept()
    auction = ServedBazaar(site.address, "classic/marketplace_arena")
    assert "Rivals: 2." in auction.reset(seed=SEED)
    assert "You were outbid." in auction.offer(1)


def said(tool: str, **arguments: int) -> str:
    """A reply of a model that calls a tool."""
    call = f'{{"name": "{tool}", "arguments": {arguments}}}'.replace("'", '"')
    return f"<tool_call>\n{call}\n</tool_call><|im_end|>"


@pytest.fixture
def base(tmp_path) -> Path:
    """A random network of two layers whose chat template has tool calls: Qwen3's, as TRL has it."""
    import trl
    from transformers import AutoTokenizer

    toy(tmp_path / "toy")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "toy")
    templates = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (templates / "qwen3.jinja").read_text(encoding="utf-8")
    tokenizer.save_pretrained(tmp_path / "toy")
    return tmp_path / "toy"


def test_the_training_of_the_documentation_runs_as_it_stands(site, base, monkeypatch):
    """On a toy, for one step, its replies written here: one rollout accepts, one walks away."""
    import torch
    from transformers import AutoTokenizer, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(base)
    replies = iter([[said("accept"), said("walk_away")], ["Done.<|im_end|>"] * 2])

    def generate(network, input_ids, **options):
        ids = [torch.tensor(tokenizer.encode(text)) for text in next(replies)]
        padded = torch.nn.utils.rnn.pad_sequence(ids, True, tokenizer.eos_token_id)
        return torch.cat([input_ids, padded], dim=1)

    monkeypatch.setattr(LlamaForCausalLM, "generate", generate)
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    text = (ROOT.parent / "docs" / "openenv.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1]
    for shown, here in (
        ("http://127.0.0.1:7860", site.address),
        ("Qwen/Qwen3-0.6B", str(base)),
        ("runs/served", str(base.parent / "run")),
        ("1_000", "1"),
        ("max_steps=200", "max_steps=1"),
        ("generations=8", "generations=2"),
        ("batch_size=8", "batch_size=2"),
    ):
        assert shown in code
        code = code.replace(shown, here)
    names: dict = {}
    exec(code, names)
    log = names["trainer"].state.log_history[0]
    played = [game.get_reward() for game in names["trainer"].environments]
    assert played == [grade(move) for move in ("accept", "walk")]
    assert log["reward"] == pytest.approx(sum(played) / 2)
    assert (log["tools/call_frequency"], log["tools/failure_frequency"]) == (1.0, 0.0)
    assert log["grad_norm"] > 0


def grade(move: str) -> float:
    """What the move makes of the first training game of the default task."""
    served = SaudaEnvironment()
    served.reset(task="bazaar/open", seed=0)
    return served.step(SaudaAction(action_type=move)).outcome["grade"]
