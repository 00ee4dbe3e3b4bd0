"""A game of the arena on the page, as a value: a policy or a visitor moves `lab_0`, step by step.

Nothing here knows the page. A step is one action of `lab_0` and every answer to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import env
from sauda.players import get_policy, scripts_of
from sauda.policies.arena import gains_from_trade
from sauda.sessions import LearnerGame

LEARNER, YOU = "lab_0", "you"
REFUSED = ("rejected", "expired")  # how an offer ends that the other lab did not take
LEAST_GAIN = 0.5  # credits that count as a gain
Move = env.arena.Action | env.arena.Malformed


@dataclass(frozen=True)
class ArenaGame(LearnerGame):
    """One game; `movers` names who chose each step of `lab_0`, a policy or YOU."""

    task_name: str
    play: env.Play
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

    @cached_property
    def steps(self) -> tuple["Step", ...]:
        """Every step so far with its result and reward."""
        start = env.begin(self.task, self.play.seed).state
        rewards = iter(env.arena.episode_rewards(start, self.play.turns, LEARNER))
        movers, state, steps = iter(self.movers), start, []
        for turn in self.play.turns:
            if turn.action is None:
                break
            before, state = state, self.task.env.step(state, turn.action)
            results = state.private[turn.agent].results
            if turn.agent == LEARNER:
                steps.append(Step(before, state, next(movers), turn.action, results, next(rewards)))
            elif steps and results[0].ok and turn.action.action_type != "wait":
                answers = (*steps[-1].answers, (turn.agent, turn.action))
                steps[-1] = replace(steps[-1], answers=answers)
        return tuple(steps)


@dataclass(frozen=True)
class Step:
    """One action of `lab_0`: who chose it, what became of it, and what it was worth.

    `answers` are the other labs' actions up to its next one, those that the rules took; a lab that
    waits does nothing.
    """

    before: env.arena.State
    after: env.arena.State  # before any answer
    mover: str
    action: Move
    results: tuple[env.arena.Result, ...]
    reward: env.arena.Breakdown
    answers: tuple[tuple[str, env.arena.Action], ...] = ()

    @property
    def round_index(self) -> int:
        return self.before.market.round_index

    @property
    def observation(self) -> env.arena.Observation:
        """What `lab_0` saw as it acted."""
        return self.before.seen_by(LEARNER)


def start(task_name: str, seed: int, secret: bool = False) -> ArenaGame:
    """A fresh game up to the first action of `lab_0`; ValueError where it is no arena task."""
    task = env.get_task(task_name)
    if task.learner != LEARNER:
        raise ValueError(f"{task_name} is no task of the arena")
    return _answer(ArenaGame(task_name, env.begin(task, seed), secret=secret))


def step(game: ArenaGame, name: str, policy: env.Policy | None = None) -> ArenaGame:
    """The game after the policy called `name` made one action; as it is where it is over.

    `policy` is the one to ask where the name alone does not say it: a model that runs elsewhere.
    """
    if game.over:
        return game
    play = env.move(game.task, game.play, proposal(game, policy or get_policy(game.task, name)))
    return _answer(replace(game, play=play, movers=(*game.movers, name)))


def play_out(game: ArenaGame, name: str) -> ArenaGame:
    """The game after the script called `name` made every move that is left.

    For a game that all other labs have left: nobody answers any more.
    """
    while not game.over:
        game = step(game, name)
    return game


def is_alone(game: ArenaGame) -> bool:
    """Whether `lab_0` can still act and no other lab can."""
    return not game.over and not game.observation.others


def proposal(game: ArenaGame, policy: env.Policy) -> Move:
    """The action that the policy takes if `step` asks it now."""
    return policy(game.observation, env.next_stream(game.task, game.play, LEARNER))


def act(game: ArenaGame, action: Move) -> ArenaGame:
    """The game after the visitor's action; IllegalAction where the game is over."""
    play = env.move(game.task, game.play, action)
    return _answer(replace(game, play=play, movers=(*game.movers, YOU)))


