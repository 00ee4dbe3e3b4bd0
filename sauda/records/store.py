"""Artifacts: JSON files that say what they hold and how it was made. Only this module opens one."""

import hashlib
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.records.provenance import provenance
from sauda.records.schemas import check
from sauda.records.seal import digest as digest
from sauda.records.seal import sealed

ROOT = Path(__file__).resolve().parents[2] / "artifacts"
ORIGINS = ("measured", "published")


class ArtifactError(ValueError):
    """An artifact is missing or is not what its reader expects; `command` makes it."""

    def __init__(self, fault: str, command: str = "") -> None:
        super().__init__(f"{fault}; make it with `{command}`" if command else fault)
        self.fault, self.command = fault, command


@dataclass(frozen=True)
class Entry:
    """One file under artifacts/: what it is, the command that makes it, the tab that shows it."""

    file: str
    kind: str
    command: str
    about: str
    tab: str


FILES = (
    Entry(
        "published.json",
        "published/1",
        "python -m sauda seal-published",
        "Figures that the source documents report, each with its source, n and caveat",
        "Results",
    ),
    Entry(
        "evaluation/classic-train.json",
        "evaluation/1",
        "python -m sauda evaluate --split train --episodes 1000",
        "Every scripted buyer on every classic task, training seeds, one row an episode",
        "Results",
    ),
    Entry(
        "evaluation/classic-holdout.json",
        "evaluation/1",
        "python -m sauda evaluate --split holdout --episodes 500",
        "The same on hold-out seeds, from 50,000",
        "Tour, Results",
    ),
    Entry(
        "evaluation/market-train.json",
        "evaluation/1",
        "python -m sauda evaluate --family market --split train --episodes 1000",
        "Every scripted buyer on every open-market task, training seeds",
        "Results",
    ),
    Entry(
        "evaluation/market-holdout.json",
        "evaluation/1",
        "python -m sauda evaluate --family market --split holdout --episodes 500",
        "The same on hold-out seeds",
        "Results",
    ),
    Entry(
        "evaluation/arena-train.json",
        "arena/1",
        "python -m sauda evaluate --family arena --split train",
        "Every scripted policy on every arena task, training seeds: utility beside reward",
        "Results",
    ),
    Entry(
        "evaluation/arena-holdout.json",
        "arena/1",
        "python -m sauda evaluate --family arena --split holdout",
        "The same on hold-out seeds, and with other labs than the worlds draw",
        "Results, Transcripts",
    ),
    Entry(
        "evaluation/reproduction.json",
        "reproduction/1",
        "python -m sauda reproduce",
        "Our figures against those measured on the published game's own code",
        "Tour, Results",
    ),
    Entry(
        "oracle.json",
        "oracle/1",
        "python -m sauda oracle",
        "The open market's best values: known seller, believed seller; the search for exploits",
        "Results",
    ),
    Entry(
        "market.json",
        "market/1",
        "python -m sauda leakage",
        "What the open market's sellers give away by manner and word, and what they remember",
        "Results",
    ),
    Entry(
        "belief.json",
        "belief/1",
        "python -m sauda belief",
        "Whether the belief buyer's belief is calibrated, and what tells and words add to it",
        "Results",
    ),
    Entry(
        "judged.json",
        "judged/1",
        "python -m sauda pitching",
        "Judged negotiation: an adapting advocate, a control, hostile pitches; rounds to read",
        "Judge",
    ),
    Entry(
        "training/selector.json",
        "selector/1",
        "python -m sauda selector",
        "REINFORCE over scripted labs, 180 episodes: every probability and reward of the run",
        "Training",
    ),
    Entry(
        "episodes/showcase.json",
        "episodes/1",
        "python -m sauda record-episodes",
        "Whole episodes of four policies at one seed a task, to read and to play again",
        "Tour",
    ),
    Entry(
        "language.json",
        "language/1",
        "python -m sauda language",
        "How well prices and tells are read in labelled sentences, beside a list of keywords",
        "Results",
    ),
    Entry(
        "bench.json",
        "bench/2",
        "python -m sauda bench --save",
        "Speed of the games and of the page, with n, on the machine that it names",
        "Artifacts & API",
    ),
    Entry(
        "evaluation/ladder.json",
        "ladder/1",
        "python -m sauda compare-models",
        "A language model bare, constrained and wrapped, beside no model, scripts and an oracle",
        "Tour, Results",
    ),
    Entry(
        "seller_quality.json",
        "seller_quality/1",
        "python -m sauda seller-quality",
        "A language model's words as a seller beside scripted lines, with every text",
        "Results",
    ),
    Entry(
        "evaluation/arena-ladder.json",
        "arena_ladder/1",
        "python -m sauda compare-models --game arena",
        "A language model as a lab on arena/market_round, bare, after each stage, beside scripts",
        "Results",
    ),
    Entry(
        "training/sft.json",
        "run/1",
        "python -m sauda train sft",
        "The log of Sauda's supervised fine-tuning, what it learnt from, its gate",
        "Training",
    ),
    Entry(
        "training/grpo.json",
        "run/1",
        "python -m sauda train grpo",
        "The log of Sauda's reinforcement learning on whole games, one of them, its gate",
        "Training",
    ),
    Entry(
        "training/dpo.json",
        "run/1",
        "python -m sauda train dpo",
        "The log of Sauda's learning from pairs of replies, what they are, its gate",
        "Training",
    ),
    Entry(
        "training/sft-arena.json",
        "run/1",
        "python -m sauda train sft --game arena",
        "The log of a lab's supervised fine-tuning on the rule expert's actions, its gate",
        "Training",
    ),
    Entry(
        "training/grpo-arena.json",
        "run/1",
        "python -m sauda train grpo --game arena",
        "The log of a lab's reinforcement learning on whole games of market_round, its gate",
        "Training",
    ),
    Entry(
        "episodes/before_after.json",
        "before_after/1",
        "python -m sauda before-after",
        "Games of a model before and after training on the same seeds: best, median and worst",
        "Transcripts",
    ),
)


