"""Fine-tuning of Sauda on deals with people, in which it says sentences of its own.

    python -m sauda train people    # then talks, candid, heeds, settles

Each of these stages goes on from the adapter of a stage before, and learns what `people_rows.py`
makes. They differ in their settings alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sauda.train import people_rows, sft
from sauda.train.common import option

TOY = sft.TOY | {"init_adapter": ""}
train = sft.train


@dataclass(frozen=True, kw_only=True)
class PeopleSettings(sft.SFTStageSettings, people_rows.PeopleRowSettings):
    """Settings in the names of TRL's SFTConfig, but for the deals that are learnt."""

    init_adapter: str = option("adapter to train further; '' for a new one", "sft")
    per_device_train_batch_size: int = 8
    learning_rate: float = 8e-4
    save_steps: int = 78
    eval_games: int = option("training games that every checkpoint plays", 0)
    stage: ClassVar[str] = "people"


@dataclass(frozen=True, kw_only=True)
class TalkSettings(PeopleSettings):
    """Fine-tuning of Sauda on deals of many kinds: people, the open market, packages.

    It goes on from the adapter that met people, on rows of all tasks in which any words count.
    """

    init_adapter: str = option("adapter to train further; '' for a new one", "people")
    rows: int = option("deals to learn from", 1_900)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["talks"].items())
    stage: ClassVar[str] = "talks"


@dataclass(frozen=True, kw_only=True)
class CandidSettings(PeopleSettings):
    """Fine-tuning of Sauda on deals in which no line says what the seller has just done.

    It goes on from the adapter of `talks`, which thanks for steps that were not made: to compare
    two asks is more than the small model can, and nothing that it must say needs it.
    """

    init_adapter: str = option("adapter to train further; '' for a new one", "talks")
    rows: int = option("deals to learn from", 1_000)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["candid"].items())
    first_seed: int = option("training seeds run up from it", 38_000)
    learning_rate: float = 5e-4
    stage: ClassVar[str] = "candid"
    speech: ClassVar[Mapping[str, float]] = {"fresh": 3}


@dataclass(frozen=True, kw_only=True)
class HeedsSettings(PeopleSettings):
    """Fine-tuning of Sauda on what to say with each bid, by what its planner expects of it.

    It goes on from the adapter of `listens`, which learnt what to begin with. Here every bid of a
    deal is learnt as a distribution over all that could be said with it. The tokens that tell what
    will be said are few, and count about three times as much as all others together.
    """

    init_adapter: str = option("adapter to train further; '' for a new one", "listens")
    rows: int = option("deals to learn from", 1_280)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["heeds"].items())
    temper: float = 0.02
    parts: ClassVar[float] = 64.0
    first_seed: int = option("training seeds run up from it", 39_500)
    save_steps: int = 50
    stage: ClassVar[str] = "heeds"
    speech: ClassVar[Mapping[str, float]] = {"fresh": 3}


@dataclass(frozen=True, kw_only=True)
class SettlesSettings(HeedsSettings):
    """Fine-tuning of Sauda on whole replies, after that on what to say.

    It goes on from the adapter of `heeds`, in whose loss what tells an argument weighed so much
    that other words suffered: it took asks with "No". Here that weighs little more than other
    tokens, and an ask is taken without a sentence, as the prompt says.
    """

    init_adapter: str = option("adapter to train further; '' for a new one", "heeds")
    rows: int = option("deals to learn from", 320)
    parts: ClassVar[float] = 4.0
    ends_with_words: ClassVar[bool] = False
    first_seed: int = option("training seeds run up from it", 43_500)
    learning_rate: float = 4e-4
    stage: ClassVar[str] = "settles"
    speech: ClassVar[Mapping[str, float]] = {"fresh": 3, "first": 0.3}


SETTINGS = (PeopleSettings, TalkSettings, CandidSettings, HeedsSettings, SettlesSettings)
