"""What the GPU arena tab shows of a game: the board, credits, messages, rewards, settlement.

The board has every lab's blocks over the rounds with the visitor's jobs. A visitor presses blocks
and then a job to book them, or another lab's block to bid for it.
"""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from urllib.parse import urlencode

from markupsafe import Markup

from env import IllegalAction, arena
from panels.gpu_arena import words
from panels.gpu_arena.offers import take
from panels.gpu_arena.players import SCRIPTS
from panels.site.card import MADE, PATH, SEED, TASK
from panels.ui.html import macros
from panels.ui.look import note, short_seed, table
from panels.ui.offers import curve
from panels.ui.terms import capital, list_names, short, shown_round, term
from sauda.players import policy_label
from sauda.policies import LABS
from sauda.sessions import arena as session
from sauda.sessions.arena import ArenaGame, Effect, Standing, Step

HTML = macros("arena")
LAST_MESSAGES = 4
SECONDS = 5.0  # that the solver of the best joint plan may take
MOST_ASKED = 1000  # credits: who wants more does not trade
EQUAL = 1e-9  # grades that differ by less share a rank

# The lab's private state -------------------------------------------------------------------------


def papers(obs: arena.Observation) -> Markup:
    """The private values of a lab: its credits, and its jobs."""
    private, names = obs.own, words.job_names(obs.own.jobs)

    def state(job: arena.Job) -> str:
        if job.completed:
            return "done"
        return (
            "late" if obs.market.round_index >= job.deadline_round else words.due(job, obs.market)
        )

    rows = [
        (
            term(names[job.job_id], job.job_id),
            f"{min(job.on_time + job.late, job.gpu_hours_required)} of {job.gpu_hours_required}",
            state(job),
            f"{job.full_value:.1f}",
            f"{job.min_reliability:.2f}",
            "yes" if job.partial_credit_allowed else "no",
        )
        for job in private.jobs
    ]
    heads = ("your jobs", "hours", "due", "pays", "reliability from", "in parts")
    return credits(obs) + table(heads, rows)


def credits(obs: arena.Observation) -> Markup:
    """The lab's credits, those that its open offers hold, and what it made so far."""
    return HTML.credits(obs.own, session.promised_credits(obs))


# Messages, shocks and rewards --------------------------------------------------------------------


def message_board(game: ArenaGame) -> Markup:
    """The market's shocks, and the last messages, the newest at the bottom."""
    obs, market = game.observation, game.observation.market
    jobs = words.job_names(obs.own.jobs)
    shocks = [
        f"Round {shown_round(shock.round_index)}: {words.readable(obs, shock.message)}"
        for shock in market.shock_history
    ]
    if market.announced:
        shocks.append(f"Announced for the next round: {words.ANNOUNCED[market.announced]}")
    messages = [
        (
            "You" if m.from_lab_id == session.LEARNER else words.lab_name(market, m.from_lab_id),
            f" to {words.lab_name(market, m.to_lab_id)}" if m.to_lab_id else "",
            words.with_names(market, m.message, jobs),
        )
        for m in market.messages[-LAST_MESSAGES:]
        if m.message
    ]
    return HTML.message_board(shocks, messages)


def reward(game: ArenaGame) -> Markup:
    """The cumulative reward as a curve, and its components: of the last step and of all steps."""
    steps, sums = game.steps, [0.0]
    for step in steps:
        sums.append(sums[-1] + step.reward.normalized_reward)
    picture = curve(
        {session.LEARNER: sums},
        arena.ACTIONS_PER_ROUND * game.observation.market.max_rounds,
        "cumulative reward of your lab",
        f"Cumulative reward after {len(steps)} steps: {sums[-1]:.3f}.",
    )
    if not steps:
        return picture + note("Each step’s reward is split into its components here.")
    last, total = steps[-1].reward, arena.total([step.reward for step in steps])
    rows = [
        (
            name.removesuffix("_score").replace("_", " "),
            *(f"{value:+.3f}" if value else "0" for value in values),
        )
        for name, *values in zip(arena.Breakdown._fields, last, total, strict=True)
        if any(values) or name == "normalized_reward"
    ]
    return picture + table(("component", "last step", "all steps"), rows)