@dataclass(frozen=True)
class Artifact:
    """A loaded file. `made` tells where it comes from, `config` what was asked for."""

    file: str
    kind: str
    origin: str  # measured by a command, or published by a named source
    made: Mapping[str, Any]
    config: Mapping[str, Any]
    data: Mapping[str, Any]


def entry(file: str) -> Entry:
    """The register's line on `file`; raises ArtifactError for a file it does not know.

    An evaluation of one's own may be called evaluation/NAME.json; one of the arena
    evaluation/arena-NAME.json.
    """
    for known in FILES:
        if known.file == file:
            return known
    if re.fullmatch(r"training/(sft|grpo|dpo)(-[\w.-]+)?\.json", file):
        stage = re.split(r"[-.]", file.removeprefix("training/"))[0]
        game = " --game arena" if file.startswith(f"training/{stage}-arena") else ""
        return Entry(file, "run/1", f"python -m sauda train {stage}{game}", "A training run", "")
    if re.fullmatch(r"evaluation/[\w-]+\.json", file):
        of_arena = file.startswith("evaluation/arena-")
        kind, family = ("arena/1", " --family arena") if of_arena else ("evaluation/1", "")
        command = f"python -m sauda evaluate{family} --out {file}"
        return Entry(file, kind, command, "An evaluation of one's own", "")
    known_files = ", ".join(known.file for known in FILES)
    raise ArtifactError(f"no artifact {file!r}; artifacts are {known_files}, evaluation/NAME.json")


def load(file: str, root: Path = ROOT) -> Artifact:
    """The artifact at `root/file`, checked; an ArtifactError names the command that makes it."""
    known = entry(file)

    def refused(fault: str) -> ArtifactError:
        return ArtifactError(f"artifacts/{file} {fault}", known.command)

    try:
        content = json.loads((root / file).read_text(encoding="utf-8"), parse_constant=_no_constant)
    except FileNotFoundError:
        raise refused("is not there") from None
    except ValueError as error:
        raise refused(f"is not valid JSON ({error})") from None
    expected = ["config", "data", "kind", "made", "origin"]
    if not isinstance(content, dict) or sorted(content) != expected:
        raise refused(f"needs exactly the keys {', '.join(expected)}")
    if content["kind"] != known.kind:
        raise refused(f"is of kind {content['kind']!r} and not {known.kind!r}")
    if content["origin"] not in ORIGINS:
        raise refused(f"has the origin {content['origin']!r}, not one of {', '.join(ORIGINS)}")
    try:
        check(known.kind, content["data"])
    except ValueError as error:
        raise refused(f"is damaged: {error}") from None
    return Artifact(file, **content)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def save(
    file: str, config: Mapping[str, Any], data: Mapping[str, Any], root: Path = ROOT
) -> Artifact:
    """Write a measured artifact, whole or not at all, sealed, with its provenance; returns it."""
    artifact = Artifact(file, entry(file).kind, "measured", provenance(), config, data)
    return write_sealed(artifact, root)


def write_sealed(artifact: Artifact, root: Path = ROOT) -> Artifact:
    """Write an artifact with a new seal; returns it as it is in the file."""
    content = sealed(content_of(artifact))
    write(root / artifact.file, dumps(content) + "\n")
    return Artifact(artifact.file, **content)


def content_of(artifact: Artifact) -> dict[str, Any]:
    """What the file of an artifact holds."""
    return {key: getattr(artifact, key) for key in ("kind", "origin", "made", "config", "data")}


def write(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, so that no reader sees half a file."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Replace `path` by `content` in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def dumps(value: Any, indent: str = "") -> str:
    """JSON with one line for each innermost list or mapping of plain values, so that diffs read."""
    inner = indent + " "
    if isinstance(value, Mapping) and not all(map(_plain, value.values())):
        rows = [f"{json.dumps(key)}: {dumps(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inner + row for row in rows) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and not all(map(_plain, value)):
        rows = [inner + dumps(item, inner) for item in value]
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bundle(path: Path, root: Path = ROOT) -> None:
    """Write a zip of everything under artifacts/ to `path`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(root.parent))
