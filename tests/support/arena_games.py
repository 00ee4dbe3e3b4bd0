"""Small markets with round numbers, for the arena's tests."""

from collections.abc import Iterable

from env import arena
from env.arena.env import open_round
from env.arena.types import Lab, Market, Nature

ENV = arena.GpuBudgetNegotiationEnv("arena/coalition_market", arena.SIZES["arena/coalition_market"])


def block(name: str, lab: int = 0, start: int = 0, rounds: int = 2, gpus: int = 2, **more):
    """A block of lab number `lab`: reliable, its energy costs 2."""
    fields = {"reliability": 0.9, "energy_cost": 2.0} | more
    return arena.Block(name, start, rounds, gpus, owner_lab_id=f"lab_{lab}", **fields)


def job(name: str, hours: int = 4, value: float = 40.0, deadline: int = 5, **more) -> arena.Job:
    """A job without partial credit, worth `value` on time; any block is reliable enough."""
    fields = {"min_reliability": 0.8, "partial_credit_allowed": False} | more
    return arena.Job(name, hours, deadline, value, 1.0, private_notes="", **fields)


def market(
    blocks: Iterable[arena.Block],
    jobs: dict[int, list[arena.Job]],
    labs: int = 2,
    rounds: int = 5,
    archetypes: dict[int, str] | None = None,
    shocks: dict[int, str] | None = None,
    coalitions: bool = True,
) -> arena.State:
    """A market with budgets of 100 and no chance in it."""
    seats = [f"lab_{index}" for index in range(labs)]
    held = {b.block_id: b for b in blocks}
    private = {}
    for index, seat in enumerate(seats):
        own = tuple(jobs.get(index, ()))
        own_blocks = [b for b in held.values() if b.owner_lab_id == seat]
        batna = round(arena.best_plan(own_blocks, own, 0, rounds).gain, 2)
        stake = sum(j.full_value for j in own) or 1.0
        archetype = (archetypes or {}).get(index, "cooperative" if index else "")
        private[seat] = arena.Own(archetype, 100.0, own, (0.0,) * rounds, 100.0, batna, stake)
    surges = "demand_surge" in (shocks or {}).values()
    surge = {seat: job(f"surge_{seat}", 2, deadline=rounds) for seat in seats if surges}
    private["nature"] = Nature(shocks or {}, tuple(sorted(held)), surge, held, dict(private))
    known = {seat: Lab(seat, seat, 0.65, "medium", "medium") for seat in seats}
    table = Market("test", 0, rounds, coalitions, (), known, held, {}, {}, {})
    return open_round(arena.State(table, private))


def take(state: arena.State, kind: str, **fields) -> arena.State:
    """The state after the next lab takes an action of that kind."""
    return ENV.step(state, arena.Action(kind, **fields))


def do(state: arena.State, lab: int, kind: str, **fields) -> arena.State:
    """The state after lab number `lab` takes an action, everyone before it passing over."""
    while state.market.queue[0] != f"lab_{lab}":
        state = take(state, "send_message", message="pass")
    return take(state, kind, **fields)


def next_round(state: arena.State) -> arena.State:
    """The state at the opening of the next round, everyone waiting."""
    now = state.market.round_index
    while state.market.queue and state.market.round_index == now:
        state = take(state, "wait")
    return state


def result(state: arena.State, lab: int) -> str:
    """The code of the last action of lab number `lab`."""
    return state.private[f"lab_{lab}"].results[0].code


def seen(state: arena.State, lab: int) -> arena.Observation:
    return ENV.observe(state, f"lab_{lab}")
