"""The line under a figure; a missing artifact shows the command that makes it."""

import html

from panels.ui import provenance
from sauda.records.kinds import ArtifactError
from sauda.records.store import load


def test_a_panel_without_its_artifact_shows_a_sentence_and_the_command(monkeypatch):
    def nothing(file):
        raise ArtifactError(f"artifacts/{file} is not there", "python -m sauda run episodes")

    monkeypatch.setattr(provenance, "load", nothing)
    artifact, message = provenance.load_or_say("episodes/showcase.json")
    assert artifact is None
    assert "python -m sauda run episodes" in message


def test_the_line_says_n_commit_and_date_and_the_commands_are_folded():
    artifact = load("evaluation/market-holdout.json")
    line = str(provenance.provenance(artifact, "n = 400"))
    shown, _, commands = line.partition("<details")
    assert "n = 400 · commit " in shown
    assert artifact.made["created"][:10] in shown
    assert "python -m sauda" not in shown
    assert f"python -m sauda verify {artifact.file}" in commands
    assert artifact.made["command"] in html.unescape(commands)