# What happened -----------------------------------------------------------------------------------


def advice(obs: arena.Observation, action: arena.Action | arena.Malformed) -> Markup:
    """The expert's next move with its reason, and a button that makes it."""
    is_move = isinstance(action, arena.Action)
    button = take("Take it", action.as_json(), "take_advice") if is_move else ""
    move, chance = _sentence(capital(words.tell_advice(obs, action))), ""
    if is_move and (likely := words.tell_chance(obs, action)):
        chance = f"Chance that it is taken: {likely}."
    return HTML.advice(move, _reason(obs, action), chance, button)


def last_step(game: ArenaGame) -> Markup:
    """What became of the last action, why a player chose it, and what the other labs did since."""
    if not game.steps:
        return note("Nobody has moved yet: it is your turn.")
    obs, step = game.observation, game.steps[-1]
    result = step.results[0]
    sentences = [] if result.ok else [f"The rules refuse: {words.readable(obs, result.message)}"]
    sentences += [*_answers(obs, step), *_refusals(obs, step)]
    if not step.observation.others:
        sentences.append("All other labs have left, so the rest was played at once")
    if game.over:
        made = game.play.state.private[session.LEARNER].utility
        sentences.append(f"The game is over: your lab made {made:.1f} credits")
    did = _sentence(f"Your lab {words.tell_action(obs, session.LEARNER, step.action)}")
    return HTML.last_step(did, _players_reason(step), " ".join(map(_sentence, sentences)))


def _sentence(text: str) -> str:
    return text if text.endswith("”") else f"{text}."


def _reason(obs: arena.Observation, action: arena.Action | arena.Malformed) -> str:
    """Why a move is made, as a sentence; "" where the move says it all."""
    reason = words.why(obs, action)
    return _sentence(capital(reason)) if reason else ""


def _players_reason(step: Step) -> str:
    """Why a player made this move; empty for the visitor's own."""
    return "" if step.mover == session.YOU else _reason(step.observation, step.action)


def _answers(obs: arena.Observation, step: Step) -> Iterator[str]:
    for lab, action in step.answers:
        yield f"{words.lab_name(obs.market, lab)} {words.tell_action(obs, lab, action)}"


def _refusals(obs: arena.Observation, step: Step) -> Iterator[str]:
    """What became of the visitor's offers that ended without a trade since this step."""
    for offer_id, offer in obs.market.closed.items():
        ended_now = offer_id not in step.before.market.closed and offer.status != "accepted"
        if ended_now and offer.from_lab_id == session.LEARNER:
            yield capital(words.told_price(obs, offer))


def log(game: ArenaGame) -> Markup:
    """Every step of `lab_0` with its result and reward, and the answers; the last one on top."""
    if not game.steps:
        return note("Your lab has not moved yet.")
    obs = game.observation
    return HTML.log(
        (
            step,
            words.tell_action(obs, session.LEARNER, step.action),
            _players_reason(step),
            [words.readable(obs, result.message) for result in step.results],
            list(_answers(obs, step)),
        )
        for step in game.steps[::-1]
    )


# The end -----------------------------------------------------------------------------------------


def settlement(game: ArenaGame) -> Markup:
    """What the lab made and missed, what its words did, who the others were; empty before."""
    if not game.over:
        return Markup("")
    rows, grade = session.standings(game), game.task.grade(game.play.state)
    share, lab = session.share_of_gains(game, SECONDS), game.play.state.private[session.LEARNER]
    made = {TASK: game.task_name, SEED: game.play.seed, MADE: f"{lab.utility:.1f}"}
    shared = urlencode(made, safe="/")
    return HTML.settlement(
        game,
        lab,
        1 + sum(row.grade > grade + EQUAL for row in rows),
        len(rows),
        "–" if share is None else f"{'' if share[1] else 'at least '}{share[0]:z.0%}",
        tell_missed(game),
        _refused(game),
        (_effects(game), _players(rows), _others(game)),
        short(game.task_name),
        short_seed(game.play.seed),
        Counter(map(policy_label, game.movers)),
        game.policy or words.EXPERT,
        (f"?tab=gpu_arena&{shared}", f"{PATH.removeprefix('/')}?{shared}"),
    )


