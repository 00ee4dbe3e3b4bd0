"""Sellers by numbers, and what each sounds like."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from env import SellerType

TONES = ((0.2, "curt"), (0.5, "cool"), (0.8, "polite"), (1.0, "warm"))  # up to which warmth


@dataclass(frozen=True, slots=True)
class Persona:
    """A seller by numbers, and what they sound like."""

    type: SellerType  # concession, patience (the hazard of walking), bluffing, markup, margin
    warmth: float  # in [0, 1]: how kindly it speaks
    manner: str  # a word beside its tone
    closers: tuple[str, str]  # what it likes to end a line with; shown to the model in turn

    @property
    def name(self) -> str:
        return self.type.name

    @property
    def tone(self) -> str:
        """Its warmth in a word."""
        return next(word for most, word in TONES if self.warmth <= most)


# Exponent, reciprocity, impatience, bluff rate, markup, margin, leniency: within SELLER_TYPES, but
# for the friendly one, who is a fair seller at the soft end.
FAIR = SellerType("fair", 1.0, 0.65, 0.05, 0.05, 1.12, 0.12, 0.55)
FIRM = SellerType("firm", 0.3, 0.40, 0.02, 0.10, 1.25, 0.18, 0.35)
FRIENDLY = SellerType("friendly", 1.2, 0.80, 0.03, 0.00, 1.05, 0.08, 0.70)
HASTY = SellerType("hasty", 2.2, 0.30, 0.11, 0.15, 1.10, 0.10, 0.65)
BLUFFER = SellerType("bluffer", 0.6, 0.45, 0.04, 0.70, 1.35, 0.12, 0.45)
PERSONAS: Mapping[str, Persona] = MappingProxyType(
    {
        persona.name: persona
        for persona in (
            Persona(FAIR, 0.6, "honest", ("Is that all right?", "What do you say?")),
            Persona(FIRM, 0.3, "proud", ("I stand by it.", "That is how it is.")),
            Persona(FRIENDLY, 1.0, "friendly", ("Thank you for coming.", "You are welcome here.")),
            Persona(HASTY, 0.1, "brisk", ("Yes or no?", "Well?")),
            Persona(BLUFFER, 0.7, "grand", ("What a beauty it is!", "You have a fine eye, sir!")),
        )
    }
)
DEFAULT = FAIR.name
