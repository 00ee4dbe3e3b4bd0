"""Played games: a cell is a task and a player, and one function plays those that are not kept.

Columns are what a player's episodes give: lists or strings of one value per episode or deal, in
tables by name. They come in chunks of successive seeds. A chunk on disk has a key of all that its
games depend on, so that a run that was stopped goes on where it was, and many machines may fill one
folder. What an artifact records of players, and what of it is still the same, is said here too, and
games of a recorded row are played again.
"""

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from env import Policy, Task, episode, get_task, rollout
from env import fingerprint as fingerprints
from env.fingerprint import fingerprint, of_parser, positions
from sauda.games import BAZAAR, GAMES, game_of
from sauda.games.adapter import Columns, Reply
from sauda.llm.model import CACHE, Model, load_once
from sauda.llm.turn import ModelGame, ModelSeat, PlayerSpec, new_game, play_games
from sauda.players import ORACLE, get_policy, is_model, player_spec, sit
from sauda.pool import Engine, engine
from sauda.records import progress
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact, differences, read_json, source_digest, write
from sauda.statistics import paired_difference, summary

CHUNK = 50  # games of a player played together
FOLDER = CACHE / "played"  # where chunks of language models are kept
C = TypeVar("C", bound=Hashable)  # a cell, or what an experiment plays in its place


class Cell(NamedTuple):
    """A task and the policy in its learner's seat; "" for what is known of the task's instances."""

    task: str
    policy: str


Cells = Mapping[Cell, Columns]


class Chunk(NamedTuple):
    """Games of successive seeds that are played together."""

    cell: Any
    seeds: Sequence[int]


# Games --------------------------------------------------------------------------------------------


def grades(task: Task | str, player: Policy, seeds: Sequence[int]) -> np.ndarray:
    """The grades of a player, one per seed."""
    task = get_task(task) if isinstance(task, str) else task
    return np.array([task.grade(rollout(task, player, seed).final) for seed in seeds])


def round_all(values: Iterable[float]) -> list[float]:
    """The values as artifacts hold them, to six digits."""
    return [round(float(value), 6) for value in values]


def play_cell(
    cell: Cell, seeds: Sequence[int], sits: Callable[[Task, str], Callable[[int], Policy]] = sit
) -> dict[str, Any]:
    """One cell over `seeds` as columns; `sits` gives the policy of a name in the game of a seed."""
    task = get_task(cell.task)
    columns = game_of(task).columns
    if not cell.policy:
        return columns.worlds_of(cell.task, seeds)
    player = sits(task, cell.policy)
    return columns.episode_columns(task, [rollout(task, player(seed), seed) for seed in seeds])


def play_columns(cell: Cell, seeds: Sequence[int]) -> dict[str, Any]:
    """One cell over `seeds`, in one batch, and a model's counts; those of a script are 0."""
    if is_model(cell.policy):
        return play_model(get_task(cell.task), player_spec(cell.policy), seeds)
    counts = game_of(cell.task).columns.MODEL_COUNTS
    return play_cell(cell, seeds) | {count: [0] * len(seeds) for count in counts}


def play_together(task: Task, player: PlayerSpec, seeds: Sequence[int]) -> list[ModelGame]:
    """The games of a language model at `seeds`, played to their ends in one batch."""
    games = [new_game(task, seed) for seed in seeds]
    play_games(games, player)
    return games


def play_model(task: Task, player: PlayerSpec, seeds: Sequence[int]) -> dict[str, Any]:
    """The games of `seeds` in one batch, as columns and the model's counts."""
    return model_columns(task, play_together(task, player, seeds))


def model_columns(task: Task, games: Sequence[ModelGame]) -> dict[str, Any]:
    """Games that are over as columns and the model's counts."""
    kind = game_of(task).columns
    columns = kind.episode_columns(task, [episode(task, game.play) for game in games])
    counts = [kind.count_model(task, game.turns) for game in games]
    return columns | {name: [count[name] for count in counts] for name in kind.MODEL_COUNTS}


