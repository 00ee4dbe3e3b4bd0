"""Rows of deals in words of its own: a planner's moves in the prompt's form, with sentences.

The planner of each game makes the moves, and at times they are spoilt as a model spoils them. What
goes with a move is a training sentence of the corpus that fits the goods, in the seller's language:
of the planner's speech act, or of the move itself where it has none, some of them after a greeting
or a word that is true of any move. No line comes twice in a deal, and none says what the seller has
just done. With a `temper` all that could be said is learnt and not the sentence that is: each act
has a share by what the planner expects of it, and its sentences equal parts of that. A row is a
whole deal as one conversation, whose bytes are those that are served.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, cycle, islice, product
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

import env
from env.bazaar.prompt import completion, parse, percent_of, render
from sauda.language.faults import claims_step
from sauda.llm.model import smollm2
from sauda.policies import people as planners
from sauda.policies.listener import NOTHING, Listener, MoveValues, believe
from sauda.policies.packages import Packager
from sauda.records import read_table
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import teacher_rows
from sauda.train.common import named_object, option
from sauda.train.teacher_rows import Action, Row, Spoken, Taught

PEOPLE = "bazaar/people"
SAYS = '"say":"'  # before a sentence
SHARES = {  # of the rows of a stage, by task
    row.pop("stage"): {task: float(share) for task, share in row.items() if share}
    for row in read_table(Path(__file__).with_name("shares.csv"))
}
SPOILS, SPEECH = 7, 8  # streams of their own, apart from the game's
# Hindi is answered in Latin letters: the small model spends three tokens on a letter of Devanagari,
# and writes it badly.
ANSWERS_IN = {"en": "en", "hinglish": "hinglish", "hi": "hinglish"}
LONGEST = 50  # characters of a sentence of the corpus
KINDS = ("plain", "chatty", "terse")  # of sentences that it learns to say
ANSWERS = 0.6  # share of the lines without an act that begin with words true of any move
MUTE = 0.1  # share of the games with people in which the seller says prices alone
WALLS, ABSURD = 0.1, 0.1  # shares of the games with people; see `stands` and `stretched`
FACTOR = (1.3, 3.2)  # of the opening ask, where it is absurd
BEGINNINGS = 6  # tokens that the sentences of an act begin with
LEAST_SHARE = 0.001  # of an act whose sentences are learnt
SETTLES = 0.8  # of the opening ask, from which asks are stretched


@dataclass(frozen=True, kw_only=True)
class PeopleRowSettings:
    """Of which games how many deals are kept, and how the planner's moves are spoilt in them."""

    rows: int = option("deals to learn from", 2_500)
    teacher: str = option("module:function of a policy of one's own; '' for the planners", "")
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
    temper: ClassVar[float] = 0.0  # of a grade, by which a softmax makes shares of what is expected
    parts: ClassVar[float] = 1.0  # weight in the loss of the token that tells what will be said
    ends_with_words: ClassVar[bool] = True  # whether a sentence goes with taking an ask or leaving


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
        labels = [state.label for state in states]
        if settings.temper:
            choices = [state.choices for state in states]
            yield Spoken(name, seed, 0, labels, chat, choices, settings.parts)
        else:
            yield Row(name, seed, 0, labels, chat)


def is_awkward(obs: env.Observation) -> bool:
    """Whether a deal comes to where a small model errs: the last round, or a bid near the limit."""
    near = obs.bid is not None and percent_of(obs, obs.bid) >= percent_of(obs, obs.reservation) - 5
    return obs.rounds_left == 1 or near


def task_of(name: str, use: str, mute: bool = False) -> env.Task:
    """The task by name; where any words count, with sellers that say sentences of one use."""
    if name == PEOPLE:
        return env.people.people_task(use, mute)
    kind = name.removeprefix("bazaar/")
    if kind not in env.MARKETS:
        return env.get_task(name)
    return env.market.market_task(kind, replace(env.MARKETS[kind], use=use))


