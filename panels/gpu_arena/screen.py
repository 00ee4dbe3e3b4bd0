"""What the GPU arena tab shows of a visit: one HTML component per region."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from markupsafe import Markup

from env import ARENA_TASKS
from panels.gpu_arena import board, form, offers, players, view
from panels.gpu_arena.first_world import SEED, TASK, why_this_world
from panels.gpu_arena.reasons import EXPERT, PUBLISHED
from panels.gpu_arena.settlement import settlement
from panels.gpu_arena.visit import Visit, text_field
from panels.gpu_arena.words import GOAL, WATCH, WATCH_PUBLISHED
from panels.site.visitor import visitor_of_event
from panels.ui.look import folded, heading, trouble
from panels.ui.terms import task_about, task_title
from panels.ui.wiring import Updates, button, in_address, region
from sauda.sessions.arena import ArenaGame

TITLE = "GPU arena"
Layout = Mapping[str, Any]  # the components: the regions by name, and "visit"


def draw(page: Layout, visit: Visit, names: Iterable[str]) -> Updates:
    """The named regions as they show `visit`."""
    return {page[name]: REGIONS[name](visit) for name in names}


def top(visit: Visit) -> Markup:
    """What the game is about, who may be watched, the advice, what became of the last action."""
    watched = {"press": "watch", "renews": "arena-players"}
    watch = "Pause" if visit.running else WATCH
    buttons = [
        button(watch, "sauda-button sauda-primary", value=EXPERT, **watched),
        button(WATCH_PUBLISHED, is_off=visit.running, value=PUBLISHED, **watched),
        button("Advice", is_off=not visit.is_idle, press="advise"),
        button("New world", press="begin"),
    ]
    game = visit.game
    session = visitor_of_event().session if game and game.movers else ""
    return Markup(
        '{}<p class="sauda-goal">{}</p><div class="sauda-press">{}</div>{}{}{}'
        '<div hidden data-session="{}"{}><span class="sauda-address">{}</span>{}</div>'
    ).format(
        heading(TITLE),
        GOAL,
        Markup("").join(buttons),
        region("arena-advice", visit.advice),
        region("arena-problem", visit.said_at("problem")),
        region("arena-last", view.last_step(game) if game else ""),
        session,
        Markup(" data-running") if visit.running else "",
        in_address(named_in_address(game)) if game else "",
        button("", "sauda-follow", press="follow"),
    )


def named_in_address(game: ArenaGame) -> dict[str, str]:
    """What the page's address says of a world; nothing of the one that the tab opens with.

    A secret seed is in no address.
    """
    if (game.task_name, game.play.seed) == (TASK, SEED):
        return {}
    return {"task": game.task_name} | ({} if game.secret else {"seed": str(game.play.seed)})


def others(visit: Visit) -> Markup:
    """What the pressed blocks would do, or why a press was refused, and the other labs' blocks."""
    wait = Markup("") if visit.game.over else button("Wait for the next round", press="wait")
    hint = region("arena-hint", visit.said_at("hint"))
    waits = Markup('<div class="sauda-press">{}</div>').format(wait)
    return hint + waits + board.others(visit.game)


def table(visit: Visit) -> Markup:
    """The visitor's credits, the offers, and the sentence of an offer."""
    obs = visit.game.observation
    return (
        view.credits_strip(obs)
        + region("arena-offers", offers.offers(obs))
        + region("arena-sentence", "" if visit.game.over else form.sentence(visit))
    )


def floor(visit: Visit) -> Markup:
    """What the offer of the sentence is worth, the messages, and the other moves."""
    over = visit.game.over
    send = Markup("") if over else button("Send the offer", press="send")
    try:
        worth = Markup("") if over else visit.said_at("deal") or form.deal(visit)
    except ValueError as error:  # the amount is no number
        worth = trouble(error)
    return (
        region("arena-deal", worth)
        + Markup('<div class="sauda-press">{}</div>').format(send)
        + region("arena-said", view.message_board(visit.game))
        + region("arena-moves", "" if over else form.other_moves(visit))
    )


def foot(visit: Visit) -> Markup:
    """The pickers of the world and of a player who acts for the visitor."""
    game, now = visit.game, visit.fields
    tasks = [(f"{task_title(name)}: {task_about(name)}", name) for name in ARENA_TASKS]
    player = Markup('<div id="arena-players" class="sauda-fields">{}{}{}</div>{}').format(
        form.picker("Player", players.choices(), "player", now.player, "choose_player"),
        button("Step", is_off=not visit.is_idle, press="step"),
        button("Run", is_off=not visit.is_idle, press="watch"),
        region("arena-about", players.badge(now.player, game.task_name)),
    )
    seed = named_in_address(game).get("seed", "")  # not what is typed, which a step leaves alone
    return Markup('<div class="sauda-fields" data-key="{} {}">{}{}</div>{}{}').format(
        game.task_name,
        seed,
        form.picker("World", tasks, "task", game.task_name, "begin"),
        text_field("Seed", "seed", seed, placeholder="empty: a secret one"),
        region("arena-why", why_this_world(game)),
        folded("Let another player act for you", player),
    )


def log(visit: Visit) -> Markup:
    """Every step so far, and the reward."""
    body = view.log(visit.game) + view.reward(visit.game)
    return folded("What happened, step by step, and its reward", body)


REGIONS: Mapping[str, Callable[[Visit], Markup]] = {  # each a component
    "top": top,
    "end": lambda visit: settlement(visit.game),
    "own": lambda visit: board.calendar(visit.game),
    "others": others,
    "table": table,
    "floor": floor,
    "log": log,
    "foot": foot,
}
OF_GAME = tuple(name for name in REGIONS if name != "foot")  # what an action changes