def refusal(game: ArenaGame, action: Move) -> env.arena.Result | None:
    """Why the rules would refuse the visitor's action now; None where they take it.

    The game stays as it is, so that asking costs no action. Raises IllegalAction where it is over.
    """
    after = env.move(game.task, game.play, action).state
    result = after.private[LEARNER].results[0]
    return None if result.ok else result


def promised_credits(obs: env.arena.Observation) -> float:
    """Credits that the observing lab has promised in its open offers: it cannot promise them again.

    They are paid once another lab accepts, and free again once an offer ends without.
    """
    return sum(offer.payment for offer in obs.outgoing)


def _answer(game: ArenaGame) -> ArenaGame:
    """The others' turns up to the next of `lab_0`, or to the end once it has left."""
    return replace(game, play=env.advance(game.task, game.task.opponents, game.play))


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
    played = {name: env.rollout(task, player, seed) for name, player in scripts_of(task).items()}
    rows = [_rank(name, task, played_game) for name, played_game in played.items()]
    if game.policy not in played:
        name = game.policy or (YOU if game.by_hand else "this game")
        rows.append(_rank(name, task, env.episode(task, game.play)))
    return sorted(rows, key=lambda row: -row.grade)


def _rank(name: str, task: env.Task, played: env.Episode) -> Standing:
    start = env.begin(task, played.seed).state
    rewards = env.arena.episode_rewards(start, played.turns, LEARNER)
    total = env.arena.total(rewards).normalized_reward if rewards else 0.0
    return Standing(name, played.final.private[LEARNER].utility, task.grade(played.final), total)


# What is known once a game is over ---------------------------------------------------------------


def share_of_gains(game: ArenaGame, seconds: float) -> tuple[float, bool] | None:
    """The surplus of `lab_0` as a share of all gains from trade, and whether that is exact.

    All gains from trade are the value of the best joint plan less what the labs earn alone.
    `seconds` limits the solver; where it ran out, the share is at least this. None where trading
    brings nothing.
    """
    opening = env.begin(game.task, game.play.seed).state
    lab = game.play.state.private[LEARNER]
    gains, exact = gains_from_trade(opening, seconds)
    return ((lab.utility - lab.batna) / gains, exact) if gains > LEAST_GAIN else None


@dataclass(frozen=True)
class Trade:
    """A trade that another lab would have taken, and its value to `lab_0` on top of its own."""

    round_index: int
    lab_id: str
    given: tuple[str, ...]  # ids of the blocks that lab_0 gives
    received: tuple[str, ...]
    payment: float  # credits that lab_0 pays; negative where it is paid
    gain: float  # credits


def best_missed_trade(game: ArenaGame) -> Trade | None:
    """The most valuable trade that `lab_0` could have made at its first turn of a round.

    The other lab would have taken it by the rules of its character. Its value is what it adds to
    the trades that `lab_0` did make. None where no such trade is worth LEAST_GAIN.
    """
    final = frozenset(b.block_id for b in game.play.state.seen_by(LEARNER).owned_blocks)
    seen, trades = set(), []
    for step in game.steps:
        if step.round_index not in seen:
            seen.add(step.round_index)
            trades.extend(_possible_trades(step.before, final))
    best = max(trades, key=lambda trade: trade.gain, default=None)
    return best if best and best.gain >= LEAST_GAIN else None


