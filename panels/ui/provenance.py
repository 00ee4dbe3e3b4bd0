"""The grey line under every number: how many, which command, which commit, how to play it again."""

from markupsafe import Markup

from panels.ui.look import badge, empty
from sauda.records.kinds import KINDS, ArtifactError
from sauda.records.store import Artifact, load


def provenance(artifact: Artifact, extra: str = "") -> Markup:
    """Where `artifact` comes from, with its badge."""
    made = artifact.made
    parts = [extra, made["command"]]
    if made.get("commit"):
        parts.append(f"commit {made['commit'][:7]}{' (tree not clean)' if made['dirty'] else ''}")
    parts.append(made["created"][:10])
    if artifact.origin == "measured":
        method = KINDS[artifact.kind].check.method
        parts.append(f"check it ({method}): python -m sauda verify {artifact.file}")
    return Markup('<p class="sauda-note">{} {}</p>').format(
        badge(artifact.origin), " · ".join(part for part in parts if part)
    )


def load_or_say(file: str) -> tuple[Artifact | None, Markup]:
    """The artifact; or None and the empty state that names the command which makes it."""
    try:
        return load(file), Markup("")
    except ArtifactError as error:
        return None, empty(f"This cannot be shown: {error.fault}.", error.command)