# Chunks -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Store:
    """Chunks on disk: a JSON file each, under a key of its seeds and of what its games depend on.

    `identity` gives the latter of a cell: of a language model by default the fingerprints of task,
    opponents and player, its weights and its sampling, of all else the code.
    """

    folder: Path = FOLDER
    identity: Callable[[Any], Any] | None = None

    def file(self, chunk: Chunk) -> Path:
        """Where a chunk is kept."""
        key = repr((*chunk.cell, list(chunk.seeds), (self.identity or identify)(chunk.cell)))
        return self.folder / f"{sha256(key.encode()).hexdigest()[:24]}.json"

    def read(self, chunk: Chunk) -> Any:
        """A chunk that is there; ValueError naming its file where that holds no JSON."""
        try:
            return read_json(self.file(chunk))
        except ValueError as error:
            file = self.file(chunk)
            raise ValueError(f"{file} is damaged ({error}); delete it and play again") from None


def identify(cell: Cell) -> tuple[Any, ...]:
    """What the games of a cell depend on beside their seeds."""
    if weights := weights_of(cell.policy):
        return *hashes(cell).values(), version_of(load_once(weights))
    return (source_digest(),)  # what a script plays again in seconds is kept for one run


def version_of(model: Model | None) -> tuple[Any, ...] | None:
    """What a model's replies depend on beside the requests: weights and sampling."""
    return model and (model.sha256, model.source, model.sampling)


def chunks_of(cells: Mapping[C, Sequence[int]], size: int = CHUNK) -> list[Chunk]:
    """The seeds of each cell, `size` at a time."""
    return [
        Chunk(cell, seeds[start : start + size])
        for cell, seeds in cells.items()
        for start in range(0, len(seeds), size)
    ]


def play_chunks(
    play: Callable[[C, Sequence[int]], Any], chunks: Sequence[Chunk], run: Engine, store: Store
) -> int:
    """Play the chunks that the store lacks, keep each as it ends; returns how many they were."""
    missing = [chunk for chunk in chunks if not store.file(chunk).exists()]
    played = run(partial(_play, play), missing)
    for chunk, value in progress(played, len(missing), "playing", "chunk"):
        write(store.file(chunk), json.dumps(value, allow_nan=False, ensure_ascii=False))
    return len(missing)


def play_cells(
    play: Callable[[C, Sequence[int]], Any],
    cells: Mapping[C, Sequence[int]],
    run: int | Engine,
    size: int = CHUNK,
    store: Store | None = None,
) -> dict[C, Any]:
    """What `play` gives of each cell at its seeds, chunk by chunk, joined.

    `run` computes the chunks: an engine, or a number of processes. With a `store` those that it has
    are read, and the others are kept there as they end.
    """
    chunks = chunks_of(cells, size)  # told apart by identity, since not all can be hashed
    with engine(workers=run) if isinstance(run, int) else nullcontext(run) as run:
        if store:
            play_chunks(play, chunks, run, store)
            values = {id(chunk): store.read(chunk) for chunk in chunks}
        else:
            played = run(partial(_play, play), chunks)
            played = progress(played, len(chunks), "playing", "chunk")
            values = {id(chunk): value for chunk, value in played}
    parts: dict[C, list[Any]] = {cell: [] for cell in cells}
    for chunk in chunks:
        parts[chunk.cell].append(values[id(chunk)])
    return {cell: join(pieces) for cell, pieces in parts.items()}


def _play(play: Callable[[C, Sequence[int]], Any], chunk: Chunk) -> Any:
    return play(*chunk)


def join(pieces: Sequence[Any]) -> Any:
    """The columns of several chunks as those of one."""
    if isinstance(pieces[0], Mapping):
        return {name: join([piece[name] for piece in pieces]) for name in pieces[0]}
    return "".join(pieces) if isinstance(pieces[0], str) else [x for piece in pieces for x in piece]