def _possible_trades(state: env.arena.State, final: frozenset[str]) -> Iterator[Trade]:
    """Every trade of at most one own block for at most one block of another lab, at its price.

    `final` are the blocks that `lab_0` has at the end: it plans with those that it is still to buy,
    and without those that it is still to sell.
    """
    obs = state.seen_by(LEARNER)
    market = obs.market
    now, horizon = market.round_index, market.max_rounds
    held = [b for b in market.blocks.values() if b.status in env.arena.FREE and b.block_id in final]
    alone = env.arena.best_plan(held, obs.own.jobs, now, horizon).gain
    for lab in obs.others:
        other = state.seen_by(lab.lab_id)
        theirs = [
            b for b in env.arena.tradable_blocks(market, other.agent) if b.block_id not in final
        ]
        mine = [b for b in env.arena.tradable_blocks(market, obs.agent) if b.block_id in final]
        for given, received in product((None, *mine), (None, *theirs)):
            if given is received:
                continue
            gets = (received.block_id,) if received else ()
            gives = (given.block_id,) if given else ()
            blocks = [b for b in held if b is not given] + ([received] if received else [])
            adds = env.arena.best_plan(blocks, obs.own.jobs, now, horizon).gain - alone
            wanted = env.arena.margin(other, LEARNER, gets)
            price = wanted - env.arena.trade_gain(other, gets, gives, 0.0)
            if obs.own.budget >= price >= -max(0.0, env.arena.purse(other)):
                yield Trade(now, lab.lab_id, gives, gets, price, adds - price)


@dataclass(frozen=True)
class Refused:
    """An offer of `lab_0` that ended without a trade, and what the other lab wanted then."""

    round_index: int
    offer: env.arena.Offer
    wanted: float  # credits; below 0 it would have paid; infinite where it does not sell


def refused_offers(game: ArenaGame) -> list[Refused]:
    """The offers that `lab_0` did not withdraw and nobody took, in order."""
    closed, refused = game.play.state.market.closed, []
    for step in game.steps:
        for name in step.after.market.offers.keys() - step.before.market.offers.keys():
            offer = closed.get(name)
            if offer is None or offer.from_lab_id != LEARNER or offer.status not in REFUSED:
                continue
            other = step.after.seen_by(offer.to_lab_id)
            gets, gives = offer.requested_blocks, offer.offered_blocks
            wanted = env.arena.margin(other, LEARNER, gets) - env.arena.trade_gain(
                other, gets, gives, 0.0
            )
            refused.append(Refused(step.round_index, offer, wanted))
    return refused


@dataclass(frozen=True)
class Effect:
    """By how many credits a message of `lab_0` moved what another lab wanted of a trade with it."""

    round_index: int
    lab_id: str
    message: str
    block_ids: tuple[str, ...]  # of that lab: those that were asked for, else its largest
    change: float


def message_effects(game: ArenaGame) -> list[Effect]:
    """What each message of `lab_0` did to each lab that heard it, right after it was said.

    Nobody wants anything any more of a message that closes the last round.
    """
    effects = []
    for step in game.steps:
        market = step.after.market
        said_nothing = len(market.messages) == len(step.before.market.messages)
        if said_nothing or market.round_index == market.max_rounds:
            continue
        message = market.messages[-1]
        unsaid = replace(step.after, market=market._replace(messages=market.messages[:-1]))
        for lab in step.after.seen_by(LEARNER).others:
            if not message.message or message.to_lab_id not in (lab.lab_id, None):
                continue
            asked = step.action.requested_block_ids or _largest(step.after.seen_by(lab.lab_id))
            wants, wanted = (
                env.arena.margin(state.seen_by(lab.lab_id), LEARNER, asked)
                for state in (step.after, unsaid)
            )
            change = 0.0 if wants == wanted else wants - wanted  # both may be infinite
            effects.append(Effect(step.round_index, lab.lab_id, message.message, asked, change))
    return effects


def _largest(obs: env.arena.Observation) -> tuple[str, ...]:
    """The id of the lab's block with most hours left; none where it has none to offer."""
    now, horizon = obs.market.round_index, obs.market.max_rounds
    tradable = env.arena.tradable_blocks(obs.market, obs.agent)
    largest = sorted(tradable, key=lambda block: -env.arena.live_hours(block, now, horizon))
    return tuple(block.block_id for block in largest[:1])
