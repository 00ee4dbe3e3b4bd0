"""The commands of `python -m sauda`: argument parsing and printing, a module per group.

Each module has `add(commands)`, which adds its commands to a parser. What a command computes is
in `sauda.experiments`, `sauda.train` and the other rooms. A module is imported only when one of its
commands is called.
"""

# By name: the module that has the command, and what it does.
COMMANDS = {
    "play": ("games", "play one episode and print it"),
    "evaluate": ("games", "policies x tasks x seeds, with intervals, as an artifact"),
    "compare-models": (
        "games",
        "language models bare and wrapped, beside scripts and planners",
    ),
    "run": ("games", "run an experiment, save its result and print it as a table"),
    "examples": (
        "dialogues",
        "load dialogues, say what is left out and why, and make examples of each role",
    ),
    "acts": (
        "dialogues",
        "measure the reading of dialogue acts on the annotated dialogues of CraigslistBargains",
    ),
    "weights": ("train", "find or prepare the small base model; print where and which hash"),
    "train": ("train", "train a language model by one of its stages, or the selector"),
    "jobs": ("cloud", "train on a rented machine: submit, keep and bring back runs"),
    "shards": (
        "cloud",
        "spread an evaluation by ranges of seeds, stop and resume it, merge its table",
    ),
    "rollouts": (
        "cloud",
        "many games of one language model: loaded by workers, or held by OpenAI-style servers",
    ),
    "verify": (
        "verify",
        "check artifacts: their checksums, then what can be replayed, to the last digit",
    ),
    "leaderboard": (
        "verify",
        "list the complete entries of a leaderboard; --verify plays all their games again, --remove"
        " deletes one",
    ),
    "readme": ("readme", "write the documents' tables anew from the artifacts"),
    "deploy": (
        "cloud",
        "put the last commit on a Hugging Face Space: stage, check, upload, wait, smoke test",
    ),
    "smoke": (
        "cloud",
        "test the page at an address: first page, health, one scripted game, OpenEnv",
    ),
}