def tell_missed(game: ArenaGame) -> str:
    """The most valuable trade that the lab did not make, in a sentence.

    The other lab's character and plans show that it was open: the advice could not know.
    """
    trade, market = session.best_missed_trade(game), game.play.state.market
    if trade is None:
        return "With all secrets open, you missed no trade that another lab would have taken."
    gives, gets = (
        [words.goods(market, ids)] if ids else [] for ids in (trade.given, trade.received)
    )
    (gives if trade.payment > 0 else gets).append(f"{abs(trade.payment):.0f} credits")
    lab = words.lab_name(market, trade.lab_id)
    return (
        f"With all secrets open, the best trade you missed: in round"
        f" {shown_round(trade.round_index)} {lab} would have given"
        f" {list_names(gets).replace(f'{lab}’s', 'its')} for {list_names(gives)}, worth"
        f" {trade.gain:+.1f} credits to you. What {lab} would take was hidden, from Advice too."
    )


def _refused(game: ArenaGame) -> list[str]:
    """Why each offer that ended without a trade failed, from the other lab’s private values."""
    market, sentences = game.play.state.market, []
    for refusal in session.refused_offers(game):
        lab = words.lab_name(market, refusal.offer.to_lab_id)
        what = words.tell_terms(market, refusal.offer)
        pays = refusal.offer.payment - refusal.offer.ask
        if refusal.wanted <= pays:
            why = f"{lab} would have gained, but used its turns or its credits for something else"
        elif refusal.wanted > MOST_ASKED:
            why = f"{lab} would not trade it"
        elif pays < 0:
            why = f"it was worth {max(0.0, -refusal.wanted):.0f} credits to {lab}"
        else:
            why = f"{lab} wanted {refusal.wanted:.0f} credits for it"
        sentences.append(f"Round {shown_round(refusal.round_index)}, {what}: {why}.")
    return sentences


def _effects(game: ArenaGame) -> Markup:
    """What each message did to the price of the lab that heard it."""
    market, effects = game.play.state.market, session.message_effects(game)
    names = words.job_names(game.observation.own.jobs)

    def tell(effect: Effect) -> str:
        verb = "raised" if effect.change > 0 else "lowered"
        blocks = words.goods(market, effect.block_ids)
        return f"{verb} its price of {blocks} by {abs(effect.change):.1f}"

    rows = [
        (
            str(shown_round(effect.round_index)),
            market.labs[effect.lab_id].public_name,
            f"“{words.with_names(market, effect.message, names)}”",
            tell(effect),
        )
        for effect in effects
        if effect.change
    ]
    if not rows:
        nothing = Markup("<p>None of your messages changed what a lab wanted.</p>")
        return nothing if effects else Markup("")
    heads = ("round", "heard by", "what you said", "what it did")
    return table(heads, rows, "llll", caption="What your messages did")


def _players(rows: list[Standing]) -> Markup:
    shown = [
        (
            term(SCRIPTS[row.name], row.name)
            if row.name in LABS
            else Markup("<b>{}</b>").format(row.name),
            f"{row.utility:.1f}",
            f"{row.grade:+z.3f}",
            f"{row.reward:+z.3f}",
        )
        for row in rows
    ]
    heads = ("player", term("credits made", "utility"), term("score", "grade"), "reward")
    return table(heads, shown, caption="The same world, the same seed, played by every script")


def _others(game: ArenaGame) -> Markup:
    """The other labs' characters."""
    state = game.play.state
    rows = [
        (term(lab.public_name, lab_id), state.private[lab_id].archetype.replace("_", " "))
        for lab_id, lab in state.market.labs.items()
        if lab_id != session.LEARNER
    ]
    caption = "Who the others were: scripted labs, their characters hidden until now"
    return table(("lab", term("character", "archetype")), rows, "ll", caption=caption)


