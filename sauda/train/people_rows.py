"""Rows of deals in words of its own: a planner's moves in the prompt's form, with sentences.

The planner of each game makes the moves, and at times they are spoilt as a model spoils them. What
goes with a move is a training sentence of the corpus that fits the goods, in the seller's language:
of the planner's speech act, or of the move itself where it has none, some of them after an answer
to what the seller said or did. No line comes twice in a deal. A row is a whole deal as one
conversation, whose bytes are those that are served.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from env import (
    MARKETS_3,
    Accept,
    Item,
    Observation,
    Offer,
    Policy,
    Task,
    WalkAway,
    advance,
    begin,
    corpus,
    ear,
    market,
    move,
    people,
    rupees,
)
from env.bazaar.prompt import completion, parse, percent_of, render
from sauda.policies import people as planners
from sauda.policies.listener import NOTHING, Listener, MoveValues, believe
from sauda.policies.packages import Packager
from sauda.records import read_table
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import teacher_rows
from sauda.train.common import option
from sauda.train.teacher_rows import Action, Row, Taught

PEOPLE = "bazaar/people"
SHARES = {  # of the rows of a stage, by task
    "people": {PEOPLE: 1.0},
    "talks": {
        PEOPLE: 0.56,
        "bazaar/open-3": 0.14,
        "bazaar/mute-3": 0.04,
        "bazaar/package": 0.2,
        "bazaar/package-mute": 0.06,
    },
}
SPOILS, SPEECH, SHOWN = 7, 8, 11  # streams of their own, apart from the game's
# Hindi is answered in Latin letters: the small model spends three tokens on a letter of Devanagari,
# and writes it badly.
ANSWERS_IN = {"en": "en", "hinglish": "hinglish", "hi": "hinglish"}
LONGEST = 50  # characters of a sentence of the corpus
KINDS = ("plain", "chatty", "terse")  # of sentences that it learns to say
ANSWERS = 0.6  # share of the lines without an act that begin with an answer to the seller's move
MUTE = 0.1  # share of the games with people in which the seller says prices alone
WALLS, ABSURD = 0.1, 0.1  # shares of the games with people; see `stands` and `stretched`
SLUMPS, CHATS = 0.06, 0.2  # shares of the games; see `slumped` and `chatting`
SLUMP = (0.1, 0.6)  # of an ask, where it is absurdly low
CHATTY = 0.5  # share of a chatting seller's moves that come with talk of something else
AFTER_A_FALL = ("You moved", "Main bhi hilta")  # in sentences that say that the seller moved
AFTER_A_BID = (  # in sentences that say that it bid before
    "Another step", "better number", "little more", "I go up", "thoda badhata", "kadam aur",
    "# now", "me now", "Ab #", "meet closer",
)  # fmt: skip
ANSWERED = ("cost", "time", "wear", "rival", "limit", "patience")
HEARD = 0.6  # share of the answers that are to what the seller said, where it said something
FACTOR = (1.3, 3.2)  # of the opening ask, where it is absurd
SETTLES = 0.8  # of the opening ask, from which asks are stretched


@dataclass(frozen=True, kw_only=True)
class PeopleRowSettings:
    """Of which games how many deals are kept, and how the planner's moves are spoilt in them."""

    rows: int = option("deals to learn from", 2_500)
    shares: tuple[tuple[str, float], ...] = tuple(SHARES["people"].items())
    behaviour: tuple[tuple[str, float], ...] = (  # what becomes of a move, drawn anew at each
        ("made", 0.62),
        ("shifted", 0.22),  # its price is off by a normal error
        ("silent", 0.08),  # without its act
        ("bold", 0.08),  # a rise where the planner stands, leaves or accepts
    )
    shift: float = 5.0  # standard deviation of that error, percent of the list price
    rises: tuple[float, float] = (1.0, 6.0)  # of the bold, percent of the list price
    within: float = 0.005  # a bid is the mean of those that are worth so much less
    near: int = 1  # percent: a bid so near to the ask takes it
    last: float = 0.1  # in the last round an ask is taken for which a bid is worth no more beyond
    passed: float = 0.5  # share of the deals that is kept, of those without an awkward end
    first_seed: int = option("training seeds run up from it", 30_000)


