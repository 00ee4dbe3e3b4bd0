"""A visitor's game of the bazaar as a value: seats, legal next steps, comparison with policies.

Nothing here knows the page. The seed is drawn by whoever starts the game and stays hidden while it
runs, since it stands for every hidden value. `propose` asks a visitor back about a move that may
be a slip: a price beyond the own limit, one behind the own last price, or one far off.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import inf

import numpy as np

import env
from sauda.games.adapter import Reply, Request
from sauda.llm.seller import SellerSeat
from sauda.llm.turn import attempt_seeds
from sauda.players import BuyerSeat, against, scripts_of, visitor_seat
from sauda.policies.listener import Listener
from sauda.policies.packages import last_package
from sauda.sessions import LearnerGame

Action = env.Offer | env.Accept | env.WalkAway
STAND_IN = "tit_for_tat"  # the scripted buyer in the place of a language model
PLANNER = "listener"  # the planner of the open market, as a buyer that a visitor can sell to


@dataclass(frozen=True)
class ModelMove:
    """The reply of a language model behind one of its moves."""

    turn: int  # index among the turns of the play
    reply: Reply
    source: str  # whose words the move holds
    changes: tuple[str, ...] = ()  # how the move differs from the reply, a sentence each
    invalid_replies: tuple[str, ...] = ()  # texts before it that held no move


@dataclass(frozen=True)
class Game(LearnerGame):
    """One visitor's game; `opponent` is what `against` takes, a language model, or "" for the
    task's own. A language model moves by `after_reply`, everybody else at once.
    """

    task_name: str
    opponent: str
    play: env.Play
    model_moves: tuple[ModelMove, ...] = ()
    invalid_replies: tuple[str, ...] = ()  # to the request for the move that is waited for
    undone: int = 0  # moves that were taken back
    stands_in_for: str = ""  # the language model whose seat `opponent` keeps until it is there
    unconfirmed: Action | None = None  # a doubtful move that waits for the visitor's confirmation
    hidden: bool = False  # whether the visitor learns only at the end who the opponent is

    @cached_property
    def task(self) -> env.Task:
        """The task with the chosen opponent in its seat."""
        return _task_against(self.task_name, self.opponent)

    @cached_property
    def model_seat(self) -> BuyerSeat | SellerSeat | None:
        """The language model in the other seat; None where a script plays."""
        return visitor_seat(self.opponent)

    @property
    def seats(self) -> Mapping[str, env.Policy]:
        """The opponents that move at once: all but the language model."""
        model = self.model_seat.agent if self.model_seat else ""
        return {seat: policy for seat, policy in self.task.opponents.items() if seat != model}

    @property
    def you(self) -> str:
        """The visitor's seat."""
        return self.task.learner

    @property
    def waiting(self) -> bool:
        """Whether the language model is to move."""
        acts = self.task.env.to_act(self.play.state)
        return self.model_seat is not None and not self.over and acts != self.you

    @property
    def out_of_tries(self) -> bool:
        """Whether the model used up its replies for this move without making one."""
        return self.waiting and len(self.invalid_replies) >= self.model_seat.tries

    @property
    def model_observation(self) -> env.Observation:
        """What the language model sees, its limit among it: never to be shown as it is."""
        return self.task.env.observe(self.play.state, self.model_seat.agent)


def start(task_name: str, opponent: str, seed: int) -> Game:
    """A fresh game, played up to the visitor's first move or the language model's.

    Raises ValueError on an unknown name, or a language model in a seat it cannot take.
    """
    return _advance(Game(task_name, opponent, env.begin(_task_against(task_name, opponent), seed)))


def hears_words(game: Game) -> bool:
    """Whether the seller is moved by words: those of a buyer where bids stand."""
    return game.you == "buyer" and game.play.state.table.standing


def _task_against(task_name: str, opponent: str) -> env.Task:
    task = env.get_task(task_name)
    if opponent == PLANNER and task.learner == "seller":
        return replace(task, opponents={**task.opponents, "buyer": plan_purchase})
    model = visitor_seat(opponent)
    return model.take_seat(task) if model else against(task, opponent)


