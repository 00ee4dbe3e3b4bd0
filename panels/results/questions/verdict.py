"""The verdict on a question: one sentence that follows its artifact, with the figures behind it.

A difference whose interval holds 0 is said to show nothing, and only policies that were played are
named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from panels.results.model_labels import PLANNERS, policy_label
from panels.ui.look import with_minus_signs
from panels.ui.terms import short
from sauda.experiments.comparison import OURS, TUNED
from sauda.records.kinds import entry
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact


@dataclass(frozen=True)
class Verdict:
    """The answer in one sentence, and small lines with n and intervals."""

    sentence: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Signs:
    """Names of differences by what their intervals say."""

    above: tuple[str, ...]  # the whole interval lies above 0
    unclear: tuple[str, ...]  # the interval holds 0
    below: tuple[str, ...]  # the whole interval lies below 0


def by_sign(differences: Mapping[str, Interval]) -> Signs:
    """The names of all differences by the side of 0 on which their intervals lie."""
    above = tuple(name for name, gain in differences.items() if gain.low > 0)
    below = tuple(name for name, gain in differences.items() if gain.high < 0)
    sure = {*above, *below}
    return Signs(above, tuple(name for name in differences if name not in sure), below)


def in_words(signs: Signs, above: str, unclear: str, below: str) -> str:
    """What holds where: "wins more in the open market, and wins less in the hurried market".

    The tasks stand in the place of "{}" in each phrase.
    """
    told = ((above, signs.above), (below, signs.below), (unclear, signs.unclear))
    return ", and ".join(words.format(tasks_listed(names)) for words, names in told if names)


def buyer_name(policy: str) -> str:
    """A buyer in words, within a sentence."""
    return f"the {policy_label(policy)}" if policy in (TUNED, *PLANNERS) else policy_label(policy)


def tasks_listed(tasks: Sequence[str]) -> str:
    """The titles of the tasks: "the open market and the hurried market"."""
    return listed([f"the {short(task)}" for task in tasks])


def listed(names: Sequence[str]) -> str:
    """The names as a phrase: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def capital(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


def no_row(comparison: Artifact, policy: str = OURS) -> str:
    """That a policy was not played, and the command that plays it."""
    return (
        f"{policy_label(policy)} ({policy}) has no row in artifacts/{comparison.file};"
        f" to play it: {entry(comparison.file).command}"
    )


def verdict_html(verdict: Verdict) -> Markup:
    """The sentence, and its evidence in small lines."""
    lines = Markup("").join(
        Markup('<p class="sauda-note">{}</p>').format(with_minus_signs(line))
        for line in verdict.evidence
    )
    return Markup('<div class="sauda-verdict"><p class="sauda-answer">{}</p>{}</div>').format(
        with_minus_signs(verdict.sentence), lines
    )
