"""What the GPU arena tab shows of a lab: credits, jobs, messages, reward, what happened."""

from collections.abc import Iterator

from markupsafe import Markup

from env import arena
from panels.gpu_arena.names import capital, due, job_names, lab_name, readable, with_names
from panels.gpu_arena.offers import take
from panels.gpu_arena.reasons import told_price, why
from panels.gpu_arena.words import advised, deed
from panels.ui.curve import curve
from panels.ui.look import note, stat, strip, table
from panels.ui.terms import shown_round, term
from sauda.sessions.arena import LEARNER, YOU, ArenaGame, Step, promised_credits

LAST_MESSAGES = 4


# The lab's private state -------------------------------------------------------------------------


def papers(obs: arena.Observation) -> Markup:
    """The private values of a lab: its credits, and its jobs."""
    own, now = obs.own, obs.market.round_index
    names = job_names(own.jobs)
    rows = [
        (
            term(names[job.job_id], job.job_id),
            f"{min(job.on_time + job.late, job.gpu_hours_required)} of {job.gpu_hours_required}",
            "done"
            if job.completed
            else "late"
            if now >= job.deadline_round
            else due(job, obs.market),
            f"{job.full_value:.1f}",
            f"{job.min_reliability:.2f}",
            "yes" if job.partial_credit_allowed else "no",
        )
        for job in own.jobs
    ]
    return credits_strip(obs) + table(
        ("your jobs", "hours", "due", "pays", "reliability from", "in parts"),
        rows,
        align="lrrrrr",
    )


def credits_strip(obs: arena.Observation) -> Markup:
    """The lab's credits, those that its open offers hold, and what it made so far."""
    own, kept = obs.own, promised_credits(obs)
    return strip(
        stat(
            f"{own.budget - kept:.1f}",
            "credits to spend",
            note=f"{own.budget:.1f} in hand, {kept:.1f} held for your open offers" if kept else "",
        ),
        stat(f"{own.utility:+.1f}", term("made so far", "utility: jobs, energy and trades")),
        stat(f"{own.batna:.1f}", term("you could make alone", "BATNA")),
    )


# Messages and shocks -----------------------------------------------------------------------------


def message_board(game: ArenaGame) -> Markup:
    """The market's shocks, and the last messages, the newest at the bottom."""
    obs, market = game.observation, game.observation.market
    told = [
        f"Round {shown_round(shock.round_index)}: {readable(obs, shock.message)}"
        for shock in market.shock_history
    ]
    if market.announced:
        told.append(f"Announced for the next round: {market.announced.replace('_', ' ')}")
    shocks = Markup("").join(
        Markup('<p class="sauda-bad sauda-shock">{}</p>').format(one) for one in told
    )
    jobs = job_names(obs.own.jobs)
    lines = Markup("").join(
        Markup("<li><b>{}</b>{}: “{}”</li>").format(
            "You" if m.from_lab_id == LEARNER else lab_name(market, m.from_lab_id),
            f" to {lab_name(market, m.to_lab_id)}" if m.to_lab_id else "",
            with_names(market, m.message, jobs),
        )
        for m in market.messages[-LAST_MESSAGES:]
        if m.message
    )
    return shocks + (Markup('<ul class="sauda-talk">{}</ul>').format(lines) if lines else "")


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
        "cumulative reward of your lab",
        f"Cumulative reward after {len(steps)} steps: {sums[-1]:.3f}.",
    )
    if not steps:
        return picture + note("Each step’s reward is split into its components here.")
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


# What happened -----------------------------------------------------------------------------------


def advice(obs: arena.Observation, action: arena.Action | arena.Malformed) -> Markup:
    """The expert's next move with its reason, and a button that makes it."""
    reason = why(obs, action)
    return Markup('<section class="sauda-advice"><p><b>{}</b>{}</p>{}</section>').format(
        _sentence(capital(advised(obs, action))),
        f" {_sentence(capital(reason))}" if reason else "",
        take("Take it", action.as_json(), "take_advice")
        if isinstance(action, arena.Action)
        else "",
    )


def last_step(game: ArenaGame) -> Markup:
    """What became of the last action, why a player chose it, and what the other labs did since."""
    if not game.steps:
        return note("Nobody has moved yet: it is your turn.")
    obs, one = game.observation, game.steps[-1]
    result = one.results[0]
    did = f"Your lab {deed(obs, LEARNER, one.action)}"
    told = [] if result.ok else [f"The rules refuse: {readable(obs, result.message)}"]
    told += [*_answers(obs, one), *_refusals(obs, one)]
    if not one.observation.others:
        told.append("All other labs have left, so the rest was played at once")
    return Markup("<p><b>{}</b>{} {}</p>").format(
        _sentence(did), _reason(one), " ".join(map(_sentence, told))
    )


def _sentence(text: str) -> str:
    return text if text.endswith("”") else f"{text}."


def _reason(one: Step) -> Markup:
    """Why a player made this move; empty for the visitor's own."""
    reason = "" if one.mover == YOU else why(one.observation, one.action)
    return (
        Markup(' <i class="sauda-why">{}</i>').format(_sentence(capital(reason))) if reason else ""
    )


def _refusals(obs: arena.Observation, one: Step) -> Iterator[str]:
    """What became of the visitor's offers that ended without a trade since this step."""
    for offer_id, offer in obs.market.closed.items():
        if (
            offer.from_lab_id == LEARNER
            and offer.status != "accepted"
            and offer_id not in one.before.market.closed
        ):
            yield capital(told_price(obs, offer))


def log(game: ArenaGame) -> Markup:
    """Every step of `lab_0` with its result and reward, and the answers; the last one on top."""
    obs = game.observation
    lines = Markup("").join(
        Markup("<li>{}</li>").format(_describe(obs, one)) for one in game.steps[::-1]
    )
    empty = note("Your lab has not moved yet.")
    return (
        Markup('<ol class="sauda-talk sauda-log" tabindex="0" reversed>{}</ol>').format(lines)
        if lines
        else empty
    )


def _describe(obs: arena.Observation, one: Step) -> Markup:
    answers = [Markup("<li>{}</li>").format(told) for told in _answers(obs, one)]
    settled = (
        Markup(" {}.").format(readable(obs, one.results[1].message)) if len(one.results) > 1 else ""
    )
    return Markup(
        '<span class="sauda-note">round {}</span> <bdi>{}</bdi>{} {} <b>{}</b>{}{}'
    ).format(
        shown_round(one.round_index),
        deed(obs, LEARNER, one.action),
        _reason(one),
        _outcome(one),
        f"{one.reward.normalized_reward:+.3f}",
        Markup("<br><small>{}</small>").format(capital(readable(obs, one.results[0].message)))
        if not one.results[0].ok
        else settled,
        Markup("<ul>{}</ul>").format(Markup("").join(answers)) if answers else "",
    )


def _outcome(one: Step) -> Markup:
    """The result code of a step as a mark, with the rules' sentence in a tooltip."""
    result = one.results[0]
    return Markup('<code class="sauda-{}" title="{}">{}</code>').format(
        "good" if result.ok else "bad", result.message, result.code
    )


def _answers(obs: arena.Observation, one: Step) -> Iterator[str]:
    for lab, action in one.answers:
        yield f"{lab_name(obs.market, lab)} {deed(obs, lab, action)}"