def plan_purchase(obs: env.Observation, rng: np.random.Generator) -> Action:
    """The planner's move against a visitor who sells, as if rounds cost what they do in the market.

    It takes the visitor for one of the market's sellers.
    """
    private = {"discount": sum(env.market.MARKETS["open-3"].discount) / 2, **obs.own}
    return Listener()(replace(obs, own=private), rng)


def _advance(game: Game) -> Game:
    return replace(game, play=env.advance(game.task, game.seats, game.play))


def answer(game: Game, action: Action) -> Game:
    """The game after the visitor's move and the opponents' immediate replies.

    Raises IllegalAction with one sentence on a move the rules forbid; the game is as it was.
    """
    if game.waiting:
        raise env.IllegalAction(
            "the other side is still thinking; wait for its move, or take yours back"
        )
    return _advance(replace(game, play=env.move(game.task, game.play, action), unconfirmed=None))


def request(game: Game) -> Request:
    """The request for the language model's move; each attempt at a move has a seed of its own."""
    obs, invalid = game.model_observation, game.invalid_replies
    seed = attempt_seeds(env.next_stream(game.task, game.play, obs.agent))
    return game.model_seat.request(obs, seed(len(invalid)), invalid)


def after_reply(game: Game, reply: Reply) -> Game:
    """The game after the move that the language model's `reply` makes.

    Where the reply makes no legal move, the game as it was with the text among `invalid_replies`.
    """
    parsed = game.model_seat.parse(game.model_observation, reply, game.invalid_replies)
    invalid = replace(game, invalid_replies=(*game.invalid_replies, reply.text))
    if parsed.action is None:
        return invalid
    try:
        play = env.move(game.task, game.play, parsed.action)
    except env.IllegalAction:
        return invalid
    turn, source = len(game.play.turns), (parsed.source, parsed.changes)
    moves = (*game.model_moves, ModelMove(turn, reply, *source, game.invalid_replies))
    return _advance(replace(game, play=play, model_moves=moves, invalid_replies=()))


def forfeit(game: Game) -> Game:
    """The game that ends because the language model made no legal move, as in an evaluation."""
    obs, wrote = game.model_observation, game.invalid_replies[-1]
    turn = env.Turn(obs.agent, obs, None, f"no legal move in the reply {wrote[:80]!r}")
    return replace(game, play=replace(game.play, turns=(*game.play.turns, turn), forfeit=True))


def without_words(game: Game) -> Game:
    """The open-market game as it goes with the same prices of the visitor and not one word.

    Code decides the seller's moves, so nobody has to be asked. It may end earlier, or stay open
    where the visitor's words closed it.
    """
    play = env.advance(game.task, game.task.opponents, env.begin(game.task, game.play.seed))
    for number in moves_of(game):
        if game.task.env.to_act(play.state) is None:
            break
        silent = replace(game.play.turns[number].action, message="")
        play = env.advance(game.task, game.task.opponents, env.move(game.task, play, silent))
    return replace(game, play=play, model_moves=(), invalid_replies=())


def moves_of(game: Game) -> list[int]:
    """The indices of the visitor's moves in the game's turns."""
    return [i for i, turn in enumerate(game.play.turns) if turn.agent == game.you]


def play_on(game: Game, script: str) -> Game:
    """The game from where it stands, a script in the place of the language model."""
    apart = {"opponent": script, "stands_in_for": game.opponent}
    return _advance(replace(game, **apart, model_moves=(), invalid_replies=()))


def back(game: Game, number: int) -> Game:
    """The game before the visitor's move `number`, counted from 0; IllegalAction if there is none.

    What is played from there is the same game: all its chance was drawn at the start.
    """
    made = moves_of(game)
    if not 0 <= number < len(made):
        raise env.IllegalAction(
            f"you made {len(made)} moves; there is no move {number + 1} to take back"
        )
    turns = game.play.turns[: made[number]]
    state = env.begin(game.task, game.play.seed).state
    for turn in turns:
        state = game.task.env.step(state, turn.action)
    return replace(
        game,
        play=replace(game.play, state=state, turns=turns, forfeit=False),
        model_moves=tuple(move for move in game.model_moves if move.turn < len(turns)),
        invalid_replies=(),
        unconfirmed=None,
        undone=game.undone + len(made) - number,
    )


