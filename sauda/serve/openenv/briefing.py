"""The rules in words, as the first observation of an episode says them: task, aim, moves, grading.

A harness that gives a model the observation and the schema of an action, and nothing else, so gives
it the rules. The words depend on the task alone, so they cannot tell what an episode hides.
"""

from env import Task, arena
from sauda.games import game_of

BAZAAR_AIM = {
    "buyer": (
        "You buy. `bazaar.own.reservation` is your limit, what the item is worth to you: the less"
        " you pay below it, the more you gain, and above it you lose. Never pay more. The other"
        " side's limit is hidden. Without a deal you gain and lose nothing."
    ),
    "seller": (
        "You sell. `bazaar.own.reservation` is your limit, the least that the item is worth to you:"
        " the more you get above it, the more you gain, and below it you lose. The buyer's limit is"
        " hidden. Without a deal you gain and lose nothing."
    ),
}
BAZAAR_MOVES = """\
Legal moves, one per step:
{"action_type": "offer", "price": 450, "message": "what you say"} names a price in rupees, here 450:
your bid as the buyer, your ask as the seller. `bazaar.decimals` says how many decimals a price has.
A bid may not exceed `bazaar.own.purse`, or without a purse your limit.
{"action_type": "accept"} takes the other side's last price, of `bazaar.asks` or `bazaar.bids`, once
it has named one.
{"action_type": "walk"} leaves without a deal.
`bazaar.round` of `bazaar.rounds` rounds are over; after the last one there is no deal."""
SEALED = """
In each round every buyer moves without seeing the others' moves, and the highest bid counts.
`bazaar.outbid` says that it was not yours, `bazaar.rivals` who still bids."""
MARKET_GRADE = """\
Grading: the grade, in [-1, 1], is the mean over the deals and the reward of the last step. A deal
counts your share of the span between both sides' limits, times `own.discount` for each round after
the first; after the round `own.deadline`, where there is one, it counts 0. No deal counts 0, or,
where no price suits both sides, 1 times the discount. A deal at a loss counts minus the loss as a
share of the list price."""
SHARE_GRADE = """\
Grading: the grade, in [0, 1], is the mean over the deals and the reward of the last step. A deal
counts your share of the span between both sides' limits; no deal, or one at a loss, counts 0."""
MORE = {
    "classic/asymmetric_pressure": "After the round `own.deadline` it counts half.",
    "classic/career_10": "It counts up to 30 % less, the more of its rounds it takes.",
    "classic/read_the_tells": "A price on your side of the middle earns up to 0.15 more.",
}
ARENA_AIM = """\
You run the lab that `seat` names. Each of `arena.own.jobs` pays base_value x urgency_multiplier
once blocks with its GPU hours are booked before its deadline_round; late hours pay a third of that.
`arena.own.batna` is what your lab can gain alone: gain more by trading blocks with other labs, by
pools and by pitches. You may make `arena.actions_left` more actions in this round."""
ARENA_MOVES = 'Legal moves, one per step, such as {"action_type": "wait"}; the types are'
ARENA_GRADE = """\
Grading: the grade, in [-1, 1], is what your lab gained beyond `arena.own.batna`, as a share of what
its jobs are worth, `arena.own.stake`. 0 is what it could gain alone, and below 0 its deals lost.
The reward of each step has ten parts, `reward_parts`; an action against the rules lowers one."""


def briefing(task: Task) -> str:
    """The rules of a task for whoever plays its learner's seat."""
    head = f"Task {task.name}: {task.about} You are `{task.learner}`."
    done = (
        f"A grade of at least {task.success:g} is a success. The episode ends when `done` is true."
    )
    if game_of(task).name == "arena":
        moves = f"{ARENA_MOVES}\n{arena_types()}"
        return "\n\n".join((head, ARENA_AIM, moves, f"{ARENA_GRADE} {done}"))
    buyers = [seat for seat in task.env.agents if seat != "seller"]
    moves = BAZAAR_MOVES + SEALED if len(buyers) > 1 else BAZAAR_MOVES
    may_lose = task.name.startswith("bazaar/") and task.learner == "buyer"
    grade = f"{MARKET_GRADE if may_lose else SHARE_GRADE} {MORE.get(task.name, '')}".strip()
    return "\n\n".join((head, BAZAAR_AIM[task.learner], moves, f"{grade} {done}"))


def arena_types() -> str:
    """What each of the fourteen actions of a lab is for, and the fields that it takes."""

    def line(name: str, kind: arena.Kind) -> str:
        needs = f" Needs {', '.join(kind.required)}." if kind.required else ""
        may = f" May have {', '.join(kind.optional)}." if kind.optional else ""
        return f"{name}: {kind.purpose}{needs}{may}"

    return "\n".join(line(name, kind) for name, kind in arena.KINDS.items())