def make_rows(settings: PeopleRowSettings) -> list[Row]:
    """The deals of the settings, tasks in order; ValueError where the training seeds run out."""
    rows: list[Row] = []
    for name, share in settings.shares:
        games = (
            conversation(name, seed, settings) for seed in training_seeds(name, settings.first_seed)
        )
        rows += islice(chain.from_iterable(games), round(settings.rows * share))
    return rows


def conversation(name: str, seed: int, settings: PeopleRowSettings) -> Iterator[Row]:
    """The deal of a seed; none where its listing is kept for evaluation, or few are kept."""
    states = list(teach(name, seed, settings))
    last = states[-1]
    chosen = (
        is_awkward(last.obs) or np.random.default_rng([seed, SPEECH]).random() < settings.passed
    )
    if chosen and not is_unseen_listing(last.obs.table.item):
        chat = [*render(last.obs), {"role": "assistant", "content": last.completion}]
        yield Row(name, seed, 0, [state.label for state in states], chat)


def is_awkward(obs: Observation) -> bool:
    """Whether a deal comes to where a small model errs: the last round, or a bid near the limit."""
    near = obs.bid is not None and percent_of(obs, obs.bid) >= percent_of(obs, obs.reservation) - 5
    return obs.rounds_left == 1 or near


def task_of(name: str, use: str, mute: bool = False) -> Task:
    """The task by name with sellers that say sentences of one use of the corpus."""
    if name == PEOPLE:
        return people.people_task(use, mute)
    kind = name.removeprefix("bazaar/")
    return market.market_task(kind, replace(MARKETS_3[kind], use=use))


def teach(
    name: str, seed: int, settings: PeopleRowSettings, use: str = "training"
) -> Iterator[Taught]:
    """The learner's states in one game, the planner's move there, and what is made.

    Sellers say sentences of one use of the corpus; the planner's sentences are for training.
    """
    spoils, speech = (np.random.default_rng([seed, stream]) for stream in (SPOILS, SPEECH))
    mute = spoils.random() < MUTE
    task, show = task_of(name, use, mute), unstretched
    if name == PEOPLE:
        kind, factor = spoils.random(), spoils.uniform(*FACTOR)
        if kind < WALLS:
            task = replace(task, opponents={"seller": partial(stands, task.opponents["seller"])})
        elif kind < WALLS + ABSURD:
            show = partial(stretched, factor)
    names, chances = zip(*settings.behaviour, strict=True)
    play, turn = advance(task, task.opponents, begin(task, seed)), 0
    spoken = play.state.private["seller"]["language"]
    language = ANSWERS_IN[spoken]
    if not play.state.table.moves[0].action.message.strip("₹0123456789,. "):
        language = "en"  # a seller that says prices alone is answered in English
    lines_before: set[str] = set()
    shown = np.random.default_rng([seed, SHOWN])
    slumps = name == PEOPLE and shown.random() < SLUMPS
    slump = (int(shown.integers(1, 5)), shown.uniform(*SLUMP)) if slumps else None
    chats = shown.random() < CHATS and not mute and "mute" not in name
    while not play.forfeit and task.env.to_act(play.state) is not None:
        plain = task.env.observe(play.state, task.learner)
        obs = show(plain)
        if slump:
            obs = slumped(*slump, obs)
        if chats:
            obs = chatting(seed, spoken, obs)
        act, best = plan(name, plain, settings)
        if obs.ask > plain.ask and isinstance(best, Accept):
            best = Offer(plain.ask)
        if obs.ask < plain.ask and isinstance(best, WalkAway) and obs.ask <= obs.budget:
            best = Accept()
        best = teacher_rows.round_action(obs, best, settings.near)
        best = worded(obs, best, act, language, lines_before, speech)
        made, how = best, names[spoils.choice(len(names), p=chances)]
        if how != "made":
            spoilt = teacher_rows.spoil(how, best, obs, settings, spoils)
            spoilt = teacher_rows.round_action(obs, spoilt, settings.near)
            if how == "silent" or spoilt != best:
                made = worded(obs, spoilt, "", language, lines_before, speech)
        reply = completion(made, obs)
        lines_before.add(json.loads(reply)["say"])
        yield Taught(turn, obs, best, completion(best, obs), reply)
        play = move(task, play, parse(reply, obs))
        play, turn = advance(task, task.opponents, play), turn + 1


