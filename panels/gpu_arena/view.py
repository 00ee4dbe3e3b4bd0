"""What the GPU arena tab shows of a game: calendar, board, jobs, reward, settlement."""

from collections import Counter
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from env import arena, begin
from panels.ui.curve import curve
from panels.ui.look import note, stat, strip, table
from sauda.games.arena.transcript import action_in_words
from sauda.policies import LABS
from sauda.policies.arena_bound import upper_bound
from sauda.sessions.arena import LEARNER, ArenaGame, Step, standings

MARKS = {
    "available": ("", "free"),
    "reserved": ("‖ ", "reserved"),
    "committed": ("⇄ ", "in a pool"),
    "used": ("✓ ", "booked"),
    "failed": ("✕ ", "failed"),
}
LAST_MESSAGES = 4
PRACTICE = (
    "This was practice: its seed was known before the game, and the seed gives away every private"
    " value. Leave the seed empty to play a secret world for a score."
)


# The calendar ------------------------------------------------------------------------------------


def calendar(game: ArenaGame) -> Markup:
    """Every lab's GPU time over the rounds, with the present one marked."""
    market = game.observation.market
    heads = [
        Markup('<span class="{}">{}</span>').format(
            "sauda-now" if r == market.round_index and not game.over else "", r
        )
        for r in range(market.max_rounds)
    ]
    labs = [_lab(market, lab, game.over) for lab in market.labs.values()]
    legend = ", ".join(f"{mark.strip()} {word}" if mark else word for mark, word in MARKS.values())
    return Markup(
        '<div class="sauda-arena" style="--rounds: {}">'
        '<div class="sauda-rounds" aria-hidden="true">{}</div>{}</div>{}'
    ).format(
        market.max_rounds,
        Markup("").join(heads),
        Markup("").join(labs),
        note(f"A bar is a block of GPUs in its rounds: {legend}. ×2 means two GPUs at a time."),
    )


def _lab(market: arena.Market, lab: arena.Lab, over: bool) -> Markup:
    """One lab: its public facts, and its blocks in lanes."""
    blocks = [b for b in market.blocks.values() if b.owner_lab_id == lab.lab_id]
    facts = f"reputation {lab.reputation:.2f}, budget {lab.public_budget_band}"
    facts += f", demand {lab.public_demand}" + (", has left" if lab.finished else "")
    now = Markup('<li class="sauda-now" aria-hidden="true" style="grid-column: {}"></li>').format(
        market.round_index + 1
    )
    lanes = [_bar(block, lane, market) for block, lane in packed(blocks, market.max_rounds)]
    return Markup(
        '<section class="sauda-lab{}"><header><b>{}</b> {}</header>'
        '<ul class="sauda-lanes">{}{}</ul></section>'
    ).format(
        " sauda-own" if lab.lab_id == LEARNER else "",
        f"{lab.public_name} ({lab.lab_id})",
        facts,
        "" if over else now,
        Markup("").join(lanes) or Markup("<li>no blocks left</li>"),
    )


def packed(blocks: Iterable[arena.Block], horizon: int) -> list[tuple[arena.Block, int]]:
    """Each block with its lane, from 1: the first lane in which it overlaps no other block."""
    ends: list[int] = []
    placed = []
    for block in sorted(blocks, key=lambda b: (b.start_round, b.block_id)):
        lane = next((i for i, end in enumerate(ends) if end <= block.start_round), len(ends))
        ends[lane : lane + 1] = [min(block.start_round + block.duration, horizon)]
        placed.append((block, lane + 1))
    return placed


def _bar(block: arena.Block, lane: int, market: arena.Market) -> Markup:
    mark, word = MARKS[block.status]
    length = max(1, min(block.duration, market.max_rounds - block.start_round))
    about = (
        f"{block.block_id}: {block.gpu_count} GPUs in rounds {block.start_round} to"
        f" {block.start_round + length - 1}, {word}, reliability {block.reliability:.2f},"
        f" energy {block.energy_cost:.2f} credits"
    )
    return Markup(
        '<li class="sauda-block sauda-is-{}" style="grid-column: {} / span {}; grid-row: {}"'
        ' title="{}">{}{}<small> ×{}</small></li>'
    ).format(
        block.status, block.start_round + 1, length, lane, about, mark, block.block_id,
        block.gpu_count,
    )  # fmt: skip


