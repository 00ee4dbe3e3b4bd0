"""The learner's seat of a task as a Gymnasium environment; scripts play the other seats.

Observations are vectors and actions numbers, as they are in `aec_env.py`. In the bazaar, action 0
accepts, 1 walks away, and 1 + k names k percent of the list price, for k from 1 to HIGHEST_PERCENT.
Where a bid may hold extras, the prices follow again for each further package of PACKAGES.
In the arena, action k is the k-th of the lab's legal actions, of which the first two wait and
leave; an observer reads the list as JSON. An action mask says which numbers the rules take.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from .. import arena
from ..bazaar.types import EXTRAS, Accept, Observation, Offer, WalkAway
from ..core import IllegalAction, Task
from ..rollout import Play, advance, begin, episode, move
from ..tasks import get_task

HIGHEST_PERCENT = 250
PACKAGES = tuple(
    frozenset(names) for size in range(len(EXTRAS) + 1) for names in combinations(EXTRAS, size)
)  # no extra first
MOST_CHOICES = 512  # of a lab; legal actions beyond are left out
FAR = 10.0  # numbers of a vector lie in [-FAR, FAR]
RECENT = 3  # asks and bids that are told, the newest first
JOBS, BLOCKS, OFFERS = 4, 20, 8  # of a market that are told
MANNER = ("verbal_urgency", "verbal_confidence", "verbal_deception_cue")  # 0 where none is shown

Vector = np.ndarray  # float32, shape (size,)
Mask = np.ndarray  # int8, shape (actions,)


@dataclass(frozen=True)
class Encoding:
    """How one game is told in numbers."""

    size: int  # of a vector
    actions: int
    vector: Callable[[Any], Vector]  # of an observation
    choices: Callable[[Any], Sequence[Any]]  # the actions behind the numbers at an observation


def encoding_of(task: Task) -> Encoding:
    """The encoding of the task's game."""
    if is_arena(task):
        return ARENA
    return PACKAGE if getattr(task.env, "extras", ()) else BAZAAR


def is_arena(task: Task) -> bool:
    """Whether a task is one of the arena, and not of the bazaar."""
    return isinstance(task.env, arena.GpuBudgetNegotiationEnv)


def move_of(action: Any, choices: Sequence[Any]) -> Any:
    """The move behind a number, which may come as an array of one, as predictors return it.

    Raises ValueError where it is no whole number, IllegalAction where it stands for no move.
    """
    number = np.asarray(action)
    if number.size != 1 or number.dtype.kind not in "iu":
        raise ValueError(
            f"an action is one whole number, such as 3 or np.array(3), not {action!r:.60}"
        )
    index = int(number.item())
    if not 0 <= index < len(choices):
        raise IllegalAction(f"action {index} stands for none of {len(choices)} moves")
    return choices[index]


def legal(task: Task, state: Any, choices: Sequence[Any], actions: int) -> Mask:
    """The action mask at `state`: 1 for each number whose action the rules take."""
    mask = np.zeros(actions, np.int8)
    if is_arena(task):
        mask[: len(choices)] = 1
        return mask
    for number, action in enumerate(choices):
        try:
            if isinstance(action, Offer):
                task.env.check_offer(state, action)
            else:
                task.env.step(state, action)
        except IllegalAction:
            continue
        mask[number] = 1
    return mask


def bazaar_choices(obs: Observation) -> tuple[Any, ...]:
    """The moves of the bazaar behind the numbers."""
    unit = obs.table.item.list_price / 100
    prices = (obs.priced(k * unit) for k in range(1, HIGHEST_PERCENT + 1))
    return (Accept(), WalkAway(), *map(Offer, prices))


def package_choices(obs: Observation) -> tuple[Any, ...]:
    """The moves behind the numbers where a bid may hold extras."""
    accept, walk, *offers = bazaar_choices(obs)
    bids = (replace(offer, extras=package) for package in PACKAGES for offer in offers)
    return (accept, walk, *bids)