def unstretched(obs: Observation) -> Observation:
    """The observation as it is."""
    return obs


def stretched(factor: float, obs: Observation) -> Observation:
    """What the buyer sees of a seller that opened at `factor` times its ask and comes down.

    From SETTLES of the opening ask down its asks are as they are. The planner sees them
    unstretched, since an absurd opening tells nothing: what is learnt is to bargain on.
    """
    first = obs.table.asks[0]
    settled = SETTLES * first

    def stretch(number: int, ask: float) -> float:
        room = max(0.0, (ask - settled) / (first - settled))
        return ask + room * (factor - 1) * first

    return with_asks(obs, stretch)


def slumped(start: int, share: float, obs: Observation) -> Observation:
    """What the buyer sees of a seller whose asks are a `share` of what they are, from one on."""
    return with_asks(obs, lambda number, ask: ask if number < start else share * ask)


def with_asks(obs: Observation, tell: Callable[[int, float], float]) -> Observation:
    """The observation with other asks, `tell` of their number and of each, also in words."""
    table, moves, asks = obs.table, [], []
    for each in table.moves:
        if each.agent == "seller" and isinstance(each.action, Offer):
            asks.append(max(1, round(tell(len(asks), each.action.price))))
            message = each.action.message.replace(rupees(each.action.price), rupees(asks[-1]))
            each = replace(each, action=replace(each.action, price=asks[-1], message=message))
        moves.append(each)
    return replace(obs, table=table._replace(moves=tuple(moves), asks=tuple(asks)))


def chatting(seed: int, language: str, obs: Observation) -> Observation:
    """What the buyer sees of a seller who talks of something else before some of its asks."""
    texts = corpus.fitting(language, "training", "none", "none", obs.table.item)
    texts, moves = [text for text in texts if "#" not in text], []
    for number, each in enumerate(obs.table.moves):
        rng = np.random.default_rng([seed, SHOWN, number])
        if each.agent == "seller" and rng.random() < CHATTY:
            talk = corpus.closed(texts[rng.integers(len(texts))], language)
            message = f"{talk} {each.action.message}"
            each = replace(each, action=replace(each.action, message=message))
        moves.append(each)
    return replace(obs, table=obs.table._replace(moves=tuple(moves)))


def stands(seller: Policy, obs: Observation, rng: np.random.Generator) -> Action:
    """The move of a seller of `bazaar/people` that never gives and does not soon leave."""
    patient = people.PATIENCES.index("high")
    stance = replace(obs.own["stance"], gives=0.0, patience=patient, rival=False)
    return seller(replace(obs, own={**obs.own, "stance": stance}), rng)


PLANNER, LISTENER, PACKAGER = planners.Planner(), Listener(), Packager()


def plan(name: str, obs: Observation, settings: PeopleRowSettings) -> tuple[str, Action]:
    """The speech act of a task's planner and its move without words."""
    if obs.table.extras:
        planned = PACKAGER.plan(obs)
        act, best = choose(planned.values, planned.seen, settings)
        return act, planned.in_full(best, obs)
    if name == PEOPLE:
        acts, *worth = PLANNER.values(planners.believe(obs), obs)
        return choose(MoveValues(tuple(acts), *worth), obs, settings)
    return choose(LISTENER.values(believe(obs), obs), obs, settings)