# The lab's private state -------------------------------------------------------------------------


def papers(obs: arena.Observation) -> Markup:
    """The private values of a lab: its credits and its jobs."""
    own, now = obs.own, obs.market.round_index
    rows = [
        (
            job.job_id,
            f"{min(job.on_time + job.late, job.gpu_hours_required)} of {job.gpu_hours_required}",
            "done" if job.completed else "late" if now >= job.deadline_round else _due(job, now),
            f"{job.full_value:.1f}",
            f"{job.min_reliability:.2f}",
            "yes" if job.partial_credit_allowed else "no",
        )
        for job in own.jobs
    ]
    return strip(
        stat(f"{own.budget:.1f}", "credits in hand"),
        stat(f"{own.utility:+.1f}", "utility so far"),
        stat(f"{own.batna:.1f}", "alone it could make"),
    ) + table(
        ("your jobs", "hours", "due", "worth", "reliability from", "in part"),
        rows,
        align="lrrrrr",
    )


def _due(job: arena.Job, now: int) -> str:
    return f"before round {job.deadline_round}" if job.deadline_round > now else "now"


# The message board -------------------------------------------------------------------------------


def message_board(game: ArenaGame) -> Markup:
    """The message board: open offers, coalitions, shocks, and the last messages."""
    market = game.observation.market
    offers = [
        (
            offer.offer_id,
            f"{offer.from_lab_id} → {offer.to_lab_id}",
            _goods(offer.offered_blocks, offer.payment),
            _goods(offer.requested_blocks, offer.ask),
            f"round {offer.expires_round}",
        )
        for offer in market.offers.values()
    ]
    pools = [
        (
            pool.coalition_id,
            " and ".join(pool.members),
            _pool_state(pool),
            ", ".join(pool.commitments) or "–",
            f"{pool.share:.0%}",
        )
        for pool in market.coalitions.values()
    ]
    parts = [
        table(("offer", "from, to", "gives", "wants", "till"), offers, "lllll")
        if offers
        else note("No offer is open."),
        table(("coalition", "members", "state", "in the pool", "share"), pools, "llllr")
        if pools
        else "",
        Markup("").join(
            Markup('<p class="sauda-bad sauda-shock">Round {}: {}</p>').format(
                s.round_index, s.message
            )
            for s in market.shock_history
        ),
        message_list(market.messages[-LAST_MESSAGES:]),
    ]
    return Markup("").join(parts)


def _goods(blocks: Sequence[str], credits: float) -> str:
    return ", ".join([*blocks, *([f"{credits:.2f} credits"] if credits else [])]) or "nothing"


def _pool_state(pool: arena.Coalition) -> str:
    if pool.breached_by:
        return f"broken by {pool.breached_by}"
    return "runs" if pool.active else "ended" if pool.ended else "proposed"


def message_list(messages: Sequence[arena.Message]) -> Markup:
    """The last messages, newest at the bottom."""
    lines = Markup("").join(
        Markup("<li><b>{}</b>{}: “{}”</li>").format(
            m.from_lab_id, f" to {m.to_lab_id}" if m.to_lab_id else "", m.message
        )
        for m in messages
        if m.message
    )
    return Markup('<ul class="sauda-talk">{}</ul>').format(lines) if lines else Markup("")


# The reward --------------------------------------------------------------------------------------


