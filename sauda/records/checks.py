"""How `verify` checks each kind of artifact. The README and the page say it in these words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sauda.records.store import Artifact

# Every file is sealed. What else is checked, the strongest first.
METHODS: Mapping[str, str] = {
    "replayed": "all of its data is computed again, to the last digit",
    "replayed in part": "scripts and rules are played again; what a language model wrote is sealed",
    "recomputed": "its data follows from other data, which is sealed",
    "sealed": "it does not come out twice, or is written by hand: only its digests are checked",
}


@dataclass(frozen=True)
class Check:
    """How a kind is checked beside its seal."""

    method: str  # of METHODS
    about: str

    def __str__(self) -> str:
        return f"{self.method}: {self.about}"


CHECKS: Mapping[str, Check] = {
    "evaluation/1": Check("replayed", "every episode and every row"),
    "arena/1": Check("replayed", "every episode, bound and row"),
    "episodes/1": Check("replayed", "every move"),
    "oracle/1": Check("replayed", "every solved game and every episode"),
    "market/1": Check("replayed", "every game and every career"),
    "belief/1": Check("replayed", "every belief and every game"),
    "judged/1": Check("replayed", "every negotiation and every verdict"),
    "selector/1": Check("replayed", "every choice, update and episode"),
    "language/1": Check("replayed", "every sentence and every figure"),
    "ladder/1": Check(
        "replayed in part",
        "scripts replayed; model rows recomputed from sealed columns; the first games of each "
        "stage by --models",
    ),
    "arena_ladder/1": Check(
        "replayed in part",
        "scripts and bounds replayed; model rows recomputed from sealed columns; the first games "
        "of each stage by --models",
    ),
    "before_after/1": Check(
        "replayed in part",
        "the games shown replayed from the sealed replies, and chosen again; other grades sealed",
    ),
    "seller_quality/1": Check(
        "replayed in part", "every game replayed; figures recomputed from the sealed texts"
    ),
    "reproduction/1": Check(
        "recomputed", "rows from the two files that it compares; probes and differences replayed"
    ),
    "bench/2": Check("sealed", "every sample; medians and ratios recomputed from them"),
    "run/1": Check("sealed", "every step of the log; the adapter's digest computed from its file"),
    "published/1": Check("sealed", "every figure, as it was transcribed by hand"),
}


def amount(artifact: Artifact) -> str:
    """How much `verify` has to replay or recompute for this file, such as 53,000 episodes."""
    count, unit = _AMOUNTS[artifact.kind]
    return f"{count(artifact.config, artifact.data):,} {unit}"


def _episodes(config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    return sum(row["n"] for row in data["rows"])


def _scripted(config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    """The games of the rows for which no language model wrote a token."""
    return sum(row["n"] for row in data["rows"] if not row["tokens"])


def _oracle(config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    return sum(
        row["n"] * (len(row["policies"]) + 2) + row["search"]["n"] * row["search"]["tried"]
        for row in data["rows"]
    )


def _market(config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    """Games of the open market, and the careers with each of two histories."""
    careers = 2 * sum(row["n"] for row in data["careers"])
    return sum(row["games"] for row in data["manner"]) + config["listened"] + careers


def _belief(config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    """Games of the calibration, and of the buyer with and without tells and words."""
    played = sum(row["games"] for row in data["inputs"]) + 2 * sum(
        row["n"] for row in data["outcomes"]
    )
    return config["episodes"] * len(config["tasks"]) + played


def _selector(config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    return 2 * len(data["curve"]) + sum(row["n"] * len(row["arms"]) for row in data["final"])


_AMOUNTS: Mapping[str, tuple[Callable[[Mapping[str, Any], Mapping[str, Any]], int], str]] = {
    "evaluation/1": (_episodes, "episodes"),
    "arena/1": (_episodes, "episodes"),
    "episodes/1": (lambda config, data: len(data["episodes"]), "episodes"),
    "oracle/1": (_oracle, "games to play or solve"),
    "market/1": (_market, "games and careers"),
    "belief/1": (_belief, "games"),
    "judged/1": (_episodes, "negotiations"),
    "selector/1": (_selector, "episodes"),
    "language/1": (lambda config, data: len(data["sentences"]), "sentences"),
    "ladder/1": (_scripted, "games of scripts"),
    "arena_ladder/1": (_scripted, "games of scripts"),
    "before_after/1": (
        lambda config, data: 2 * sum(len(t["chosen"]) for t in data["tasks"]),
        "games",
    ),
    "seller_quality/1": (lambda config, data: len(data["games"]), "games"),
    "reproduction/1": (lambda config, data: len(data["rows"]), "figures"),
    "bench/2": (lambda config, data: len(data["figures"]), "figures"),
    "run/1": (lambda config, data: len(data["log"]), "sealed steps and one adapter"),
    "published/1": (lambda config, data: len(data["figures"]), "sealed figures"),
}
