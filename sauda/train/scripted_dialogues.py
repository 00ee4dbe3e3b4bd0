"""The shipped dialogues: scripted buyers and the open market's sellers, with words for each move.

The columns are those of CraigslistBargains: moves are words, and a deal closes by an offer and an
acceptance without words. Each line is read back as the act that it is annotated with. Seeds are
training seeds, and unseen sellers and listings stay out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from env import Accept, Episode, IllegalAction, Turn, WalkAway, get_task, rollout
from sauda.language.acts import (
    RUPEES,
    SELLING,
    Act,
    Context,
    act_of,
    context_of,
    phrase_act,
    phrase_move,
)
from sauda.language.lines import ENGLISH, condition_in
from sauda.language.spoken import Decided
from sauda.llm.registry import get_policy
from sauda.records.kinds import Check, File, Kind, register_kind
from sauda.records.schemas.language import Dialogues
from sauda.records.seeds import SPLITS, is_unseen_game
from sauda.records.store import Artifact
from sauda.train.dialogues import NAMES

WORDS = 7  # the stream of the words, apart from the game's
CORPUS_NAMES = {ours: theirs for theirs, ours in NAMES.items()}
Said = tuple[str, Act, str]  # agent, act, words


@dataclass(frozen=True)
class DialogueSettings:
    """Which games are put into words."""

    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed")
    policies: tuple[str, ...] = ("linear", "boulware", "conceder", "tit_for_tat")
    games: int = 30  # per task and policy
    first_seed: int = 30_000
    greets: float = 0.8  # of the dialogues open with a greeting
    asks: float = 0.5  # of those go on with a question about the item
    presses: float = 0.12  # of the buyer's bids after the first come after a word on the price


def put_into_words(settings: DialogueSettings) -> dict[str, Any]:
    """The data of the artifact: one row per game, tasks and policies in order.

    Each game has a seed of its own. One with a move that cannot be said exactly is passed over for
    the next seed. Raises ValueError where the training seeds run out.
    """
    cells = list(product(settings.tasks, settings.policies))
    rows = []
    for place, (task_name, policy_name) in enumerate(cells):
        seeds = range(settings.first_seed + place, SPLITS["train"].stop, len(cells))
        rows += islice(_rows(task_name, policy_name, seeds, settings), settings.games)
    if len(rows) < settings.games * len(cells):
        raise ValueError(f"too few training seeds from {settings.first_seed:,}")
    return {"currency": RUPEES, "rows": rows}


def replay(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game played and worded again, for `verify`."""
    return put_into_words(DialogueSettings(**artifact.settings()))


def _rows(
    task_name: str, policy_name: str, seeds: Sequence[int], settings: DialogueSettings
) -> Iterator[dict[str, Any]]:
    task = get_task(task_name)
    policy = get_policy(task, policy_name)
    for seed in seeds:
        if is_unseen_game(task, seed):
            continue
        try:
            yield _row(rollout(task, policy, seed), settings)
        except IllegalAction:  # it cannot be said exactly, such as a bid of the list price
            continue


def _row(played: Episode, settings: DialogueSettings) -> dict[str, Any]:
    """One game in words; raises IllegalAction where a move has no words that are read as it."""
    said = list(_say(played, settings))
    item, private = played.final.table.item, played.final.private
    limits = [private[agent]["reservation"] for agent in SELLING]
    acts = [act for _, act, _ in said]
    return {
        "agent_info": {
            "Role": list(SELLING),
            "Target": [None, None],  # scripted policies have limits and no targets
            "Bottomline": [str(limit) for limit in limits],
        },
        "agent_turn": [SELLING.index(agent) for agent, _, _ in said],
        "utterance": [text for _, _, text in said],
        "dialogue_acts": {
            "intent": [CORPUS_NAMES.get(act.intent, act.intent) for act in acts],
            "price": [-1 if act.price is None else act.price for act in acts],
        },
        "items": {
            "Category": [item.category] * 2,
            "Title": [item.name] * 2,
            "Description": [f"{item.name}, {condition_in(ENGLISH, item.condition)}"] * 2,
            "Price": [item.list_price] * 2,
            "Images": [],
        },
    }


def _say(played: Episode, settings: DialogueSettings) -> Iterator[Said]:
    """Greetings, then every move in words, then the buttons that close the deal."""
    rng = np.random.default_rng([played.seed, WORDS])
    item = played.final.table.item
    facts = {"item": item.name, "condition": condition_in(ENGLISH, item.condition)}
    own_lines: dict[str, list[str]] = {agent: [] for agent in SELLING}
    heard, is_first = "", True

    def talk(agent: str, intent: str, context: Context) -> Said:
        act = Act(intent)
        return agent, act, phrase_act(act, context, facts, int(rng.integers(2**16)))

    for turn in played.turns:
        context = replace(
            context_of(turn.observation.table, turn.agent),
            first=is_first,
            notes=item.name,
            has_buttons=True,
        )
        if is_first and rng.random() < settings.greets:
            yield talk("buyer", "intro", replace(context, seat="buyer"))
            context = replace(context, first=False)
            if rng.random() < settings.asks:
                yield talk("buyer", "inquire", replace(context, seat="buyer"))
                yield talk("seller", "inform", replace(context, asked=True))
        is_first = False
        if isinstance(turn.action, WalkAway):
            yield talk(turn.agent, "disagree", context)
            yield turn.agent, Act("quit"), ""
            return
        if turn.agent == "buyer" and context.own is not None and rng.random() < settings.presses:
            yield talk("buyer", "vague-price", context)
        if isinstance(turn.action, Accept):
            yield from _close(turn, context, talk, int(rng.integers(2**16)))
            return
        lines = own_lines[turn.agent]
        decided = Decided(
            turn.observation.table, turn.agent, turn.action, heard=heard, said=tuple(lines)
        )
        act = act_of(turn.action, context)
        heard = phrase_move(act, context, decided, int(rng.integers(2**16)))
        lines.append(heard)
        yield turn.agent, act, heard


def _close(turn: Turn, context: Context, talk: Any, seed: int) -> Iterator[Said]:
    """Words of agreement, an offer at the price, and the other side's acceptance."""
    price = context.theirs
    if price == context.list_price:  # the corpus takes no word of the list price for agreement
        yield talk(turn.agent, "agree", context)
    else:
        act = Act("agree", price)
        decided = Decided(turn.observation.table, turn.agent, turn.action)
        yield turn.agent, act, phrase_move(act, context, decided, seed)
    other = SELLING[1 - SELLING.index(turn.agent)]
    yield turn.agent, Act("offer", price), ""
    yield other, Act("accept"), ""


register_kind(
    Kind(
        "dialogues/1",
        Dialogues,
        (File("dialogues.json", "dialogues", "Training"),),
        Check(
            "replayed",
            "every game and every line of it",
            lambda config, data: len(data.rows),
            "dialogues",
            replay,
        ),
    )
)