def take_first(columns: Columns, n: int) -> dict[str, Any]:
    """The first `n` episodes of `columns`, with values per deal or per episode."""
    had = len(columns["grade"])
    return {
        name: {part: numbers[:n] for part, numbers in values.items()}
        if isinstance(values, Mapping)
        else values[: n * (len(values) // had)]
        for name, values in columns.items()
    }


def summarize_metric(columns: Columns, base: Columns | None, metric: str) -> dict[str, Any]:
    """Summary of one metric over episodes, and its paired difference to the baseline."""
    values = per_episode(columns, metric)
    figures = summary(values)
    if base is not None:
        names = ("difference", "difference_low", "difference_high")
        figures |= zip(names, paired_difference(values, per_episode(base, metric)), strict=True)
    return {name: round(value, 6) for name, value in figures.items()}


def per_episode(columns: Columns, metric: str) -> np.ndarray:
    """One value per episode, shape (n,): the metric itself, or its mean over the deals."""
    values = np.asarray(columns[metric], dtype=float)
    return values.reshape(len(columns["grade"]), -1).mean(axis=1)


# Fingerprints -------------------------------------------------------------------------------------


def hashes(cell: Cell) -> dict[str, str]:
    """The fingerprints of what determines the games of a (task, policy) pair."""
    return {
        "task": task_hash(cell.task),
        "opponents": opponents_hash(cell.task),
        "policy": policy_hash(cell.task, cell.policy),
    }


@cache  # it plays games, and many rows share it
def task_hash(task_name: str) -> str:
    """The fingerprint of a task's rules and grade."""
    return fingerprints.of_rules(get_task(task_name))


@cache
def opponents_hash(task_name: str) -> str:
    """The fingerprint of a task's opponents."""
    return fingerprints.of_opponents(get_task(task_name))


@cache
def policy_hash(task_name: str, policy_name: str) -> str:
    """The fingerprint of a policy by name; of a language model that of its seat alone.

    Weights are left out: their digest, precision and sampling are recorded beside it.
    """
    task = get_task(task_name)
    if policy_name == ORACLE:  # it plays in games whose seller it knows, and not at a position
        player = sit(task, ORACLE)
        played = [rollout(task, player(seed), seed) for seed in fingerprints.FEW]
        return fingerprints.of_turns(task, played)
    if not is_model(policy_name):
        return fingerprints.of_policy(task, get_policy(task, policy_name))
    player, game = player_spec(policy_name), game_of(task)
    asked = seat_hash(task_name, player.seat(game))
    played = "" if player.weights else fingerprints.of_policy(task, player.policy(game))
    return fingerprint([asked, played])


@cache  # models that differ in their weights share it
def seat_hash(task_name: str, seat: ModelSeat) -> str:
    """The fingerprint of a model's seat: what it is asked, and what its replies amount to."""
    seen = positions(get_task(task_name))
    requests = [seat.request(obs, 0, ()) for obs in seen]

    def act(text: str, obs: Any) -> Any:
        action = seat.parse(obs, Reply(text, ""), ()).action
        return type(action).__name__, action

    asked = [(request.messages, request.schema) for request in requests]
    return fingerprint([asked, of_parser(act, seen)])


# Language models that played ----------------------------------------------------------------------

OR = " or "  # between the kinds of CPU that played a model's games


def weights_of(policy: str) -> str:
    """The name of the weights that a policy needs; "" for a script."""
    return player_spec(policy).weights if is_model(policy) else ""


def models_behind(policies: Iterable[str], read: str) -> dict[str, Any]:
    """The weights that each policy used, and the fingerprints of prompt and parser.

    `read` is what the models read, a key of READ.
    """
    names = set(map(weights_of, policies)) - {""}
    return {name: model_source(load_once(name), read) for name in sorted(names)}


def model_source(model: Model, read: str) -> dict[str, Any]:
    """What an artifact records of a model: its weights, sampling, prompt and parser."""
    return {
        "source": model.source,
        "origin": model.origin,
        "sha256": model.sha256,
        "cpu": model.cpu,
        **prompt_hashes(read),
        "sampling": model.sampling,
    }


def is_same_player(then: Mapping[str, Any] | None, now: Mapping[str, Any]) -> bool:
    """Whether weights and sampling of two ModelSources are the same, on any CPU.

    What a model is asked in a game, and what its replies amount to, the row's fingerprints tell.
    """
    other = {"cpu", "prompt", "parser"}
    return then is not None and all(then[name] == now[name] for name in now.keys() - other)


# The tasks whose positions a game's prompt and parser are fingerprinted at; none when one is added.
READ = {
    "bazaar": (
        "bazaar/open-3",
        "bazaar/package",
        "bazaar/sell",
        "classic/amazon_realistic",
        "classic/career_10",
        "classic/marketplace_arena",
    ),
    "people": ("bazaar/people",),  # of the bazaar, for a buyer that speaks freely
    "arena": ("arena/market_round", "arena/coalition_market"),
}


@cache
def prompt_hashes(read: str) -> Mapping[str, str]:
    """The fingerprints of the prompt of a key of READ, and of the parser of its replies."""
    prompt = GAMES.get(read, BAZAAR).prompt
    seen = [obs for task_name in READ[read] for obs in positions(get_task(task_name))]
    rendered = fingerprint([prompt.render(obs) for obs in seen])
    return MappingProxyType({"prompt": rendered, "parser": of_parser(prompt.parse, seen)})


bazaar_prompt, people_prompt, arena_prompt = (partial(prompt_hashes, name) for name in READ)


def kinds_of_cpu(source_cpu: str) -> list[str]:
    """The kinds of CPU that a ModelSource names; none for a GPU."""
    return source_cpu.split(OR) if source_cpu else []


def with_cpus(
    now: Mapping[str, Any], then: Mapping[str, Any], reused: Collection[str], new: Collection[str]
) -> dict[str, Any]:
    """The ModelSources of `now`, each with all kinds of CPU that played its games.

    Of the weights named in `reused` some games are those of `then`, of those in `new` some were
    played now.
    """
    cpus = {
        name: {*(kinds_of_cpu(then[name]["cpu"]) if name in reused else ())}
        | ({source["cpu"]} if name in new else set())
        for name, source in now.items()
    }
    return {name: source | {"cpu": OR.join(sorted(cpus[name]))} for name, source in now.items()}


# Recorded games, played again ---------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """The first episodes of a row as recorded and as replayed; of a model, on which CPUs."""

    cell: Cell
    seeds: Sequence[int]
    recorded: Columns
    replayed: Columns
    cpu_then: str = ""
    cpu_now: str = ""

    def compare(self) -> tuple[str, list[str]]:
        """The verdict on a model in words, and the faults: none where the games agree.

        On the kind of CPU that recorded them every digit must come out. Elsewhere bf16 is rounded
        in another way and a game may part from the recorded one; there the mean grade must not
        differ (paired, 95% interval). The same holds where several kinds of CPU played a model's
        games, since an artifact does not say which of them played a game.
        """
        place = f"data.episodes[{self.cell.task!r}][{self.cell.policy!r}]"
        faults = list(differences(self.recorded, self.replayed, place))
        if not faults or self.cpu_then == self.cpu_now:
            return "to the last digit", faults
        then, now = (np.array(side["grade"]) for side in (self.recorded, self.replayed))
        difference, low, high = paired_difference(now, then)
        is_one = self.cpu_now in kinds_of_cpu(self.cpu_then)
        where = "one of its CPUs" if is_one else "another CPU"
        verdict = f"grades differ by {difference:+.3f} [{low:+.3f}, {high:+.3f}] on {where}"
        return verdict, [] if low <= 0 <= high else faults


def flat(recorded: Mapping[str, Mapping[str, Columns]]) -> Cells:
    """The columns of an artifact's "episodes" by task and policy."""
    return {
        Cell(task_name, name): columns
        for task_name, by_policy in recorded.items()
        for name, columns in by_policy.items()
    }


def cells(artifact: Artifact) -> dict[Cell, Columns]:
    """The recorded columns of an evaluation or a model comparison, by row.

    Raises ValueError for an artifact of another kind.
    """
    by_task = getattr(artifact.data, "episodes", None)
    if not isinstance(by_task, dict):
        raise ValueError(f"{artifact.file} holds no rows of episodes that can be sampled")
    by_task = artifact.data.as_json()["episodes"]
    if artifact.kind.startswith("arena/"):
        by_task = by_task[game_of(artifact.config["tasks"][0]).others]
    return flat(by_task)


def replay_row(
    artifact: Artifact,
    cell: Cell,
    episodes: int,
    sits: Callable[[Task, str], Callable[[int], Policy]] = sit,
) -> Sample:
    """Play the first `episodes` of a row again, one at a time; only columns of both sides.

    `sits` gives the policy of that name in the game of each seed where another than that of
    `players.py` is to play, such as a language model that a page has loaded. Raises KeyError for a
    row that is not recorded.
    """
    recorded = take_first(cells(artifact)[cell], episodes)
    seeds = SPLITS[artifact.config.get("split", "holdout")][: len(recorded["grade"])]
    replayed = json.loads(json.dumps(play_cell(cell, seeds, sits)))  # as a file has it
    recorded = {name: values for name, values in recorded.items() if name in replayed}
    return Sample(cell, seeds, recorded, {name: replayed[name] for name in recorded})
