"""A game of the arena on the page, as a value: a policy or a visitor moves `lab_0`, step by step.

Nothing here knows the page. A step is one action of `lab_0` and every answer to it.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from env import (
    Episode,
    Play,
    Policy,
    Task,
    advance,
    agent_stream,
    arena,
    begin,
    episode,
    get_task,
    move,
    rollout,
)
from sauda.games import policies_of
from sauda.llm.registry import get_policy

LEARNER, YOU = "lab_0", "you"
Move = arena.Action | arena.Malformed


@dataclass(frozen=True)
class ArenaGame:
    """One game; `movers` names who chose each step of `lab_0`, a policy or YOU."""

    task_name: str
    play: Play
    movers: tuple[str, ...] = ()
    secret: bool = False  # whether the seed, which stands for every private value, was drawn unseen

    @property
    def by_hand(self) -> int:
        """How many steps a visitor chose."""
        return self.movers.count(YOU)

    @property
    def policy(self) -> str:
        """The policy that chose every step; "" where several did, or a visitor."""
        return self.movers[0] if len(set(self.movers)) == 1 and not self.by_hand else ""

    @property
    def task(self) -> Task:
        return get_task(self.task_name)

    @property
    def over(self) -> bool:
        """Whether `lab_0` has nothing left to do: it left, or the rounds are out."""
        return self.play.forfeit or self.task.env.to_act(self.play.state) is None

    @property
    def observation(self) -> arena.Observation:
        """What `lab_0` sees."""
        return self.task.env.observe(self.play.state, LEARNER)

    @cached_property
    def steps(self) -> tuple["Step", ...]:
        """Every step so far with its result and reward."""
        start = begin(self.task, self.play.seed).state
        rewards = iter(arena.episode_rewards(start, self.play.turns, LEARNER))
        state, steps = start, []
        for turn in self.play.turns:
            if turn.action is None:
                break
            round_index = state.market.round_index
            state = self.task.env.step(state, turn.action)
            results = state.private[turn.agent].results
            if turn.agent == LEARNER:
                steps.append(Step(round_index, turn.action, results, next(rewards)))
            elif steps and results[0].ok and turn.action.action_type != "wait":
                answers = (*steps[-1].answers, (turn.agent, turn.action))
                steps[-1] = replace(steps[-1], answers=answers)
        return tuple(steps)


@dataclass(frozen=True)
class Step:
    """One action of `lab_0`: the round, what became of it, and what it was worth.

    `answers` are the other labs' actions up to its next one, those that the rules took; a lab that
    waits does nothing.
    """

    round_index: int
    action: Move
    results: tuple[arena.Result, ...]
    reward: arena.Breakdown
    answers: tuple[tuple[str, arena.Action], ...] = ()


def start(task_name: str, seed: int, secret: bool = False) -> ArenaGame:
    """A fresh game up to the first action of `lab_0`; ValueError where it is no arena task."""
    task = get_task(task_name)
    if task.learner != LEARNER:
        raise ValueError(f"{task_name} is no task of the arena")
    return _answer(ArenaGame(task_name, begin(task, seed), secret=secret))


def step(game: ArenaGame, name: str, policy: Policy | None = None) -> ArenaGame:
    """The game after the policy called `name` made one action; as it is where it is over.

    `policy` is the one to ask where the name alone does not say it: a model that runs elsewhere.
    """
    if game.over:
        return game
    play = move(game.task, game.play, proposal(game, policy or get_policy(game.task, name)))
    return _answer(replace(game, play=play, movers=(*game.movers, name)))


def proposal(game: ArenaGame, policy: Policy) -> Move:
    """The action that the policy takes if `step` asks it now."""
    taken = sum(turn.agent == LEARNER for turn in game.play.turns)
    return policy(game.observation, agent_stream(game.task, game.play.seed, LEARNER, taken))


def act(game: ArenaGame, action: Move) -> ArenaGame:
    """The game after the visitor's action; IllegalAction where the game is over."""
    play = move(game.task, game.play, action)
    return _answer(replace(game, play=play, movers=(*game.movers, YOU)))


def refusal(game: ArenaGame, action: Move) -> arena.Result | None:
    """Why the rules would refuse the visitor's action now; None where they take it.

    The game stays as it is, so that asking costs no action. Raises IllegalAction where it is over.
    """
    after = move(game.task, game.play, action).state
    result = after.private[LEARNER].results[0]
    return None if result.ok else result


def promised_credits(obs: arena.Observation) -> float:
    """Credits that the observing lab has promised in its open offers: it cannot promise them again.

    They are paid once another lab accepts, and free again once an offer ends without.
    """
    return sum(offer.payment for offer in obs.outgoing)


def _answer(game: ArenaGame) -> ArenaGame:
    """The others' turns up to the next of `lab_0`, or to the end once it has left."""
    return replace(game, play=advance(game.task, game.task.opponents, game.play))


@dataclass(frozen=True)
class Standing:
    """One player's result in this game."""

    name: str
    utility: float  # credits
    grade: float
    reward: float  # of all its steps


def standings(game: ArenaGame) -> list[Standing]:
    """The results of this game and of every policy at the same seed, best grade first."""
    task, seed = game.task, game.play.seed
    played = {name: rollout(task, player, seed) for name, player in policies_of(task).items()}
    rows = [_rank(name, task, one) for name, one in played.items()]
    if game.policy not in played:
        name = game.policy or (YOU if game.by_hand else "this game")
        rows.append(_rank(name, task, episode(task, game.play)))
    return sorted(rows, key=lambda row: -row.grade)


def _rank(name: str, task: Task, played: Episode) -> Standing:
    start = begin(task, played.seed).state
    rewards = arena.episode_rewards(start, played.turns, LEARNER)
    total = arena.total(rewards).normalized_reward if rewards else 0.0
    return Standing(name, played.final.private[LEARNER].utility, task.grade(played.final), total)