def teach(
    name: str, seed: int, settings: PeopleRowSettings, use: str = "training"
) -> Iterator[Taught]:
    """The learner's states in one game, the planner's move there, and what is made.

    Sellers say sentences of one use of the corpus; the planner's sentences are for training.
    """
    spoils, speech = (np.random.default_rng([seed, stream]) for stream in (SPOILS, SPEECH))
    task, factor = task_of(name, use, spoils.random() < MUTE), 0.0
    if name == PEOPLE:
        kind, absurd = spoils.random(), spoils.uniform(*FACTOR)
        if kind < WALLS:
            task = replace(task, opponents={"seller": partial(stands, task.opponents["seller"])})
        elif kind < WALLS + ABSURD:
            factor = absurd
    names, chances = zip(*settings.behaviour, strict=True)
    play = env.advance(task, task.opponents, env.begin(task, seed))
    language = ANSWERS_IN[play.state.private["seller"]["language"]]
    if not play.state.table.moves[0].action.message.strip("₹0123456789,. "):
        language = "en"  # a seller that says prices alone is answered in English
    lines_before: set[str] = set()
    while not play.forfeit and task.env.to_act(play.state) is not None:
        plain = task.env.observe(play.state, task.learner)
        obs = stretched(factor, plain) if factor else plain
        planned = plan(name, plain, settings)
        best = planned.move
        if obs.ask != plain.ask and isinstance(best, env.Accept):
            best = env.Offer(plain.ask)
        best = teacher_rows.round_action(obs, best, settings.near)
        choices = all_words(obs, best, planned.shares, language, lines_before)
        if choices:
            best = parse(draw(choices, speech), obs)
        elif settings.ends_with_words or isinstance(best, env.Offer):
            best = worded(obs, best, planned.act, language, lines_before, speech)
        made, how = best, names[spoils.choice(len(names), p=chances)]
        if how != "made":
            spoilt = teacher_rows.spoil(how, best, obs, settings, spoils)
            spoilt = teacher_rows.round_action(obs, spoilt, settings.near)
            if how == "silent" or spoilt != best:
                made = worded(obs, spoilt, "", language, lines_before, speech)
        reply = completion(made, obs)
        lines_before.add(json.loads(reply).get("say", ""))
        yield Taught(obs, best, completion(best, obs), reply, choices)
        play = env.advance(task, task.opponents, env.move(task, play, parse(reply, obs)))


def stretched(factor: float, obs: env.Observation) -> env.Observation:
    """What the buyer sees of a seller that opened at `factor` times its ask and comes down.

    From SETTLES of the opening ask down its asks are as they are. The planner sees them
    unstretched, since an absurd opening tells nothing: what is learnt is to bargain on.
    """
    table = obs.table
    settled = SETTLES * table.asks[0]

    def stretch(ask: float) -> int:
        room = max(0.0, (ask - settled) / (table.asks[0] - settled))
        return round(ask + room * (factor - 1) * table.asks[0])

    def say(each: env.Move) -> env.Move:
        if each.agent != "seller" or not isinstance(each.action, env.Offer):
            return each
        ask = stretch(each.action.price)
        message = each.action.message.replace(env.rupees(each.action.price), env.rupees(ask))
        return replace(each, action=replace(each.action, price=ask, message=message))

    moves, asks = tuple(map(say, table.moves)), tuple(map(stretch, table.asks))
    return replace(obs, table=table._replace(moves=moves, asks=asks))


def stands(seller: env.Policy, obs: env.Observation, rng: np.random.Generator) -> Action:
    """The move of a seller of `bazaar/people` that never gives and does not soon leave."""
    patient = env.people.PATIENCES.index("high")
    stance = replace(obs.own["stance"], gives=0.0, patience=patient, rival=False)
    return seller(replace(obs, own={**obs.own, "stance": stance}), rng)


PLANNER, LISTENER, PACKAGER = planners.Planner(), Listener(), Packager()


class Planned(NamedTuple):
    """A planner's move without words, its speech act, and the shares of all acts with this bid.

    No act has a share where one alone is said, and with what is no bid.
    """

    act: str
    move: Action
    shares: Mapping[str, float]


