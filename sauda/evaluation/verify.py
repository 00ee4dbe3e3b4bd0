"""Check an artifact: first its seal, then what can be computed again, digit by digit.

Each kind has a function that returns the data as it should be; what differs is named by its place.
`checks.py` says in words what it does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from env import ARENA_TASKS
from sauda.evaluation import arena_model_comparison as arena_comparison
from sauda.evaluation import model_comparison
from sauda.evaluation.columns import replay_cell
from sauda.evaluation.episodes import replayed
from sauda.evaluation.evaluate import Config, evaluate
from sauda.evaluation.reproduction import reproduction
from sauda.evaluation.speed import recomputed
from sauda.evaluation.statistics import paired_difference
from sauda.evaluation.verification.recorded_hashes import recorded_hashes
from sauda.records.seal import SEAL, broken, child
from sauda.records.store import (
    ROOT,
    Artifact,
    ArtifactError,
    content_of,
    digest,
    entry,
    load,
    sha256,
)


def verify(file: str, workers: int = 2, root: Path = ROOT) -> list[str]:
    """What in `file` is not as sealed or does not come out again, one sentence a place.

    Empty where all of it is right. A file whose seal is broken is not replayed: its settings may be
    the part that was changed. Raises ArtifactError for a file that is missing or malformed.
    """
    artifact = load(file, root)
    if SEAL in artifact.made and (changed := broken(content_of(artifact))):
        return changed
    again = RECOMPUTE[artifact.kind](artifact, workers, root)
    hashes = {hash_.place: hash_.fault for hash_ in recorded_hashes(artifact) if hash_.fault}
    moved = differences(artifact.data, again, "data")
    others = [place for place in moved if place.partition(": ")[0] not in hashes]
    return [*_no_seal(artifact), *hashes.values(), *others]


def _no_seal(artifact: Artifact) -> list[str]:
    """The fault of an artifact without a seal; none where it has one."""
    if SEAL in artifact.made:
        return []
    command = entry(artifact.file).command
    return [
        f"made: there is no seal; record the file again (`{command}`), or seal the version that is "
        f"committed (`python -m sauda seal {artifact.file}`)"
    ]


@dataclass(frozen=True)
class Played:
    """What came of a model's games that were played again; `faults` is empty where it holds."""

    task: str
    policy: str
    n: int
    verdict: str
    faults: list[str]


def verify_models(tasks: Sequence[str], root: Path = ROOT) -> Iterator[Played]:
    """Each trained stage's first games on some tasks, played again by the adapters that are kept.

    On the kind of CPU that recorded them every digit must come out. Elsewhere bf16 is rounded in
    another way and a game may part from the recorded one; there the mean grade must not differ
    (paired, 95 % interval). Raises ArtifactError, and ValueError for a task that was not played.
    """
    for pair in _stages_again(tasks, root):
        place = f"data.episodes[{pair.task!r}][{pair.policy!r}]"
        found = list(differences(pair.recorded, pair.again, place))
        told = Played(pair.task, pair.policy, len(pair.again["grade"]), "to the last digit", found)
        if found and pair.cpu_then != pair.cpu_now:
            then, now = (np.array(side["grade"]) for side in (pair.recorded, pair.again))
            difference, low, high = paired_difference(now, then)
            said = f"grades differ by {difference:+.3f} [{low:+.3f}, {high:+.3f}] on another CPU"
            told = replace(told, verdict=said, faults=[] if low <= 0 <= high else found)
        yield told


def _stages_again(tasks: Sequence[str], root: Path) -> Iterator[model_comparison.Replayed]:
    """Of the ladder's tasks, and of the arena's."""
    of_arena = [name for name in tasks if name in ARENA_TASKS]
    if others := [name for name in tasks if name not in of_arena]:
        artifact = load("evaluation/ladder.json", root)
        yield from model_comparison.stages_again(_ladder_config(artifact), artifact.data, others)
    for name in of_arena:
        artifact = load("evaluation/arena-ladder.json", root)
        config = arena_comparison.Config(**_config(artifact))
        if name != config.task:
            raise ValueError(f"no model was played on {name!r} of the arena, only on {config.task}")
        yield from arena_comparison.stages_again(config, artifact.data)


def differences(recorded: Any, again: Any, place: str) -> Iterator[str]:
    """Every place where two JSON values differ."""
    if isinstance(recorded, Mapping) and isinstance(again, Mapping):
        for key in sorted(recorded.keys() | again.keys()):
            pair = recorded.get(key, _NOTHING), again.get(key, _NOTHING)
            yield from differences(*pair, child(place, key))
    elif isinstance(recorded, list) and isinstance(again, list | tuple):
        if len(recorded) != len(again):
            yield f"{place}: {len(recorded)} recorded, {len(again)} when played again"
        for index, (old, new) in enumerate(zip(recorded, again, strict=False)):
            yield from differences(old, new, child(place, index))
    elif recorded != again:
        yield f"{place}: recorded {_short(recorded)}, played again {_short(again)}"


