"""What can be said where any words count: the acts of buyers, and what a seller's line means."""

from dataclasses import dataclass

LANGUAGES = ("en", "hinglish", "hi")
QUESTIONS = ("ask_cost", "ask_wear", "ask_time")
PITCHES = ("tea", "cash", "outside", "flaw")
ACTS = (*QUESTIONS, *PITCHES, "insult")
# With what a price is taken.
DONE = {"en": "Done, #.", "hinglish": "Chalo, # pakka.", "hi": "चलो, # पक्का।"}


@dataclass(frozen=True, slots=True)
class Speech:
    """What a seller's line means; "" where it says nothing of that sort."""

    style: str = ""  # firm, fair, hasty or bluffer
    topic: str = ""  # cost, time, rival or wear, or an extra
    content: str = ""  # of the topic, as in sentences.csv
    cost: int = 0  # rupees, with the topic cost or an extra
    mark: str = "plain"  # of candour: plain, hedge or swear
    reaction: str = ""  # to a pitch: pleased, annoyed, flat or caught