def plan(name: str, obs: env.Observation, settings: PeopleRowSettings) -> Planned:
    """What a task's planner does; ValueError where a teacher of one's own returns no move."""
    if settings.teacher:
        made = named_object(settings.teacher)(obs, np.random.default_rng(obs.round))
        if not isinstance(made, Action):
            raise ValueError(f"a teacher returns an Offer, Accept or WalkAway, not {made!r}")
        return Planned("", made, {})
    if obs.table.extras:
        package = PACKAGER.plan(obs)
        planned = choose(package.values, package.seen, settings)
        return planned._replace(move=package.in_full(planned.move, obs))
    if name == PEOPLE:
        return choose(PLANNER.values(planners.believe(obs), obs), obs, settings)
    return choose(LISTENER.values(believe(obs), obs), obs, settings)


def choose(values: MoveValues, obs: env.Observation, settings: PeopleRowSettings) -> Planned:
    """The best move.

    A higher bid is the mean of those that are worth at most `within` less: which of them is best is
    chance, and nobody can learn it. In the last round, after which a refused bid is nothing, an ask
    that gains is taken unless a bid is worth `last` more.
    """
    top, end = values.offers.max(), max(values.accept, values.walk)
    settles = obs.rounds_left == 1 and 0 < values.accept == end > top - settings.last
    if settles or top < end:
        return Planned("", env.Accept() if values.accept >= values.walk else env.WalkAway(), {})
    act, at = np.unravel_index(values.offers.argmax(), values.offers.shape)
    price = values.prices[at]
    if price != obs.bid:
        rises = values.prices > (obs.bid or 0)
        good = rises & (values.offers[act] >= max(NOTHING / 2, top - settings.within))
        price = values.prices[good].mean()
    shares = {}
    if settings.temper:
        expected = values.offers[:, np.abs(values.prices - price).argmin()]
        parts = np.exp((expected - expected.max()) / settings.temper)
        shares = dict(zip(values.acts, parts / parts.sum(), strict=True))
    return Planned(values.acts[act], env.Offer(round(price)), shares)


@cache
def learnt() -> frozenset[str]:
    """The training sentences of buyers that are short and well written, and name no step."""
    return frozenset(
        row.text
        for row in env.corpus.rows("buyer", "training")
        if row.kind in KINDS and len(row.text) <= LONGEST and not claims_step(row.text)
    )


@cache
def sentences_to_say(language: str, family: str, key: str, item: env.Item) -> tuple[str, ...]:
    """The sentences of a meaning that a buyer of an item may say; "#" stands for one amount.

    A question names no amount, since only the bid may be named; what another shop asks is named.
    """
    least, most = key == "outside", not key.startswith("ask_")
    texts = env.corpus.fitting(language, "training", family, key, item)
    return tuple(
        text for text in texts if text in learnt() and least <= text.count("#") <= most
    ) + added(language, key)


@cache
def added(language: str, key: str) -> tuple[str, ...]:
    """Sentences of `bids.csv`, which the corpus has not: more for bids, and words before them."""
    rows = read_table(Path(__file__).with_name("bids.csv"))
    return tuple(row["text"] for row in rows if (row["key"], row["language"]) == (key, language))


def all_words(
    obs: env.Observation, action: Action, shares: Mapping[str, float], language: str,
    lines_before: Collection[str],
) -> list[tuple[str, float]]:  # fmt: skip
    """Every reply that bids so, with its chance: an act's sentences have equal parts of its share.

    None says what a line before has said. No act has a sentence that begins as another's does.
    """
    if not isinstance(action, env.Offer):
        return []
    verb = teacher_rows.verb_of(completion(replace(action, message=""), obs))
    sentences: dict[str, list[list[str]]] = {}
    for act, share in shares.items():
        if act == "cash" and "later" in action.extras:  # it would contradict itself
            continue
        if share > LEAST_SHARE:
            begun = sentences_by_token(language, act, verb, obs.bid is None, obs.table.item)
            fresh = (
                [text for text in texts if not any(text in line for line in lines_before)]
                for texts in begun.values()
            )
            sentences[act] = [texts for texts in fresh if texts]
    total = sum(shares[act] for act, begun in sentences.items() if begun)
    return [
        (completion(replace(action, message=filled(text, act, action, obs)), obs), chance)
        for act, begun in sentences.items()
        for texts in begun
        for text in texts
        if (chance := float(shares[act] / total / len(begun) / len(texts)))
    ]