_NOTHING = "nothing"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _evaluation(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every episode played again, and every row computed again from them.

    Always through the scalar engine, whichever one recorded them: so each checks the other.
    """
    return evaluate(_asked(artifact), workers, replay_cell)


def _config(artifact: Artifact) -> dict[str, Any]:
    return {name: _tuple(value) for name, value in artifact.config.items()}


def _asked(artifact: Artifact) -> Config:
    names = [field.name for field in fields(Config)]
    if missing := set(names) - artifact.config.keys():
        raise ArtifactError(f"{artifact.file} has no {', '.join(sorted(missing))} in its config")
    return Config(**{name: _tuple(artifact.config[name]) for name in names})


def _arena(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every episode of the GPU arena played again, every bound solved again."""
    from sauda.evaluation import arena_evaluate

    config = _asked(artifact)
    if "others" not in artifact.config:
        raise ArtifactError(f"{artifact.file} has no others in its config")
    return arena_evaluate.evaluate(config, artifact.config["others"], workers)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _episodes(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    return {"episodes": [_replayed(episode) for episode in artifact.data["episodes"]]}


def _replayed(episode: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """The episode as it is played now, or why its moves make none."""
    try:
        return replayed(episode)
    except ValueError as error:
        return f"no episode: {error}"


def _before_after(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Games made again from the models' recorded replies; the rule applied again to the grades."""
    from sauda.evaluation import before_after

    return before_after.again(before_after.Config(**_config(artifact)), artifact.data)


def _reproduction(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    return reproduction(root, workers)


def _oracle(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game solved and every episode played again."""
    from sauda.evaluation.market import oracle

    return oracle.oracle(oracle.Config(**artifact.config), workers)


def _ladder(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Rows computed again; scripts and the null model played again, language models not."""
    return model_comparison.again(_ladder_config(artifact), artifact.data)


def _arena_ladder(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Rows and bounds computed again; scripts played again, language models not."""
    return arena_comparison.again(arena_comparison.Config(**_config(artifact)), artifact.data)


def _ladder_config(artifact: Artifact) -> model_comparison.Config:
    parts = tuple(
        model_comparison.Part(**{name: _tuple(value) for name, value in part.items()})
        for part in artifact.config["parts"]
    )
    return model_comparison.Config(**artifact.config | {"parts": parts})


def _market(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game listened to again, every career lived again."""
    from sauda.evaluation.market import leakage

    return leakage.market(leakage.Config(**_config(artifact)), workers)


def _belief(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every table believed again, every game of both buyers played again."""
    from sauda.evaluation.market import belief as belief_report

    return belief_report.report(belief_report.Config(**_config(artifact)), workers)


def _judged(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every negotiation held again."""
    from sauda.evaluation import pitching

    return pitching.judged(pitching.Config(**_config(artifact)))


def _selector(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """The whole run again, its choices and its evaluation."""
    from sauda.train import selector

    return selector.select(selector.Config(**_config(artifact)))


def _published(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Published figures cannot be played; each must still be the one that was sealed."""
    seals = artifact.made.get("digests", {})
    figures = []
    for figure in artifact.data["figures"]:
        changed = f"another content than the one sealed under {figure['id']}"
        figures.append(figure if digest(figure) == seals.get(figure["id"]) else changed)
    gone = seals.keys() - {figure["id"] for figure in artifact.data["figures"]}
    return {"figures": figures} | {f"figure {name}": "sealed" for name in gone}


def _bench(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """A speed does not come out twice; medians and ratios must follow from the samples."""
    return recomputed(artifact.data)


def _language(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every labelled sentence read again."""
    from sauda.evaluation.language import quality

    return quality()


def _seller_quality(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game played again, every figure computed again from the recorded texts."""
    from sauda.evaluation.seller import quality as seller_quality

    return seller_quality.again(seller_quality.Config(**_config(artifact)), artifact.data)


def _run(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """A run is not made twice; its adapter must be the one that it wrote, and its log whole."""
    adapter = artifact.data["adapter"]
    file = root / "adapters" / adapter["name"] / "adapter_model.safetensors"
    if not file.exists():
        raise ArtifactError(f"{file.relative_to(root)} is missing")
    found = {**adapter, "sha256": sha256(file), "bytes": file.stat().st_size}
    log = [{**row, "step": i} for i, row in enumerate(artifact.data["log"], 1)]
    last = {name: log[-1][name] for name in ("seconds", "tokens")}
    return {**artifact.data, "adapter": found, "log": log, **last}


RECOMPUTE: Mapping[str, Callable[[Artifact, int, Path], Mapping[str, Any]]] = {
    "evaluation/1": _evaluation,
    "episodes/1": _episodes,
    "before_after/1": _before_after,
    "reproduction/1": _reproduction,
    "ladder/1": _ladder,
    "arena_ladder/1": _arena_ladder,
    "oracle/1": _oracle,
    "market/1": _market,
    "belief/1": _belief,
    "judged/1": _judged,
    "selector/1": _selector,
    "published/1": _published,
    "bench/2": _bench,
    "language/1": _language,
    "arena/1": _arena,
    "seller_quality/1": _seller_quality,
    "run/1": _run,
}
