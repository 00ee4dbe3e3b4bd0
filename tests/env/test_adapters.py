"""Our adapters before the checkers of Gymnasium and PettingZoo, and in TRL's trainer; our wheel."""

import re
import shutil
import subprocess
import sys
import venv
import warnings
from collections.abc import Iterator
from email import message_from_string
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from env import (
    ARENA_TASKS,
    BAZAAR_TASKS,
    TASKS,
    Accept,
    IllegalAction,
    WalkAway,
    begin,
    get_task,
    rollout,
)
from env.adapters.aec_env import NegotiationAEC
from env.adapters.gym_env import MOST_STEPS, BargainingEnv, encoding_of, legal
from env.adapters.trl_env import ServedBazaar
from sauda.records.store import REPOSITORY as ROOT
from sauda.serve.game import SaudaAction
from sauda.serve.openenv import SaudaEnvironment
from sauda.train.model import toy
from tests.support.running import output_of
from tests.support.site import Site, served_page, without_tabs

DOCUMENT = (ROOT / "docs" / "openenv.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)

every_task = pytest.mark.parametrize("task_name", TASKS)
GAMES = (
    "bazaar/open-3",
    "classic/marketplace_arena",
    "classic/career_10",
    "classic/single_deal",
    *ARENA_TASKS,
)
some_tasks = pytest.mark.parametrize("task_name", GAMES)
ACCEPT = 0
gymnasium.register("sauda/Masked-test", BargainingEnv)


@some_tasks
def test_gymnasiums_checker_passes(task_name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes.*")
        check_env(BargainingEnv(task_name))


@some_tasks
def test_pettingzoos_checkers_pass(task_name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It knows observations with a mask by the names of its own games alone.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably")
        warnings.filterwarnings("ignore", message="Environment has not defined a render")
        warnings.filterwarnings("ignore", message="We recommend agents to be named")
        # Nobody moves after the end, and one agent at a time before.
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        api_test(NegotiationAEC(task_name), num_cycles=60)
        seed_test(lambda: NegotiationAEC(task_name), num_cycles=40)


@pytest.mark.parametrize("task_name", ["classic/single_deal", "bazaar/package"])
def test_a_seed_is_the_game_that_is_measured(task_name):
    env = BargainingEnv(task_name)
    env.reset(seed=7)
    *_, info = env.step(ACCEPT)
    task = get_task(task_name)
    episode = rollout(task, lambda obs, rng: Accept(), 7)
    assert info["grade"] == task.grade(episode.final)
    assert info["payoffs"] == episode.payoffs


def test_an_illegal_action_changes_nothing_and_too_many_end_the_episode():
    env = BargainingEnv("bazaar/open-3")
    before, info = env.reset(seed=7)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[-1])
    for step in range(1, MOST_STEPS + 1):
        observation, reward, terminated, truncated, info = env.step(illegal)
        assert (reward, terminated, truncated) == (0.0, False, step == MOST_STEPS)
        assert np.array_equal(observation, before)
        assert "the budget is" in info["error"]


@some_tasks
def test_maskable_trainers_find_the_mask_where_they_look_for_it(task_name):
    env = gymnasium.make("sauda/Masked-test", task=task_name)
    with pytest.raises(ValueError, match="no episode is running"):
        env.unwrapped.action_masks()
    for step in range(3):
        _, info = env.reset(seed=step)
        mask = env.get_wrapper_attr("action_masks")()  # as sb3-contrib does
        assert (mask.dtype, mask.shape) == (np.dtype(bool), (env.action_space.n,))
        assert np.array_equal(mask, info["action_mask"].astype(bool))
        while mask.any():
            _, _, over, _, info = env.step(env.action_space.sample(mask.astype(np.int8)))
            mask = env.unwrapped.action_masks()
            assert mask.any() != over


@every_task
def test_the_mask_is_what_the_rules_take(task_name):
    task = get_task(task_name)
    encoding, state = encoding_of(task), begin(task, 3).state
    rng = np.random.default_rng(0)
    for _ in range(6):
        agent = task.env.to_act(state)
        if agent is None:
            break
        choices = encoding.choices(task.env.observe(state, agent))
        mask = legal(task, state, choices, encoding.actions)
        assert mask.shape == (encoding.actions,)
        assert not mask[len(choices) :].any()
        for number in rng.choice(np.flatnonzero(mask), 4):
            after = task.env.step(state, choices[number])
            if task_name in ARENA_TASKS:
                assert after.private[agent].results[0].ok
        if task_name in BAZAAR_TASKS:
            for number in np.flatnonzero(mask[: len(choices)] == 0)[::40]:
                with pytest.raises(IllegalAction):
                    task.env.step(state, choices[number])
            walks = choices.index(WalkAway())
            assert mask[walks]
            state = task.env.step(state, choices[np.flatnonzero(mask)[-1]])
        else:
            assert [choice.action_type for choice in choices[:2]] == ["wait", "finish"]
            state = task.env.step(state, choices[0])


def test_the_loops_of_the_documentation_run_as_they_stand():
    names: dict = {}
    exec(PROGRAMS[1], names)
    assert names["terminated"]
    assert not names["seats"].agents


# TRL


SEED = 7


def test_an_empty_seat_has_nothing_to_observe():
    market = NegotiationAEC("arena/coalition_market")
    market.reset(seed=3)  # four labs for five seats
    with pytest.raises(ValueError, match="lab_4 is empty"):
        market.observe("lab_4")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with served_page(without_tabs) as page:
        yield page


@pytest.mark.model
@pytest.mark.slow
def test_a_model_plays_a_served_game_by_tools_and_is_paid_its_grade(site):
    game, same = ServedBazaar(site.address), SaudaEnvironment()
    same.reset(task="bazaar/open-3", seed=SEED)
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


@pytest.mark.parametrize("task", ["bazaar/mute-3", "bazaar/open-3", "classic/asymmetric_pressure"])
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


@pytest.mark.model
@pytest.mark.nightly
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
    code = PROGRAMS[-1]
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
    served.reset(task="bazaar/open-3", seed=0)
    return served.step(SaudaAction(action_type=move)).outcome["grade"]


# A package of its own: built, installed where nothing else is, and played


POLICY = re.search(r"```python\n(from env import.*?)```", (ROOT / "README.md").read_text(), re.S)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the package's wheel and numpy alone."""
    tmp_path = tmp_path_factory.mktemp("package")
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    shutil.copytree(ROOT / "env", source, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--quiet"]
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(source)]
    subprocess.run([*pip, *wheel], check=True)
    (built,) = wheels.glob("sauda_env-*.whl")
    venv.create(tmp_path / "empty", with_pip=False)
    (site,) = (tmp_path / "empty").glob("lib/python*/site-packages")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(built)], check=True)
    for package in Path(np.__file__).parents[1].glob("numpy*"):
        (site / package.name).symlink_to(package)
    return tmp_path / "empty" / "bin" / "python"


