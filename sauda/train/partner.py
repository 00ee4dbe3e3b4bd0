"""The partner of a run from reward alone: a network of numbers that plays as the model does.

It sees a table as 14 numbers and gives every move a chance. `follow` makes it like what the model
did. `improve` lets it play games to their ends and raises the chances of moves by the games' grades
(PPO, Schulman et al. 2017). No act, price or value of a planner is in it. Prices are whole percent
of the list price, as the model writes them.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import env
from env.bazaar.prompt import percent_of, unit

KINDS = ("hold", "accept", "walk", "raise")
HIGHEST = 120  # percent of the list price, to which it may rise; no limit is higher
LOWEST, KNOTS = 0.1, 31  # shares of the limit, from the lowest up to 1: the chances of prices there
FEATURES, HIDDEN = 14, 64
IMPOSSIBLE = -1e9


class Situations(NamedTuple):
    """Turns of a buyer: what it sees, shape (n, 14), which moves it may make, and its limit.

    Moves are to hold, to accept, to walk, and to rise to 1, 2, … HIGHEST percent.
    """

    features: np.ndarray  # (n, 14)
    legal: np.ndarray  # (n, 3 + HIGHEST), bool
    limits: np.ndarray  # (n,), percent


def see(observations: Sequence[env.Observation]) -> Situations:
    """The turns of buyers that never bid over their limit or over the ask."""
    limits = np.array([100 * obs.reservation / unit(obs) for obs in observations])
    asks = np.array([percent_of(obs, obs.ask) for obs in observations])
    bids = np.array([percent_of(obs, obs.bid or 0) for obs in observations])
    percent = np.arange(1, HIGHEST + 1)
    rises = (percent > bids[:, None]) & (percent < asks[:, None]) & (percent <= limits[:, None])
    holds = np.array([obs.bid is not None for obs in observations])
    accepts = np.array([obs.ask <= obs.reservation for obs in observations])
    others = np.stack([holds, accepts, np.ones_like(holds)], 1)
    features = np.array([*map(_features, observations)], dtype=np.float32)
    return Situations(features, np.concatenate([others, rises], 1), limits.astype(np.float32))


def _features(obs: env.Observation) -> tuple[float, ...]:
    table, limit = obs.table, obs.reservation
    asks, bids, bid = table.asks, table.bids, obs.bid or 0.0
    rises = sum(after > before for before, after in pairwise(bids))
    return (
        table.round / table.rounds, obs.rounds_left / 12, obs.rounds_left <= 1,
        asks[0] / limit, asks[-1] / limit, 1 - asks[-1] / asks[0],
        bid / limit, bid / asks[0], not bids, rises / 4,
        5 * (bids[-1] - bids[-2]) / limit if len(bids) > 1 else 0.0,
        5 * (asks[-2] - asks[-1]) / limit if len(asks) > 1 else 0.0,
        10 * obs.own["discount"] - 9.5, table.item.list_price / limit,
    )  # fmt: skip


def index_of(action: Any, obs: env.Observation) -> int | None:
    """The place of a move among those of `Situations`; None where it may not be made there."""
    if isinstance(action, env.Accept):
        place = KINDS.index("accept")
    elif isinstance(action, env.WalkAway):
        place = KINDS.index("walk")
    elif isinstance(action, env.Offer) and obs.bid is not None and action.price <= obs.bid:
        place = KINDS.index("hold")
    elif isinstance(action, env.Offer) and (percent := percent_of(obs, action.price)) <= HIGHEST:
        place = 2 + percent
    else:
        return None
    return place if see([obs]).legal[0, place] else None


def action_at(place: int, obs: env.Observation) -> Any:
    """The move at a place among those of `Situations`."""
    if place > 2:
        return env.Offer(max(1.0, obs.priced(unit(obs) * (place - 2) / 100)))
    return (env.Offer(obs.bid or 0.0), env.Accept(), env.WalkAway())[place]


def text_at(place: int, obs: env.Observation) -> str:
    """That move as the model writes it, without words."""
    if place > 2:
        return f'{{"raise":{place - 2}}}'
    verb = KINDS[place]
    return f'{{"{verb}":{percent_of(obs, obs.bid) if verb == "hold" else "true"}}}'


class Partner:
    """A network with a chance for every move, and one that says what grade to expect."""

    CLIP, ENTROPY, PASSES, BATCH = 0.2, 0.01, 6, 2_048  # of PPO

    def __init__(self, seed: int, rate: float) -> None:
        import torch

        self.drawn = torch.Generator().manual_seed(seed)
        self.policy = _network(FEATURES, len(KINDS) + KNOTS)
        self.value = _network(FEATURES, 1)
        parameters = [*self.policy.parameters(), *self.value.parameters()]
        for each in parameters:
            bound = each.shape[-1] ** -0.5 if each.dim() > 1 else 0.0
            with torch.no_grad():
                each.uniform_(-bound, bound, generator=self.drawn)
        self.optimizer = torch.optim.Adam(parameters, rate)

    def save(self, file: Path) -> None:
        """Write all that it has learnt, and where its draws are."""
        import torch

        torch.save([*(each.state_dict() for each in self._parts()), self.drawn.get_state()], file)

    def load(self, file: Path) -> None:
        """Go on from what `save` wrote."""
        import torch

        *states, drawn = torch.load(file)
        for each, state in zip(self._parts(), states, strict=True):
            each.load_state_dict(state)
        self.drawn.set_state(drawn)

    def _parts(self) -> tuple[Any, ...]:
        return self.policy, self.value, self.optimizer

    def log_chances(self, at: Situations) -> Any:
        """The log-probability of each move, shape (n, 3 + HIGHEST)."""
        import torch

        legal = torch.from_numpy(at.legal)
        kinds, knots = self.policy(torch.from_numpy(at.features)).split((len(KINDS), KNOTS), 1)
        can = torch.cat([legal[:, :3], legal[:, 3:].any(1, keepdim=True)], 1)
        kinds = kinds.masked_fill(~can, IMPOSSIBLE).log_softmax(1)
        shares = torch.arange(1, HIGHEST + 1) / torch.from_numpy(at.limits)[:, None]
        places = ((shares - LOWEST) / (1 - LOWEST) * (KNOTS - 1)).clamp(0, KNOTS - 1)
        below = places.floor().clamp(max=KNOTS - 2).long()
        part = places - below
        prices = knots.gather(1, below) * (1 - part) + knots.gather(1, below + 1) * part
        prices = prices.masked_fill(~legal[:, 3:], IMPOSSIBLE).log_softmax(1)
        whole = torch.cat([kinds[:, :3], kinds[:, 3:] + prices], 1)
        return whole.masked_fill(~legal, IMPOSSIBLE)

    def chances(self, at: Situations) -> np.ndarray:
        """The probability of each move, shape (n, 3 + HIGHEST)."""
        import torch

        with torch.no_grad():
            return self.log_chances(at).exp().numpy()

    def play(
        self, task: env.Task, games: Sequence[env.Play], rng: np.random.Generator
    ) -> tuple[list[env.Play], list[tuple[Situations, np.ndarray, np.ndarray]]]:
        """Games played on to their ends, moves drawn by `rng`; and of each round what was seen.

        A round is what the buyers of running games saw, the moves they made and whose games they
        are.
        """
        games, rounds = [env.advance(task, task.opponents, game) for game in games], []
        running = [i for i, game in enumerate(games) if task.env.to_act(game.state) is not None]
        while running:
            observations = [task.env.observe(games[i].state, task.learner) for i in running]
            at = see(observations)
            chances = self.chances(at)
            made = _draw(chances, rng)
            rounds.append((at, made, np.array(running)))
            for i, place, obs in zip(running, made, observations, strict=True):
                after = env.move(task, games[i], action_at(int(place), obs))
                games[i] = env.advance(task, task.opponents, after)
            running = [i for i in running if task.env.to_act(games[i].state) is not None]
        return games, rounds

    def follow(self, at: Situations, made: np.ndarray, steps: int) -> None:
        """Make moves like those `made`, shape (n,), likelier where they were made."""
        import torch

        places = torch.from_numpy(made)[:, None]
        for _ in range(steps):
            loss = -self.log_chances(at).gather(1, places).mean()
            self._step(loss)

    def improve(
        self, task: env.Task, games: Sequence[env.Play], rng: np.random.Generator
    ) -> np.ndarray:
        """Play games on to their ends and learn from their grades, which are returned."""
        import torch

        games, rounds = self.play(task, games, rng)
        grades = np.array([task.grade(game.state) for game in games], dtype=np.float32)
        at = Situations(*map(np.concatenate, zip(*(seen for seen, *_ in rounds), strict=True)))
        made = torch.from_numpy(np.concatenate([moves for _, moves, _ in rounds]))[:, None]
        earned = torch.from_numpy(grades[np.concatenate([whose for *_, whose in rounds])])
        with torch.no_grad():
            before = self.log_chances(at).gather(1, made)[:, 0]
        for _ in range(self.PASSES):
            for rows in torch.randperm(len(made), generator=self.drawn).split(self.BATCH):
                batch = Situations(*(each[rows.numpy()] for each in at))
                logs = self.log_chances(batch)
                expected = self.value(torch.from_numpy(batch.features))[:, 0]
                gain = earned[rows] - expected.detach()
                gain = gain / (gain.square().mean().sqrt() + 1e-6)
                ratio = (logs.gather(1, made[rows])[:, 0] - before[rows]).exp()
                clipped = ratio.clamp(1 - self.CLIP, 1 + self.CLIP)
                spread = -(logs.exp() * logs.clamp(min=-30)).sum(1).mean()
                error = (expected - earned[rows]).square().mean()
                better = torch.min(ratio * gain, clipped * gain).mean()
                self._step(error / 2 - better - self.ENTROPY * spread)
        return grades

    def _step(self, loss: Any) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def _network(inputs: int, outputs: int) -> Any:
    import torch

    sizes = (inputs, HIDDEN, HIDDEN, outputs)
    layers = [(torch.nn.Linear(a, b), torch.nn.Tanh()) for a, b in pairwise(sizes)]
    return torch.nn.Sequential(*[*chain.from_iterable(layers)][:-1])


def _draw(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A move of each row by its chances."""
    sums = chances.cumsum(1)
    return (sums < rng.random((len(sums), 1)) * sums[:, -1:]).sum(1)