# The board ---------------------------------------------------------------------------------------


MARKS = {
    "available": ("", "free"),
    "reserved": ("‖ ", "held by its lab"),
    "committed": ("⇄ ", "in a pool"),
    "used": ("✓ ", "booked"),
    "failed": ("✕ ", "failed"),
}


def calendar(game: ArenaGame) -> Markup:
    """The rounds with the present one marked, the visitor's jobs and its blocks."""
    obs, over = game.observation, game.over
    market, names = obs.market, words.job_names(obs.own.jobs)
    jobs = [
        HTML.job(job, names[job.job_id], words.due(job, market), market, over, arena.LATE)
        for job in obs.own.jobs
    ]
    blocks = _blocks(obs, market.labs[session.LEARNER], over, _moved(game))
    title, facts = "Your jobs", "each bar ends at its deadline"
    sections = HTML.section(title, facts, "sauda-own", jobs, market, over) + blocks
    return HTML.calendar(market, market.queue.count(session.LEARNER), over, sections)


def others(game: ArenaGame) -> Markup:
    """The other labs' blocks over the same rounds, and what the marks mean."""
    obs = game.observation
    labs = [lab for name, lab in obs.market.labs.items() if name != session.LEARNER]
    moved = _moved(game)
    blocks = Markup("").join(_blocks(obs, lab, game.over, moved) for lab in labs)
    return HTML.others(obs.market, game.over, blocks, MARKS.values())


def reel(task_name: str, seed: int, player: str) -> Markup:
    """A script's game as boards that follow each other, one per move that changes something.

    Each says what was done, and marks the blocks that changed hands or were booked by it.
    """
    game, frames = session.start(task_name, seed), []
    while not game.over:
        game = session.step(game, player)
        obs, step, moved = game.observation, game.steps[-1], _moved(game)
        if not moved and step.action.action_type == "wait":
            continue
        labs = sorted(obs.market.labs.values(), key=lambda lab: lab.lab_id)
        board = Markup("").join(_blocks(obs, lab, True, moved) for lab in labs)
        did = _sentence(f"Your lab {words.tell_action(obs, session.LEARNER, step.action)}")
        answers = " ".join(map(_sentence, _answers(obs, step)))
        frames.append((did, answers, obs.own.utility, HTML.grid(obs.market, True, board)))
    return HTML.reel(frames)


def _moved(game: ArenaGame) -> set[str]:
    """The blocks that changed hands or state by the last step and the answers to it."""
    if not game.steps:
        return set()
    old = game.steps[-1].before.market.blocks
    return {
        name
        for name, block in game.observation.market.blocks.items()
        if (block.owner_lab_id, block.status) != (old[name].owner_lab_id, old[name].status)
    }


def _blocks(obs: arena.Observation, lab: arena.Lab, over: bool, moved: Container[str]) -> Markup:
    """One lab: its public facts, and its blocks in lanes; those that `moved` are marked."""
    market, is_own, bars = obs.market, lab.lab_id == session.LEARNER, []
    for name, block in sorted(market.blocks.items()):
        if block.owner_lab_id != lab.lab_id:
            continue
        hours = words.hours_left(obs, [name]) if block.status in arena.LIVE else 0
        press = ""
        if hours and not over and block in arena.usable_blocks(obs):
            press = f"preview:{name}"
        elif hours and not (over or is_own or lab.finished) and arena.is_requestable(block):
            press = f"bid:{name}"
        length = max(1, min(block.duration, market.max_rounds - block.start_round))
        shown, mark = words.short_block_name(market, block), MARKS[block.status]
        bars.append(HTML.block(block, shown, mark, length, hours, press, name in moved))
    return HTML.blocks(lab, is_own, bars, market, over)


# What a press does -------------------------------------------------------------------------------


