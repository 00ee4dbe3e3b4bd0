"""Rows of deals with people: the planner's moves in the prompt's form, with sentences.

The planner of `bazaar/people` makes the moves, and at times they are spoilt as a model spoils them.
What goes with a move is a training sentence of the corpus, in the seller's language: of the
planner's speech act, or of the move itself where it has none. A row is a whole deal as one
conversation, whose bytes are those that are served.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice

import numpy as np

from env import (
    Accept,
    Observation,
    Offer,
    WalkAway,
    advance,
    agent_stream,
    begin,
    corpus,
    move,
    people,
    rupees,
)
from sauda.games.bazaar_prompt import completion, parse, percent_of, render
from sauda.policies.listener import NOTHING
from sauda.policies.people import Planner, believe
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.train import teacher_rows
from sauda.train.common import option
from sauda.train.teacher_rows import Action, Row, Taught

SPOILS, SPEECH = 7, 8  # streams of their own, apart from the game's
# Hindi is answered in Latin letters: the small model spends three tokens on a letter of Devanagari,
# and writes it badly.
ANSWERS_IN = {"en": "en", "hinglish": "hinglish", "hi": "hinglish"}
LONGEST = 50  # characters of a sentence
KINDS = ("plain", "chatty", "terse")  # of sentences that it learns to say
# Words by which a sentence speaks of goods of one sort, and would be nonsense about others.
SORT = re.compile(
    r"\b(zips?|legs?|pages?|pieces missing|stitching|chain|glass|handles?|sleeve|"
    r"frame|hinge|window|buttons?|coat|screen|pixel|drips?|battery|leather|armrest|wheels?|rim|fan|seam|lens|"
    r"keys?|soles?|lining|springs?|seat|mirrors?|lid|cord|embroidery|brakes?|stand|speakers?|car|"
    r"km|remote|beds?|mattress|ipad|puzzles?|cushion|sofa|flats?|toys?|heel|keyboard|bikes?|chairs?|"
    r"tv|strap|drawers?|pram|helmets?|books?|crib|burner|bulb|shelf|bag|monitor|curtains|table|desk|"
    r"tiles|doll|watch|exhaust|cooler|cupboard|cables|suitcase|strings|blender|shoe|pedal|rug|cloth|"
    r"polish|clasp|leaks?|rust\w*|paint|charger|mileage|wobbles?|bulging|set|pair|phone|mixer|swift|"
    r"fridge|lamps|laptop|stroller|drone|diesel|geyser|tyres|microwave|canon|aquarium|fish|lego|"
    r"service|house|treadmill|enfield|earphones|papers|wardrobe|plate|generator|projector|tablet|"
    r"saree|storage|balcony|kayak|toaster|rent|cover photo|updates|shirt|collar|rexine|panne|paaya|"
    r"pankha|silai|talwa|gaddi|aaine|dhakkan|wire|dhaage|cup|lakdi|camera|gaadi|ac|washing|owner|"
    r"bumper|kapda|insurance|khilone|kitaab\w*|cycle|gear|mobile|plywood|chashma|kapdar?|switch|"
    r"dabba|naak|headphone|gadde|pahiya|box|darwaze|ps4|activa|engine|scooty|redmi|almirah|baazu|"
    r"port|kursi|bhabhi|tyre|doors|bookshop|tapak)\b|गिलास|सोफ़े|कैमरे|थैले|टायर|दरवाज़े|काँच|ज़ंग|क़ब्ज़ा|कोट|कॉलर|चमड़ा|पन्ने|प्याले|"
    r"सिलाई|गद्दी|आईने|प्लग|रेडियो|मूर्ति|चूल्हे|दरी|ढोलक|घड़ी|चश्मे|फ़्रिज|जूते|रिमोट|फ़्रेम|मोतियों|फ़ोन|"
    r"रज़ाई|बर्तन|चौखट|साड़ी|दराज़|गाड़ी|दीवारों|टीवी|शीशा|धागे|बटन|ज़िप|तला|बैटरी|रिस|टोकरी|लैंप|बाइक|मशीन|"
    r"किताबें|अलमारी|ढाँचे",
    re.IGNORECASE,
)
MUTE = 0.1  # share of the games in which the seller says prices alone


@dataclass(frozen=True, kw_only=True)
class PeopleRowSettings:
    """How many deals with people are kept, and how the planner's moves are spoilt in them."""

    rows: int = option("deals to learn from", 2_500)
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
    first_seed: int = option("training seeds run up from it", 30_000)