@pytest.mark.slow
def test_the_wheel_says_what_it_is_and_carries_its_licence(python):
    (info,) = python.parents[1].glob("lib/python*/site-packages/sauda_env-*.dist-info")
    told = message_from_string((info / "METADATA").read_text(encoding="utf-8"))
    assert told["License-Expression"] == "MIT"
    (licence,) = (info / "licenses").iterdir()
    assert licence.read_text() == (ROOT / "LICENSE").read_text()
    assert told["Description-Content-Type"] == "text/markdown"
    (program,) = re.findall(r"```python\n(.*?)```", told.get_payload(), re.S)
    assert program == POLICY[1].replace("from env import", "from sauda_env import")
    for name in ("Summary", "Author", "Keywords", "Requires-Python"):
        assert told[name]
    assert any(each.endswith("Python :: 3.11") for each in told.get_all("Classifier"))


MODEL = """
import sys
from sauda_env import TASKS, prompt_of, rollout
for name, task in TASKS.items():
    prompt = prompt_of(task)
    def answer(obs, rng):
        system, *_, user = prompt.render(obs)
        assert system["content"] and user["content"] and prompt.schema(obs)["anyOf"]
        reply = '{"walk":true}' if prompt.RULES.get("buyer") else '{"wait":true}'
        return prompt.parse(f"Well: {reply}", obs)
    print(name, rollout(task, answer, 7).end)
assert not {"scipy", "tqdm", "sauda"} & set(sys.modules)
"""


@pytest.mark.slow
def test_the_package_alone_renders_every_tasks_prompt_and_reads_the_answers(python, tmp_path):
    shown = output_of(python, "-I", "-c", MODEL, cwd=tmp_path)
    ends = dict(line.split() for line in shown.splitlines())
    assert ends["bazaar/open-3"] == "walkaway"
    assert ends["arena/market_round"] == "deadline"


@pytest.mark.slow
def test_the_readmes_policy_plays_by_the_package_alone_from_another_folder(python, tmp_path):
    program = POLICY[1].replace("from env import", "from sauda_env import")
    assert "agreement" in output_of(python, "-I", "-c", program, cwd=tmp_path)