def arena_choices(obs: arena.Observation) -> tuple[arena.Action, ...]:
    """The lab's legal actions, those to wait and to leave first."""
    *others, wait, finish = arena.legal_actions(obs)
    return (wait, finish, *others)[:MOST_CHOICES]


def bazaar_vector(obs: Observation) -> Vector:
    """The table in shares of the list price: time, limits, latest asks and bids, manner, rivals.

    Where bids stand, each is the best so far.
    """
    table, private, unit = obs.table, obs.own, obs.table.item.list_price
    tells, deadline = obs.tells, private.get("deadline")
    bids = accumulate(table.bids, max) if table.standing else table.bids
    manner = [getattr(tells, name, 0.0) for name in MANNER]
    return _vector(
        [
            obs.agent == "seller",
            table.round / table.rounds,
            table.rounds / 10,
            len(table.past) / table.deals,
            table.deals / 10,
            obs.reservation / unit,
            private.get("purse", 0.0) / unit,
            private.get("discount", 1.0),
            0.0 if deadline is None else (deadline - table.round) / 10,
            deadline is not None,
            *_newest([ask / unit for ask in table.asks]),
            *_newest([bid / unit for bid in bids]),
            *manner,
            sum(rival.active for rival in table.rivals) / 2,
            table.outbid,
        ]
    )


def package_vector(obs: Observation) -> Vector:
    """The table, what each extra is worth, and which the last bid holds, in the order of EXTRAS."""
    values, unit = obs.own["values"], obs.table.item.list_price
    bids = obs.table.offers
    worth = [values[name] / unit for name in EXTRAS]
    held = [bool(bids) and name in bids[-1].extras for name in EXTRAS]
    return np.concatenate([bazaar_vector(obs), _vector([*worth, *held])])


def arena_vector(obs: arena.Observation) -> Vector:
    """The market as the lab sees it: time and money, its jobs, all blocks, offers to it."""
    market, lab, horizon = obs.market, obs.own, obs.market.max_rounds
    scalars = [
        market.round_index / horizon,
        horizon / 10,
        market.queue.count(obs.agent) / 2,
        lab.budget / 100,
        lab.stake / 100,
        lab.batna / lab.stake,
        lab.utility / lab.stake,
        len(obs.others) / 4,
        market.coalitions_allowed,
    ]
    jobs = [
        (
            1.0,
            job.gpu_hours_required / 10,
            (job.on_time + job.late) / 10,
            (job.deadline_round - market.round_index) / 10,
            job.full_value / lab.stake,
            job.min_reliability,
            job.partial_credit_allowed,
        )
        for job in lab.jobs
    ]
    blocks = [
        (
            1.0,
            block.owner_lab_id == obs.agent,
            arena.live_hours(block, market.round_index, horizon) / 10,
            (block.start_round - market.round_index) / 10,
            block.reliability,
            block.energy_cost / 10,
            block.status in arena.FREE,
        )
        for block in market.blocks.values()
    ]
    offers = [
        (1.0, o.payment / 100, o.ask / 100, len(o.offered_blocks), len(o.requested_blocks))
        for o in obs.incoming
    ]
    return _vector(
        [*scalars, *_rows(jobs, JOBS, 7), *_rows(blocks, BLOCKS, 7), *_rows(offers, OFFERS, 5)]
    )


def _newest(prices: Sequence[float]) -> list[float]:
    """The last RECENT prices, the newest first; 0 where there are fewer."""
    newest = list(prices[::-1][:RECENT])
    return newest + [0.0] * (RECENT - len(newest))


def _rows(rows: Sequence[Sequence[float]], most: int, width: int) -> list[float]:
    """Rows one after another, at most `most` of them and zeros for those that are not there."""
    numbers = [float(number) for row in rows[:most] for number in row]
    return numbers + [0.0] * (most * width - len(numbers))


def _vector(numbers: Sequence[float]) -> Vector:
    return np.clip(np.array(numbers, np.float32), -FAR, FAR)


