"""A missing artifact shows the command that makes it."""

from panels.ui import provenance
from sauda.records.kinds import ArtifactError


def test_a_panel_without_its_artifact_shows_a_sentence_and_the_command(monkeypatch):
    def nothing(file):
        raise ArtifactError(f"artifacts/{file} is not there", "python -m sauda record-episodes")

    monkeypatch.setattr(provenance, "load", nothing)
    artifact, message = provenance.load_or_say("episodes/showcase.json")
    assert artifact is None
    assert "python -m sauda record-episodes" in message
