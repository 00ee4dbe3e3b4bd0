"""The end of a game: what the lab made, every player at the same seed, who the others were."""

from collections import Counter

from markupsafe import Markup

from env import arena, begin
from panels.gpu_arena.words import PLAYERS
from panels.ui.look import code, folded, note, short_seed, stat, strip, table
from panels.ui.terms import short, term
from sauda.policies import LABS
from sauda.policies.arena_yardsticks import Bound, gains_from_trade
from sauda.sessions.arena import LEARNER, YOU, ArenaGame, standings

OTHER = "broker"  # whose game the command shows where several hands played this one
SECONDS = 5.0  # that the solver of the gains from trade may take
PRACTICE = (
    "This was practice: its seed was known before the game, and the seed gives away every private"
    " value. Leave the seed empty to play a secret world for a score."
)


def settlement(game: ArenaGame) -> Markup:
    """The result of a finished game; empty while it runs."""
    if not game.over:
        return Markup("")
    gains = gains_from_trade(begin(game.task, game.play.seed).state, SECONDS)
    return Markup("").join(
        [
            Markup('<p class="sauda-answer">{}</p>').format(verdict(game)),
            _figures(game),
            _accounts(game.play.state.private[LEARNER], gains),
            _players(game),
            _others(game),
            note(
                f"Played now: {short(game.task_name)} at seed {short_seed(game.play.seed)}."
                f" {_hands(game)}"
            ),
            folded(
                "Play it again" if game.policy else "Play the broker at this seed",
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


def _figures(game: ArenaGame) -> Markup:
    own = game.play.state.private[LEARNER]
    total = arena.total([one.reward for one in game.steps]).normalized_reward
    return strip(
        stat(f"{own.utility:.1f}", term("credits made", "utility")),
        stat(f"{own.utility - own.batna:+z.1f}", term("over what it could make alone", "surplus")),
        stat(f"{game.task.grade(game.play.state):+z.3f}", term("score", "grade")),
        stat(f"{total:+z.3f}", term("reward of its steps", "normalized_reward")),
    )


def _accounts(own: arena.Own, gains: Bound) -> Markup:
    return Markup(
        "<p>Jobs brought {:.1f} credits, energy took {:.1f}, trades {:+.1f}, pools {:+.1f}."
        " All labs together could gain {:.1f} by trading; your share is {:.0%}{}.</p>"
    ).format(
        own.job_value,
        own.energy,
        own.deals,
        own.pool,
        gains.utility,
        (own.utility - own.batna) / gains.utility if gains.utility else 0.0,
        "" if gains.solved else " (at least: the solver ran out of time)",
    )


def _players(game: ArenaGame) -> Markup:
    rows = [
        (
            term(PLAYERS[row.name], row.name)
            if row.name in LABS
            else Markup('<b class="sauda-you">{}</b>').format(row.name),
            f"{row.utility:.1f}",
            f"{row.grade:+z.3f}",
            f"{row.reward:+z.3f}",
        )
        for row in standings(game)
    ]
    heads = ("player", term("credits made", "utility"), term("score", "grade"), "reward")
    return table(heads, rows, caption="The same world, the same seed, played by every script")


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
    policy = game.policy or OTHER
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
