"""The routes of the leaderboard: enter, read the rows, read the games of a complete entry."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from sauda.serve.address import address_of
from sauda.serve.episodes import Refused, sentences
from sauda.serve.leaderboard.board import (
    HOURS,
    LONGEST_NAME,
    RANKED,
    SHOWN,
    UNFINISHED,
    Entry,
    checked_name,
    checked_task,
    own_board,
)
from sauda.serve.leaderboard.hourly import Hourly
from sauda.serve.leaderboard.record import in_utc, record
from sauda.serve.leaderboard.replay import rules_of

ENTER_EXAMPLE = {"name": "rising bids", "task": "bazaar/open"}

TaskInQuery = Annotated[str, Query(description=f"One of {', '.join(RANKED)}.")]
EntryInQuery = Annotated[str, Query(pattern="^[0-9a-f]{16}$", description="The id of an entry.")]


class Enter(BaseModel):
    """Who enters, on which task."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [ENTER_EXAMPLE]})

    name: str = Field(max_length=4 * LONGEST_NAME, description="Of the agent, shown as text.")
    task: str = RANKED[0]


class Entered(BaseModel):
    """An entry that is to be played."""

    entry: str = Field(description="Its public id.")
    token: str = Field(description="A secret: reset with entry=token plays the next game.")
    task: str
    games: int
    commitment: str = Field(description="SHA-256 of the seeds, which are shown once all is over.")
    deadline: str = Field(description=f"{HOURS:.0f} hours from now; what is not over then is lost.")


class BoardRow(BaseModel):
    """A complete entry; `score` is its mean grade, low and high its 95 % interval."""

    entry: str
    agent_name: str
    task: str
    score: float
    low: float
    high: float
    episodes_completed: int = Field(description="Games that were played to their end.")
    total_episodes: int = Field(description="All games; one that has no end counts -1.")
    ends: dict[str, int]
    timestamp: str = Field(description="When it entered, in UTC.")


class Rows(BaseModel):
    """The best entries of a task."""

    task: str
    entries: list[BoardRow]
    total: int
    being_played: int


def add_leaderboard(app: FastAPI, problems: Mapping[int | str, Any]) -> None:
    """Add `/leaderboard`, `/leaderboard/enter` and `/leaderboard/games`."""
    app.state.hourly = Hourly()
    more = {"responses": dict(problems), "tags": ["Leaderboard"]}

    @app.post("/leaderboard/enter", **more)
    def enter(request: Request, body: Enter) -> Entered:
        """Enter an agent. Its games are drawn now and played by reset with the token."""
        with sentences():
            name, task = checked_name(body.name), checked_task(body.task)
        hourly: Hourly = app.state.hourly
        if not hourly.take(address_of(request.scope)):
            raise Refused(
                429,
                f"An address may enter {hourly.of_address} times an hour, all together"
                f" {hourly.in_all} times; try again later.",
            )
        with sentences():
            ticket = own_board().enter(name, task, rules_of(task))
        return Entered(**vars(ticket) | {"deadline": in_utc(ticket.deadline)})

    @app.get("/leaderboard", **more)
    def leaderboard(
        task: TaskInQuery = RANKED[0],
        limit: Annotated[int, Query(ge=1, le=SHOWN)] = SHOWN,
        offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    ) -> Rows:
        """The entries of a task whose games are all over, the best mean grade first."""
        with sentences():
            rules = rules_of(checked_task(task))
            now = own_board().standing(task, rules)
            known = now.entries[offset : offset + limit]
            whole = offset + limit <= SHOWN
            entries = known if whole else own_board().entries(task, rules, limit, offset)
        rows = [row_of(entry) for entry in entries]
        return Rows(task=task, entries=rows, total=now.complete, being_played=now.being_played)

    @app.get("/leaderboard/games", **more)
    def games(entry: EntryInQuery) -> dict[str, Any]:
        """The record of a complete entry: seeds and actions, from which its row can be verified."""
        board = own_board()
        with sentences():
            known = board.entry(entry)
            if known is not None:
                return record(board, known)
        raise Refused(404, "No complete entry has this id; its games are shown once all are over.")


def row_of(entry: Entry) -> BoardRow:
    """The row of a complete entry."""
    return BoardRow(
        entry=entry.id,
        agent_name=entry.name,
        task=entry.task,
        score=entry.grade.mean,
        low=entry.grade.low,
        high=entry.grade.high,
        episodes_completed=entry.n - entry.count[UNFINISHED],
        total_episodes=entry.n,
        ends=dict(entry.count),
        timestamp=in_utc(entry.created),
    )