def reward(game: ArenaGame) -> Markup:
    """The cumulative reward as a curve, and its components: of the last step and of all steps."""
    steps = game.steps
    sums = [0.0]
    for one in steps:
        sums.append(sums[-1] + one.reward.normalized_reward)
    moves = arena.ACTIONS_PER_ROUND * game.observation.market.max_rounds
    picture = curve(
        {LEARNER: sums},
        moves,
        "cumulative reward of lab_0",
        f"Cumulative reward after {len(steps)} steps: {sums[-1]:.3f}.",
    )
    if not steps:
        return picture + note("Step or run: each step’s reward is split into its components here.")
    total = arena.total([one.reward for one in steps])
    last = steps[-1].reward
    rows = [
        (name.removesuffix("_score").replace("_", " "), _signed(last[i]), _signed(total[i]))
        for i, name in enumerate(arena.Breakdown._fields)
        if total[i] or last[i] or name == "normalized_reward"
    ]
    return picture + table(("component", "last step", "all steps"), rows)


def _signed(value: float) -> str:
    return f"{value:+.3f}" if value else "0"


def log(game: ArenaGame) -> Markup:
    """Every step of `lab_0` with its result code and reward, the last one on top."""
    lines = Markup("").join(Markup("<li>{}</li>").format(_told(one)) for one in game.steps[::-1])
    empty = note("lab_0 has not moved yet.")
    return (
        Markup('<ol class="sauda-talk sauda-log" reversed>{}</ol>').format(lines)
        if lines
        else empty
    )


def _told(one: Step) -> Markup:
    result = one.results[0]
    settled = Markup(" {}.").format(one.results[1].message) if len(one.results) > 1 else ""
    return Markup(
        '<span class="sauda-note">round {}</span> <bdi>{}</bdi> →'
        ' <code class="sauda-{}">{}</code> <b>{}</b>{}'
    ).format(
        one.round_index,
        action_in_words(one.action),
        "good" if result.ok else "bad",
        result.code,
        f"{one.reward.normalized_reward:+.3f}",
        Markup("<br><small>{}</small>").format(result.message) if not result.ok else settled,
    )


# The end -----------------------------------------------------------------------------------------


def settlement(game: ArenaGame) -> Markup:
    """The result of a finished game, beside every policy at the same seed."""
    if not game.over:
        return Markup("")
    own = game.play.state.private[LEARNER]
    grade = game.task.grade(game.play.state)
    total = arena.total([one.reward for one in game.steps]).normalized_reward
    bound = upper_bound(begin(game.task, game.play.seed).state, seconds=5.0)
    rows = [
        (
            row.name
            if row.name in LABS
            else Markup('<b class="sauda-you">{}</b>').format(row.name),
            f"{row.utility:.1f}",
            f"{row.grade:+z.3f}",
            f"{row.reward:+z.3f}",
        )
        for row in standings(game)
    ]
    return Markup("").join(
        [
            strip(
                stat(f"{own.utility:.1f}", "utility, credits"),
                stat(f"{own.utility - own.batna:+.1f}", "over what it could make alone"),
                stat(f"{grade:+z.3f}", "grade"),
                stat(f"{total:+z.3f}", "reward"),
            ),
            table(("player", "utility", "grade", "reward"), rows,
                  caption="The same world, the same seed, played by every policy"),
            Markup(
                "<p>Jobs brought {:.1f} credits, energy took {:.1f}, trades {:+.1f}, pools {:+.1f}."
                " No play that leaves the others as well off as alone makes more than {:.1f}{}.</p>"
            ).format(
                own.job_value, own.energy, own.deals, own.pool, bound.utility,
                "" if bound.solved else " (the solver’s own bound)",
            ),
            note(f"Played now, {game.task_name} at seed {game.play.seed}. {_again(game)}"),
        ]
    )  # fmt: skip


def _again(game: ArenaGame) -> str:
    """The command that plays this game again, where one policy chose every step."""
    if game.policy:
        return (
            f"Play it again: python -m sauda play --task {game.task_name} --policy {game.policy}"
            f" --seed {game.play.seed}"
        )
    counts = Counter(game.movers)
    parts = ", ".join(f"{count} by {who}" for who, count in counts.items())
    hands = f"Its {len(game.movers)} steps were chosen by several hands ({parts})."
    return hands if game.secret or not game.by_hand else f"{hands} {PRACTICE}"