def before_unanswered(game: Game) -> Game:
    """The game before the visitor's move that a language model has yet to answer, else `game`.

    Another move made there takes nothing back: the visitor has seen no answer to the first.
    """
    if not game.waiting or all(move.agent != game.you for move in game.observation.table.moves):
        return game
    return replace(back(game, len(moves_of(game)) - 1), undone=game.undone)


def as_episode(game: Game) -> env.Episode:
    """The finished game as an episode."""
    return env.episode(game.task, game.play)


@dataclass(frozen=True)
class Standing:
    """One line of the comparison: a player's result in this game."""

    name: str
    share: float  # mean over the deals, of the ZOPA
    grade: float
    price: float | None  # of the last deal
    visitor: bool = False


def standings(game: Game) -> list[Standing]:
    """The visitor's finished game beside every policy's on the same seed, best grade first."""
    task = game.task
    rows = [stand("you", task, as_episode(game), visitor=True)]
    for name, policy in scripts_of(task).items():
        rows.append(stand(name, task, env.rollout(task, policy, game.play.seed)))
    return rank_standings(rows)


def rank_standings(rows: Sequence[Standing]) -> list[Standing]:
    """The rows by grade, then by share, best first; the visitor stands before an equal."""
    return sorted(rows, key=lambda row: (-row.grade, -row.share, not row.visitor))


def rank(rows: Sequence[Standing]) -> tuple[int, bool]:
    """The visitor's place among `rows`, from 1, and whether somebody else did as well."""
    you = next(row for row in rows if row.visitor)
    ahead = sum((row.grade, row.share) > (you.grade, you.share) for row in rows)
    level = sum((row.grade, row.share) == (you.grade, you.share) for row in rows)
    return ahead + 1, level > 1


def stand(name: str, task: env.Task, played: env.Episode, visitor: bool = False) -> Standing:
    """How one episode came out for the learner."""
    won = env.shares(played.final, task.learner)
    past = played.final.table.past
    prices = [deal.price for deal in past if task.learner in ("seller", deal.buyer)]
    grade = task.grade(played.final)
    return Standing(name, sum(won) / len(won), grade, prices[-1] if prices else None, visitor)


@dataclass(frozen=True)
class Quick:
    """A move offered as a button, `label` its kind; without an action it cannot be made now."""

    label: str
    action: Action | None


def quick_moves(obs: env.Observation) -> tuple[Quick, Quick, Quick, Quick]:
    """Accept, meet halfway or at the own limit before it, move a little, walk away.

    The two prices differ, are no loss, and move towards the other side: a price that cannot is
    left out.
    """
    sell = obs.agent == "seller"
    mine, theirs = own_and_theirs(obs)
    losing = bool(theirs) and (theirs[-1] - obs.reservation) * (1 if sell else -1) < 0
    payable = theirs and (sell or theirs[-1] <= obs.own.get("purse", obs.reservation))
    accept = Quick("loss" if losing else "accept", env.Accept() if payable else None)
    if mine and theirs:
        middle, little = (mine[-1] + theirs[-1]) / 2, mine[-1] + (theirs[-1] - mine[-1]) / 8
    elif theirs:  # a buyer's first bid
        middle, little = theirs[-1] / 2, 0.4 * theirs[-1]
    else:  # a seller's opening
        price = obs.table.item.list_price
        middle, little = price, 1.1 * price
    first, second = ("halfway", "little") if mine else ("open", "bolder")
    farther, nearer = _legal(obs, middle), _legal(obs, little)
    if mine and farther is not None and abs(farther.price - middle) >= 1:
        first = "limit"  # half the way would be a loss
    if farther is not None and nearer == farther:  # both are rounded to it, or held at the limit
        bolder = (mine[-1] + farther.price) / 2 if mine else farther.price * little / middle
        nearer = _legal(obs, bolder)
    return (
        accept,
        Quick(first, farther),
        Quick(second, None if nearer == farther else nearer),
        Quick("walk", env.WalkAway()),
    )