def choose(values: MoveValues, obs: Observation, settings: PeopleRowSettings) -> tuple[str, Action]:
    """The act of the best move and that move without words.

    A higher bid is the mean of those that are worth at most `within` less: which of them is best is
    chance, and nobody can learn it. In the last round, after which a refused bid is nothing, an ask
    that gains is taken unless a bid is worth `last` more.
    """
    top, end = values.offers.max(), max(values.accept, values.walk)
    settles = obs.rounds_left == 1 and 0 < values.accept == end > top - settings.last
    if settles or top < end:
        return "", Accept() if values.accept >= values.walk else WalkAway()
    act, at = np.unravel_index(values.offers.argmax(), values.offers.shape)
    price = values.prices[at]
    if price != obs.bid:
        rises = values.prices > (obs.bid or 0)
        good = rises & (values.offers[act] >= max(NOTHING / 2, top - settings.within))
        price = values.prices[good].mean()
    return values.acts[act], Offer(round(price))


@cache
def learnt() -> frozenset[str]:
    """The training sentences of buyers that are short and well written."""
    return frozenset(
        row.text
        for row in corpus.rows("buyer", "training")
        if row.kind in KINDS and len(row.text) <= LONGEST
    )


@cache
def sentences_to_say(language: str, family: str, key: str, item: Item) -> tuple[str, ...]:
    """The sentences of a meaning that a buyer of an item may say; "#" stands for one amount.

    A question names no amount, since only the bid may be named; what another shop asks is named.
    """
    least, most = key == "outside", not key.startswith("ask_")
    texts = corpus.fitting(language, "training", family, key, item)
    return tuple(
        text for text in texts if text in learnt() and least <= text.count("#") <= most
    ) + added(language, key)


@cache
def added(language: str, key: str) -> tuple[str, ...]:
    """Sentences of `bids.csv`, which the corpus has not: more for bids, and answers before them."""
    rows = read_table(Path(__file__).with_name("bids.csv"))
    return tuple(row["text"] for row in rows if (row["key"], row["language"]) == (key, language))


def heard_in(obs: Observation) -> str:
    """What the seller's last words call for, a key of `bids.csv`; "" where they bear on nothing."""
    message = obs.table.moves[-1].action.message
    speech = ear.hear(message)
    if speech.reaction in ("annoyed", "pleased"):
        return speech.reaction
    if speech.topic or speech.reaction or speech.style:
        return speech.topic if speech.topic in ANSWERED else ""
    return "talk" if any(map(str.isalpha, message)) else ""


def worded(
    obs: Observation, action: Action, act: str, language: str, lines_before: Collection[str],
    rng: np.random.Generator,
) -> Action:  # fmt: skip
    """The move with a sentence of its act, or of itself, that none of `lines_before` holds."""
    verb = next(iter(json.loads(completion(replace(action, message=""), obs))))
    bids = isinstance(action, Offer)
    if not bids or (act == "cash" and "later" in action.extras):  # it would contradict itself
        act = ""

    def fresh(texts: Sequence[str]) -> list[str]:
        return [text for text in texts if not any(text in line for line in lines_before)]

    def one_of(texts: Sequence[str]) -> str:
        return texts[rng.integers(len(texts))]

    family = ("buyer", act) if act else ("bid", "leave" if verb == "walk" else verb)
    texts = fresh(sentences_to_say(language, *family, obs.table.item))
    untrue = AFTER_A_FALL * (not obs.drop) + AFTER_A_BID * (obs.bid is None)
    text = one_of([text for text in texts if not any(part in text for part in untrue)])
    if bids and not act and rng.random() < ANSWERS:
        did = "first" if obs.bid is None else "fell" if obs.drop else "stood"
        heard = heard_in(obs) if rng.random() < HEARD else ""
        answers = fresh(added(language, heard)) or fresh(added(language, did))
        text = f"{one_of(answers)} {text}"
    amount = obs.own["quote"] if act == "outside" else action.price if bids else obs.ask
    return replace(action, message=text.replace("#", rupees(amount)))
