"""The provenance line under every figure: n, command, commit, and how to replay it."""

from markupsafe import Markup

from panels.ui.look import badge, empty
from sauda.records.kinds import KINDS, ArtifactError
from sauda.records.store import Artifact, load


def provenance(artifact: Artifact, extra: str = "") -> Markup:
    """The provenance line of `artifact`, with its badge."""
    recorded = artifact.made
    parts = [extra, recorded["command"]]
    if recorded.get("commit"):
        parts.append(
            f"commit {recorded['commit'][:7]}{' (tree not clean)' if recorded['dirty'] else ''}"
        )
    parts.append(recorded["created"][:10])
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
        return None, missing(error)


def missing(error: ArtifactError) -> Markup:
    """The empty state in place of what needs a missing or damaged artifact."""
    return empty(f"This cannot be shown: {error.fault}.", error.command)
