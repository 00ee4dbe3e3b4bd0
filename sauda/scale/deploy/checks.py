"""What would break on a Space, or should never get there: front matter, sizes, secrets, versions.

The keys and values of the front matter are those of the Hub's documentation, August 2026.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

KEYS = {
    "title", "emoji", "colorFrom", "colorTo", "sdk", "python_version", "sdk_version", "app_file",
    "app_port", "base_path", "fullWidth", "header", "short_description", "models", "datasets",
    "tags", "thumbnail", "pinned", "license", "hf_oauth", "hf_oauth_scopes",
    "hf_oauth_expiration_minutes", "hf_oauth_authorized_org", "disable_embedding",
    "startup_duration_timeout", "custom_headers", "preload_from_hub", "suggested_hardware",
}  # fmt: skip
NEEDED = ("title", "sdk", "sdk_version", "python_version", "app_file")
COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
PYTHONS = ("3.10", "3.12")  # that ZeroGPU has
DESCRIPTION = 60  # characters
MIB = 2**20
MOST_FILE, MOST_TOTAL = 20 * MIB, 500 * MIB  # ours; an adapter of rank 32 has 18.7 MiB
MOST_FILES = 10_000  # in one folder
SECRETS = {  # each begins with letters or signs that Python's search finds fast
    "a token of the Hub": r"hf_[A-Za-z0-9]{30,}",
    "a key of OpenAI or Anthropic": r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    "a token of GitHub": r"gh[pousr]_[A-Za-z0-9]{30,}",
    "a key of AWS": r"AKIA[0-9A-Z]{16}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----",
    "an address with a password": r"://[^\s/:@\"'{}]+:[^\s/@\"'{}]{6,}@",
}
SECRET_FILES = re.compile(r"(?i)\.env(\..*)?|\.netrc|id_(rsa|ed25519|ecdsa)|.*\.(pem|p12|pfx|key)")


def faults(folder: Path) -> list[str]:
    """Every fault of a staged folder, a sentence each; empty where it can be uploaded."""
    return [
        *front_matter_faults(folder),
        *size_faults(folder),
        *secret_faults(folder),
        *requirement_faults(folder),
    ]


def front_matter(folder: Path) -> Mapping[str, Any]:
    """The front matter of README.md; empty where it has none."""
    from huggingface_hub import metadata_load

    readme = folder / "README.md"
    return (metadata_load(readme) or {}) if readme.exists() else {}


def front_matter_faults(folder: Path) -> Iterator[str]:
    """What the Hub or ZeroGPU would not take, and versions that are not those of requirements."""
    matter = front_matter(folder)
    for key in NEEDED:
        if key not in matter:
            yield f"README.md: the front matter has no {key}"
    for key in sorted(matter.keys() - KEYS):
        yield f"README.md: the front matter has {key}, which the Hub does not know"
    for key in ("colorFrom", "colorTo"):
        if matter.get(key, COLOURS[0]) not in COLOURS:
            yield f"README.md: {key} is one of {', '.join(COLOURS)}, not {matter[key]!r}"
    if len(matter.get("short_description", "")) > DESCRIPTION:
        yield f"README.md: short_description has more than {DESCRIPTION} characters"
    if matter.get("sdk", "gradio") != "gradio":
        yield f"README.md: sdk is gradio, not {matter['sdk']!r}"
    if matter.get("python_version", PYTHONS[0]) not in PYTHONS:
        found = matter["python_version"]
        yield f"README.md: python_version is one of {', '.join(PYTHONS)} as text, not {found!r}"
    if not (folder / matter.get("app_file", "README.md")).exists():
        yield f"README.md: the app_file {matter['app_file']} is not there"
    pinned = {r.name: str(r.specifier) for r in requirements(folder)}.get("gradio")
    if "sdk_version" in matter and pinned != f"=={matter['sdk_version']}":
        yield (
            f"README.md: sdk_version is {matter['sdk_version']}, and requirements.txt has "
            f"gradio{pinned or ' nowhere'}"
        )


def size_faults(folder: Path) -> Iterator[str]:
    """Files and folders that are too large."""
    total = 0
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and (count := len(list(path.iterdir()))) > MOST_FILES:
            yield f"{path.relative_to(folder)}: {count:,} entries; the most are {MOST_FILES:,}"
        if path.is_symlink():
            yield f"{path.relative_to(folder)}: a link, which the Hub would not keep"
        elif path.is_file():
            total += (size := path.stat().st_size)
            if size > MOST_FILE:
                place = path.relative_to(folder)
                yield f"{place}: {size / MIB:.1f} MiB; the most are {MOST_FILE // MIB}"
    if total > MOST_TOTAL:
        yield f"all files: {total / MIB:.0f} MiB; the most are {MOST_TOTAL // MIB}"


def secret_faults(folder: Path) -> Iterator[str]:
    """Places that look like a secret; the secret itself is never repeated."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = path.relative_to(folder)
        if SECRET_FILES.fullmatch(path.name):
            yield f"{place}: a file of that name holds secrets"
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture, a font or weights
        for kind, pattern in SECRETS.items():
            for match in re.finditer(pattern, text):
                start = match.start()
                if pattern.startswith("://") or not text[start - 1 : start].isalnum():
                    yield f"{place}:{text.count(chr(10), 0, start) + 1}: looks like {kind}"


def requirement_faults(folder: Path) -> Iterator[str]:
    """Lines of requirements.txt that name no exact version."""
    for requirement in requirements(folder):
        operators = [pin.operator for pin in requirement.specifier]
        if operators != ["=="]:
            yield f"requirements.txt: {requirement} names no exact version"


def requirements(folder: Path) -> list[Requirement]:
    """The lines of requirements.txt; ValueError for one that is no requirement."""
    lines = (folder / "requirements.txt").read_text(encoding="utf-8").splitlines()
    texts = [line.partition("#")[0].strip() for line in lines]
    try:
        return [Requirement(text) for text in texts if text]
    except InvalidRequirement as error:
        raise ValueError(f"requirements.txt: {error}") from None
