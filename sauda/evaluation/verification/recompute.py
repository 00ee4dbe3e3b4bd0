"""Recomputes the data of each kind of artifact for `verify`, with one function a kind.

Each takes the artifact, a number of worker processes and the folder of all artifacts, and returns
the JSON value that its data should be. `sauda/records/kinds/registry.py` names them.
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from sauda.evaluation.episodes import replayed
from sauda.evaluation.evaluate import Config, evaluate, replay_cell
from sauda.evaluation.models.comparison import again
from sauda.evaluation.models.config import CONFIGS, Comparison, Part
from sauda.evaluation.speed import load_recomputed, recomputed
from sauda.records.kinds import ArtifactError
from sauda.records.store import Artifact


def evaluation(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every episode played again, and every row computed again from them.

    Always through the scalar engine, whichever one recorded them: so each checks the other.
    """
    return evaluate(_evaluated(artifact), workers=workers, play=replay_cell)


def _evaluated(artifact: Artifact) -> Config:
    names = [field.name for field in fields(Config)]
    if missing := set(names) - artifact.config.keys():
        raise ArtifactError(f"{artifact.file} has no {', '.join(sorted(missing))} in its config")
    return Config(**{name: _tuple(artifact.config[name]) for name in names})


def arena(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every episode of the GPU arena played again, every bound solved again."""
    config = _evaluated(artifact)
    if "others" not in artifact.config:
        raise ArtifactError(f"{artifact.file} has no others in its config")
    return evaluate(config, artifact.config["others"], workers)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def episodes(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    return {"episodes": [_replayed(episode) for episode in artifact.data.as_json()["episodes"]]}


def _replayed(episode: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """The episode as it is played now, or why its moves make none."""
    try:
        return replayed(episode)
    except ValueError as error:
        return f"no episode: {error}"


def before_and_after(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Games made again from the models' recorded replies; the rule applied again to the grades."""
    from sauda.evaluation.models import before_after

    return before_after.again(before_after.Config(**artifact.settings()), artifact.data.as_json())


def comparison(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Tables computed again; scripts and the null model played again, language models not."""
    return again(comparison_config(artifact), artifact.data.as_json())


def comparison_config(artifact: Artifact) -> Comparison:
    """What a model comparison played, of either game."""
    config = artifact.settings()
    if "parts" not in config:
        return CONFIGS["arena"](**config)
    parts = (Part(**{name: _tuple(x) for name, x in part.items()}) for part in config["parts"])
    return CONFIGS["bazaar"](**config | {"parts": tuple(parts)})


def tournament_games(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game between scripts played again, always through the scalar engine."""
    from sauda.evaluation.market.tournament import report

    return report.again(report.Config(**artifact.settings()), artifact.data.as_json(), workers)


def profile_rows(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every profile of a script computed again."""
    from sauda.evaluation.market.profile import report

    return report.again(report.Config(**artifact.settings()), artifact.data.as_json(), workers)


def recorded(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Nothing to recompute: what was transcribed by hand has its checksum."""
    return artifact.data.as_json()


def bench(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Speeds are not measured again; medians and ratios must follow from the recorded samples."""
    return recomputed(artifact.data.as_json())


def load_test(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Replies are not timed again; percentiles and slopes must follow from the samples."""
    return load_recomputed(artifact.data.as_json())


def seller_quality(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game played again, every figure computed again from the recorded texts."""
    from sauda.evaluation.seller import quality

    return quality.again(quality.Config(**artifact.settings()), artifact.data.as_json())
