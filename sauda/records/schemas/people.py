"""Sellers and buyers that answer as people do: who wins what, how like people they are."""

from sauda.records.schemas.base import ModelSource, Record, Rows


class People(Record):
    """Buyers against sellers that answer as people do, and what words are worth there."""

    rows: Rows  # one per player: its grade, less the silent planner, how it bids
    rule: dict[str, float]  # the numbers of the best script
    phrases: Rows  # the silent planner with one phrase in each bid, less itself


class Customers(People):
    """Sellers against buyers that answer as people do, and what words are worth there."""


class Likeness(Record):
    """Sellers fitted to human dialogues: what people answered, what simulated sellers do."""

    counts: dict[str, int]  # lines of the file: used, and left out by reason
    # per seat, of real lines that somebody labelled: with a meaning, heard right, heard as another
    # alone; without one, and of these heard as one
    heard: Rows
    replies: list[list[float]]  # one per bid of a labelled dialogue, with the fields of Reply
    answers: Rows  # shares of each answer after a first bid, a rise, a stand: people and simulated
    # per distribution: people of the half kept out, simulated; distance between both, and between
    # the two halves of the people (Kolmogorov-Smirnov, of answers total variation)
    distances: Rows
    fits: Rows  # loss per answer on both halves, of sets of habits
    habits: Rows  # two habits, fitted on the half that is fitted to
    shared: dict[str, float]  # numbers of both, fitted with them


class Manners(Record):
    """How buyers behave towards sellers of twelve habits: deals, shares, runs of a price, lines."""

    rows: Rows  # one per player and habit, and one per player over all habits
    models: dict[str, ModelSource]  # the weights, by name
    replies: Rows  # of each model and habit: the texts of its replies by game


class Ear(Record):
    """What the ear makes of the evaluation sentences of both seats."""

    learnt: dict[str, int]  # training sentences by seat
    # per seat, part and its value: sentences that bear a meaning, heard right, heard as another
    heard: Rows
    # per seat, part and its value: texts that bear none, of these taken for a meaning that moves
    taken: Rows
    confused: Rows  # pairs of meanings, the commonest first