BAZAAR = Encoding(15 + 2 * RECENT, 2 + HIGHEST_PERCENT, bazaar_vector, bazaar_choices)
PACKAGE = Encoding(
    BAZAAR.size + 2 * len(EXTRAS),
    2 + HIGHEST_PERCENT * len(PACKAGES),
    package_vector,
    package_choices,
)
ARENA = Encoding(9 + 7 * (JOBS + BLOCKS) + 5 * OFFERS, MOST_CHOICES, arena_vector, arena_choices)


NOT_RUNNING = "no episode is running; reset starts one"
MOST_STEPS = 200  # illegal actions included; then an episode is truncated


class BargainingEnv(gymnasium.Env[np.ndarray, np.int64]):
    """One task, such as `bazaar/people`, episode by episode.

    The observation is a float32 vector, the action a number, as said above; `info["action_mask"]`
    and `action_masks()` say which actions are legal. An illegal one changes nothing, and
    `info["error"]` says why. The bazaar pays the task's grade at the end; the arena pays the sum of
    its ten components at each step. `reset(seed=…)` plays the game of that seed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, task: str = "bazaar/people") -> None:
        self.task = get_task(task)
        self.encoding = encoding_of(self.task)
        self.observation_space = spaces.Box(-FAR, FAR, (self.encoding.size,), np.float32)
        self.action_space = spaces.Discrete(self.encoding.actions)
        self._play: Play | None = None
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The first observation and its info; without a `seed`, of the next random game."""
        super().reset(seed=seed)
        game = int(self.np_random.integers(2**63)) if seed is None else seed
        play = begin(self.task, game)
        self._play, self._steps = advance(self.task, self.task.opponents, play), 0
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Observation, reward, terminated, truncated and info after the action.

        The action is a number or an array of one. Raises ValueError on anything else, and where no
        episode is running.
        """
        before = self._play
        if before is None or self._over:
            raise ValueError(NOT_RUNNING)
        choices = self.encoding.choices(self._seen)
        self._steps += 1
        error, reward = "", 0.0
        try:
            play = move(self.task, before, move_of(action, choices))
        except IllegalAction as refusal:
            error = str(refusal)
        else:
            self._play = advance(self.task, self.task.opponents, play)
            reward = self._reward(before)
        truncated = not self._over and self._steps >= MOST_STEPS
        return self._observation(), reward, self._over, truncated, self._info(error)

    def action_masks(self) -> np.ndarray:
        """Which actions are legal now, bool, shape (actions,), as MaskablePPO of sb3-contrib asks.

        None is once the game is over. Raises ValueError before the first reset.
        """
        if self._play is None:
            raise ValueError(NOT_RUNNING)
        if self._over:
            return np.zeros(self.encoding.actions, bool)
        choices = self.encoding.choices(self._seen)
        return legal(self.task, self._play.state, choices, self.encoding.actions).astype(bool)

    @property
    def _over(self) -> bool:
        return self._play.forfeit or self.task.env.to_act(self._play.state) is None

    @property
    def _seen(self) -> Any:
        return self.task.env.observe(self._play.state, self.task.learner)

    def _observation(self) -> np.ndarray:
        return self.encoding.vector(self._seen)

    def _reward(self, before: Play) -> float:
        """The reward of the learner's step and everybody's answers to it."""
        if is_arena(self.task):
            new = self._play.turns[len(before.turns) :]
            return arena.total(
                arena.episode_rewards(before.state, new, self.task.learner)
            ).normalized_reward
        return self.task.grade(self._play.state) if self._over else 0.0

    def _info(self, error: str = "") -> dict[str, Any]:
        info: dict[str, Any] = {"error": error}
        if self._over:
            played = episode(self.task, self._play)
            grade = self.task.grade(played.final)
            return info | {"end": str(played.end), "grade": grade, "payoffs": dict(played.payoffs)}
        return info | {"action_mask": self.action_masks().astype(np.int8)}
