"""Games of one language model, loaded by each worker or held by OpenAI-style servers.

A chunk is some games of successive seeds. A loaded model plays them side by side in one batch, as
the model comparison does; of servers, each game asks on its own, so that many requests are in
flight and no game waits for another.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from env import get_task
from sauda.cloud import CloudFault
from sauda.games import game_of
from sauda.llm.backends import Endpoint, RetryPolicy
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.llm.types import Messages, Reply, ReplyError, Schema
from sauda.played import CHUNK, Cell, Store, model_columns, play_cells, play_model, summarize_metric
from sauda.players import player_spec
from sauda.pool import Engine
from sauda.records.seeds import first_seeds
from sauda.records.store import source_digest

# A server that decodes hundreds of replies side by side takes longer for each.
PATIENT = RetryPolicy(attempt_timeout=60.0, total_timeout=240.0, attempts=5, first_pause=1.0)
IN_FLIGHT = 64
REST = 30.0  # seconds for which a server that gave no reply is asked last


class Servers:
    """A `BatchGenerate` of several backends: each request goes to the one with the fewest.

    A backend that gave no reply is left alone for REST seconds, as long as another answers.
    """

    def __init__(
        self, backends: Sequence[Endpoint], clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not backends:
            raise ValueError("name at least one server")
        self.backends, self._clock = tuple(backends), clock
        self._under_way: Counter[int] = Counter()  # requests, by the backend's place
        self._rests_until: Counter[int] = Counter()  # by the clock
        self._lock = threading.Lock()

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        """The reply of one backend; ReplyError with every reason where none replies."""
        reasons: dict[int, str] = {}
        while left := [i for i in range(len(self.backends)) if i not in reasons]:
            with self._lock:
                now = self._clock()
                place = min(left, key=lambda i: (self._rests_until[i] > now, self._under_way[i]))
                self._under_way[place] += 1
            try:
                return self.backends[place](messages, seed, schema)
            except ReplyError as error:
                reasons[place] = str(error)
                self._rests_until[place] = self._clock() + REST
            finally:
                with self._lock:
                    self._under_way[place] -= 1
        raise ReplyError("no server answered: " + "; ".join(reasons.values()))

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        """The replies to the chats, one after the other: each game asks in a thread of its own."""
        return list(map(self, chats, seeds, schemas))


@dataclass(frozen=True)
class Rollouts:
    """The games to play; ValueError for settings that cannot be played."""

    task: str
    player: str = ""  # a model's name, loaded by each worker; "" for servers
    servers: tuple[str, ...] = ()  # addresses of OpenAI-style servers
    model: str = ""  # its name on the servers
    constrained: bool = False  # decode under the schema of legal moves
    split: str = "holdout"
    episodes: int = 200
    batch: int = CHUNK  # games of a chunk
    in_flight: int = IN_FLIGHT  # requests of one worker at a time
    token: str | None = field(default=None, repr=False)  # of the servers
    retry: RetryPolicy = PATIENT

    def __post_init__(self) -> None:
        if bool(self.player) == bool(self.servers) or bool(self.servers) != bool(self.model):
            raise ValueError(
                "name either a player, or servers and the model that they hold: --player NAME, or "
                "--server URL --model NAME"
            )
        if self.batch < 1 or self.in_flight < 1:
            raise ValueError(
                f"a chunk has at least 1 game, and 1 request in flight; not {self.batch} and "
                f"{self.in_flight}"
            )
        self.seeds()
        self.spec().seat(game_of(self.task))

    def seeds(self) -> range:
        """The first `episodes` seeds of the split; ValueError where it has fewer."""
        return first_seeds(self.episodes, self.split)

    def spec(self) -> PlayerSpec:
        """The player, not loaded yet."""
        if self.player:
            return player_spec(self.player)
        named = {"model": self.model, "token": self.token, "retry": self.retry}
        servers = Servers([Endpoint(url, **named) for url in self.servers])
        return PlayerSpec(servers, self.constrained)

    @property
    def cell(self) -> Cell:
        """What is played, by name."""
        return Cell(self.task, self.player or self.model)

    def identity(self, cell: Cell) -> Any:
        """What the games depend on: settings without the token, and the code.

        A server more or less, or more requests in flight, change no game.
        """
        settings = asdict(self) | {"code": source_digest()}
        for name in ("token", "retry", "servers", "in_flight", "episodes"):
            del settings[name]
        return settings

    def play(self, cell: Cell, seeds: Sequence[int]) -> dict[str, Any]:
        """The columns of a chunk, who gave each reply, and the seconds it took, also of the CPU.

        Raises ReplyError where no server replies; games that have not begun are then left.
        """
        task, player = get_task(self.task), self.spec()
        began, cpu = time.monotonic(), time.process_time()
        if self.player:
            columns, sources = play_model(task, player, seeds), []
        else:
            games = [new_game(task, seed) for seed in seeds]
            with ThreadPoolExecutor(self.in_flight) as pool:
                list(pool.map(lambda game: play_games([game], player), games))
            columns = model_columns(task, games)
            sources = [turn.reply.source for game in games for turn in game.turns]
        spent = {"seconds": [time.monotonic() - began], "cpu_seconds": [time.process_time() - cpu]}
        return {"columns": columns, "replies": sources, **spent}


def play_rollouts(rollouts: Rollouts, folder: Path, run: Engine) -> dict[str, Any]:
    """The figures of the games and under them their columns; those that `folder` lacks are played.

    `games_a_minute` is what one worker played, `games_a_cpu_minute` counts its own CPU time. Raises
    CloudFault where no server replies.
    """
    cells, store = {rollouts.cell: rollouts.seeds()}, Store(folder, rollouts.identity)
    try:
        (played,) = play_cells(rollouts.play, cells, run, rollouts.batch, store).values()
    except ReplyError as error:
        raise CloudFault(f"{error}; the chunks before are kept") from error
    columns, game = played["columns"], game_of(rollouts.task).columns
    n = len(columns["grade"])
    return {
        "n": n,
        **{metric: summarize_metric(columns, None, metric) for metric in game.METRICS},
        "ends": {end: columns["end"].count(letter) for letter, end in game.ENDS.items()},
        **{count: sum(columns[count]) for count in game.MODEL_COUNTS},
        "replies": dict(Counter(played["replies"])),
        "games_a_minute": 60 * n / sum(played["seconds"]),
        "games_a_cpu_minute": 60 * n / sum(played["cpu_seconds"]),
        "columns": columns,
    }