def _legal(obs: env.Observation, price: float) -> env.Offer | None:
    """The nearest price without a loss to the visitor and not behind its last one; None if none."""
    if is_too_late(obs):
        return None
    price = round(price) if price >= 20 else obs.priced(price)  # people name whole rupees
    if obs.agent == "seller":
        price, asks = max(price, obs.priced(obs.reservation)), obs.table.asks
        return env.Offer(price) if (obs.bid or 0) < price < (asks[-1] if asks else inf) else None
    price = min(price, obs.budget)
    extras = held_extras(obs)
    return env.Offer(price, extras=extras) if (obs.bid or 0) < price < obs.ask else None


def is_too_late(obs: env.Observation) -> bool:
    """Whether nobody can take another price of the player: a seller's, after the last bid.

    The rules let the seller name one, which ends the deal like walking away.
    """
    table = obs.table
    return obs.agent == "seller" and bool(table.bids) and table.round >= table.rounds


LOWEST_SHARE = {"seller": 1 / 5, "buyer": 1 / 10}  # of the lower standing offer; see `is_far_off`
HIGHEST_MULTIPLE = 5  # of the higher standing offer
FAR_OFF, LOSS, BACKWARDS = "far_off", "loss", "backwards"


def propose(game: Game, action: Action) -> Game:
    """The game after the visitor's move, or with the move `unconfirmed` where there is a doubt.

    An unconfirmed move binds nobody. The same move again is made. Raises as `answer`.
    """
    after = answer(game, action)
    before = game.unconfirmed
    repeated = before is not None and replace(before, message=action.message) == action
    if repeated or not doubt(game, action):
        return after
    return replace(game, unconfirmed=action)


def doubt(game: Game, action: Action) -> str:
    """Why the visitor is asked back about `action`: LOSS, BACKWARDS, FAR_OFF, or "" for no doubt.

    The rules allow all of them. A visitor who has already named a losing price in this deal is not
    asked about the next one.
    """
    mine, theirs = own_and_theirs(game.observation)
    if isinstance(action, env.Accept):
        return LOSS if theirs and loss_at(game, theirs[-1]) > 0 else ""
    if not isinstance(action, env.Offer):
        return ""
    is_loss = loss_at(game, action.price, action.extras) > 0
    if is_loss and not any(loss_at(game, price) > 0 for price in mine):
        return LOSS
    is_other = action.extras != held_extras(game.observation)  # then its price may fall
    sign = 1 if game.you == "seller" else -1
    if mine and not is_other and sign * (action.price - mine[-1]) > 0:
        return BACKWARDS
    return FAR_OFF if is_far_off(game, action.price) else ""


def own_and_theirs(obs: env.Observation) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The prices in the deal in play: the player's, then the other side's.

    Where bids stand, a lower one counts as the best before it.
    """
    table = obs.table
    bids = tuple(accumulate(table.bids, max)) if table.standing else table.bids
    return (table.asks, bids) if obs.agent == "seller" else (bids, table.asks)


def held_extras(obs: env.Observation) -> frozenset[str]:
    """The extras of the last bid in a game of packages; none before it."""
    return last_package(obs) if obs.table.extras and obs.table.bids else frozenset()


def limit_with(obs: env.Observation, extras: Collection[str] = ()) -> float:
    """The player's limit for the item with these extras, of which a seller sells none."""
    return obs.reservation + sum(obs.own["values"][extra] for extra in extras)


def loss_at(game: Game, price: float, extras: Collection[str] = ()) -> float:
    """The rupees that a deal at `price` would cost the visitor; negative where it gains."""
    limit = limit_with(game.observation, extras)
    return limit - price if game.you == "seller" else price - limit


def is_far_off(game: Game, price: float) -> bool:
    """Whether `price` is so far from both standing offers that the visitor may have slipped.

    The standing offers are each side's last price; the list price replaces one that is missing. A
    seller's price is far off below a fifth of the lower one, because any buyer takes it at once. A
    buyer's is far off below a tenth, because hard opening bids are common and cost only a round.
    Either is far off above five times the higher one.
    """
    table = game.observation.table
    standing = [prices[-1] if prices else table.item.list_price
                for prices in (table.asks, table.bids)]  # fmt: skip
    lowest = LOWEST_SHARE["seller" if game.you == "seller" else "buyer"] * min(standing)
    return not lowest <= price <= HIGHEST_MULTIPLE * max(standing)