def make_rows(settings: PeopleRowSettings) -> list[Row]:
    """The deals of the settings; ValueError where the training seeds run out."""
    games = (
        conversation(seed, settings)
        for seed in training_seeds("bazaar/people", settings.first_seed)
    )
    return list(islice(chain.from_iterable(games), settings.rows))


def conversation(seed: int, settings: PeopleRowSettings) -> Iterator[Row]:
    """The deal of a seed; none where its listing is kept for evaluation."""
    states = list(teach(seed, settings))
    last = states[-1]
    if not is_unseen_listing(last.obs.table.item):
        chat = [*render(last.obs), {"role": "assistant", "content": last.completion}]
        yield Row("bazaar/people", seed, 0, [state.label for state in states], chat)


def teach(seed: int, settings: PeopleRowSettings, use: str = "training") -> Iterator[Taught]:
    """The learner's states in one game with a person, the planner's move there, and what is made.

    Sellers say sentences of one use of the corpus; the planner's sentences are for training.
    """
    spoils, speech = (np.random.default_rng([seed, stream]) for stream in (SPOILS, SPEECH))
    task = people.people_task(use, mute=bool(spoils.random() < MUTE))
    names, chances = zip(*settings.behaviour, strict=True)
    play, turn = advance(task, task.opponents, begin(task, seed)), 0
    language = ANSWERS_IN[play.state.private["seller"]["language"]]
    if not play.state.table.moves[0].action.message.strip("₹0123456789,. "):
        language = "en"  # a seller that says prices alone is answered in English
    while not play.forfeit and task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        act, best = plan(obs, agent_stream(task, seed, task.learner, turn), settings.within)
        best = teacher_rows.round_action(obs, best, settings.near)
        best = worded(obs, best, act, language, speech)
        made, how = best, names[spoils.choice(len(names), p=chances)]
        if how != "made":
            spoilt = teacher_rows.spoil(how, best, obs, settings, spoils)
            spoilt = teacher_rows.round_action(obs, spoilt, settings.near)
            if how == "silent" or spoilt != best:
                made = worded(obs, spoilt, "", language, speech)
        reply = completion(made, obs)
        yield Taught(turn, obs, best, completion(best, obs), reply)
        play = move(task, play, parse(reply, obs))
        play, turn = advance(task, task.opponents, play), turn + 1


PLANNER = Planner()


def plan(obs: Observation, rng: np.random.Generator, within: float) -> tuple[str, Action]:
    """The planner's speech act and its move without words.

    A higher bid is the mean of those that are worth at most `within` less: which of them is best is
    chance, and nobody can learn it.
    """
    acts, prices, offers, accept, walk = PLANNER.values(believe(obs), obs)
    if offers.max() < max(accept, walk):
        return "", Accept() if accept >= walk else WalkAway()
    act, at = np.unravel_index(offers.argmax(), offers.shape)
    price = prices[at]
    if price != obs.bid:
        rises = prices > (obs.bid or 0)
        good = rises & (offers[act] >= max(NOTHING / 2, offers.max() - within))
        price = prices[good].mean()
    return acts[act], Offer(round(price))


@cache
def sentences_to_say(language: str, family: str, key: str) -> tuple[str, ...]:
    """The training sentences of a meaning that a buyer of whatever goods may say."""
    return tuple(
        row.text
        for row in corpus.rows("buyer", "training")
        if (row.language, row.family, row.key) == (language, family, key)
        and (family == "bid" or row.kind in KINDS)
        and len(row.text) <= LONGEST
        and row.text.count("#") <= 1
        and not SORT.search(row.text)
    )


def worded(
    obs: Observation, action: Action, act: str, language: str, rng: np.random.Generator
) -> Action:
    """The move with a sentence of its act, or of the move itself."""
    price = action.price if isinstance(action, Offer) else obs.ask
    if isinstance(action, Offer):
        same = obs.bid is not None and percent_of(obs, action.price) <= percent_of(obs, obs.bid)
        key = "hold" if same else "raise"
    else:
        key = "accept" if isinstance(action, Accept) else "leave"
    family = ("buyer", act) if act and isinstance(action, Offer) else ("bid", key)
    options = sentences_to_say(language, *family)
    amount = obs.own.get("quote") if family == ("buyer", "outside") else price
    text = options[rng.integers(len(options))]
    return replace(action, message=text.replace("#", rupees(amount or 0)))