def fault(obs: arena.Observation, action: arena.Action, result: arena.Result) -> str:
    """Why the rules refuse an action of the visitor's, in one sentence without a full stop."""
    market, blocks = obs.market, getattr(action, "block_ids", ())
    if result.code == "budget_overspend" and getattr(action, "payment", 0):
        left = obs.own.budget - session.promised_credits(obs)
        pays = words.amount(action.payment).removesuffix(" credits")
        return f"you have {left:.2f} credits to spend, and this offer pays {pays}"
    job = next((j for j in obs.own.jobs if j.job_id == getattr(action, "job_id", None)), None)
    name = words.job_names(obs.own.jobs)[job.job_id] if job else ""
    if job and result.code == "low_reliability":
        weak = min((market.blocks[b] for b in blocks), key=lambda block: block.reliability)
        return (
            f"{name} takes blocks of reliability {job.min_reliability:.2f} or more, and"
            f" {words.block_name(market, weak.block_id)} has {weak.reliability:.2f}"
        )
    if job and result.code == "insufficient_capacity":
        return (
            f"{name} takes all its {job.gpu_hours_required} GPU-hours in one booking, and there"
            f" are {sum(_hours(obs, job, blocks))} in {words.goods(market, blocks)}"
        )
    return f"the rules refuse this: {words.readable(obs, result.message)}"


def _hours(obs: arena.Observation, job: arena.Job, block_ids: Sequence[str]) -> tuple[int, int]:
    """GPU-hours that the blocks give the job: on time, and late."""
    now, horizon = obs.market.round_index, obs.market.max_rounds
    hours = [arena.hours(obs.market.blocks[b], job, now, horizon) for b in block_ids]
    return sum(on_time for on_time, _ in hours), sum(late for _, late in hours)


def booking(job_id: str, block_ids: Sequence[str]) -> arena.Action:
    """The action that books the blocks for the job; IllegalAction where there is no block."""
    if not block_ids:
        raise IllegalAction("press one or more of your blocks first, then the job")
    return arena.Action("allocate_to_job", job_id=job_id, block_ids=tuple(block_ids))


def preview(game: ArenaGame, block_ids: Sequence[str]) -> Markup:
    """What the blocks would do for each open job; how to begin where none is chosen.

    Raises IllegalAction for a block that is not on the market, or where the game is over.
    """
    obs = game.observation
    if unknown := [b for b in block_ids if b not in obs.market.blocks]:
        raise IllegalAction(f"there is no block {unknown[0]:.40} on the calendar")
    if not block_ids:
        return note("No block is chosen.")
    chosen = capital(words.goods(obs.market, block_ids))
    return HTML.preview(chosen, [_outlook(game, job, block_ids) for job in obs.open_jobs])


def _outlook(game: ArenaGame, job: arena.Job, block_ids: Sequence[str]) -> Markup:
    """What a job would make of the blocks."""
    obs, action = game.observation, booking(job.job_id, block_ids)
    if result := session.refusal(game, action):
        return Markup("{}.").format(capital(fault(obs, action, result)))
    blocks = [obs.market.blocks[b] for b in block_ids]
    gain = arena.booking_gain(job, blocks, obs.market.round_index, obs.market.max_rounds)
    energy = sum(block.energy_cost for block in blocks)
    is_shared = any(block.owner_lab_id != obs.agent for block in blocks)
    name, hours = words.job_names(obs.own.jobs)[job.job_id], _hours(obs, job, block_ids)
    return HTML.outlook(job, name, hours, gain, energy, is_shared)


def tell_wanted(game: ArenaGame, block_id: str) -> str:
    """What another lab's block would add to the visitor's jobs, in words.

    Raises IllegalAction where no other lab has such a block.
    """
    obs = game.observation
    block = obs.market.blocks.get(block_id)
    if block is None or block.owner_lab_id == obs.agent:
        raise IllegalAction("choose a block of another lab")
    adds = arena.trade_gain(obs, (), (block_id,), 0.0)
    named = capital(words.block_name(obs.market, block_id))
    if adds < 0.05:
        return f"{named} would add nothing to what your jobs can still earn"
    return (
        f"{named} would add {adds:.1f} credits to what your jobs can still earn, so a lower price"
        " pays; say below what you give for it"
    )
