"""Plain titles of tasks, and the field's terms explained where they stand."""

import re
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from env import ARENA_TASKS, TASKS

TASK_TITLES: Mapping[str, str] = {
    "classic/single_deal": "Single deal",
    "classic/asymmetric_pressure": "Hidden deadline",
    "classic/career_10": "Ten deals",
    "classic/deceptive_seller": "Deceptive seller",
    "classic/impatient_seller": "Impatient seller",
    "classic/collaborative_seller": "Fair-minded seller",
    "classic/read_the_tells": "Five quick deals",
    "classic/marketplace_arena": "Sealed bids",
    "classic/amazon_realistic": "Catalogue item",
    "bazaar/people": "Market of people",
    "bazaar/customers": "Customers",
    "bazaar/open-3": "Market of free words",
    "bazaar/mute-3": "Market of free words, muted",
    "bazaar/package": "Market of packages",
    "bazaar/package-mute": "Market of packages, muted",
    "bazaar/sell": "Selling",
    "arena/single_trade": "Single trade",
    "arena/market_round": "Market round",
    "arena/coalition_market": "Coalition market",
}
TERMS: Mapping[str, str] = {
    "ZOPA": "zone of possible agreement: the prices at which both sides gain",
    "BATNA": "best alternative to a negotiated agreement: what one gets without a deal",
    "LoRA": "low-rank adaptation: a small set of weights trained beside a frozen model",
    "SFT": "supervised fine-tuning: the model copies a teacher's moves",
    "GRPO": "group relative policy optimization: of several tries, the better ones are reinforced",
    "DPO": "direct preference optimization: the model learns which of two replies is better",
    "PPO": "proximal policy optimization: reinforcement learning in small, bounded steps",
    "boulware": "holds firm and gives in late",
    "conceder": "gives in early",
    "tit for tat": "moves as far as the other side did",
    "KL": "Kullback-Leibler divergence: how far two distributions lie apart",
}
_ROUND = re.compile(r"\b((?:end of|in) round) (\d+)\b")
_TASK = "|".join(map(re.escape, sorted(TASK_TITLES, key=len, reverse=True)))
_TERM = re.compile(rf"({_TASK}|\b(?:{'|'.join(TERMS)})\b)")


def task_title(task: str) -> str:
    """The plain title of a task, or its name where it has none."""
    return TASK_TITLES.get(task, task)


def short(task: str) -> str:
    """The title of a task inside a sentence: "coalition market" of arena/coalition_market."""
    title = task_title(task)
    return title[:1].lower() + title[1:]


def task_about(task: str) -> str:
    """What a task is about, in a sentence, with its rounds counted from 1."""
    text = TASKS[task].about
    return from_one(text) if task in ARENA_TASKS else text  # the bazaar counts from 1 itself


def shown_round(index: int) -> int:
    """The round that the arena's engine counts from 0 as the page counts it, from 1."""
    return index + 1


def from_one(text: str) -> str:
    """A sentence of the arena's engine with its rounds counted from 1."""
    return _ROUND.sub(lambda match: f"{match[1]} {shown_round(int(match[2]))}", text)


def task_choices(tasks: Iterable[str]) -> list[tuple[str, str]]:
    """The tasks for a picker: plain titles, the names as values."""
    return [(task_title(task), task) for task in tasks]


def title(value: object) -> object:
    """A task's name as its title with a tooltip; any other value as it is."""
    if not isinstance(value, str) or value not in TASK_TITLES:
        return value
    return term(TASK_TITLES[value], f"{value}: {task_about(value)}")


def with_tooltips(text: object) -> object:
    """`text` with a tooltip on the first of each of TERMS, and titles in place of tasks' names.

    Markup and other values stay as they are.
    """
    if type(text) is not str:
        return text
    parts, seen = Markup(""), set()
    for part in _TERM.split(text):
        if part in TASK_TITLES:
            parts += term(short(part), f"{part}: {task_about(part)}")
        elif part in TERMS and part not in seen:
            parts += term(part, TERMS[part])
        else:
            parts += Markup.escape(part)
        seen.add(part)
    return parts


def term(text: str, meaning: str) -> Markup:
    """Plain words with their technical name or their meaning in a tooltip."""
    return Markup('<abbr title="{}">{}</abbr>').format(meaning, text)


def could_be_won(words: str = "what could be won") -> Markup:
    """What both sides share, in plain `words`, with the field's term in a tooltip."""
    return term(words, f"ZOPA, {TERMS['ZOPA']}")


def nothing_to_win(words: str) -> Markup:
    """That no price serves both sides, in plain `words`, with the field's term in a tooltip."""
    return term(words, f"no ZOPA, {TERMS['ZOPA']}")


# Words in a sentence ------------------------------------------------------------------------------


def list_names(names: Sequence[str]) -> str:
    """The names as a phrase: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def list_tasks(tasks: Iterable[str]) -> str:
    """The titles of the tasks: "the open market and the hurried market"."""
    return list_names([f"the {short(task)}" for task in tasks])


# By the names of tasks in the source documents, which put no game before them.
PUBLISHED_TITLES = {
    task.partition("/")[2]: short(task) for task in TASK_TITLES if not task.startswith("bazaar/")
}
_PUBLISHED_TASK = re.compile(rf"\b({'|'.join(map(re.escape, PUBLISHED_TITLES))})\b")


def in_words(text: object) -> object:
    """A text of a published figure with the titles of tasks, names without underscores.

    A number stays as it is.
    """
    if not isinstance(text, str):
        return text
    titled = _PUBLISHED_TASK.sub(lambda task: PUBLISHED_TITLES[task[0]], text)
    return titled.replace("_", " ") if titled.isidentifier() else titled


def capital(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]
