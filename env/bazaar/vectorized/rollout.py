"""Plays a batch of games to their end: two-party deals one after the other, or several buyers.

An illegal move of a buyer forfeits only its own game. In the rounds after a game is over its prices
are NaN.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from .grades import graded, parts_of, shares_of
from .rounding import rounded
from .sellers import ACCEPT, OFFER, WALK, capitulation
from .types import (
    AGREEMENT,
    BUYER,
    DEADLINE,
    FORFEIT,
    NOBODY,
    RUNNING,
    SELLER,
    WALKAWAY,
    BatchView,
    Buyers,
    Deals,
    Games,
    Outcome,
    Own,
    Results,
)

CLOSED_BY = np.array([RUNNING, AGREEMENT, WALKAWAY])  # how a legal move of each kind ends a deal


def play_batch(games: Games, buyers: Buyers) -> Results:
    """Plays all `games` with `buyers` in the learner's seat; sellers and rivals are the task's."""
    past: list[Outcome] = []
    running = np.ones(len(games.deals[0].rounds), bool)
    play = _compete if games.rivals else _bargain
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for deal in games.deals:
            past.append(play(games, deal.remembering(past), buyers, past, running))
            running = past[-1].end != FORFEIT
        share = np.stack([shares_of(*pair) for pair in zip(games.deals, past, strict=True)])
        parts = parts_of(games, past, share)
        return Results(tuple(past), share, parts, graded(games, parts))


def legal(
    kind: np.ndarray, bid: np.ndarray, ask: np.ndarray, payable: np.ndarray, decimals: int
) -> np.ndarray:
    """Whether the rules allow these moves of buyers who can pay `payable`; arrays of shape (n,)."""
    fits = (bid > 0) & (bid <= payable) & (rounded(bid, decimals) == bid)
    return np.where(kind == OFFER, fits, (kind == WALK) | (ask <= payable))


def _bargain(
    games: Games, deal: Deals, buyers: Buyers, past: Sequence[Outcome], running: np.ndarray
) -> Outcome:
    """One deal between two, by the rules of `Bazaar`."""
    (own,), sellers = deal.own, deal.sellers
    running, payable, blank = running.copy(), own.payable, _blank(deal, running)
    asks, bids, end, by, buyer, price, rounds, _ = blank
    see = _sight(games, deal, own, past, running)
    for t in range(1, len(asks)):
        kind, bid = buyers(see(t, asks, bids))
        lawful = legal(kind, bid, asks[t - 1], payable, games.decimals)
        closed = np.where(lawful, CLOSED_BY[kind], FORFEIT)
        np.copyto(price, asks[t - 1], where=running & (closed == AGREEMENT))
        np.copyto(by, BUYER, where=running & (closed != RUNNING))
        rounds += running & lawful

        open_bids = running & (closed == RUNNING)
        np.copyto(bids[t - 1], bid, where=open_bids)
        answer, ask = sellers.answer(t, asks[:t], bids[:t])
        np.copyto(price, bid, where=open_bids & (answer == ACCEPT))
        np.copyto(asks[t], ask, where=open_bids & (answer == OFFER))
        late = (answer == OFFER) & (t >= deal.rounds)
        np.copyto(closed, np.where(late, DEADLINE, CLOSED_BY[answer]), where=open_bids)
        np.copyto(end, closed, where=running)
        running &= closed == RUNNING
        if not running.any():
            break
    buyer[end == AGREEMENT] = 0
    return blank


def _compete(
    games: Games, deal: Deals, buyers: Buyers, past: Sequence[Outcome], running: np.ndarray
) -> Outcome:
    """One deal under sealed bids, by the rules of `MultiBuyerBazaar`."""
    running, blank = running.copy(), _blank(deal, running)
    asks, bids, end, by, buyer, price, rounds, left = blank
    seats = (buyers, *games.rivals)
    sealed = np.full((len(seats), *bids.shape), np.nan)
    best = np.full(bids.shape, np.nan)  # what the seller sees
    active = np.ones((len(seats), len(end)), bool)
    sights = [_sight(games, deal, own, past, running) for own in deal.own]
    for t in range(1, len(asks)):
        for seat, move in enumerate(seats):
            contested = np.delete(active, seat, axis=0).any(axis=0)
            kind, bid = move(sights[seat](t, asks, sealed[seat], contested))
            payable = deal.own[seat].payable
            moves = running & active[seat]
            fouls = moves & ~legal(kind, bid, asks[t - 1], payable, games.decimals)
            end[fouls], by[fouls] = FORFEIT, BUYER + seat
            running &= ~fouls
            named = np.where(kind == ACCEPT, asks[t - 1], np.where(kind == OFFER, bid, np.nan))
            np.copyto(sealed[seat, t - 1], named, where=moves & running)
            if seat == 0:
                np.copyto(left, t, where=moves & running & (kind == WALK))
        rounds += running
        last = len(seats) - 1 - active[::-1].argmax(axis=0)
        active = ~np.isnan(sealed[:, t - 1])
        np.fmax.reduce(sealed[:, t - 1], out=best[t - 1])
        deserted = running & ~active.any(axis=0)
        end[deserted], by[deserted] = WALKAWAY, BUYER + last[deserted]
        running &= ~deserted

        answer, ask = deal.sellers.answer(t, asks[:t], best[:t])
        closed = np.where((answer == OFFER) & (t >= deal.rounds), DEADLINE, CLOSED_BY[answer])
        np.copyto(end, closed, where=running)
        np.copyto(asks[t], ask, where=running & (answer == OFFER))
        sold = running & (closed == AGREEMENT)
        tied = np.where(sealed[:, t - 1] == best[t - 1], games.liking, len(seats))
        np.copyto(buyer, tied.argmin(axis=0), where=sold)
        np.copyto(price, best[t - 1], where=sold)
        running &= closed == RUNNING
        if not running.any():
            break
    bids[:] = sealed[0]
    return blank


def _blank(deal: Deals, running: np.ndarray) -> Outcome:
    """An outcome to write into: opening asks filled in, games that are over marked as forfeits."""
    n, most = len(running), int(deal.rounds.max())
    asks, bids = np.full((most + 1, n), np.nan), np.full((most, n), np.nan)
    np.copyto(asks[0], deal.opening, where=running)
    end, by = np.where(running, RUNNING, FORFEIT), np.full(n, SELLER)
    nothing = np.full(n, np.nan)
    return Outcome(
        asks, bids, end, by, np.full(n, NOBODY), nothing, np.zeros(n, int), nothing.copy()
    )


def _sight(
    games: Games, deal: Deals, own: Own, past: Sequence[Outcome], running: np.ndarray
) -> Callable[..., BatchView]:
    """A function that returns what one buyer sees at a round. It reads `running` at each call."""
    turns = sum(before.rounds for before in past) + np.zeros(len(running), int)
    paid = tuple(before.price / before.asks[0] for before in past)
    rate = capitulation([(before.price, before.asks[0]) for before in past])

    def chance(t: int) -> np.ndarray:
        drawn, which = np.zeros((2, len(running))), np.flatnonzero(running)
        drawn[:, which] = games.chance(turns[which] + t - 1, which)
        return drawn

    def see(t, asks, bids, contested=False) -> BatchView:
        tells = partial(deal.sellers.tells, t - 1, asks[: t - 1])
        return BatchView(
            games.decimals,
            games.seller_type,
            len(games.deals),
            deal.rounds,
            deal.list_price,
            own,
            paid,
            rate,
            t - 1,
            asks[:t],
            bids[: t - 1],
            contested,
            tells,
            partial(chance, t),
        )

    return see