def filled(text: str, act: str, action: Action, obs: env.Observation) -> str:
    """A sentence of an act with the amount that it names: the bid, or what another shop asks."""
    bid = action.price if isinstance(action, env.Offer) else obs.ask
    return text.replace("#", env.rupees(obs.own["quote"] if act == "outside" else bid))


def draw(choices: Sequence[tuple[str, float]], rng: np.random.Generator) -> str:
    """One of the texts, by their chances."""
    chances = np.array([chance for _, chance in choices])
    return choices[rng.choice(len(choices), p=chances / chances.sum())][0]


@cache
def sentences_by_token(
    language: str, act: str, verb: str, first: bool, item: env.Item
) -> dict[int, list[str]]:
    """The sentences of an act that fit an item, by the token that they begin with.

    Only those of the BEGINNINGS most frequent ones that are the act's own: words are drawn at a low
    temperature, which favours what can begin in few ways.
    """
    by_token: dict[int, list[str]] = {}
    for text in texts_of(language, act, verb, first, item):
        token = first_token(text)
        if acts_by_token(language).get(token) == act:
            by_token.setdefault(token, []).append(text)
    most = sorted(by_token, key=lambda token: -len(by_token[token]))[:BEGINNINGS]
    return {token: by_token[token] for token in most}


def texts_of(language: str, act: str, verb: str, first: bool, item: env.Item) -> tuple[str, ...]:
    """All sentences of an act that fit an item; without one the bid's own, some after others."""
    if act:
        return sentences_to_say(language, "buyer", act, item)
    bids = sentences_to_say(language, "bid", verb, item)
    before = added(language, "first" if first else "heard")
    return bids + tuple(f"{words} {bid}" for words, bid in zip(before, cycle(bids), strict=False))


@cache
def acts_by_token(language: str) -> dict[int, str]:
    """The act of each first token: that of whose sentences it begins the largest part."""
    parts: dict[int, dict[str, float]] = {}
    for act in (
        "",
        *env.speech.PITCHES,
        *env.speech.QUESTIONS,
        *(f"ask_{extra}" for extra in env.EXTRAS),
    ):
        kinds = [("", True)] if act else product(("raise", "hold"), (True, False))
        texts = {
            text
            for kind, item in product(kinds, env.CATALOGUE)
            for text in texts_of(language, act, *kind, item)
        }
        counts = Counter(map(first_token, texts))
        for token, count in counts.items():
            parts.setdefault(token, {})[act] = count / counts.total()
    return {token: max(of, key=of.get) for token, of in parts.items() if token is not None}


@cache
def first_token(text: str) -> int | None:
    """The token that a sentence begins with in a reply; None where a quote is joined with it."""
    before, whole = (
        _tokenizer()(part, add_special_tokens=False)["input_ids"]
        for part in (SAYS, SAYS + text.replace("#", "₹40"))
    )
    return whole[len(before)] if whole[: len(before)] == before else None


@cache
def _tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(smollm2().folder)


def worded(
    obs: env.Observation, action: Action, act: str, language: str, lines_before: Collection[str],
    rng: np.random.Generator,
) -> Action:  # fmt: skip
    """The move with a sentence of its act, or of itself, that none of `lines_before` holds."""
    verb = next(iter(json.loads(completion(replace(action, message=""), obs))))
    bids = isinstance(action, env.Offer)
    if not bids or (act == "cash" and "later" in action.extras):  # it would contradict itself
        act = ""

    def one_of(texts: Sequence[str]) -> str:
        fresh = [text for text in texts if not any(text in line for line in lines_before)]
        return fresh[rng.integers(len(fresh))]

    family = ("buyer", act) if act else ("bid", "leave" if verb == "walk" else verb)
    text = one_of(sentences_to_say(language, *family, obs.table.item))
    if bids and not act and rng.random() < ANSWERS:
        before = added(language, "first" if obs.bid is None else "heard")
        text = f"{one_of(before)} {text}"
    return replace(action, message=filled(text, act, action, obs))
