"""The end of a game: what the lab made and missed, what its words did, who the others were."""

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from env import arena
from panels.gpu_arena.names import block_list, job_names, lab_name, listed, with_names
from panels.gpu_arena.reasons import EXPERT
from panels.gpu_arena.words import PLAYERS
from panels.ui.look import code, folded, note, short_seed, stat, strip, table
from panels.ui.terms import short, shown_round, term
from sauda.policies import LABS
from sauda.sessions.arena import (
    LEARNER,
    YOU,
    ArenaGame,
    Effect,
    Standing,
    best_missed_trade,
    message_effects,
    share_of_gains,
    standings,
)

SECONDS = 5.0  # that the solver of the best joint plan may take
NO_EFFECT = "None of your messages changed what a lab wanted."
EQUAL = 1e-9  # grades that differ by less share a rank
PRACTICE = (
    "This was practice: its seed was known before the game, and the seed gives away every private"
    " value. Leave the seed empty to play a secret world for a score."
)


def settlement(game: ArenaGame) -> Markup:
    """The result of a finished game; empty while it runs."""
    if not game.over:
        return Markup("")
    rows = standings(game)
    return Markup("").join(
        [
            Markup('<p class="sauda-answer">{}</p>').format(verdict(game)),
            _figures(game, rows),
            Markup("<p>{}</p>").format(missed(game)),
            _accounts(game.play.state.private[LEARNER]),
            _effects(game),
            _players(rows),
            _others(game),
            note(
                f"Played now: {short(game.task_name)} at seed {short_seed(game.play.seed)}."
                f" {_hands(game)}"
            ),
            folded(
                "Play it again" if game.policy else "Play the rule-based expert at this seed",
                code(_command(game)),
            ),
        ]
    )


def verdict(game: ArenaGame) -> str:
    """Whether trading paid, in one sentence."""
    own = game.play.state.private[LEARNER]
    gain = own.utility - own.batna
    if abs(gain) < 0.05:
        return f"Your lab made {own.utility:.1f} credits, as much as it could make alone."
    return (
        f"Your lab made {own.utility:.1f} credits, {abs(gain):.1f}"
        f" {'more' if gain > 0 else 'less'} than it could make alone."
    )


def _figures(game: ArenaGame, rows: Sequence[Standing]) -> Markup:
    own = game.play.state.private[LEARNER]
    grade, share = game.task.grade(game.play.state), share_of_gains(game, SECONDS)
    place = 1 + sum(row.grade > grade + EQUAL for row in rows)
    return strip(
        stat(f"{own.utility:.1f}", term("credits made", "utility")),
        stat(f"{own.utility - own.batna:+z.1f}", term("over what it could make alone", "surplus")),
        stat(f"{place} of {len(rows)}", term("rank in this world", "by grade, with every script")),
        stat(
            "–" if share is None else f"{'' if share[1] else 'at least '}{share[0]:z.0%}",
            term(
                "of all gains from trade",
                "the surplus as a share of the best joint plan less what the labs make alone",
            ),
        ),
    )


def missed(game: ArenaGame) -> str:
    """The most valuable trade that the lab did not make, in a sentence."""
    trade, market = best_missed_trade(game), game.play.state.market
    if trade is None:
        return "No single trade that another lab would have taken was missed."
    gives = [*([block_list(market, trade.given)] if trade.given else [])]
    gets = [*([block_list(market, trade.received)] if trade.received else [])]
    (gives if trade.payment > 0 else gets).append(f"{abs(trade.payment):.0f} credits")
    lab = lab_name(market, trade.lab_id)
    return (
        f"The best trade you missed: in round {shown_round(trade.round_index)} {lab} would have"
        f" given {listed(gets).replace(f'{lab}’s', 'its')} for {listed(gives)}, worth"
        f" {trade.gain:+.1f} credits to you."
    )


def _accounts(own: arena.Own) -> Markup:
    return Markup(
        "<p>Jobs brought {:.1f} credits, energy took {:.1f}, trades {:+.1f}, pools {:+.1f}.</p>"
    ).format(own.job_value, own.energy, own.deals, own.pool)


def _effects(game: ArenaGame) -> Markup:
    """What each message did to the price of the lab that heard it."""
    market = game.play.state.market
    names, effects = job_names(game.observation.own.jobs), message_effects(game)
    rows = [
        (
            str(shown_round(one.round_index)),
            market.labs[one.lab_id].public_name,
            f"“{with_names(market, one.message, names)}”",
            _effect(market, one),
        )
        for one in effects
        if one.change
    ]
    if not rows:
        return Markup("<p>{}</p>").format(NO_EFFECT) if effects else Markup("")
    heads = ("round", "heard by", "what you said", "what it did")
    return table(heads, rows, "llll", caption="What your messages did")


def _effect(market: arena.Market, one: Effect) -> str:
    verb = "raised" if one.change > 0 else "lowered"
    return f"{verb} its price of {block_list(market, one.block_ids)} by {abs(one.change):.1f}"


def _players(rows: Sequence[Standing]) -> Markup:
    shown = [
        (
            term(PLAYERS[row.name], row.name)
            if row.name in LABS
            else Markup('<b class="sauda-you">{}</b>').format(row.name),
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
        (
            term(lab.public_name, lab_id),
            state.private[lab_id].archetype.replace("_", " "),
        )
        for lab_id, lab in state.market.labs.items()
        if lab_id != LEARNER
    ]
    return table(
        ("lab", term("character", "archetype")),
        rows,
        "ll",
        caption="Who the others were: scripted labs, their characters hidden until now",
    )


def _command(game: ArenaGame) -> str:
    """The command that plays this game again, or one on its seed where several hands played."""
    policy = game.policy or EXPERT
    return f"python -m sauda play --task {game.task_name} --policy {policy} --seed {game.play.seed}"


def _hands(game: ArenaGame) -> str:
    """Who chose the steps, where not one policy chose every one."""
    if game.policy:
        return ""
    counts = Counter(game.movers)
    parts = ", ".join(f"{count} by {who}" for who, count in counts.items())
    hands = (
        f"You chose all its {len(game.movers)} steps."
        if set(counts) == {YOU}
        else f"Its {len(game.movers)} steps were chosen by several hands ({parts})."
    )
    return hands if game.secret or not game.by_hand else f"{hands} {PRACTICE}"
