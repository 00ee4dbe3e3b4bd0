"""Stand-in sentences on extras, one per meaning, and an ear that hears them."""

import re
from functools import cache

from env import corpus, ear
from env.bazaar.types import EXTRAS

SAID = {
    **{(name, "cheap"): f"The {name} costs me little" for name in EXTRAS},
    **{(name, "dear"): f"The {name} costs me much" for name in EXTRAS},
    **{(name, "price"): f"The {name} costs me #" for name in EXTRAS},
    **{(name, "evade"): f"The {name} is my business" for name in EXTRAS},
    **{("buyer", f"ask_{name}"): f"What does the {name} cost you?" for name in EXTRAS},
}


def stand_in(set_attribute) -> None:
    """Let sellers say these sentences, and both seats hear them; `set_attribute` as monkeypatch."""
    sentences, meaning = corpus.sentences, ear.meaning

    @cache
    def with_extras(language, use):
        return {**sentences(language, use), **{key: (text,) for key, text in SAID.items()}}

    def heard(sentence, seat):
        plain = re.sub(r"₹?\d[\d,]*", "#", sentence).rstrip(".।")
        plain = re.sub(r"^(The \w+ costs me \S+|The \w+ is my business), .*", r"\1", plain)
        for (family, key), text in SAID.items():
            if plain == text.rstrip(".") and (family == "buyer") == (seat == "buyer"):
                return family, key, 1.0
        return meaning(sentence, seat)

    set_attribute(corpus, "sentences", with_extras)
    set_attribute(ear, "meaning", heard)
