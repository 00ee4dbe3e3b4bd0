"""Where a figure comes from: the line under it; what was recorded beside what was played now."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.ui.look import PARTS, QUEUED, QUIET, empty, folded, table
from sauda.records.kinds import KINDS, ArtifactError
from sauda.records.store import Artifact, digest, load

# Samples that are played again share two threads, so that visitors who haggle find others.
PLAYS_AGAIN = {**QUEUED, "concurrency_id": "reproduce", "concurrency_limit": 2}


def provenance(artifact: Artifact, extra: str = "") -> Markup:
    """The provenance line of `artifact`, with its badge."""
    made = artifact.made
    parts, commands = [extra], [f"made by: {made['command']}"]
    if made.get("commit"):
        unclean = " (tree not clean)" if made["dirty"] else ""
        parts.append(f"commit {made['commit'][:7]}{unclean}")
    parts.append(made["created"][:10])
    if artifact.origin == "measured":
        method = KINDS[artifact.kind].method
        commands.append(f"check it ({method}): python -m sauda verify {artifact.file}")
    return PARTS.provenance(artifact.origin, parts, commands)


folded_commands = PARTS.folded_commands


def sources(lines: Sequence[Markup]) -> Markup:
    """Several provenance lines behind one title; a single one as it is."""
    every = Markup("").join(lines)
    return folded(f"{len(lines)} sources", every) if len(lines) > 1 else every


def load_or_say(file: str) -> tuple[Artifact | None, Markup]:
    """The artifact; or None and the empty state that names the command which makes it."""
    try:
        return load(file), Markup("")
    except ArtifactError as error:
        return None, missing(error)


def missing(error: ArtifactError) -> Markup:
    """The empty state in place of what needs a missing or damaged artifact."""
    return empty(f"This cannot be shown: {error.fault}.", error.command)


def made_or_missing(make: Callable[..., Markup], *given: Any) -> Markup:
    """What `make` returns, or what makes the artifact that it lacks."""
    try:
        return make(*given)
    except ArtifactError as error:
        return missing(error)


def lay_out_or_say(part: Callable[..., None], *given: Any) -> None:
    """Lay out `part`, or what makes the artifact that it lacks."""
    try:
        part(*given)
    except ArtifactError as error:
        gr.HTML(missing(error))


def side_by_side(
    what: str,
    figures: tuple[Sequence[float], Sequence[float]],
    recorded: Mapping[str, Any],
    fresh: Mapping[str, Any],
    why: str = "",
    seeds: Sequence[int] = (),
    forms: tuple[str, str] = ("z.1%", "z.4%"),
) -> Markup:
    """The means of `what` in one line, as recorded and as played now; `figures` has both, by game.

    Below it which columns of the games differ, which `why` explains, and the digests of all; then
    the games of `seeds`, one by one. `forms` are those of equal means, and of all other figures.
    """
    fresh = {name: fresh.get(name) for name in recorded}
    differing = [name for name in recorded if recorded[name] != fresh[name]]
    digests, means = (digest(recorded), digest(fresh)), list(map(fmean, figures))
    n, count = len(figures[0]), len(recorded)
    short, exact = forms
    shown = [format(mean, exact if differing else short) for mean in means]
    comparison = PARTS.side_by_side(what, shown, n, count, differing, digests, why)
    if not seeds:
        return comparison
    rows = [
        (f"{seed}", format(old, exact), format(new, exact), "=" if old == new else "≠")
        for seed, old, new in zip(seeds, *figures, strict=True)
    ]
    heads = ("seed", "as recorded", "played now", "")
    return comparison + folded("The games, one by one", table(heads, rows, "lrrl", what))


def offer_again(label: str, play: Callable, inputs: Sequence[gr.Component], name: str) -> None:
    """Lay out a button that plays recorded games again, and the place of what `play` yields.

    `inputs` pick the games; picking others empties the place.
    """
    button = gr.Button(f"Reproduce: {label}", size="sm", scale=0, min_width=280)
    result = gr.HTML(elem_id=f"{name}-reproduced")
    button.click(play, inputs, result, **PLAYS_AGAIN)
    gr.on([picker.change for picker in inputs], lambda: "", None, result, **QUIET)
